"""The records of a workflow, packed as they were when it ended, and read off again years later.

What is kept are the flock's own records, not what was shown of them: whatever can be asked of a
workflow of today can be asked of one of the past, by the same code, also what nobody thought of when
it ended. Names of machines go along, for a machine that has left is known to nobody any more.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agent.api.past import MS_MAX, EndState
from agent.api.programs import bare_name
from agent.api.reasons import NO_REASON, Reason, as_why
from agent.api.values import workflow_state
from agent.protocol.records import (
    Evicted,
    Failed,
    NodeId,
    Run,
    TaskId,
    TaskLife,
    TaskState,
    Terminated,
    Workflow,
    WorkflowId,
    WorkflowSpec,
    Yielded,
)
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.protocol.times import came_to_nothing, held_ms, span_of_workflow_ms, started_ms
from agent.storage.past import PastRow
from agent.wording.run_ends import named
from agent.wording.speech import english

_json = msgspec.json.Encoder().encode


class Records(Struct, frozen=True):
    """A workflow with the lives of its tasks, what its tasks need of ``others``, the names of
    machines, and the one that it is of (``agent.protocol.own_work``); None where a version
    before kept it, so that nobody knows but the record."""

    workflow: Workflow
    lives: tuple[TaskLife, ...]
    names: dict[NodeId, str]
    others: tuple[Workflow, ...] = ()
    home: NodeId | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A workflow that has ended, taken from the table in the loop; the rest is done in a thread."""

    records: Records
    state: EndState
    version: int
    seen_ms: int
    """When its end was noticed, for one that was cancelled while nothing of it ran."""

    @property
    def workflow(self) -> WorkflowId:
        """Return the id of the workflow."""
        return self.records.workflow.spec.workflow


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Records).decode


def version_of(table: Table, workflow: Workflow) -> int:
    """Return a number that is another one as soon as anything of the workflow is recorded anew."""
    tasks = (table.digest.version("t" + spec.task) or 0 for spec in workflow.spec.tasks)
    mine = table.digest.version("w" + workflow.spec.workflow) or 0
    return (mine + sum(tasks)) & (2**62 - 1)


def ended_of(
    table: Table,
    workflow: WorkflowId,
    name_of: Callable[[NodeId], str],
    seen_ms: int,
    home_of: Callable[[WorkflowSpec], NodeId],
) -> Ended | None:
    """Return a workflow of the table that has ended, with all that is to be kept of it; None for one
    that goes on, or is not there."""
    found = table.workflows.get(workflow)
    if found is None or table.unfinished.get(workflow):
        return None
    state = workflow_state(table.counts(workflow))
    if state not in ("finished", "failed", "cancelled"):
        return None
    others = _needed(table, found)
    tasks = [spec.task for each in (found, *others) for spec in each.spec.tasks]
    lives = tuple(TaskLife(task, table.lives[task]) for task in tasks if task in table.lives)
    hosts = {found.spec.host, *(run.host for each in lives for run in each.life.runs)}
    names = {host: name_of(host) for host in sorted(hosts)}
    records = Records(found, lives, names, others, home_of(found.spec))
    return Ended(records, state, version_of(table, found), seen_ms)


def _needed(table: Table, workflow: Workflow) -> tuple[Workflow, ...]:
    """Of other workflows the tasks on which this one hangs, directly or not."""
    own = {spec.task for spec in workflow.spec.tasks}
    found: dict[TaskId, None] = {}
    queue = [need for task in own for need in table.producers.get(task, ()) if need not in own]
    for task in queue:
        if task in table.specs and task not in found:
            found[task] = None
            queue += table.producers[task]
    places: dict[WorkflowId, list[TaskId]] = {}
    for task in found:
        places.setdefault(table.workflow_of[task], []).append(task)
    return tuple(_part(table.workflows[each], places[each]) for each in sorted(places))


def _part(workflow: Workflow, tasks: Iterable[TaskId]) -> Workflow:
    wanted = set(tasks)
    specs = tuple(spec for spec in workflow.spec.tasks if spec.task in wanted)
    return replace(workflow, spec=replace(workflow.spec, tasks=specs))


