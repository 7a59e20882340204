"""Live nodes in the process of the test: real sockets on loopback, real journals, real programs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from agent.api.flock import Joined
from agent.flock import operations
from agent.net.membership import Membership, create_flock
from agent.node.agent import Agent
from agent.node.running import Options
from agent.paths import Home
from agent.protocol.effects import Answer, Verdict
from agent.protocol.events import Submit
from agent.protocol.reading import DerivedState
from agent.protocol.records import PRIORITY_LOW, TaskSpec, TaskState
from tests.execution.installed import install
from tests.hosts.machine import Machine
from tests.hosts.waiting import eventually
from tests.net.test_administration import without_acts

QUIET = Options(discovery=False, log_to_files=False, grace_s=0.2)


def home_of(folder: Path, name: str, **settings: object) -> Home:
    """A home with settings and the program ``tell``, which writes where a test looks."""
    machine = Machine(folder / name)
    machine.home.settings_file.unlink(missing_ok=True)
    machine.settle(
        **{
            "name": name,
            "port": 0,
            "listen": ["127.0.0.1"],
            "confinement": "off",
            **settings,
        }
    )
    install(machine.home.programs)
    return machine.home


@asynccontextmanager
async def services(
    folder: Path, *names: str, options: Options = QUIET, **settings: object
) -> AsyncIterator[list[Agent]]:
    """Started nodes of no flock; they are stopped whatever happens."""
    for name in names:
        home_of(folder, name, **settings)
    async with services_of_homes(folder, *names, options=options) as started:
        yield started


@asynccontextmanager
async def services_of_homes(
    folder: Path, *names: str, options: Options = QUIET
) -> AsyncIterator[list[Agent]]:
    """Nodes of homes that are prepared already; they are stopped whatever happens."""
    async with AsyncExitStack() as undone:
        started: list[Agent] = []
        for name in names:
            home = Home.at(folder / name)
            assert home.settings_file.exists(), f"{name} would listen at the port of every agent"
            service = await Agent.start(home, options)
            undone.push_async_callback(service.stop, "the test is over")
            started.append(service)
        yield started


async def unsigned_flock(agent: Agent) -> Joined:
    """A flock as a version before administrators made it."""

    def made(*told: Any, **more: Any) -> Membership:
        return without_acts(create_flock(*told, **more))

    with mock.patch.object(operations, "create_flock", made):
        return await agent.flock.create("office")


async def flock_of(first: Agent, *others: Agent) -> None:
    """One flock, everybody linked with everybody, without multicast. It does not sign: the ids of
    workflows in these tests are words, and bind nothing."""
    if first.flock.flock() is None:
        await unsigned_flock(first)
    for other in others:
        await other.flock.join((await first.flock.invite()).text)
    everybody = (first, *others)
    await eventually(lambda: all(meshed(each, len(everybody) - 1) for each in everybody))


def meshed(service: Agent, peers: int) -> bool:
    """Linked with so many, all of which have introduced themselves."""
    return [bool(peer.version) for peer in service.now().peers] == [True] * peers


@asynccontextmanager
async def members(
    folder: Path, *names: str, options: Options = QUIET, **settings: object
) -> AsyncIterator[list[Agent]]:
    """Started nodes of one flock."""
    async with services(folder, *names, options=options, **settings) as started:
        await flock_of(*started)
        yield started


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
