"""What is said when something about belonging to a flock does not work.

A person reads it, mostly on a machine that is not theirs, so the rule is one sentence that says
what is wrong, where, and what to do. It is made where the reason is known and passed on unchanged.
"""

from __future__ import annotations

from msgspec import Struct


class Refusal(Struct, frozen=True):
    """Why the other end of a connection is not let in."""

    reason: str


def duration(seconds: float) -> str:
    """Return a duration in the largest unit of which it has two, such as "3 hours", without its
    sign."""
    for unit, length_s in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if round(abs(seconds) / length_s) >= 2:
            return f"{round(abs(seconds) / length_s)} {unit}"
    return f"{abs(seconds):.0f} seconds"
