"""A workflow as its author wrote it becomes records of the flock, or is only tried.

Tasks get ids here, and what only this form can be wrong in is told here, with the author's names;
the node checks the rest, and keeps it.
"""

from math import ceil
from sys import intern

from agent.api.methods import PLAN, SUBMIT
from agent.api.plan import Plan, PlanReply
from agent.api.rpc import ErrorCode
from agent.api.values import PRIORITY_NAMES, Limits, NamedPriority, Requirements
from agent.api.wording import suggestion
from agent.api.work import Submit, Submitted, Task
from agent.control.acceptance import acceptances
from agent.control.dry_run import machines_seen, plan_tasks
from agent.control.gates import with_names
from agent.control.naming import readable, task_id
from agent.control.refusal import RefusedError
from agent.control.request_context import RequestContext, serves
from agent.control.wishes import TO_BE_NAMED, wish
from agent.protocol import events, records
from agent.protocol.admission import fault_of
from agent.protocol.effects import Verdict
from agent.protocol.table import Table


@serves(SUBMIT)
async def submit(call: RequestContext, params: Submit) -> Submitted:
    """Make a workflow records of the flock, and answer when they are on as many disks as can be had
    now. Raises ``RefusedError`` for one that is wrong."""
    fault = fault_in(params, call.now.table)
    if fault:
        raise RefusedError(ErrorCode.REFUSED, fault)
    specs = specs_of(params)
    event = events.Submit(
        TO_BE_NAMED,
        params.name,
        params.name,
        params.submitter or call.now.name,
        priority_value(params.priority),
        specs,
    )
    names = {task_id(params.name, task.id): task.id for task in params.tasks}
    answer = await wish(call, event, names)
    known = answer.verdict is Verdict.ALREADY_KNOWN
    waits = () if known else tuple(acceptances(specs, machines_seen(call.now)))
    return Submitted(params.name, known, answer.disks, answer.text, waits)


def priority_value(priority: NamedPriority) -> int:
    """Return a priority as a number, of its name or number."""
    return PRIORITY_NAMES[priority] if isinstance(priority, str) else priority


def specs_of(params: Submit) -> tuple[records.TaskSpec, ...]:
    """Return the tasks as the flock keeps them; what many have in common is there once."""
    shared = _Shared(params.name)
    return tuple(_spec(shared, task) for task in params.tasks)


class _Shared:
    """Values that tasks of one submission share: kept once, a large workflow is half as large."""

    def __init__(self, workflow: str) -> None:
        self._workflow = workflow
        self._ids: dict[tuple[str, str], str] = {}
        self._needs: dict[Requirements, records.Requirements] = {}
        self._limits: dict[Limits, records.Limits] = {}

    def id(self, name: str, workflow: str = "") -> str:
        """Return the id of a task, of this workflow if no other is named."""
        key = (workflow or self._workflow, name)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = task_id(*key)
        return found

    def needs(self, told: Requirements) -> records.Requirements:
        """Return these requirements as records have them, the same object for the same ones."""
        if told not in self._needs:
            self._needs[told] = records.Requirements(
                told.system,
                told.architecture,
                told.memory_mb,
                told.disk_mb,
                told.cores,
                told.tags,
            )
        return self._needs[told]

    def limits(self, told: Limits) -> records.Limits:
        """Return these limits as records have them, the same object for the same ones."""
        if told not in self._limits:
            self._limits[told] = records.Limits(
                memory_mb=told.memory_mb,
                disk_mb=told.disk_mb,
                wall_s=ceil(told.wall_s),
                silent_s=ceil(told.silent_s),
            )
        return self._limits[told]


def fault_in(params: Submit, table: Table) -> str:
    """Return the first thing that is wrong, in the author's words; empty when nothing is."""
    own: dict[str, Task] = {}
    for task in params.tasks:
        if task.id in own:
            return f'two tasks are called "{task.id}"'
        own[task.id] = task
    for task in params.tasks:
        fault = _task_fault(task, params.name, own, table)
        if fault:
            return f'task "{task.id}" {fault}'
    return ""


def _task_fault(task: Task, workflow: str, own: dict[str, Task], table: Table) -> str:
    if task.gate and task.program:
        return "is a gate and cannot have a program"
    if not task.gate and not task.program:
        return "names no program"
    if task.attach and not task.gate:
        return "is no gate, and nobody can attach anything to it"
    needed = [(each.workflow or workflow, each.task) for each in task.inputs]
    for there, name in needed + [(workflow, name) for name in task.after]:
        if there == workflow and name not in own:
            return f'needs "{name}", which this workflow does not have{suggestion(name, own)}'
        if there != workflow and task_id(there, name) not in table.specs:
            return f'needs "{name}" of "{there}", which is not known here'
    return ""


def _spec(shared: _Shared, task: Task) -> records.TaskSpec:
    return records.TaskSpec(
        shared.id(task.id),
        task.id,
        intern(task.program),
        tuple(
            records.InputRef(shared.id(each.task, each.workflow), each.output)
            for each in task.inputs
        ),
        tuple(records.Dataset(each.dataset, each.size_bytes, each.external) for each in task.raw),
        tuple(shared.id(name) for name in task.after),
        task.parameters,
        shared.needs(task.requirements),
        round(task.expected_s * 1000),
        task.failures_max,
        task.gate,
        task.asks,
        with_names(task.attach),
        limits=shared.limits(task.limits),
        published=_published(task),
    )


def _published(task: Task) -> records.Dataset | None:
    folder = task.published
    if folder is None:
        return None
    return records.Dataset(folder.dataset, folder.size_bytes, folder.external)


@serves(PLAN)
async def plan(call: RequestContext, params: Plan) -> PlanReply:
    """Try a submission without keeping anything: return what is wrong, or where each task could
    run, why not elsewhere, and when it all might end."""
    told, views = params.workflow, call.views
    now = views.now
    known = told.name in now.table.workflows
    fault = fault_in(told, now.table)
    if fault:
        return PlanReply(known, (fault,), (), 0, 0)
    specs, priority = specs_of(told), priority_value(told.priority)
    event = events.Submit(TO_BE_NAMED, told.name, told.name, told.submitter, priority, specs)
    names = {spec.task: spec.name for spec in specs}
    fault = "" if known else readable(fault_of(event, now.table), now.table, names)
    if fault:
        return PlanReply(known, (fault,), (), 0, 0)
    far = bool(call.member)
    plans, end_s = plan_tasks(views, specs, priority, far=far)
    machines = machines_seen(now)
    helping = sum(each.helps for each in machines)
    waits = tuple(acceptances(specs, machines, far=far))
    end_ms = views.now_ms() + round(end_s * 1000)
    missing = await _missing(call, {spec.program for spec in specs if spec.program})
    return PlanReply(known, (), tuple(plans), helping, end_ms, missing, waits)


async def _missing(call: RequestContext, programs: set[str]) -> tuple[str, ...]:
    """Programs that are there, and of which this machine cannot learn what they do."""
    return (await call.programs.answers(call.now.status.capabilities.programs)).missing(programs)
