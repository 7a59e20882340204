"""One host: a place in the LAN, a home, and an agent that is started, killed, frozen and asked."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from agent.api import flock, session, work
from agent.api.rpc import Method
from agent.client.errors import ClientError
from agent.net.addresses import DEFAULT_PORT
from tests.hosts.client import HostClient
from tests.hosts.machine import Machine
from tests.hosts.programs import EVIDENCE, Trace, install, read_evidence

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


class Host(Machine):
    """Numbered, and named after its number."""

    def __init__(self, number: int, folder: Path, spot: Spot, confinement: str = "off") -> None:
        super().__init__(folder / f"host{number}", spot.namespace)
        self.number, self.spot = number, spot
        self.evidence = self.folder / EVIDENCE
        self.started_s = 0.0
        """When its agent was started last, by the wall clock."""
        self.node = ""
        # Hosts share a machine with others: what nobody else wants of it may be nothing at all.
        self.settle(name=self.name, processor="share", confinement=confinement)
        if spot.namespace is None:
            self.settle(port=spot.port, listen=[spot.address], addresses=spot.others)
        install(self.home.programs, self.evidence)
        self.client = HostClient(self.home, spot.namespace)

    # -- the agent -------------------------------------------------------------------------

    def start(self, *words: str) -> None:
        """Start the agent; it is not waited for."""
        self.started_s = time.time()
        super().start(*words)

    def greets(self) -> bool:
        """Whether the agent that runs now answers, by the client that lives in the host."""
        with suppress(ClientError, OSError):  # the client may not have heard of the end before
            if super().greets():
                self.node = self.client.call(work.STATUS, work.Status()).node.node
                return True
        return False

    def terminate(self) -> None:
        os.kill(self.process_id, signal.SIGTERM)

    def stop(self) -> int:
        """The same, and wait for it; its exit code."""
        self.terminate()
        return self.wait()

    def freeze(self) -> None:
        os.kill(self.process_id, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.process_id, signal.SIGCONT)

    def memory_mb(self) -> float:
        """What its agent has in memory now."""
        status = Path(f"/proc/{self.process_id}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    @property
    def listening_s(self) -> float:
        """When the agent that runs now told where it listens, by the wall clock."""
        return (self.home.data / session.CONTROL_FILE).stat().st_mtime

    def close(self) -> None:
        self.kill()
        self.client.close()

    # -- what it is asked ------------------------------------------------------------------

    def call(self, method: Method[P, R], params: P) -> R:
        return self.client.call(method, params)

    def submit(self, workflow: str, tasks: list[work.Task], priority: str = "low") -> str:
        """Have a workflow run; its name."""
        self.ask_submit(workflow, tasks, priority).result(60.0)
        return workflow

    def ask_submit(
        self, workflow: str, tasks: list[work.Task], priority: str = "low"
    ) -> Future[work.Submitted]:
        """The same without waiting."""
        params = work.Submit(workflow, tuple(tasks), "low" if priority == "low" else "interactive")
        return self.client.ask(work.SUBMIT, params)

    def administrators(self) -> set[str]:
        """Who may act on the flock and holds its key, as this host knows it."""
        members = self.call(flock.MEMBERS, flock.Members()).members
        return {each.name for each in members if each.keeper and each.role == "administrator"}

    def linked(self) -> set[str]:
        reply = self.call(flock.PEERS, flock.Peers())
        return {peer.name for peer in reply.peers if peer.state == "linked"}

    def tasks(self, workflow: str) -> list[work.TaskView]:
        """All tasks of a workflow as this host sees them."""
        found: list[work.TaskView] = []
        while True:
            reply = self.call(work.SHOW, work.Show(workflow, len(found), PAGE))
            found += reply.tasks
            if not reply.tasks or len(found) >= reply.workflow.tasks:
                return found

    def workflows(self) -> list[work.WorkflowView]:
        """All workflows as this host sees them, the newest first."""
        found: list[work.WorkflowView] = []
        while True:
            reply = self.call(work.STATUS, work.Status(len(found), PAGE))
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
