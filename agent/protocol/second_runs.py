"""What the records of runs say of each other, where a task has more than one that goes on.

* A *copy* is a second run on purpose, beside the one that it was made of, its *original*: it has the
  generation and attempt of the original, and the worst claim that there can be. So every version reads
  the original as owner, and when that ends, the copy is what is left. Either may end the task.
* A copy *leads* once it has seen the machine of its original go, or its owner come back: from then on
  it is what the task is read by.
* Two runs of other attempts, or of one that are no copies, are *rivals*: two sides of a partition have
  both gone on. Each says once how far it has come when it sees the other. Who is furthest goes on; that
  stands in the records, so all replicas read the same.

They travel under ``more``; versions before heed none of it, and let the later attempt go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec import Raw

from agent.protocol.records import Life, More, Run

COPY, GOT = "copy", "got"
COPY_SCORE = 0
"""Of a claim on a copy; no other has it."""
_encode = msgspec.msgpack.Encoder().encode
BESIDE, LEADING = Raw(_encode(1)), Raw(_encode(2))
HowFar = tuple[int, int, int, int]
"""Up to which attempt a run has met rivals, and how far it had come then: 1 unless it is suspended, in
thousandths as its program says, and for how many milliseconds it ran. More is further. It stands up to
those attempts only: whoever begins a later one does not know of this run."""
NOT_TOLD: HowFar = (0, -1, 0, 0)
FIRST_COPY: More = {COPY: BESIDE}
_far: Callable[[Raw], HowFar] = msgspec.msgpack.Decoder(HowFar).decode


def is_copy(run: Run) -> bool:
    """Tell whether a run was begun beside another on purpose."""
    return COPY in run.more


def leads(run: Run) -> bool:
    """Tell whether a copy goes on for a machine that was gone, or whose owner was back."""
    return COPY in run.more and run.more[COPY] == LEADING


def how_far(run: Run) -> HowFar:
    """Return how far a run had come when it met a rival, as its record says; ``NOT_TOLD``, which is
    less than anything, where that says nothing readable."""
    if GOT not in run.more:
        return NOT_TOLD
    try:
        return _far(run.more[GOT])
    except msgspec.MsgspecError:
        return NOT_TOLD


def with_how_far(more: More, far: HowFar) -> More:
    """Return what a record carries with that."""
    return {**more, GOT: Raw(_encode(far))}


def of_one_attempt(one: Run, other: Run) -> bool:
    """Tell whether two runs of one task are an original and its copy, or copies of one original;
    False for two of one host, and for a run and itself."""
    return (
        (one.generation, one.attempt) == (other.generation, other.attempt)
        and one.host != other.host
        and (COPY in one.more or COPY in other.more)
    )


def copies_of(life: Life, run: Run) -> list[Run]:
    """Return the copies of this run's attempt that the life has, also those that have ended; empty
    when none was made."""
    return [
        each
        for each in life.runs
        if COPY in each.more and (each.generation, each.attempt) == (run.generation, run.attempt)
    ]


def hosts_beside(runs: Iterable[Run], owner: Run) -> list[str]:
    """Return where runs of a task go on beside the one by which it is read, for people."""
    return [each.host for each in runs if each.live and of_one_attempt(each, owner)]
