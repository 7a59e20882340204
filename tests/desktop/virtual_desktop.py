"""A desktop that nobody sees: X server, bus, window manager, panel with a tray, mouse and keyboard.

Each part is the real one, started for one test session on a free display and ended by its process.
The bus serves accessibility too, so that a test reads the window as a screen reader does.
"""

from __future__ import annotations

import ctypes.util
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.desktop.desktop import COMMAND_S_MAX, Desktop, end
from tests.hosts.waiting import let_pass
from tests.presence.displays import bus, start_display

SIZE = (1400, 960)
MOUSE_STEPS = 24
MOUSE_PAUSE_S = 0.02
DRAG_BEGINS = 12
PROGRAMS = ("Xvfb", "xdotool", "xprop", "openbox", "tint2", "dbus-daemon")
LIBRARIES = ("xcb-cursor", "xcb-icccm", "xcb-keysyms", "xcb-shape", "xkbcommon-x11")
PANEL_HEIGHT = 32
PANEL = f"""\
panel_items = TS
panel_size = 100% {PANEL_HEIGHT}
panel_position = bottom center horizontal
panel_background_id = 1
taskbar_background_id = 0
systray_padding = 4 4 4
systray_icon_size = 24
rounded = 0
border_width = 0
background_color = #303030 100
"""


def skip_where_there_is_no_desktop(*more: str) -> None:
    """With one sentence that says what to install."""
    missing = [each for each in (*PROGRAMS, *more) if shutil.which(each) is None]
    missing += [f"lib{each}" for each in LIBRARIES if ctypes.util.find_library(each) is None]
    if missing:
        pytest.skip(f"not installed here, so there is no desktop to try: {', '.join(missing)}")


class VirtualDesktop(Desktop):
    """With a mouse besides, and a tray in its panel."""

    def __init__(self, folder: Path, number: str, bus_address: str) -> None:
        super().__init__(folder, bus_address, DISPLAY=f":{number}", QT_QPA_PLATFORM="xcb")

    # -- hands -------------------------------------------------------------------------------

    def keys(self, *keys: str) -> None:
        """With a little time between them."""
        self._xdotool("key", "--delay", "40", *keys)

    def click(self, place: tuple[int, int], button: int = 1) -> None:
        """There."""
        self._move(place)
        self._xdotool("click", str(button))

    def drag(
        self,
        start: tuple[int, int],
        end: tuple[int, int],
        held: Callable[[], object],
        dragged: Callable[[], bool],
    ) -> None:
        """As by hand: what is pressed shows that it is ``held`` before it is moved, and that it is
        ``dragged`` before it is moved far; what is dragged over sees the mouse move, or it takes
        nothing."""
        self._move(start)
        self._xdotool("mousedown", "1")
        held()

        def begun() -> bool:
            for way in (1, 2):
                self._move((start[0] + way * DRAG_BEGINS, start[1] + way * DRAG_BEGINS))
            return dragged()

        self.sees(begun, "what is held is dragged")
        for step in range(1, MOUSE_STEPS + 1):
            self._move(
                (
                    start[0] + (end[0] - start[0]) * step // MOUSE_STEPS,
                    start[1] + (end[1] - start[1]) * step // MOUSE_STEPS,
                )
            )
            let_pass(MOUSE_PAUSE_S)

    def jiggle(self, place: tuple[int, int]) -> None:
        """Move the mouse a little, as a hand does."""
        self._move((place[0] + 3, place[1] + 3))
        self._move(place)

    def release(self) -> None:
        """Let go."""
        self._xdotool("mouseup", "1")

    # -- windows -----------------------------------------------------------------------------

    def windows(self, *criteria: str) -> list[str]:
        """Those that are seen and that fit."""
        return self._asked("search", "--onlyvisible", *criteria).split()

    def corner(self, window: str) -> tuple[int, int]:
        """Left and top of it on the screen."""
        left, top, _, _ = self.extents(window)
        return left, top

    def extents(self, window: str) -> tuple[int, int, int, int]:
        """Left, top, width and height; all nothing if it is gone."""
        told = self._asked("getwindowgeometry", "--shell", window)
        found = dict(line.split("=") for line in told.splitlines() if "=" in line)
        left, top, width, height = (int(found.get(k, 0)) for k in ("X", "Y", "WIDTH", "HEIGHT"))
        return left, top, width, height

    def minimise(self, window: str) -> None:
        """Put away."""
        self._xdotool("windowminimize", window)

    def in_front(self) -> str:
        """The title of the window that has the keyboard; empty if none has it."""
        return self._asked("getactivewindow", "getwindowname").strip()

    def place(self, window: str, left: int, top: int, width: int, height: int) -> None:
        """Where a person would drag it to."""
        self._xdotool("windowsize", window, str(width), str(height))
        self._xdotool("windowmove", window, str(left), str(top))

    def camera(self, path: Path) -> list[str]:
        """ImageMagick."""
        return ["import", "-window", "root", str(path)]

    def _move(self, place: tuple[int, int]) -> None:
        self._xdotool("mousemove", str(place[0]), str(place[1]))

    def _asked(self, *words: str) -> str:
        return self.says("xdotool", *words)

    def _xdotool(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], env=self.environment, timeout=COMMAND_S_MAX, check=True)


@contextmanager
def virtual_desktop(
    folder: Path, size: tuple[int, int] = SIZE, *, panel: bool = True
) -> Iterator[VirtualDesktop]:
    """With a window manager, and a panel if wanted; all of it ends with the block."""
    skip_where_there_is_no_desktop()
    with ExitStack() as stack:
        server, number = start_display(folder, size=size)
        stack.callback(end, server)
        desktop = VirtualDesktop(folder, number, stack.enter_context(bus(folder)))
        stack.enter_context(desktop.program("openbox", "--sm-disable"))
        desktop.sees(lambda: _managed(desktop), "a window manager is there")
        if panel:
            stack.enter_context(_panel(desktop))
        yield desktop


@contextmanager
def _panel(desktop: VirtualDesktop) -> Iterator[None]:
    settings = desktop.folder / "tint2rc"
    settings.write_text(PANEL)
    with desktop.program("tint2", "-c", str(settings)):
        desktop.sees(lambda: bool(desktop.windows("--class", "tint2")), "a tray is there")
        yield


def _managed(desktop: VirtualDesktop) -> bool:
    return "window id" in desktop.says("xprop", "-root", "_NET_SUPPORTING_WM_CHECK")
