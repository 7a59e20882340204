"""A desktop that nobody sees: X server, bus, window manager, panel with a tray, mouse and keyboard.

Each part is the real one, started for one test session on a free display and ended by its process.
The bus serves accessibility too, so that a test reads the window as a screen reader does.
"""

from __future__ import annotations

import ctypes.util
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.hosts.waiting import let_pass, wait_for
from tests.presence.displays import bus

SIZE = (1400, 960)
LIMIT_S = 60.0
COMMAND_S_MAX = 30.0
END_S_MAX = 20.0
MOUSE_STEPS = 24
MOUSE_PAUSE_S = 0.02
PROGRAMS = ("Xvfb", "xdotool", "xprop", "openbox", "tint2", "dbus-daemon")
LIBRARIES = ("xcb-cursor", "xcb-icccm", "xcb-keysyms", "xcb-shape", "xkbcommon-x11")
PANEL = """\
panel_items = TS
panel_size = 100% 32
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


class VirtualDesktop:
    """What a person has: programs to start, a mouse, a keyboard, eyes."""

    def __init__(self, folder: Path, number: str, bus_address: str) -> None:
        self.bus_address = bus_address
        self._folder = folder
        home = folder / "person"
        runtime = folder / "runtime"
        home.mkdir()
        runtime.mkdir(mode=0o700)
        kept = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith(("XDG_", "QT_", "DBUS_", "WAYLAND_", "WINGBEAT_"))
        }
        self.environment = {
            **kept,
            "DISPLAY": f":{number}",
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "DBUS_SESSION_BUS_ADDRESS": bus_address,
            "AT_SPI_BUS_ADDRESS": bus_address,
            "QT_QPA_PLATFORM": "xcb",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
        }

    @contextmanager
    def program(self, *command: str, **more: str) -> Iterator[subprocess.Popen[bytes]]:
        """A program of this desktop, ended with the block."""
        with self.output(command[0]).open("ab") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=output, env={**self.environment, **more}
            )
        try:
            yield process
        finally:
            end(process)

    def output(self, program: str) -> Path:
        """Where its words are kept."""
        return self._folder / f"{Path(program).name}.output"

    # -- hands -------------------------------------------------------------------------------

    def keys(self, *keys: str) -> None:
        """Pressed one after the other, wherever the keyboard is."""
        self._xdotool("key", "--delay", "40", *keys)

    def click(self, place: tuple[int, int], button: int = 1) -> None:
        """There."""
        self._move(place)
        self._xdotool("click", str(button))

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """As by hand: what is dragged over has to see the mouse move, or it takes nothing."""
        self._move(start)
        self._xdotool("mousedown", "1")
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

    def picture(self, name: str) -> None:
        """Of the whole screen, where ImageMagick is installed; for whoever looks into a failure."""
        if shutil.which("import") is not None:
            subprocess.run(
                ["import", "-window", "root", str(self._folder / f"{name}.png")],
                env=self.environment,
                timeout=COMMAND_S_MAX,
                check=False,
            )

    def sees(self, what: Callable[[], bool], told: str, limit_s: float = LIMIT_S) -> float:
        """Wait until it is so; how long that took. A picture is kept if it never is."""

        def explain() -> str:
            self.picture("never")
            return f"a picture is in {self._folder}"

        return wait_for(what, limit_s, told, explain, poll_s=0.05)

    def _move(self, place: tuple[int, int]) -> None:
        self._xdotool("mousemove", str(place[0]), str(place[1]))

    def _asked(self, *words: str) -> str:
        return subprocess.run(
            ["xdotool", *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_S_MAX,
            check=False,
        ).stdout

    def _xdotool(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], env=self.environment, timeout=COMMAND_S_MAX, check=True)


@contextmanager
def virtual_desktop(folder: Path) -> Iterator[VirtualDesktop]:
    """With window manager and panel; all of it ends with the block."""
    skip_where_there_is_no_desktop()
    with ExitStack() as stack:
        number = stack.enter_context(_display(folder))
        desktop = VirtualDesktop(folder, number, stack.enter_context(bus(folder)))
        panel = folder / "tint2rc"
        panel.write_text(PANEL)
        stack.enter_context(desktop.program("openbox", "--sm-disable"))
        desktop.sees(lambda: _managed(desktop.environment), "a window manager is there")
        stack.enter_context(desktop.program("tint2", "-c", str(panel)))
        desktop.sees(lambda: _has_tray(desktop.environment), "a tray is there")
        yield desktop


def end(process: subprocess.Popen[bytes]) -> None:
    """Politely, and if that is of no use, not."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(END_S_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _display(folder: Path) -> Iterator[str]:
    """An X server on a number that it finds itself."""
    reading, writing = os.pipe()
    width, height = SIZE
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24"]
    with (folder / "Xvfb.output").open("wb") as output:
        server = subprocess.Popen(
            [*command, "-nolisten", "tcp"], stdout=output, stderr=output, pass_fds=[writing]
        )
    os.close(writing)
    try:
        yield _line_of(os.fdopen(reading))
    finally:
        end(server)


def _line_of(told: IO[str]) -> str:
    with told:
        number = told.readline().strip()
    assert number, "the X server ended before it was there"
    return number


def _managed(environment: Mapping[str, str]) -> bool:
    return "window id" in _root_property(environment, "_NET_SUPPORTING_WM_CHECK")


def _has_tray(environment: Mapping[str, str]) -> bool:
    return bool(
        subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--class", "tint2"],
            env=environment,
            capture_output=True,
            timeout=COMMAND_S_MAX,
            check=False,
        ).stdout
    )


def _root_property(environment: Mapping[str, str], name: str) -> str:
    return subprocess.run(
        ["xprop", "-root", name],
        env=environment,
        capture_output=True,
        text=True,
        timeout=COMMAND_S_MAX,
        check=False,
    ).stdout
