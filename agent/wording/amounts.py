"""How times and shares are said to a person."""

from __future__ import annotations

from datetime import datetime, tzinfo


def megabytes(count: int) -> str:
    """Return a number of bytes as people read it."""
    return f"{count / 1_000_000:,.0f} MB" if count >= 1_000_000 else f"{count / 1_000:,.0f} kB"


def long(seconds: float) -> str:
    """Return a length of time, roughly: 12 s, 5 min, 3 h, 2 days."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    if seconds < 36 * 3600:
        return f"{round(seconds / 3600)} h"
    return f"{round(seconds / 86_400)} days"


def moment(at_s: float, now_s: float, zone: tzinfo | None) -> str:
    """Return a moment of the local clock as text, with its day where that is not today; ``second N``
    for one that no calendar holds, as another machine may tell it."""
    try:
        at, now = datetime.fromtimestamp(at_s, zone), datetime.fromtimestamp(now_s, zone)
    except (OverflowError, OSError, ValueError):
        return f"second {at_s:.0f}"
    text = f"{at.hour:02d}:{at.minute:02d}"
    if at.date() == now.date():
        return text
    days = (at.date() - now.date()).days
    day = at.strftime("%A") if 0 < days < 7 else f"{at.date()}"
    return f"{day} {text}"


def listed(names: tuple[str, ...]) -> str:
    """Return names as they stand in a sentence: a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
