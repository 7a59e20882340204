"""When a second copy of a run is worth a machine that has nothing else to do.

The question is put only where such a machine is, nothing that is ready waits, and bounds of the flock
(``settings``) leave room; the policy answers whether, never how many. A policy that copies whatever runs, as
work queues with replication do, comes through the same door.
"""

from __future__ import annotations

from typing import Final, Protocol

from msgspec import Struct

from agent.protocol.policy.lasting import MUCH_LIKELIER, RISKY

WORTH_S: Final = 10.0
"""What ends sooner is not begun a second time."""
GAINS: Final = 1.25
"""A copy must be expected to end by so much sooner, or the first run by so much later."""


class RunningView(Struct, frozen=True):
    """A run that goes on, and the machine that could begin a copy of it.

    `held_s` is for how long it has been suspended, None where it is not. `left_s` is how long it still
    takes, `here_s` how long the copy would, with what has to be brought there; both None where nobody
    knows. `lasts` and `lasts_here` are how likely each machine stays free for as long as that. `last`:
    nothing of its workflow waits for a place any more.
    """

    held_s: float | None
    left_s: float | None
    here_s: float | None
    lasts: float
    lasts_here: float
    last: bool


class CopyPolicy(Protocol):
    """Answers whether to begin a copy: at most ``most`` of one run, and on this ``share`` of the flock's
    places, where that is more than by its settings."""

    most: int
    share: float

    def worth(self, run: RunningView, after_s: float) -> bool:
        """Tell whether a copy is to be begun; of a suspended run not before it was held for
        ``after_s``."""
        ...


class WhereItHelps:
    """Of what stands still, of what its machine will probably not end, and of the last tasks of a
    workflow where another machine ends them sooner."""

    most, share = 1, 0.0

    def worth(self, run: RunningView, after_s: float) -> bool:
        """Tell whether a copy of this run is worth it. A suspended one is after ``after_s``. Any other must still
        take ``WORTH_S``, and be likely to be broken off where this machine is much likelier to last, or be of the
        last tasks of its workflow and take clearly longer than a copy here; False where lengths are not known."""
        if run.held_s is not None:
            return run.held_s >= after_s
        if run.left_s is None or run.here_s is None or run.left_s < WORTH_S:
            return False
        if run.lasts < RISKY and run.lasts_here > run.lasts + MUCH_LIKELIER:
            return True
        return run.last and run.left_s > GAINS * run.here_s


class WhateverRuns:
    """Of whatever runs, so that so many runs of each task go on, as work queues with replication do."""

    share = 1.0

    def __init__(self, runs: int) -> None:
        self.most = runs - 1

    def worth(self, run: RunningView, after_s: float) -> bool:
        """Return True: a second run is worth it whenever a machine has nothing else to do."""
        del run, after_s
        return True