def pack(records: Records) -> bytes:
    """Return the records as bytes to be kept."""
    return zlib.compress(_encode(records), 6)


def unpack(packed: bytes) -> Records:
    """Return the records that were packed; raise ``ValueError`` or ``msgspec.MsgspecError`` for what
    is damaged."""
    try:
        return _decode(zlib.decompress(packed))
    except zlib.error as error:
        raise ValueError(str(error)) from error


def table_of(records: Records) -> Table:
    """Return a table with these records alone, from which all can be read off."""
    table = Table(Settings())
    table.join((*records.others, records.workflow), records.lives)
    return table


# -- a row of the list ------------------------------------------------------------------------------


def row_of(ended: Ended) -> PastRow:
    """Return the row that lists show of an ended workflow: times, machines and programs by name, the
    first step that failed and why, and the words by which it is found. Gates count as tasks, but
    their runs not as attempts."""
    records, table = ended.records, table_of(ended.records)
    spec, names = records.workflow.spec, records.names
    host, programs = names[spec.host], _programs(records.workflow)
    worked = [run for each in spec.tasks if not each.gate for run in _runs(table, each.task)]
    machines = sorted({names[run.host] for run in worked})
    failed, why = _failure(table, records.workflow)
    reason = english(why)
    words = (spec.name, spec.submitter, host, *machines, *programs, failed, reason)
    return PastRow(
        spec.workflow,
        spec.name,
        ended.state,
        records.workflow.priority.value,
        spec.submitter,
        host,
        spec.host,
        *times_of(table, records.workflow, ended.seen_ms),
        min(MS_MAX, sum(map(_worked_ms, worked))),
        len(spec.tasks),
        len(worked),
        _json(machines).decode(),
        _json(programs).decode(),
        failed,
        reason,
        _json(as_why(why)).decode(),
        "\n".join(words).casefold(),
        ended.version,
    )


class Times(NamedTuple):
    """When a workflow was submitted, began and ended, and how long it waited before it began."""

    submitted_ms: int
    begun_ms: int
    ended_ms: int
    waited_ms: int


def times_of(table: Table, workflow: Workflow, seen_ms: int) -> Times:
    """Return the times of a workflow that has ended, as every node tells them; the end of one that was
    cancelled while nothing of it ran is ``seen_ms``. No end is before the submission, and what never
    began has waited until its end."""
    submitted_ms = workflow.spec.submitted[0]
    begun_ms, ended_ms = span_of_workflow_ms(workflow, table)
    ended_ms = max(submitted_ms, ended_ms or seen_ms)
    waited_ms = max(0, (begun_ms or ended_ms) - submitted_ms)
    return Times(submitted_ms, begun_ms, ended_ms, waited_ms)


def worked_ms_of(table: Table, workflow: Workflow) -> int:
    """Return how long machines worked for a workflow, as every node tells it; gates, and runs whose
    end their machine has not told, are left out."""
    tasks = (each.task for each in workflow.spec.tasks if not each.gate)
    return sum(_worked_ms(run) for task in tasks for run in _runs(table, task))


def _programs(workflow: Workflow) -> list[str]:
    called = {bare_name(each.program) for each in workflow.spec.tasks}
    return sorted(called - {""})


def _runs(table: Table, task: TaskId) -> list[Run]:
    """Those that came to something; one that was decided elsewhere is no attempt."""
    return [run for run in table.life(task).runs if not came_to_nothing(run)]


def _worked_ms(run: Run) -> int:
    """Of a run whose end its own machine has told; when one was lost is not known."""
    told = isinstance(run.phase, Terminated | Failed | Evicted | Yielded)
    return max(0, run.stamp[0] - started_ms(run) - held_ms(run)) if told else 0


def _failure(table: Table, workflow: Workflow) -> tuple[str, Reason]:
    """The first step that failed by itself, and why; those behind it only never ran."""
    for each in workflow.spec.tasks:
        reading = table.reading(each.task)
        if reading is not None and reading.state is TaskState.ABORTED and _runs(table, each.task):
            return each.name, named(reading.reason or NO_REASON, table)
    return "", NO_REASON
