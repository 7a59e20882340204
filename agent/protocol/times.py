"""When runs, tasks and workflows began and ended, read off their records, so alike on every node.

A machine that died says nothing of it, and says it late when it comes back. So of a run that the flock has
gone on without the end is when it did so: when the next attempt was claimed, or the task was decided
elsewhere. What a loser still writes about itself changes neither that nor the end of its task.

What the program of a run took is measured where it runs, and its last record says it.

Most runs begin with their claim; of one that first had to fetch its inputs, or to wait for its place, the
record carries when its program began, and of one that was held for how long. One that goes on for a machine
that had been gone for a while when it was claimed says since when.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from msgspec import Raw

from agent.protocol.reading import DerivedState, effective_generation
from agent.protocol.reasons import EndCause, reason_in
from agent.protocol.records import (
    Evicted,
    Failed,
    Life,
    Lost,
    More,
    Phase,
    Run,
    Running,
    Scheduled,
    Suspended,
    TaskState,
    Workflow,
    Yielded,
    run_name,
)
from agent.protocol.sanity import TIME_SANE_MS_MAX
from agent.protocol.table import Table

STARTED, HELD, GONE, RAN = "started", "held", "gone", "ran"
WORTH_TELLING_MS = 1_000
"""A program that begins so soon after the claim begins with it, for people."""
ELSEWHERE = ("SupersededBy", "FinishedBy", "NewIncarnation")
"""Causes of ends by which nothing is decided: it was before."""
_decode = msgspec.msgpack.Decoder(int).decode
_decode_took = msgspec.msgpack.Decoder(tuple[int, int]).decode


def with_times(run: Run, phase: Phase, now_ms: int) -> More:
    """Return what the record of a run carries besides when it comes from its own phase to this one:
    what it carried, with how long it was held so far when it leaves a suspension, and with when its
    program began when that was late. The run is not changed."""
    told: More = {}
    if isinstance(run.phase, Suspended):
        told[HELD] = _packed(held_ms(run) + max(0, now_ms - run.stamp[0]))
    elif isinstance(run.phase, Scheduled) and isinstance(phase, Running):
        late = now_ms - run.claim.stamp[0] >= WORTH_TELLING_MS
        told = {STARTED: _packed(now_ms)} if late else {}
    return {**run.more, **told} if told else run.more


def following(gone_ms: int, now_ms: int) -> More:
    """Return what the record of a run carries that takes over from a machine that is gone since then (0: it
    is not)."""
    worth_telling = gone_ms and now_ms - gone_ms >= WORTH_TELLING_MS
    return {GONE: _packed(gone_ms)} if worth_telling else {}


class Took(NamedTuple):
    """What the program of a run took, as its host measured it: how long it could run, suspensions
    left out, and the processor time of all its processes, 0 where that is not known."""

    run_ms: int
    cpu_ms: int = 0


def with_took(more: More, took: Took | None) -> More:
    """Return ``more``, what a run's record carries, with what its program took added, each number
    brought to 0 at least and ``TIME_SANE_MS_MAX`` at most; unchanged for None."""
    if took is None:
        return more
    told = tuple(min(TIME_SANE_MS_MAX, max(0, each)) for each in took)
    return {**more, RAN: Raw(msgspec.msgpack.encode(told))}


def took(run: Run) -> Took | None:
    """Return what the program of a run took; None where its record does not say, or nothing that
    can be believed."""
    try:
        told = Took(*_decode_took(run.more[RAN]))
    except (KeyError, msgspec.MsgspecError):
        return None
    return told if min(told) >= 0 and max(told) <= TIME_SANE_MS_MAX else None


def _packed(count_ms: int) -> Raw:
    return Raw(msgspec.msgpack.encode(max(0, count_ms)))


def _told(run: Run, name: str) -> int:
    try:
        return min(TIME_SANE_MS_MAX, max(0, _decode(run.more[name])))
    except (KeyError, msgspec.MsgspecError):
        return 0


def started_ms(run: Run) -> int:
    """Return when the program of a run was started, at the latest when it was claimed as far as nobody
    said otherwise."""
    return max(_told(run, STARTED), run.claim.stamp[0])


def held_ms(run: Run) -> int:
    """Return for how long a run was held because its machine was needed, until its last word."""
    return _told(run, HELD)


def end_of_run_ms(run: Run, life: Life, reading: DerivedState) -> int:
    """Return when a run came to its end, in milliseconds since 1970: by its own word or, where it
    is still live or was found lost, when the flock went on without it, if that was earlier; 0 while
    it goes on."""
    told_ms = 0 if run.live else run.stamp[0]
    if told_ms and not isinstance(run.phase, Lost):
        return told_ms
    others = [
        _told(other, GONE) or other.claim.stamp[0]
        for other in life.runs
        if (other.generation, other.attempt) > (run.generation, run.attempt)
    ]
    outcome = reading.outcome
    if outcome is not None and run_name(outcome) != run_name(run):
        others.append(outcome.stamp[0])
    ends = [each for each in (told_ms, *others) if each]
    return max(run.claim.stamp[0], min(ends)) if ends else 0


def end_of_task_ms(life: Life, reading: DerivedState) -> int:
    """Return when it was decided how a task ends, in milliseconds since 1970; 0 while it goes on,
    and where no run of it ended by that."""
    match reading.state:
        case TaskState.TERMINATED:
            return reading.outcome.stamp[0] if reading.outcome is not None else 0
        case TaskState.ABORTED:
            tried = effective_generation(life)
            own = [run for run in life.runs if run.generation == tried]
            failed = [run.stamp[0] for run in own if isinstance(run.phase, Failed)]
            lost = (end_of_run_ms(run, life, reading) for run in own)
            return max(failed or lost, default=0)
        case TaskState.CANCELLED:
            return max((run.stamp[0] for run in life.runs if _decides(run)), default=0)
        case _:
            return 0


def _decides(run: Run) -> bool:
    """Whether the end of a run is one of a cancelled task: not of a loser that comes back, and not of
    one that was handed back or failed, after which the task waited for another."""
    ended_otherwise = run.live or isinstance(run.phase, Lost | Evicted | Failed)
    return not ended_otherwise and not came_to_nothing(run)


def came_to_nothing(run: Run) -> bool:
    """Tell whether a run was left off because its task was decided elsewhere before."""
    if not isinstance(run.phase, Yielded):
        return False
    why = reason_in(run.more, run.phase.reason)
    return isinstance(why, EndCause) and why.kind in ELSEWHERE


class Times(NamedTuple):
    """Of a task that has ended: since when it could run, when the run that counts began, when it was
    decided; for how long it waited for its first machine, ran, and was held."""

    ready_ms: int
    started_ms: int
    ended_ms: int
    waited_ms: int
    ran_ms: int
    held_ms: int


def times_of_task(task: str, table: Table) -> Times:
    """Return the times of a task of the table, as far as they are decided; raise ``KeyError`` for
    an unknown one. It could run when the last that it needs had ended; since when a person wants it
    again is not known."""
    workflow = table.workflows[table.workflow_of[task]]
    life, reading = table.life(task), table.reading(task)
    assert reading is not None
    ready_ms = max((workflow.spec.submitted[0], *_ends(table.producers[task], table)))
    begun = min((run.claim.stamp[0] for run in life.runs), default=0)
    ended_ms, outcome = end_of_task_ms(life, reading), reading.outcome
    waited_ms = max(0, (begun or ended_ms) - ready_ms) if begun or ended_ms else 0
    if outcome is None:
        return Times(ready_ms, begun, ended_ms, waited_ms, 0, 0)
    started, held = started_ms(outcome), held_ms(outcome)
    return Times(ready_ms, started, ended_ms, waited_ms, max(0, ended_ms - started - held), held)


def _ends(tasks: Iterable[str], table: Table) -> Iterable[int]:
    for task in tasks:
        reading = table.reading(task)
        if reading is not None and reading.outcome is not None:
            yield reading.outcome.stamp[0]


def span_of_workflow_ms(workflow: Workflow, table: Table) -> tuple[int, int]:
    """Return when the first run of a workflow was claimed and when it was decided how its last task
    ends; 0 for what has not come yet, and for the end of one that was cancelled while nothing of it
    ran: when that was stands in no record."""
    if table.unfinished.get(workflow.spec.workflow):
        lives = (table.life(spec.task) for spec in workflow.spec.tasks)
        return min((run.claim.stamp[0] for life in lives for run in life.runs), default=0), 0
    begun, ends, cancelled = list[int](), [0], list[int]()
    for spec in workflow.spec.tasks:
        life, reading = table.life(spec.task), table.reading(spec.task)
        if reading is not None:
            begun += (run.claim.stamp[0] for run in life.runs)
            ends.append(end_of_task_ms(life, reading))
            if reading.state is TaskState.CANCELLED:
                cancelled.append(ends[-1])
    untold = bool(cancelled) and not any(cancelled)
    return min(begun, default=0), 0 if untold else max(ends)
