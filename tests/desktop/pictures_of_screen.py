"""Where something appeared on the screen: the rectangle in which two pictures of it differ.

A file manager tells nobody where it draws a file. A person sees it appear, and so does this.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from tests.desktop.desktop import COMMAND_S_MAX
from tests.desktop.virtual_desktop import VirtualDesktop

BYTES = 3
HEIGHT_MIN, GAP_MAX = 16, 3
"""What is lower than an icon is none; what has more rows between is two things."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Rows of pixels, three bytes each."""

    width: int
    height: int
    pixels: bytes

    def row(self, number: int) -> bytes:
        """One of them."""
        length = self.width * BYTES
        return self.pixels[number * length : (number + 1) * length]


def picture_of(desktop: VirtualDesktop, window: str) -> Picture:
    """What a window shows now."""
    told = subprocess.run(
        ["import", "-window", window, "-depth", "8", "ppm:-"],
        env=desktop.environment,
        capture_output=True,
        timeout=COMMAND_S_MAX,
        check=True,
    ).stdout
    _, width, height, _ = told.split(maxsplit=4)[:4]
    size = int(width) * int(height) * BYTES
    return Picture(int(width), int(height), told[-size:])


def appeared(before: Picture, after: Picture) -> tuple[int, int] | None:
    """The middle of the uppermost thing that is new; none while there is nothing."""
    rows = _together(
        [number for number in range(before.height) if before.row(number) != after.row(number)]
    )
    if len(rows) < HEIGHT_MIN:
        return None
    columns = [
        place // BYTES
        for number in rows
        for place, (old, new) in enumerate(zip(before.row(number), after.row(number), strict=True))
        if old != new
    ]
    return (min(columns) + max(columns)) // 2, (rows[0] + rows[-1]) // 2


def _together(rows: list[int]) -> list[int]:
    """The first of the rows, until there is a gap."""
    found: list[int] = []
    for each in rows:
        if found and each - found[-1] > GAP_MAX:
            if len(found) >= HEIGHT_MIN:
                break
            found = []
        found.append(each)
    return found
