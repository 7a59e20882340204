"""A workflow as its author wrote it becomes records of the flock, or is only tried.

The workflow and its tasks get ids here, and what only this form can be wrong in is told here, with
the author's names; the node checks the rest, and keeps it. What it needs of other workflows is looked
up now: a later workflow of the same name changes nothing for it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path
from sys import intern
from types import MappingProxyType

from msgspec import Raw, msgpack
from msgspec.structs import astuple

from agent.api.errors import RefusedError
from agent.api.phrases import as_raw, worded
from agent.api.reasons import AcceptanceNeeded, NewestOf, as_why
from agent.api.rpc import ErrorCode
from agent.api.values import PRIORITY_NAMES, Dataset, Limits, NamedPriority, Requirements
from agent.api.wording import near
from agent.api.work import (
    PLAN,
    SUBMIT,
    Input,
    Origin,
    Plan,
    PlanReply,
    Submit,
    Submitted,
    Task,
    WorkflowView,
)
from agent.control.dry_run import acceptances, plan_tasks
from agent.control.estimates import with_told
from agent.control.fitting import own_work, seen
from agent.control.gates import with_attached
from agent.control.naming import newest_of, task_id, workflow_called
from agent.control.own_folders import misplaced
from agent.control.request_context import RequestContext, serves
from agent.control.sharing import attached
from agent.control.views import Views
from agent.control.wishes import TO_BE_NAMED, wish
from agent.protocol import events, records
from agent.protocol.admission import fault_of
from agent.protocol.identity import (
    CONTENT,
    ORIGIN,
    PROGRAM,
    called,
    carried,
    content_of,
    text_in,
    with_programs,
    workflow_id,
)
from agent.protocol.needs import Seat, with_needs
from agent.protocol.phrases import Phrase, hinted, said
from agent.protocol.priorities import with_priority
from agent.protocol.records import NodeId, TaskId, WorkflowId
from agent.protocol.table import Table
from agent.wording.speech import english


@serves(SUBMIT)
async def submit(call: RequestContext, params: Submit) -> Submitted:
    """Make a workflow records of the flock. Return on how many disks they are, once on all that can
    be had now, and which machines run none of its programs yet; or at once which workflow has the
    same content, of the same person, and how it stands. Raises ``RefusedError``, and keeps nothing,
    where it is wrong or this disk is full, ``ServiceError`` where the node does not take it. What
    ``bring`` raises comes through, with the workflow kept: it may be submitted again then."""
    submitter = params.submitter or call.now.name
    elsewhere = checked(call, params, submitter)
    if elsewhere.fault is not None:
        raise RefusedError(ErrorCode.REFUSED, elsewhere.fault)
    digests = await programs_here(call, params.tasks)
    asked = params, submitter, call.now.node, elsewhere.tasks, digests
    event = submission(*asked, far=bool(call.member))
    event = replace(event, more=event.more | await attached(call, event, params.shared_with))
    answer = await wish(call, event)
    workflow = answer.workflow or event.workflow
    known = workflow != event.workflow
    await bring(call, event, workflow, params.deliver)
    texts, whys = waits_told([] if known else acceptances(event.tasks, seen(call.now)))
    there = call.now.table.workflows.get(workflow) if known else None
    view = None if there is None else call.views.workflow(there)
    meant = tuple(map(as_why, elsewhere.meant))
    return Submitted(workflow, known, answer.disks, answer.text, texts, whys, view, meant)


async def bring(
    call: RequestContext, event: events.Submit, workflow: WorkflowId, deliver: str
) -> None:
    """Have an accepted workflow's results delivered into a folder, if one is named, and let
    programs that its person brought run here. Also for a workflow known already: that may have
    failed before. Raises ``OSError`` where either cannot be written, ``ServiceError`` for a program
    that cannot be had."""
    if deliver:
        await call.rooms.datasets.deliver(workflow, Path(deliver))
    if not call.member:
        brought = {each.program for each in event.tasks if each.published is not None}
        await call.rooms.programs.confirm(brought)


def waits_told(waits: list[AcceptanceNeeded]) -> tuple[tuple[str, ...], tuple[Raw, ...]]:
    """Return what an answer carries of who has to accept programs: as sentences, and as reasons."""
    return tuple(map(english, waits)), tuple(map(as_why, waits))


def checked(call: RequestContext, params: Submit, submitter: str) -> Elsewhere:
    """Return which tasks of other workflows a submission needs, with the first fault found in it
    here in ``fault``, None for none; the node checks it further."""
    found = needed_elsewhere(call.now.table, params, submitter)
    far = bool(call.member)
    fault = misnamed(params) or found.fault or misdelivered(params.deliver, far=far)
    return replace(found, fault=fault)


def misdelivered(folder: str, *, far: bool) -> Phrase | None:
    """Return why results cannot go to this folder: any of this machine where another one submits
    (``far``), one that is no whole path or has ``..`` in it, one of Wingbeat itself, or a hidden
    one, in which programs look for what to do. None when they can, or no folder is named
    (empty)."""
    path = Path(folder)
    if not folder:
        return None
    if far:
        return said(
            "deliver: results go to folders of the machine that you sit at; submit it there"
        )
    if not path.is_absolute() or ".." in path.parts:
        return said("deliver: {folder} is no whole path of a folder", folder=folder)
    if any(part.startswith(".") for part in path.parts):
        return said("deliver: {folder} is hidden, or lies in a hidden folder", folder=folder)
    return misplaced(path)


async def programs_here(
    call: RequestContext, tasks: Iterable[Task | records.TaskSpec]
) -> dict[str, records.More]:
    """Return by name, for installed programs (not those brought along) that tasks name, what to put
    into the tasks' records: the program's content where it is here, and the needs that machines
    tell for it."""
    names = sorted({each.program for each in tasks if each.program and each.published is None})
    told: dict[str, records.More] = {name: {} for name in names}
    for each in (each for machine in seen(call.now) for each in machine.capabilities.needs):
        if each.program in told:
            told[each.program] = with_needs(each.programs, each.seats, once=each.once)
    for name, digest in (await call.rooms.programs.contents(names)).items():
        told[name] = told[name] | {PROGRAM: Raw(msgpack.encode(digest))}
    return told


def submission(
    params: Submit,
    submitter: str,
    node: NodeId,
    elsewhere: Mapping[Place, TaskId],
    digests: Mapping[str, records.More] = MappingProxyType({}),
    *,
    far: bool = False,
) -> events.Submit:
    """Return a client's submission as the event for ``node``, with ids for workflow and tasks.
    ``elsewhere`` has the tasks of other workflows that it needs, ``digests`` what to put into
    records of tasks by program; ``far``: a client of another machine asks."""
    priority = priority_value(params.priority)
    specs = with_programs(specs_of(params, str, elsewhere), digests)
    asked = (params.name, submitter, node, priority, specs)
    return submission_of(*asked, params.key, far=far, again=params.again, origin=params.origin)


def submission_of(
    name: str,
    submitter: str,
    node: NodeId,
    priority: int,
    specs: tuple[records.TaskSpec, ...],
    key: str = "",
    *,
    far: bool = False,
    again: bool = False,
    origin: Origin | None = None,
) -> events.Submit:
    """Return the submission for ``node`` to keep, with ids in place of the tasks' names. Without a
    ``key`` one is made, so that it counts as a new request; ``far``: another machine submits;
    ``again``: it runs although the same is known; ``origin``: where it was read, if that is
    told."""
    key = key or uuid.uuid4().hex
    content = content_of(name, specs)
    workflow = workflow_id(submitter, key, content, node)
    more = carried(key, content)
    if origin is not None and not far:
        more[ORIGIN] = Raw(msgpack.encode(origin))
    tasks = called(specs, lambda task: task_id(workflow, task))
    return events.Submit(
        *(TO_BE_NAMED, workflow, name, submitter, priority, tasks, far, more, again)
    )


Place = tuple[str, str]
"""How an input names a task of another workflow: by the workflow, and by the task."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What a submission needs of other workflows; ``fault`` where one is not known. ``meant`` tells
    which of several workflows of one name it is."""

    tasks: Mapping[Place, TaskId]
    meant: tuple[NewestOf, ...] = ()
    fault: Phrase | None = None


def needed_elsewhere(table: Table, params: Submit, submitter: str) -> Elsewhere:
    """Look up the tasks of other workflows that a submission needs, each by its exact id or name;
    of workflows of one name the newest counts, of this submitter if it has any. Return them with
    what names that several have were taken for, or, at the first that is not known, with a
    fault."""
    found: dict[Place, TaskId] = {}
    meant: dict[str, NewestOf | None] = {}
    for task in params.tasks:
        for each in task.inputs:
            place = each.workflow, each.task
            if each.workflow in ("", params.name) or place in found:
                continue
            there = workflow_called(table, each.workflow, submitter)
            there = there or table.workflows.get(each.workflow)
            tasks = () if there is None else there.spec.tasks
            ids = [one.task for one in tasks if each.task in (one.name, one.task)]
            if there is None or not ids:
                other = f'"{each.task}" of "{each.workflow}"'
                fault = said(
                    "task {task} needs {other}, which is not known here",
                    task=f'"{task.id}"',
                    other=other,
                )
                return Elsewhere(found, fault=fault)
            found[place] = ids[0]
            meant[each.workflow] = newest_of(table, each.workflow, there.spec.workflow)
    return Elsewhere(found, tuple(filter(None, meant.values())))


def priority_value(priority: NamedPriority) -> int:
    """Return a priority as a number, of its name or number."""
    return PRIORITY_NAMES[priority] if isinstance(priority, str) else priority


def specs_of(
    params: Submit,
    id_of: Callable[[str], TaskId],
    elsewhere: Mapping[Place, TaskId] = MappingProxyType({}),
) -> tuple[records.TaskSpec, ...]:
    """Return the tasks of a submission as the flock keeps them, with the ids that ``id_of`` makes
    of their names, in their order; whether they are right is not asked. Raises ``KeyError`` for a
    need of another workflow that ``elsewhere`` lacks. What many have in common is there once: a
    large workflow is half as large then."""
    id_of = cache(id_of)

    def producer(each: Input) -> TaskId:
        if each.workflow in ("", params.name):
            return id_of(each.task)
        return elsewhere[each.workflow, each.task]

    @cache
    def needs(told: Requirements) -> records.Requirements:
        return records.Requirements(*astuple(told)[: len(records.Requirements.__struct_fields__)])

    @cache
    def limits(told: Limits) -> records.Limits:
        seconds = ceil(told.wall_s), ceil(told.silent_s)
        return records.Limits(told.memory_mb, told.disk_mb, *seconds)

    def spec(task: Task) -> records.TaskSpec:
        """Return one task as the flock keeps it."""
        expected_ms, told = with_told(task.expected_s)
        return records.TaskSpec(
            id_of(task.id),
            task.id,
            intern(task.program),
            tuple(records.InputRef(producer(each), each.output) for each in task.inputs),
            tuple(map(dataset_of, task.raw)),
            tuple(map(id_of, task.after)),
            task.parameters,
            needs(task.requirements),
            expected_ms,
            task.failures_max,
            task.gate,
            task.asks,
            with_attached(task.attach) | told | _needed(task),
            limits=limits(task.limits),
            published=None if task.published is None else dataset_of(task.published),
        )

    return tuple(map(spec, params.tasks))


def _needed(task: Task) -> records.More:
    told = task.requirements
    seats = tuple(Seat(each.name, each.most) for each in told.seats)
    own = None if task.priority is None else priority_value(task.priority)
    return with_needs(told.programs, seats, once=task.once) | with_priority(own)


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


@serves(PLAN)
async def plan(call: RequestContext, params: Plan) -> PlanReply:
    """Try a submission without keeping anything: return what is wrong, and then nothing else, or
    where each task could run, why not elsewhere, who has to accept its programs, and when it all
    might end. Other machines are asked what their programs do, and this one looks for the tags that
    tasks need, of which the flock is told."""
    told = params.workflow
    await call.rooms.programs.look_for(
        {tag for task in told.tasks for tag in task.requirements.tags}
    )
    views = call.views
    now, submitter = views.now, told.submitter or views.now.name
    elsewhere = checked(call, told, submitter)
    fault = elsewhere.fault
    digests = {} if fault is not None else await programs_here(call, told.tasks)
    event = (
        None
        if fault is not None
        else submission(told, submitter, now.node, elsewhere.tasks, digests)
    )
    if event is not None:
        fault = fault_of(event, now.table)
    if event is None or fault is not None:
        assert fault is not None
        return PlanReply(False, (worded(fault),), (), 0, 0, wrong=(as_raw(fault),))
    known, namesake = _before(views, event)
    specs, priority = event.tasks, event.priority
    far = bool(call.member)
    plans, end = plan_tasks(views, specs, priority, submitter, far=far)
    machines = seen(now)
    helping = len(views.estimates.takers(own_work(now, submitter, far=far), priority))
    texts, whys = waits_told(acceptances(specs, machines, far=far))
    end_ms = views.now_ms() + end.ms if end.known else 0
    missing = await _missing(call, {spec.program for spec in specs if spec.program})
    told_of = (missing, texts, (), whys, end.told, namesake)
    return PlanReply(known, (), tuple(plans), helping, end_ms, *told_of)


def _before(views: Views, event: events.Submit) -> tuple[bool, WorkflowView | None]:
    """Whether it is known, and the workflow that has its content, else the newest of its name."""
    table = views.now.table
    asked = (text_in(event.more, CONTENT), event.submitter, views.now.node)
    same = table.workflows.get(table.asked_before(asked))
    called = same or workflow_called(table, event.name, event.submitter)
    return same is not None, None if called is None else views.workflow(called)


async def _missing(call: RequestContext, programs: set[str]) -> tuple[str, ...]:
    """Programs that are there, and of which this machine cannot learn what they do."""
    return (await call.programs.answers(call.now.status.capabilities.programs)).missing(programs)
