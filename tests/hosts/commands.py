"""Commands as people type them on a host: processes of their own, inside its namespace."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import IO, Self

from agent.paths import VARIABLE
from tests.hosts.host import REPOSITORY, Host
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended

COMMAND_S_MAX = EVENTUALLY_S_MAX


def start_command(host: Host, *words: str) -> subprocess.Popen[str]:
    """Begin one; whoever does ends it, with ``ended`` as a rule."""
    return subprocess.Popen(
        [*host.inside(), sys.executable, "-m", "agent", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, VARIABLE: str(host.home.data.parent)},
    )


class Following:
    """A command that stays, and the lines that it has printed so far; ended with the block."""

    def __init__(self, host: Host, *words: str) -> None:
        self.lines: list[str] = []
        self._process = start_command(host, *words)
        self._reading = [
            threading.Thread(target=self._read, args=(stream,), daemon=True)
            for stream in (self._process.stdout, self._process.stderr)
        ]
        for thread in self._reading:
            thread.start()

    def says(self, words: str) -> bool:
        """Whether it has printed this."""
        return any(words in line for line in list(self.lines))

    @property
    def code(self) -> int | None:
        """Its exit code, once it has ended."""
        return self._process.poll()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        for thread in self._reading:
            thread.join(COMMAND_S_MAX)
        with self._process:
            pass

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self.lines.append(line)


def run_command(
    host: Host, *words: str, typed: str = "", code: int = 0
) -> subprocess.CompletedProcess[str]:
    """One until its end, with what is typed, and the code that it has to end with."""
    with ended(start_command(host, *words)) as started:
        said, wrong = started.communicate(typed, COMMAND_S_MAX)
    assert started.returncode == code, said + wrong
    return subprocess.CompletedProcess(words, started.returncode, said, wrong)
