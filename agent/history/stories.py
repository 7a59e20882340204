"""Why tasks moved, kept as long as what became of them.

The protocol's node remembers what it saw of a task, in memory. Here that is kept on the disk, a row
for each task and start of the agent, and goes with the task's last row of the history. It is kept as
it was noted, with ids, because a node sees the moves of the whole flock, and encoding them is all
that can be paid for each.

Whoever was away, or came later, has not seen all; what the records tell of the time before stands
in front then: who had the task when, and how each run ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import msgspec
from msgspec import Raw

from agent.protocol.phrases import UNREADABLE
from agent.protocol.reasons import NO_REASON, WHY, Became, Reason, StoryEntry, reason_in
from agent.protocol.records import TaskId, TaskState
from agent.protocol.table import Table
from agent.storage.history import StoryRow
from agent.wording.run_ends import why_ended

BEGINNINGS = (TaskState.SUBMITTED, TaskState.READY, TaskState.WAITING)
"""A task that was in no other state has no story yet that its record does not tell."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[tuple[int, str, Raw], ...]).decode


class Stories:
    """The stories of one node's tasks, in memory and on the disk, in the loop."""

    def __init__(self, seen: Callable[[TaskId], list[StoryEntry]], begun_ms: int) -> None:
        self._seen, self._begun_ms = seen, begun_ms
        """By which this start of the agent is told from others."""
        self._unkept: dict[TaskId, None] = {}

    def moved(self, task: TaskId, after: TaskState) -> bool:
        """Note that a task moved. Return whether its story is to be kept from now on, which it is
        once the task was more than submitted, ready or waiting; then ``taken`` returns it."""
        keeps = after not in BEGINNINGS or len(self._seen(task)) > len(BEGINNINGS)
        if keeps:
            self._unkept[task] = None
        return keeps

    def taken(self) -> list[StoryRow]:
        """Return the stories of the tasks that have moved since the last call, each whole since the
        agent's start, and count them as kept."""
        unkept, self._unkept = self._unkept, {}
        stories = ((task, self._seen(task)) for task in unkept)
        return [
            StoryRow(task, self._begun_ms, story[-1].at_ms, _encode(story))
            for task, story in stories
            if story
        ]

    def told(self, task: TaskId, table: Table, rows: Iterable[StoryRow]) -> list[StoryEntry]:
        """Return what became of a task of this table, the oldest first: what its records tell, what
        is kept in ``rows``, what was seen since the start."""
        seen = self._seen(task)
        kept = (each for each in rows if not (seen and each.begun_ms == self._begun_ms))
        known = [*chain.from_iterable(map(_entries, kept)), *seen]
        return [*_from_records(task, table, known), *known]


def _entries(row: StoryRow) -> Iterator[StoryEntry]:
    """None where a later version has written it in a way of its own."""
    try:
        told = _decode(row.entries)
    except UNREADABLE:
        return
    for at_ms, cause, what in told:
        yield StoryEntry(at_ms, cause, reason_in({WHY: what}, ""))


def _from_records(task: TaskId, table: Table, known: list[StoryEntry]) -> list[StoryEntry]:
    """What was before the first that is known."""
    spec = table.specs.get(task)
    if spec is None:
        return []
    before_ms = known[0].at_ms if known else 2**63
    found: list[StoryEntry] = []
    for run in sorted(table.life(task).runs, key=lambda run: run.claim.stamp):
        if run.stamp[0] < before_ms:
            end: Reason = why_ended(run)
            if end == NO_REASON:
                end = Became(type(run.phase).__name__, run.host)
            begun = Became("Scheduled", run.host)
            found.append(StoryEntry(run.claim.stamp[0], "", begun))
            if end != begun:
                found.append(StoryEntry(run.stamp[0], "", end))
    first = known[0].what if known else None
    if found or not (isinstance(first, Became) and first.state in BEGINNINGS):
        submitted_ms = table.workflows[table.workflow_of[task]].spec.submitted[0]
        found.insert(0, StoryEntry(submitted_ms, "", Became("Submitted")))
    return sorted(found, key=lambda each: each.at_ms)
