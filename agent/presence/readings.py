"""What sources of presence have seen, as values: the only thing that a verdict is made from.

A source either has seen something or says why it cannot see. There is no third thing: no default
stands in for what nobody saw, because others that assume an unwatched machine to be idle compute
while its owner works. A rule that needs a source which cannot see holds the machine back.

Moments are seconds of the monotonic clock, so that a clock that is set does not wake anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from agent.api.presence_reasons import Blindness, Filling, Meeting, NotLookedAt

T = TypeVar("T")


class Kind(StrEnum):
    """The kinds of things that sources see."""

    INPUT = "last input"
    SESSION = "sessions"
    MAINS = "mains"
    FULL_SCREEN = "full screen"
    MEETING = "meeting"
    PROCESSOR = "processor"
    MEMORY = "memory"
    PROGRAMS = "programs"


@dataclass(frozen=True, slots=True)
class Seen(Generic[T]):
    """What a source saw, and which source: ``by`` is a word or two, like ``X11``."""

    value: T
    by: str = ""


@dataclass(frozen=True, slots=True)
class Unseen:
    """A source cannot see, and why; of several that were tried, each."""

    because: tuple[Blindness, ...]

    def __init__(self, *because: Blindness) -> None:
        object.__setattr__(self, "because", because)


Reading = Seen[T] | Unseen


@dataclass(frozen=True, slots=True)
class LastInput:
    """When somebody last used this machine. Never what was typed."""

    at_s: float
    pointer: tuple[int, int] | None = None
    """Where the pointer is, in pixels; None where the source cannot tell."""
    where: str = ""
    """A terminal; empty for the screen."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """Who is logged in at the screens of this machine."""

    locked: bool = False
    """The owner's screen is locked, or its screen saver is on."""
    nobody: bool = False
    """Nobody is logged in at a screen at all."""
    others: tuple[str, ...] = ()
    """Who else has a screen in use that cannot be looked into."""


NOT_READ = Unseen(NotLookedAt())


@dataclass(frozen=True, slots=True)
class Readings:
    """Everything that was seen last."""

    input: Reading[LastInput] = NOT_READ
    sessions: Reading[Sessions] = NOT_READ
    on_mains: Reading[bool] = NOT_READ
    full_screen: Reading[Filling | None] = NOT_READ
    """What fills the screen or keeps it on."""
    meeting: Reading[Meeting | None] = NOT_READ
    """What a call uses, a microphone or a camera."""
    others_cpu_percent: Reading[float] = NOT_READ
    """Of the whole machine, by programs that are not this node's; an average over seconds."""
    free_memory_mb: Reading[float] = NOT_READ
    exclusive: Reading[tuple[str, ...]] = NOT_READ
    """Which of the exclusive programs run."""
    running: int = 0
    """Tasks that this node runs now, suspended ones among them."""

    def of(self, kind: Kind) -> Reading[Any]:
        """Return the reading of one kind."""
        reading: Reading[Any] = getattr(self, LOOKS[kind].field)
        return reading


class Look(NamedTuple):
    """Where the reading of a kind is, and how often its sources are looked at, at most, while tasks
    run and while none does."""

    field: str
    brisk_s: float
    idle_s: float


LOOKS = {
    Kind.INPUT: Look("input", 0.0, 0.0),
    Kind.SESSION: Look("sessions", 1.0, 4.0),
    Kind.MAINS: Look("on_mains", 5.0, 10.0),
    Kind.FULL_SCREEN: Look("full_screen", 2.0, 5.0),
    Kind.MEETING: Look("meeting", 5.0, 15.0),
    Kind.PROCESSOR: Look("others_cpu_percent", 2.5, 5.0),
    Kind.MEMORY: Look("free_memory_mb", 2.5, 10.0),
    Kind.PROGRAMS: Look("exclusive", 5.0, 15.0),
}
