"""A workflow as its author wrote it becomes records of the flock, or is only tried.

Tasks get ids here, and what only this form can be wrong in is told here, with the author's names;
the node checks the rest, and keeps it.
"""

from functools import cache
from math import ceil
from sys import intern

from msgspec.structs import astuple

from agent.api.errors import RefusedError
from agent.api.phrases import as_raw, worded
from agent.api.reasons import as_why
from agent.api.rpc import ErrorCode
from agent.api.values import PRIORITY_NAMES, Dataset, Limits, NamedPriority, Requirements
from agent.api.wording import near
from agent.api.work import PLAN, SUBMIT, Plan, PlanReply, Submit, Submitted, Task
from agent.control.dry_run import acceptances, plan_tasks
from agent.control.estimates import with_told
from agent.control.fitting import seen
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
    """Make a workflow records of the flock. Return on how many disks they are, once on all that can
    be had now, and which machines run none of its programs yet; or at once that its name is known
    already. Raises ``RefusedError``, and keeps nothing, where it is wrong or this disk is full."""
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
        far=bool(call.member),
    )
    answer = await wish(call, event, lambda: names_in(params))
    known = answer.verdict is Verdict.ALREADY_KNOWN
    waits = [] if known else acceptances(specs, seen(call.now))
    texts, whys = tuple(map(english, waits)), tuple(map(as_why, waits))
    return Submitted(params.name, known, answer.disks, answer.text, texts, whys)


def priority_value(priority: NamedPriority) -> int:
    """Return a priority as a number, of its name or number."""
    return PRIORITY_NAMES[priority] if isinstance(priority, str) else priority


def specs_of(params: Submit) -> tuple[records.TaskSpec, ...]:
    """Return the tasks of a submission as the flock keeps them, with ids for names, in their order;
    whether they are right is not asked. What many have in common is there once: a large workflow is
    half as large then."""

    @cache
    def id_of(name: str, workflow: str) -> str:
        return task_id(workflow, name)

    @cache
    def needs(told: Requirements) -> records.Requirements:
        return records.Requirements(*astuple(told))

    @cache
    def limits(told: Limits) -> records.Limits:
        seconds = ceil(told.wall_s), ceil(told.silent_s)
        return records.Limits(told.memory_mb, told.disk_mb, *seconds)

    def spec(task: Task) -> records.TaskSpec:
        expected_ms, told = with_told(task.expected_s)
        return records.TaskSpec(
            id_of(task.id, params.name),
            task.id,
            intern(task.program),
            tuple(
                records.InputRef(id_of(each.task, each.workflow or params.name), each.output)
                for each in task.inputs
            ),
            tuple(map(dataset_of, task.raw)),
            tuple(id_of(each, params.name) for each in task.after),
            task.parameters,
            needs(task.requirements),
            expected_ms,
            task.failures_max,
            task.gate,
            task.asks,
            with_attached(task.attach) | told,
            limits=limits(task.limits),
            published=None if task.published is None else dataset_of(task.published),
        )

    return tuple(map(spec, params.tasks))


def dataset_of(told: Dataset) -> records.Dataset:
    """Return a dataset as records have it."""
    return records.Dataset(*astuple(told))


def misnamed(params: Submit) -> Phrase | None:
    """Return the first thing that only this form can be wrong in, in the author's words: an
    attachment to what is no gate, or a need of a task that this workflow does not have. None when
    nothing is; the node has all other rules."""
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
    """Return, by their ids, what to call the tasks of other workflows that these need: in words for
    people, ``"task" of "workflow"``."""
    needed = [each for task in params.tasks for each in task.inputs if each.workflow]
    return {
        task_id(each.workflow, each.task): f'"{each.task}" of "{each.workflow}"' for each in needed
    }


@serves(PLAN)
async def plan(call: RequestContext, params: Plan) -> PlanReply:
    """Try a submission without keeping anything: return what is wrong, and then nothing else, or
    where each task could run, why not elsewhere, who has to accept its programs, and when it all
    might end. Other machines are asked what their programs do."""
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
    plans, end = plan_tasks(views, specs, priority, far=far)
    machines = seen(now)
    helping = len(views.estimates.takers("" if far else now.node, priority))
    waits = acceptances(specs, machines, far=far)
    texts, whys = tuple(map(english, waits)), tuple(map(as_why, waits))
    end_ms = views.now_ms() + end.ms if end.known else 0
    missing = await _missing(call, {spec.program for spec in specs if spec.program})
    told_of = (missing, texts, (), whys, end.told)
    return PlanReply(known, (), tuple(plans), helping, end_ms, *told_of)


async def _missing(call: RequestContext, programs: set[str]) -> tuple[str, ...]:
    """Programs that are there, and of which this machine cannot learn what they do."""
    return (await call.programs.answers(call.now.status.capabilities.programs)).missing(programs)
