"""Time is told from outside, in two ways; and one table of named deadlines.

Durations are measured on a monotonic clock that nobody can set. Order between nodes is told by
a hybrid logical clock: the wall clock while it behaves, a counter when it does not, so that a
clock that is stepped back never makes a later word look older. Stamps more than a day ahead are
kept where they stand, but move no clock: one machine set to 2099 does not spoil the flock.

Of the deadlines one place knows which comes next. A timer is named by its kind and, where there are several of a kind, a subject. Arming a timer
again moves it.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from agent.protocol.records import Stamp, TaskId

COUNTER_MAX = 2**62


class Instant(NamedTuple):
    """When an event is handled: seconds of a monotonic clock, milliseconds of the wall."""

    elapsed_s: float
    wall_ms: int


class HybridClock:
    """Readings that only grow, near the wall clock of this node."""

    def __init__(self, last: Stamp, ahead_ms_max: int) -> None:
        self.last = last
        self._ahead_ms_max = ahead_ms_max

    def read(self, wall_ms: int) -> Stamp:
        """Return a stamp later than every earlier one and every stamp that was observed and
        believed, at the wall clock's time where that is later, and remember it."""
        wall, counter = self.last
        if wall_ms > wall:
            self.last = (wall_ms, 0)
        elif counter < COUNTER_MAX:
            self.last = (wall, counter + 1)
        else:
            self.last = (wall + 1, 0)
        return self.last

    def observe(self, stamp: Stamp, wall_ms: int) -> bool:
        """Take note of a peer's stamp, so that all that are read from now on are later, and return
        True; return False, and ignore it, when it is too far ahead of the wall clock to be
        believed."""
        if stamp[0] > wall_ms + self._ahead_ms_max:
            return False
        if stamp > self.last:
            self.last = stamp
        return True


class TimerKind(Enum):
    """What a deadline is for."""

    TICK = "tick"
    """Every periodic duty: heartbeats, suspicion, promises, repeats."""
    BETTER = "better"
    OVERDUE = "overdue"
    """Claimable work was left lying by whoever should have taken it."""
    AHEAD = "ahead"
    """A run of this node is about to end: what follows it may be claimed."""
    PLAN = "plan"
    """Ends that fall together have fallen; what they free is dealt out."""
    CONTEST = "contest"
    """A task was left to somebody for a while, and the while is over."""
    ELECTION = "election"
    """The window for candidacies closes."""
    HAND_BACK = "hand back"
    """A task is suspended for so long that it is offered to the flock."""
    TELL = "tell"
    """What was kept back, to be told with more of its kind, is told."""
    ROW = "row"
    """Runs have lain in this node's row for so long that peers are told of them."""
    ROW_STANDS = "row stands"
    """A short task runs for so long that what waits behind it is given back."""
    UNKNOWN = "unknown"
    """An answer about an unknown task, or the end of the wait for one."""

    __hash__ = object.__hash__
    """As of ``TaskState``."""


TimerName = tuple[TimerKind, TaskId]


class Timers:
    """Deadlines in seconds of the monotonic clock."""

    def __init__(self) -> None:
        self._deadlines: dict[TimerName, float] = {}
        self.next: float | None = None
        """The earliest deadline."""

    def arm(self, kind: TimerKind, deadline_s: float, subject: TaskId = "") -> None:
        """Set a timer, or move it to this deadline, earlier or later, if it is set already. An
        empty ``subject`` is the one timer of its kind that is of no task."""
        name = (kind, subject)
        moved = self._deadlines.get(name)
        self._deadlines[name] = deadline_s
        if moved is not None and moved == self.next:
            self.next = min(self._deadlines.values())
        elif self.next is None or deadline_s < self.next:
            self.next = deadline_s

    def armed(self, kind: TimerKind, subject: TaskId = "") -> bool:
        """Tell whether the timer is set."""
        return (kind, subject) in self._deadlines

    def disarm(self, kind: TimerKind, subject: TaskId = "") -> None:
        """Forget a timer, armed or not."""
        if self._deadlines.pop((kind, subject), None) is not None:
            self.next = min(self._deadlines.values(), default=None)

    def take_due(self, now_s: float) -> list[TimerName]:
        """Remove and return the timers whose deadlines are not after this time, the earliest first;
        empty when there is none."""
        if self.next is None or self.next > now_s:
            return []
        due = sorted(
            (deadline, name[0].value, name[1], name)
            for name, deadline in self._deadlines.items()
            if deadline <= now_s
        )
        for _, _, _, name in due:
            del self._deadlines[name]
        self.next = min(self._deadlines.values(), default=None)
        return [name for _, _, _, name in due]
