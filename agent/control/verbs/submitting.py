"""A workflow as its author wrote it becomes records of the flock, or is only tried.

Tasks get ids here, and what only this form can be wrong in is told here, with the author's names;
the node checks the rest, and keeps it.
"""

from math import ceil
from sys import intern

from agent.api.errors import RefusedError
from agent.api.phrases import as_raw, worded
from agent.api.reasons import as_why
from agent.api.rpc import ErrorCode
from agent.api.values import PRIORITY_NAMES, Limits, NamedPriority, Requirements
from agent.api.wording import near
from agent.api.work import PLAN, SUBMIT, Plan, PlanReply, Submit, Submitted, Task
from agent.control.dry_run import acceptances, machines_seen, plan_tasks
from agent.control.gates import with_attached
from agent.control.naming import task_id, with_names
from agent.control.request_context import RequestContext, serves
from agent.control.wishes import TO_BE_NAMED, wish
from agent.protocol import events, records
from agent.protocol.admission import fault_of
from agent.protocol.effects import Verdict
from agent.protocol.phrases import Phrase, hinted, said
from agent.wording.speech import english


@serves(SUBMIT)
async def submit(call: RequestContext, params: Submit) -> Submitted:
    """Make a workflow records of the flock, and answer when they are on as many disks as can be had
    now. Raises ``RefusedError`` for one that is wrong."""
    fault = misnamed(params)
    if fault is not None:
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
    answer = await wish(call, event, lambda: names_in(params))
    known = answer.verdict is Verdict.ALREADY_KNOWN
    waits = [] if known else acceptances(specs, machines_seen(call.now))
    texts, whys = tuple(map(english, waits)), tuple(map(as_why, waits))
    return Submitted(params.name, known, answer.disks, answer.text, texts, whys)


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


def misnamed(params: Submit) -> Phrase | None:
    """Return the first thing that only this form can be wrong in, in the author's words; None when
    nothing is. The node has all other rules."""
    own = {task.id for task in params.tasks}
    for task in params.tasks:
        if task.attach and not task.gate:
            return said(
                "task {task} is no gate, and nobody can attach anything to it", task=f'"{task.id}"'
            )
        here = [each.task for each in task.inputs if each.workflow in ("", params.name)]
        for name in (*here, *task.after):
            if name not in own:
                missing = said(
                    "task {task} needs {other}, which this workflow does not have",
                    task=f'"{task.id}"',
                    other=f'"{name}"',
                )
                return hinted(missing, near(name, own))
    return None


def names_in(params: Submit) -> dict[str, str]:
    """Return what the author calls the tasks of other workflows that these need, by their ids."""
    needed = [each for task in params.tasks for each in task.inputs if each.workflow]
    return {
        task_id(each.workflow, each.task): f'"{each.task}" of "{each.workflow}"' for each in needed
    }


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
        with_attached(task.attach),
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
    specs, priority = specs_of(told), priority_value(told.priority)
    event = events.Submit(TO_BE_NAMED, told.name, told.name, told.submitter, priority, specs)
    fault = misnamed(told) or (None if known else fault_of(event, now.table))
    if fault is not None:
        fault = with_names(fault, names_in(told))
        return PlanReply(known, (worded(fault),), (), 0, 0, wrong=(as_raw(fault),))
    far = bool(call.member)
    plans, end_s = plan_tasks(views, specs, priority, far=far)
    machines = machines_seen(now)
    helping = sum(each.helps for each in machines)
    waits = acceptances(specs, machines, far=far)
    texts, whys = tuple(map(english, waits)), tuple(map(as_why, waits))
    end_ms = views.now_ms() + round(end_s * 1000)
    missing = await _missing(call, {spec.program for spec in specs if spec.program})
    return PlanReply(known, (), tuple(plans), helping, end_ms, missing, texts, whys=whys)


async def _missing(call: RequestContext, programs: set[str]) -> tuple[str, ...]:
    """Programs that are there, and of which this machine cannot learn what they do."""
    return (await call.programs.answers(call.now.status.capabilities.programs)).missing(programs)
