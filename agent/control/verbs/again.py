"""Work that runs again: what differs from how it ran, and what of it is kept.

A workflow is never changed. What runs again is another one, of the same content or of what its files
say now; a step that is as it was may begin with what it made, which is a run of its own record. Where
that is lost some day, the step runs like any other whose outputs are lost.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import msgspec
from msgspec.structs import replace

from agent.api.again import AGAIN, Again, AgainReply, Difference, Step
from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.api.work import Basis, Origin
from agent.control.dry_run import acceptances, plan_tasks
from agent.control.fitting import seen
from agent.control.naming import find_workflow
from agent.control.recalling import with_past
from agent.control.request_context import RequestContext, serves
from agent.control.sharing import attached
from agent.control.verbs.submitting import (
    bring,
    checked,
    priority_value,
    programs_here,
    specs_of,
    submission_of,
    waits_told,
)
from agent.control.wishes import wish
from agent.protocol.identity import ORIGIN, PROGRAM, called, text_in, with_programs
from agent.protocol.phrases import said
from agent.protocol.reading import DerivedState
from agent.protocol.records import TaskId, TaskSpec, Workflow, WorkflowSpec
from agent.protocol.sanity import producers_of
from agent.protocol.table import Table

_read_origin = msgspec.msgpack.Decoder(Origin).decode


@serves(AGAIN)
async def again(call: RequestContext, params: Again) -> AgainReply:
    """Compare a past workflow with what is wanted now and, unless ``dry``, run that as a new one;
    return the answer of a submission, with each step, how it differs and whether its result is kept
    (none is for one that the flock has forgotten). Raises ``RefusedError`` for an unknown workflow
    and for a wrong submission, ``sqlite3.Error`` where the history cannot be read, and what
    ``bring`` raises, with the new one kept."""
    then = await with_past(call, params.workflow)
    table, wanted = then.now.table, params.wanted
    past = find_workflow(table, params.workflow)
    submitter = params.submitter or past.spec.submitter
    specs, name, priority = by_names(past.spec), past.spec.name, past.priority.value
    told_origin = origin_of(past.spec)
    own = then.now.home_of(past.spec) == call.now.node and not call.member
    origin = told_origin if own else None
    if wanted is not None:
        elsewhere = checked(call, wanted, submitter)
        if elsewhere.fault is not None:
            raise RefusedError(ErrorCode.REFUSED, elsewhere.fault)
        specs, name = specs_of(wanted, str, elsewhere.tasks), wanted.name
        priority, origin = priority_value(wanted.priority), wanted.origin
    specs = with_programs(specs, await programs_here(call, specs))
    anew = params.anew or then is not call
    compared = compare(table, past, specs, anew=anew, steps=params.steps)
    host = then.now.name_of(past.spec.host)
    if params.dry:
        told = (past.spec.workflow, name, compared.steps, compared.gone)
        read_at = origin if own else _elsewhere(told_origin)
        run = [spec for spec in specs if spec.name not in compared.kept]
        lasting = functools.partial(_lasting, call, priority=priority, submitter=submitter)
        lasts = (*lasting(run), *lasting(specs))
        return AgainReply(*told, 0, (), (), read_at, host, *lasts)
    event = submission_of(
        *(name, submitter, call.now.node, priority, specs, params.key),
        far=bool(call.member),
        again=True,
        origin=origin,
    )
    named = await attached(call, event, wanted.shared_with if wanted is not None else ())
    new = {spec.name: spec.task for spec in event.tasks}
    keeps = tuple((new[each], compared.kept[each]) for each in new if each in compared.kept)
    answer = await wish(call, dataclasses.replace(event, keeps=keeps, more=event.more | named))
    workflow = answer.workflow or event.workflow
    await bring(call, event, workflow, wanted.deliver if wanted else "")
    waits = waits_told(acceptances(event.tasks, seen(call.now)))
    told = (workflow, name, compared.steps, compared.gone)
    return AgainReply(*told, answer.disks, *waits, origin, host)


def _lasting(
    call: RequestContext, specs: Sequence[TaskSpec], priority: int, submitter: str
) -> tuple[float, Basis | None]:
    """How long these take if they were submitted now, and on what that stands; None where nobody
    knows."""
    far = bool(call.member)
    _, length = plan_tasks(call.views, tuple(specs), priority, submitter, far=far)
    return length.ms / 1000, length.told


@dataclass(frozen=True, slots=True)
class Compared:
    """The steps of what would run, names of those that are gone, and, by the names of steps that are
    kept, the tasks that made what they have."""

    steps: tuple[Step, ...]
    gone: tuple[str, ...]
    kept: Mapping[str, TaskId]


def compare(
    table: Table,
    past: Workflow,
    specs: Sequence[TaskSpec],
    *,
    anew: bool,
    steps: Sequence[str] = (),
) -> Compared:
    """Compare these tasks, which have names for ids, with those of a workflow. What is kept differs
    in nothing, ended well, is none of ``steps``, and needs only what is kept too; nothing is kept
    where all would be, or all is to run ``anew``. Raises ``RefusedError`` where one of ``steps`` is
    not there."""
    before = {spec.name: spec for spec in by_names(past.spec)}
    ids = {spec.name: spec.task for spec in past.spec.tasks}
    readings = {name: table.reading(task) for name, task in ids.items()}
    own = {spec.name for spec in specs}
    unknown = next((name for name in steps if name not in own), None)
    if unknown is not None:
        missing = said("{name} has no step {step}", name=past.spec.name, step=unknown)
        raise RefusedError(ErrorCode.REFUSED, missing)
    differs = {spec.name: differences(before.get(spec.name), spec) for spec in specs}
    needs = {spec.name: [need for need in producers_of(spec) if need in own] for spec in specs}
    same = [name for name in own if not differs[name] and name not in steps]
    kept = {name: ids[name] for name in same if _is_whole(readings[name])}
    run = [name for name in needs if name not in kept]
    needed_by: dict[TaskId, list[str]] = {}
    for name in kept:
        for need in needs[name]:
            needed_by.setdefault(need, []).append(name)
    for each in run:
        run += [name for name in needed_by.get(each, ()) if kept.pop(name, None)]
    if anew or len(kept) == len(own):
        kept = {}
    found = []
    for spec in specs:
        reading = readings.get(spec.name)
        state = None if reading is None else reading.state
        told = (spec.name, differs[spec.name], state, spec.name in kept, tuple(needs[spec.name]))
        found.append(Step(*told, spec.gate))
    return Compared(tuple(found), tuple(name for name in before if name not in own), kept)


def differences(before: TaskSpec | None, now: TaskSpec) -> tuple[Difference, ...]:
    """Return in what a task differs from how it ran, both with names for ids; ``("new",)`` where
    ``before`` is None as it never ran, empty where its result has to be the same."""
    if before is None:
        return ("new",)
    pairs: tuple[tuple[Difference, object, object], ...] = (
        ("program", *_programs(before, now)),
        ("data", before.raw, now.raw),
        ("parameters", before.parameters, now.parameters),
        ("inputs", (before.inputs, set(before.after)), (now.inputs, set(now.after))),
        ("step", (before.gate, before.asks), (now.gate, now.asks)),
    )
    return tuple(name for name, one, other in pairs if one != other)


def by_names(spec: WorkflowSpec) -> tuple[TaskSpec, ...]:
    """Return the tasks of a workflow with names for ids."""
    names = {each.task: each.name for each in spec.tasks}
    return called(spec.tasks, names.__getitem__)


def _elsewhere(origin: Origin | None) -> Origin | None:
    """With the name of the file alone: paths that others tell are none to be read."""
    if origin is None:
        return None
    return replace(origin, path=PurePath(origin.path).name or "-", start="", files=())


def origin_of(spec: WorkflowSpec) -> Origin | None:
    """Return where the submitting machine read a workflow's file; None where its record does not
    tell that, or cannot be read, or tells it of another machine."""
    told = spec.more.get(ORIGIN) if spec.home else None
    try:
        return None if told is None else _read_origin(told)
    except msgspec.MsgspecError:
        return None


def _programs(before: TaskSpec, now: TaskSpec) -> tuple[object, object]:
    """Installed ones by name where one of both does not say what it was, as those of before."""
    was, new = text_in(before.more, PROGRAM), text_in(now.more, PROGRAM)
    told = bool(was and new) and before.published is now.published is None
    one, other = _program(before), _program(now)
    return ((one, was), (other, new)) if told else (one, other)


def _program(spec: TaskSpec) -> str:
    return spec.program if spec.published is None else spec.published.dataset


def _is_whole(reading: DerivedState | None) -> bool:
    return reading is not None and reading.outcome is not None and not reading.mixed_inputs
