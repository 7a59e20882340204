"""What a person has said for the moment: pause, or finish and pause. It lies over the rules.

A pause beats the hours and every other rule, whatever a clock says meanwhile, and is kept over
restarts. Its end is a moment of the wall clock: a machine that slept through it is not paused any
more.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.api.reasons import Reason


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
