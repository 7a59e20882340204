"""A machine: a home, the commands that are run on it, and its agent; each in a process of its own.

The one place that starts agents for tests. A machine is this computer, or a network namespace that
stands for another one. Whatever happens, its processes are ended by their ids, and its agent ends with
the tests when those are killed. What the agent printed stands in a file, and its end in the error of
whoever waits for it in vain.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from agent import cli
from agent.paths import VARIABLE, Home
from agent.settings.editing import with_values
from tests.certain import certain, of_kind
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, wait_for
from tests.style.source import REPOSITORY

WITHIN_S = EVENTUALLY_S_MAX
COMMAND = (sys.executable, "-m", "agent")
OUTPUT = "output"
PROCESSES = frozenset(
    ["agent", "demo", "depart", "doctor", "program", "restart", "uninstall", "watch"]
)
"""Commands that start others, look for themselves among what runs, or stay until they are ended."""
_ONE_AT_A_TIME = threading.Lock()
TOLD_MAX = 2_000
"""Letters of its output, and of its log, that are told of an agent that did not come."""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Following:
    """A command that stays, and the lines that it has printed so far."""

    process: subprocess.Popen[str]
    lines: list[str]

    def says(self, words: str) -> bool:
        """Whether it has printed this."""
        return any(words in line for line in list(self.lines))

    @property
    def code(self) -> int | None:
        """Its exit code, once it has ended."""
        return self.process.poll()


def _stream(text: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8")


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


class Machine:
    """Named after its folder; in this computer's own network unless a namespace is named. What its
    owner has answered is in its settings from the first on; with an empty answer nobody has."""

    def __init__(self, folder: Path, namespace: str | None = None, answer: str = "always") -> None:
        self.folder, self.home = folder, Home.at(folder)
        self.name, self._answer = folder.name, answer
        self.inside = ("ip", "netns", "exec", namespace) if namespace else ()
        """What goes before a command that is to run there."""
        self._agent: subprocess.Popen[bytes] | None = None
        self._told_before = 0

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, VARIABLE: str(self.folder), "PYTHONWARNINGS": "error"}

    def settle(self, **settings: object) -> None:
        """What a person writes into its settings file; read at the next start."""
        self.home.prepare()
        file = self.home.settings_file
        first = {"volunteer": self._answer} if self._answer and not file.exists() else {}
        text = file.read_text("utf-8") if file.exists() else ""
        plain = json.loads(json.dumps({**first, **settings}))
        file.write_text(with_values(text, plain), "utf-8")

    def install(self, name: str, lines: str, **described: object) -> None:
        """A program that this machine can run, a few lines of Python, and what its description says
        besides. A running agent looks for new ones only every half minute."""
        folder = self.home.programs / name
        folder.mkdir(parents=True)
        (folder / "program.py").write_text(lines)
        told = {"command": ["{python}", "program.py"], **described}
        (folder / "program.yaml").write_text(json.dumps(told))

    # -- commands --------------------------------------------------------------------------

    @contextmanager
    def begin(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """A command whose streams are the test's; killed if it is still there at the end."""
        process = subprocess.Popen(
            [*self.inside, *COMMAND, *words],
            cwd=REPOSITORY,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with ended(process):
            yield process

    @contextmanager
    def following(self, *words: str) -> Iterator[Following]:
        """A command whose lines are kept as they come."""
        with self.begin(*words) as process:
            found = Following(process, [])
            reading = [
                threading.Thread(target=found.lines.extend, args=(stream,), daemon=True)
                for stream in (process.stdout, process.stderr)
            ]
            for thread in reading:
                thread.start()
            try:
                yield found
            finally:
                process.kill()
                for thread in reading:
                    thread.join(WITHIN_S)

    def run(self, *words: str, told: str = "") -> Ran:
        """What comes of a command; asked from the process of the test where that will do, because
        starting Python takes thirty times as long as most answers."""
        if self.inside or words[0] in PROCESSES or not _ONE_AT_A_TIME.acquire(blocking=False):
            return self.apart(*words, told=told)
        try:
            return self._here(words, told)
        finally:
            _ONE_AT_A_TIME.release()

    def apart(self, *words: str, told: str = "") -> Ran:
        """What comes of a command in a process of its own."""
        with self.begin(*words) as process:
            out, err = process.communicate(told, WITHIN_S)
        return Ran(process.returncode, out, err)

    def _here(self, words: tuple[str, ...], told: str) -> Ran:
        """In a thread, which has neither a loop nor the signals of the test."""
        given, out, err = (_stream(each) for each in (told, "", ""))
        around = (
            patch.dict(os.environ, self.environment),
            patch("sys.stdin", given),
            redirect_stdout(out),
            redirect_stderr(err),
        )
        thread = ThreadPoolExecutor(1, " ".join(words))
        with ExitStack() as stack:
            for each in around:
                stack.enter_context(each)
            try:
                code = thread.submit(cli.main, words).result(WITHIN_S)
            except SystemExit as ended:
                code = of_kind(int, ended.code)
            finally:
                thread.shutdown(wait=False)
        return Ran(code, _written(out), _written(err))

    def said(self, *words: str, told: str = "") -> str:
        """What a command says that does what it is told."""
        ran = self.run(*words, told=told)
        assert (ran.code, ran.err) == (0, ""), ran
        return ran.out

    def refused(self, *words: str, told: str = "") -> str:
        """What a command complains of that fails."""
        ran = self.run(*words, told=told)
        assert ran.code == 1, ran
        return ran.err

    def answer(self, *words: str) -> dict[str, Any]:
        """What a command says to programs."""
        return dict(json.loads(self.said(*words, "--json")))

    # -- the agent -------------------------------------------------------------------------

    @contextmanager
    def agent(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """`wingbeat agent`, from when it answers on; killed if it is still there at the end. Others
        never hear of it, unless the settings say more already."""
        if not self.home.settings_file.exists():
            self.settle(listen=["127.0.0.1"])
        self.start(*words)
        try:
            self.up()
            yield certain(self._agent)
        except BaseException as error:
            error.add_note(self.last_words())
            raise
        finally:
            self.kill()

    def start(self, *words: str) -> None:
        """Start the agent; it is not waited for."""
        assert not self.alive, f"the agent of {self.name} runs"
        if not self.home.settings_file.exists():
            self.settle()
        self.kill()  # what is left of one that has ended
        self._told_before = len(self.printed())
        with (self.folder / OUTPUT).open("ab") as output:
            self._agent = subprocess.Popen(
                [*self.inside, *COMMAND, "agent", "--until-input-ends", *words],
                cwd=REPOSITORY,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def up(self) -> None:
        """Wait until the agent that was started answers."""
        wait_for(self._answers, WITHIN_S, f"{self.name} answers", self.last_words)

    def _answers(self) -> bool:
        assert self.alive, f"the agent ended: {self.last_words()}"
        return self.greets()

    def greets(self) -> bool:
        """Whether the agent that runs now has said that clients can connect."""
        return " runs in " in self.printed()[self._told_before :]

    def kill(self) -> None:
        """As by a power cut of the agent alone."""
        if self._agent is not None:
            self._agent.kill()
            with self._agent:
                pass

    def wait(self) -> int:
        return certain(self._agent).wait(WITHIN_S)

    @property
    def alive(self) -> bool:
        """Whether the agent's process runs, frozen or not."""
        return self._agent is not None and self._agent.poll() is None

    @property
    def process_id(self) -> int:
        """Of the agent that was started last."""
        return certain(self._agent).pid

    def log(self) -> str:
        return "".join(
            path.read_text(errors="replace") for path in sorted(self.home.log.glob("*.log*"))
        )

    def printed(self) -> str:
        """What its agent has printed, at all its starts."""
        output = self.folder / OUTPUT
        return output.read_text(errors="replace") if output.exists() else ""

    def last_words(self) -> str:
        """The end of what its agent printed, and of its log."""
        return f"{self.name} printed: {self.printed()[-TOLD_MAX:]}\nlog: {self.log()[-TOLD_MAX:]}"


def make_flock(first: Machine, second: Machine) -> None:
    """Have both belong to one flock, and wait until each has heard of the other's version."""
    first.said("flock", "create", "meadow")
    second.said("flock", "join", "-", told=first.answer("flock", "invite")["text"])
    wait_for(lambda: _is_linked(first) and _is_linked(second), WITHIN_S, "a link")


def _is_linked(machine: Machine) -> bool:
    peers = machine.answer("peers")["peers"]
    return any(peer["state"] == "linked" and peer["version"] for peer in peers)
