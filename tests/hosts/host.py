"""One host: a place in the LAN, a home, and an agent that is started, killed, frozen and asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from agent.api import (
    flock,
    methods,
    session,
    work,
)
from agent.api.methods import Method
from agent.client.errors import ClientError
from agent.net.addresses import DEFAULT_PORT
from agent.paths import VARIABLE, Home
from tests.hosts.client import HostClient
from tests.hosts.programs import EVIDENCE, Trace, install, read_evidence
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

REPOSITORY = Path(__file__).resolve().parents[2]
START_S_MAX = STOP_S_MAX = EVENTUALLY_S_MAX
PAGE = 1_000

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)
H = TypeVar("H", bound=Struct)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a host is: in a namespace, or on a loopback address with the others typed in."""

    namespace: str | None
    address: str
    port: int = DEFAULT_PORT
    others: tuple[str, ...] = ()


class Host:
    """Numbered, and named after its number."""

    def __init__(self, number: int, folder: Path, spot: Spot) -> None:
        self.number, self.spot = number, spot
        self.name = f"host{number}"
        self.home = Home.at(folder / self.name)
        self.evidence = folder / self.name / EVIDENCE
        self.started_s = 0.0
        """When its agent was started last, by the wall clock."""
        self.node = ""
        self._output = folder / self.name / "output"
        self._process: subprocess.Popen[bytes] | None = None
        self.home.prepare()
        install(self.home.programs, self.evidence)
        self._write_settings()
        self.client = HostClient(self.home, spot.namespace)

    # -- the agent -------------------------------------------------------------------------

    def start(self) -> None:
        """Start the agent; it is not waited for."""
        assert not self.alive, f"the agent of {self.name} runs"
        self.started_s = time.time()
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=REPOSITORY,
                env={**os.environ, VARIABLE: str(self.home.data.parent)},
                start_new_session=True,
            )

    def up(self) -> None:
        """Wait until the agent that was started answers."""
        wait_for(self.answers, START_S_MAX, f"{self.name} answers", self.last_words)

    def answers(self) -> bool:
        """Whether the agent that runs now does."""
        if not self.alive:
            raise AssertionError(f"the agent of {self.name} ended: {self.last_words()}")
        with suppress(ClientError, OSError, ValueError):
            control = json.loads((self.home.data / session.CONTROL_FILE).read_bytes())
            if control["process"] == self.process_id:
                self.node = self.client.call(methods.STATUS, work.Status()).node.node
                return True
        return False

    def kill(self) -> None:
        """As by a power cut of the agent alone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def terminate(self) -> None:
        """Ask it to end, as the system does."""
        assert self._process is not None
        self._process.terminate()

    def stop(self) -> int:
        """The same, and wait for it; its exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(STOP_S_MAX)

    def freeze(self) -> None:
        """The agent does nothing any more, until thawed."""
        os.kill(self.process_id, signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on as if nothing had been."""
        os.kill(self.process_id, signal.SIGCONT)

    def memory_mb(self) -> float:
        """What its agent has in memory now."""
        status = Path(f"/proc/{self.process_id}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    @property
    def listening_s(self) -> float:
        """When the agent that runs now told where it listens, by the wall clock."""
        return (self.home.data / session.CONTROL_FILE).stat().st_mtime

    @property
    def alive(self) -> bool:
        """Whether its process runs, frozen or not."""
        return self._process is not None and self._process.poll() is None

    @property
    def process_id(self) -> int:
        """Of the agent that was started last."""
        assert self._process is not None
        return self._process.pid

    def close(self) -> None:
        """End everything of this host."""
        self.kill()
        self.client.close()

    def inside(self) -> list[str]:
        """What goes before a command that is to run on this host."""
        return ["ip", "netns", "exec", self.spot.namespace] if self.spot.namespace else []

    def type_addresses(self, addresses: list[str]) -> None:
        """Where others are, as a person types it in; read at the next start."""
        self.adjust("addresses", addresses)

    def adjust(self, name: str, value: object) -> None:
        """What a person sets in its file; read at the next start."""
        with self.home.settings_file.open("a") as file:
            file.write(f"{name} = {json.dumps(value)}\n")

    # -- what it is asked ------------------------------------------------------------------

    def call(self, method: Method[P, R], params: P) -> R:
        """Ask the agent and wait."""
        return self.client.call(method, params)

    def submit(self, workflow: str, tasks: list[work.Task], priority: str = "low") -> str:
        """Have a workflow run; its name."""
        answer = self.ask_submit(workflow, tasks, priority).result(60.0)
        return answer.workflow

    def ask_submit(
        self, workflow: str, tasks: list[work.Task], priority: str = "low"
    ) -> Future[work.Submitted]:
        """The same without waiting."""
        params = work.Submit(workflow, tuple(tasks), "low" if priority == "low" else "interactive")
        return self.client.ask(methods.SUBMIT, params)

    def linked(self) -> set[str]:
        """The names of the hosts that it is linked with."""
        reply = self.call(methods.PEERS, flock.Peers())
        return {peer.name for peer in reply.peers if peer.state == "linked"}

    def tasks(self, workflow: str) -> list[work.TaskView]:
        """All tasks of a workflow as this host sees them."""
        found: list[work.TaskView] = []
        while True:
            reply = self.call(methods.SHOW, work.Show(workflow, len(found), PAGE))
            found += reply.tasks
            if not reply.tasks or len(found) >= reply.workflow.tasks:
                return found

    def workflows(self) -> list[work.WorkflowView]:
        """All workflows as this host sees them, the newest first."""
        found: list[work.WorkflowView] = []
        while True:
            reply = self.call(methods.STATUS, work.Status(len(found), PAGE))
            found += reply.workflows
            if not reply.workflows or len(found) >= reply.total:
                return found

    def counts(self) -> list[tuple[str, object]]:
        """What the host says of each workflow as a whole."""
        return [(each.workflow, each.counts) for each in self.workflows()]

    def table(self) -> list[tuple[object, ...]]:
        """What the host says of every task, comparable with what others say."""
        rows: list[tuple[object, ...]] = []
        for workflow in self.workflows():
            rows += [
                (each.workflow, each.name, each.state.value, each.host, each.attempt)
                for each in self.tasks(workflow.workflow)
            ]
        return sorted(rows, key=str)

    # -- what it has noticed ---------------------------------------------------------------

    def happenings(self, kind: type[H], since_s: float = 0.0) -> Iterator[tuple[float, H]]:
        """Its events of one kind, with the time at which it noticed them."""
        for noticed in list(self.client.noticed):
            happening = noticed.event.happening
            if isinstance(happening, kind) and noticed.event.at_ms / 1000 >= since_s - 0.002:
                yield noticed.event.at_ms / 1000, happening

    def traces(self) -> list[Trace]:
        """What its programs have left."""
        return read_evidence(self.number, self.evidence)

    def log(self) -> str:
        """The log of its agent."""
        return "".join(
            path.read_text(errors="replace") for path in sorted(self.home.log.glob("*.log*"))
        )

    def last_words(self) -> str:
        """The end of what its process printed and of its log."""
        printed = self._output.read_text(errors="replace")[-2_000:] if self._output.exists() else ""
        return f"{self.name} printed: {printed}\nlog: {self.log()[-2_000:]}"

    def _command(self) -> list[str]:
        return [*self.inside(), sys.executable, "-m", "agent", "agent"]

    def _write_settings(self) -> None:
        # Hosts share a machine with others: what nobody else wants of it may be nothing at all.
        lines = [f'name = "{self.name}"', 'processor = "share"']
        if self.spot.namespace is None:
            lines.append(f"port = {self.spot.port}")
            lines.append(f"listen = {json.dumps([self.spot.address])}")
            lines.append(f"addresses = {json.dumps(list(self.spot.others))}")
        self.home.settings_file.write_text("\n".join(lines) + "\n")
