"""A real file manager beside the window, and the place where it shows a file."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.desktop.desktop import COMMAND_S_MAX
from tests.desktop.virtual_desktop import VirtualDesktop, skip_where_there_is_no_desktop
from tests.hosts.waiting import let_pass

COMMAND = "pcmanfm"
PLACE = (0, 30, 420, 400)
STILL_S = 0.3


class FolderWindow:
    """With one folder open, empty at first."""

    def __init__(self, desktop: VirtualDesktop, window: str) -> None:
        self._desktop, self._window = desktop, window
        self._shown: Picture | None = None

    def place_of_new(self, make: Callable[[], object]) -> tuple[int, int]:
        """Where on the screen the file appears that this makes."""
        before = self._still()
        make()
        found: list[tuple[int, int]] = []

        def seen() -> bool:
            self._shown = self._still()
            place = appeared(before, self._shown)
            found[:] = [place] if place is not None else []
            return bool(found)

        self._desktop.sees(seen, "the file manager shows the file")
        left, top = self._desktop.corner(self._window)
        return left + found[0][0], top + found[0][1]

    def held(self) -> None:
        """Wait until what is pressed is shown as chosen; it was not when it appeared."""
        assert self._shown is not None
        self._desktop.sees(
            lambda: picture_of(self._desktop, self._window) != self._shown, "the file is held"
        )

    def dragged(self) -> bool:
        """Whether the file hangs on the mouse: its picture is a window of its own."""
        return len(_windows(self._desktop)) > 1

    def _still(self) -> Picture:
        """What is there once it does not change any more."""
        seen = [picture_of(self._desktop, self._window)]

        def still() -> bool:
            let_pass(STILL_S)
            seen.append(picture_of(self._desktop, self._window))
            return seen[-1] == seen[-2]

        self._desktop.sees(still, "the file manager has drawn everything")
        return seen[-1]


@contextmanager
def folder_window(desktop: VirtualDesktop, folder: Path) -> Iterator[FolderWindow]:
    """Closed with the block."""
    skip_where_there_is_no_desktop(COMMAND, "import")
    with desktop.program(COMMAND, str(folder)):
        desktop.sees(lambda: bool(_windows(desktop)), "the file manager is there")
        window = _windows(desktop)[-1]
        desktop.place(window, *PLACE)
        desktop.sees(lambda: desktop.corner(window)[0] < PLACE[2], "it is at its place")
        yield FolderWindow(desktop, window)


def _windows(desktop: VirtualDesktop) -> list[str]:
    return desktop.windows("--class", COMMAND)


# -- where something appeared on the screen --------------------------------------------------
#
# The rectangle in which two pictures of it differ. A file manager tells nobody where it draws a
# file. A person sees it appear, and so does this.


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
