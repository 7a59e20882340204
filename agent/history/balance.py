"""For how long machines worked for each other: what this one gave, and what its person took.

It is read off the runs of a task when that has ended, so it counts with its end: what was thrown away on
the way, too. How long a run took is what its host has measured. Where it could not (it died, or went on from
saved state), or is of a version that did not, the times of the record tell.
"""

from __future__ import annotations

from typing import NamedTuple

from agent.protocol.reading import DerivedState, effective_generation
from agent.protocol.records import (
    Evicted,
    Failed,
    Life,
    Lost,
    NodeId,
    Run,
    Scheduled,
    Terminated,
    Yielded,
)
from agent.protocol.second_runs import is_copy
from agent.protocol.times import end_of_run_ms, held_ms, started_ms, took


class Shares(NamedTuple):
    """Of one task that has ended: for how long this machine ran it for others, how much of that came to no
    end here, and for how long others ran it for this machine's person."""

    gave_ms: int = 0
    thrown_ms: int = 0
    took_ms: int = 0


def shares_of(life: Life, reading: DerivedState, home: NodeId, here: NodeId) -> Shares:
    """Return how long, for a task that has ended, others ran it where ``home`` is this machine
    (``here``); else, also for an empty ``home``, how long this one did, and how much of that came
    to no end here, copies of runs left out. Only runs of its last generation count."""
    runs = [run for run in life.runs if run.generation == effective_generation(life)]
    if home == here:
        others = (run for run in runs if run.host != here)
        return Shares(took_ms=sum(_worked_ms(run, life, reading) for run in others))
    worked = [(run, _worked_ms(run, life, reading)) for run in runs if run.host == here]
    lost = (each for each in worked if not isinstance(each[0].phase, Terminated | Failed))
    thrown = (ms for run, ms in lost if not is_copy(run))  # which was to come to nothing, or not
    return Shares(gave_ms=sum(ms for _, ms in worked), thrown_ms=sum(thrown))


def _worked_ms(run: Run, life: Life, reading: DerivedState) -> int:
    """One that was stopped without a measurement had not begun; 0 of one that went on from saved state
    is none."""
    measured = took(run)
    if measured is not None and measured.run_ms:
        return measured.run_ms
    unbegun = isinstance(run.phase, Scheduled) or run.phase == Lost(ran=False)
    if unbegun or (measured is None and isinstance(run.phase, Evicted | Yielded)):
        return 0
    return max(0, end_of_run_ms(run, life, reading) - started_ms(run) - held_ms(run))
