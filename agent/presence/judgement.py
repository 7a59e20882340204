"""What a verdict is made of besides readings and rules, and what comes out.

What a person has said for the moment (pause, or finish and pause) lies over the rules. A pause
beats the hours and every other rule, whatever a clock says meanwhile, and is kept over restarts.
Its end is a moment of the wall clock: a machine that slept through it is not paused any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo
from enum import StrEnum
from typing import Literal

from agent.api.reasons import Reason
from agent.presence.readings import Kind
from agent.presence.touch import Busy, Settling, Touch


class Cause(StrEnum):
    """Why, where it is not what one kind of source saw; what is said to the flock changes only with
    this, or with that kind."""

    ALWAYS = "always"
    OWN = "own work"
    IDLE = "idle"
    PAUSED = "paused"
    FINISHING = "finishing"
    HOURS = "hours"
    UNSEEN = "unseen"
    WARNED = "warned"
    OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Now:
    """The two clocks: one for lengths of time, one for hours; None is this machine's own zone."""

    steady_s: float
    wall_s: float
    zone: tzinfo | None = None

    def ms_at(self, steady_s: float) -> int:
        """Return a moment of the steady clock as people date it, in milliseconds since 1970."""
        return round((self.wall_s - (self.steady_s - steady_s)) * 1000)


@dataclass(frozen=True, slots=True)
class Memory:
    """What one verdict leaves to the next."""

    touch: Touch = field(default_factory=Touch)
    busy: Busy = field(default_factory=Busy)
    settling: Settling = field(default_factory=Settling)
    warned_s: float | None = None
    """Since when nothing holds the machine back, by the steady clock; None while something does."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Something that holds the machine back: why, and what the flock is told.

    ``kind`` is what was looked at; None for the hours, which need no looking.
    """

    cause: Cause | Kind
    kind: Kind | None
    reason: Reason
    told: Reason
    left_s: float | None = None
    """When it may be over, as far as that can be known."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether this machine helps. ``owner_present`` suspends what runs for others. ``paused``: nothing
    begins, and nothing is spared for having been submitted here. ``own_only``: it helps nobody but whoever submits here."""

    volunteering: bool
    owner_present: bool
    own_only: bool
    lets_end_ms: int
    cause: Cause | Kind
    reason: Reason
    """For whoever sits here: "Paused: you moved the mouse 12 s ago"."""
    told: Reason
    """For the flock: without ages, which would be sent each second, and without names."""
    look_again_s: float
    pause_begins: bool
    """What was to be finished has ended: the pause that was asked for begins."""
    memory: Memory
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Unpaused:
    """Nothing is said: the rules decide."""


@dataclass(frozen=True, slots=True)
class Paused:
    """Nothing runs for others; None is until somebody resumes."""

    until_s: float | None = None
    why: Reason | None = None
    """Where nobody asked for it: why it is paused."""


@dataclass(frozen=True, slots=True)
class Finishing:
    """Nothing new is taken; when what runs has ended, it is paused."""

    then: Paused


Wish = Unpaused | Paused | Finishing

Bar = Literal["", "others", "all"]
"""Whose work may not begin where programs cannot be confined."""
