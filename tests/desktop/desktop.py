"""What every desktop of these runs has, whatever draws it: programs to start, eyes, a bus."""

from __future__ import annotations

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

T = TypeVar("T")
LIMIT_S = COMMAND_S_MAX = END_S_MAX = EVENTUALLY_S_MAX
FOREIGN = ("XDG_", "QT_", "DBUS_", "WAYLAND_", "WINGBEAT_", "DISPLAY", "SWAY", "LANG", "LC_")
"""Beginnings of what the desktop of whoever runs the tests tells its programs."""


class Desktop(ABC):
    """Its programs find it by ``environment``."""

    def __init__(self, folder: Path, bus_address: str, **more: str) -> None:
        self.bus_address = bus_address
        self.folder = folder
        home = folder / "person"
        runtime = folder / "runtime"
        home.mkdir()
        runtime.mkdir(mode=0o700)
        kept = {name: text for name, text in os.environ.items() if not name.startswith(FOREIGN)}
        self.environment = {
            **kept,
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "DBUS_SESSION_BUS_ADDRESS": bus_address,
            "AT_SPI_BUS_ADDRESS": bus_address,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            **more,
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

    def says(self, *command: str) -> str:
        """What a command of this desktop prints; nothing where it fails."""
        return subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_S_MAX,
            check=False,
        ).stdout

    def output(self, program: str) -> Path:
        """Where its words are kept."""
        return self.folder / f"{Path(program).name}.output"

    def sees(
        self, what: Callable[[], bool], told: str, seen: Callable[[], object] | None = None
    ) -> float:
        """Wait until it is so; how long that took. A picture is kept if it never is, and what is
        ``seen`` then is told."""

        def explain() -> str:
            self.picture("never")
            more = f"; seen: {seen()}" if seen is not None else ""
            return f"a picture is in {self.folder}{more}"

        return wait_for(what, LIMIT_S, told, explain, poll_s=0.05)

    def finds(
        self, find: Callable[[], T | None], told: str, seen: Callable[[], object] | None = None
    ) -> T:
        """Wait until there is something, and return it."""
        found: list[T] = []

        def there() -> bool:
            found[:] = [each for each in (find(),) if each is not None]
            return bool(found)

        self.sees(there, told, seen)
        return found[0]

    def picture(self, name: str) -> Path:
        """Of the whole screen, where a program for that is installed; for who looks into a failure."""
        path = self.folder / f"{name}.png"
        command = self.camera(path)
        if shutil.which(command[0]) is not None:
            subprocess.run(command, env=self.environment, timeout=COMMAND_S_MAX, check=False)
        return path

    @abstractmethod
    def keys(self, *keys: str) -> None:
        """Pressed one after the other, wherever the keyboard is."""

    @abstractmethod
    def in_front(self) -> str:
        """The title of the window that has the keyboard; empty if none has it."""

    @abstractmethod
    def camera(self, path: Path) -> list[str]:
        """The command that makes a picture of the screen."""


def end(process: subprocess.Popen[bytes]) -> None:
    """Politely, and if that is of no use, not."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(END_S_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
