"""Which waiting task a free host goes for, and who gets it when several do.

The documents have many rules for it; each is a class of its own, in a file that opens with the rule
and where it comes from. A rule keeps nothing between two questions. What it is told of a host is
what anybody can count: how long it was up each time, what it ended and what it broke off.

``RULES`` in the room's charter names them. The defaults here are those of first come, first served.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from typing import ClassVar, Final

FIRST_RATE: Final = 1e-8
"""Failures a second of a host that has not failed yet, as the source begins."""


@dataclass(slots=True, eq=False)
class HostPast:
    """What is known of a host: ``spans_s`` are the times that it was up until it failed, sorted."""

    node: str
    speed: float = 1.0
    up_since_s: float = 0.0
    spans_s: list[float] = field(default_factory=list)
    up_s: float = 0.0
    done: int = 0
    broken_off: int = 0
    foretold: bool = False
    """What is known is not its past, but how likely it stays by its own word."""

    def failed(self, now_s: float) -> None:
        """Note that the host is gone now."""
        span_s = now_s - self.up_since_s
        insort(self.spans_s, span_s)
        self.up_s += span_s

    @property
    def failure_rate(self) -> float:
        """Failures a second: one over the mean time that it was up (equation 4.4)."""
        return len(self.spans_s) / self.up_s if self.up_s else FIRST_RATE


@dataclass(slots=True, eq=False)
class Waiting:
    """A task that waits: its length as somebody told or learned it, how often it was broken off, and
    how long it had run when that was latest."""

    length_s: float
    broken_off: int = 0
    ran_s: float = 0.0


class Placing:
    """First come, first served: the task at the head goes to whichever host is free; ties between
    hosts are drawn by lot.

    Source: document 003, section 4.1.1 (algorithm 1), the queue of all of them.
    """

    name: ClassVar[str] = "FCFS"
    group: ClassVar[int] = 1
    """A host chooses among so many tasks at the head of the queue."""
    runs: ClassVar[int] = 1
    """So many hosts may run one task at once, where no other waits; the first end counts."""
    gathers_s: ClassVar[float] = 0.0
    """So long candidates for a task are gathered before the best of them gets it."""
    just_begun: ClassVar[float] = 0.0
    """A host that suits a task better takes it over from one that has done no more than this share of it."""
    looks_every_s: ClassVar[float] = 10.0
    """A host that found nothing looks again after this; 0 where somebody central tells it."""

    def score(self, task: Waiting, host: HostPast) -> float:
        """Return how well the host suits the task; of several the highest gets it."""
        del task, host
        return 0.0

    def __repr__(self) -> str:
        return self.name
