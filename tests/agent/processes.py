"""The command line as people run it: processes, one home for each agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.paths import Home
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended
from tests.style.source import REPOSITORY

WITHIN_S = EVENTUALLY_S_MAX
COMMAND = [sys.executable, "-m", "agent"]


@dataclass(frozen=True)
class Ran:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Machine:
    """A home, and the commands that are run on it."""

    folder: Path

    @property
    def home(self) -> Home:
        return Home.at(self.folder)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "WINGBEAT_HOME": str(self.folder), "PYTHONWARNINGS": "error"}

    def run(self, *arguments: str, told: str = "") -> Ran:
        """A command to its end."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=REPOSITORY,
            env=self.environment,
            input=told,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def said(self, *arguments: str, told: str = "") -> str:
        """What a command says that does what it is told."""
        ran = self.run(*arguments, told=told)
        assert (ran.code, ran.err) == (0, ""), ran
        return ran.out

    def answer(self, *arguments: str) -> dict[str, Any]:
        """The same, for programs."""
        return dict(json.loads(self.said(*arguments, "--json")))

    def install(self, name: str, lines: str) -> None:
        """A program that this machine can run, a few lines of Python."""
        folder = self.home.programs / name
        folder.mkdir(parents=True)
        (folder / "program.py").write_text(lines)
        (folder / "program.yaml").write_text('command: ["{python}", program.py]\n')

    def keep_here(self) -> None:
        """Other machines never hear of its agent, unless its settings say more already."""
        self.home.prepare()
        if not self.home.settings_file.exists():
            self.home.settings_file.write_text('listen = ["127.0.0.1"]\n')

    @contextmanager
    def agent(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """`wingbeat agent`, from its first line on; killed if it is still there at the end."""
        self.keep_here()
        process = subprocess.Popen(
            [*COMMAND, "agent", *arguments],
            cwd=REPOSITORY,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with ended(process):
            assert process.stdout is not None
            assert process.stdout.readline(), process.communicate()
            yield process
