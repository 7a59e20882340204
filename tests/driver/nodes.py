"""Live nodes for tests: real sockets on loopback, real journals, real programs.

A node here runs in this process or in one of its own (``Apart``), which is told what to do by lines.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from agent.node.agent import Agent
from agent.node.options import Options
from agent.paths import Home
from agent.protocol.effects import Answer, Verdict
from agent.protocol.events import Submit
from agent.protocol.reading import DerivedState
from agent.protocol.records import PRIORITY_LOW, TaskSpec, TaskState
from tests.execution.installed import install
from tests.hosts.waiting import eventually

QUIET = Options(discovery=False, log_to_files=False, grace_s=0.2)


def home_of(folder: Path, name: str, **settings: object) -> Home:
    """A home with settings and the program ``tell``."""
    home = Home.at(folder / name)
    home.prepare()
    given = {"name": name, "port": 0, "listen": ["127.0.0.1"], **settings}
    lines = [f"{key} = {json.dumps(value)}" for key, value in given.items()]
    home.settings_file.write_text("\n".join(lines))
    install(home.programs)
    return home


@asynccontextmanager
async def services(
    folder: Path, *names: str, options: Options = QUIET, **settings: object
) -> AsyncIterator[list[Agent]]:
    """Started nodes of no flock; they are stopped whatever happens."""
    async with AsyncExitStack() as undone:
        started: list[Agent] = []
        for name in names:
            service = await Agent.start(home_of(folder, name, **settings), options)
            undone.push_async_callback(service.stop, "the test is over")
            started.append(service)
        yield started


async def flock_of(first: Agent, *others: Agent) -> None:
    """One flock, everybody linked with everybody, without multicast."""
    if first.flock.flock() is None:
        await first.flock.create("office")
    for other in others:
        await other.flock.join((await first.flock.invite()).text)
    everybody = (first, *others)
    await eventually(lambda: all(meshed(each, len(everybody) - 1) for each in everybody))


def meshed(service: Agent, peers: int) -> bool:
    """Linked with so many, all of which have introduced themselves."""
    return [bool(peer.version) for peer in service.now().peers] == [True] * peers


async def submit(service: Agent, *parameters: str, workflow: str = "w") -> Answer:
    """A workflow of independent tasks ``w.0``, ``w.1``, ..."""
    tasks = tuple(
        TaskSpec(f"{workflow}.{number}", f"task {number}", "tell", parameters=each)
        for number, each in enumerate(parameters)
    )
    answer = await service.ask(Submit("", workflow, workflow, "me", PRIORITY_LOW, tasks))
    assert answer.verdict is Verdict.ACCEPTED, answer
    return answer


def reading(service: Agent, task: str) -> DerivedState:
    """How a task reads on a node."""
    read = service.table.reading(task)
    assert read is not None
    return read


def in_state(services: Iterable[Agent], task: str, state: TaskState) -> bool:
    """Whether a task is in this state on all of them."""
    return all(
        (read := service.table.reading(task)) is not None and read.state is state
        for service in services
    )


def host_of(service: Agent, task: str) -> str:
    """Who runs the task, or has finished it; empty while nobody does."""
    read = service.table.reading(task)
    run = None if read is None else read.outcome or read.owner
    return "" if run is None else run.host


class Apart:
    """A node in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.node = ""

    async def ask(self, **question: object) -> dict[str, Any]:
        """One question and its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(question).encode() + b"\n")
        return await self.hear()

    async def hear(self) -> dict[str, Any]:
        """The next line that it tells."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        told: dict[str, Any] = json.loads(line)
        return told

    def end(self) -> None:
        """Whatever state it is in."""
        if self.process.returncode is None:
            self.process.kill()


@asynccontextmanager
async def apart(folder: Path, name: str, **settings: object) -> AsyncIterator[Apart]:
    """A started node in a process of its own, of no flock."""
    home_folder = folder / name
    if not home_folder.exists():
        home_of(folder, name, **settings)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.driver.node_process",
        str(home_folder),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    node = Apart(process)
    try:
        node.node = (await node.hear())["node"]
        yield node
    finally:
        node.end()
        await process.wait()
