"""What a machine is told to do that belongs to no flock, or does not belong any more."""

from __future__ import annotations

HOW_TO_JOIN = (
    "this machine belongs to no flock: join one with an invitation (`wingbeat flock join TEXT`), ask "
    "one nearby (`wingbeat flock nearby`), or make one (`wingbeat flock create NAME`)"
)


def sent_away(flock: str) -> str:
    """Return what a person has to do at a machine that does not belong any more."""
    return (
        f"this machine was sent away from {flock}: leave the flock (`wingbeat flock leave`) and "
        f"join again with a new invitation"
    )
