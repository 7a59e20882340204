"""An agent as a process: a live node, and the way in to it for clients.

Kept apart from the command that starts it, because this is the one place that puts a node and its
clients' server together, and the command line may know neither. Whoever hosts a node in another
way (a window) does the same three things: the node, the server beside it, the order of their ends.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

from msgspec import Struct

from agent.api.errors import ServiceError
from agent.control.server import ControlServer
from agent.driver.resting import new_loop
from agent.host.stop_signals import Ending, InputEnding
from agent.host.stop_signals_native import native_ending
from agent.net.refusals import MembershipError
from agent.node.agent import Agent
from agent.node.options import Options
from agent.node.running import refuse_second_start
from agent.paths import Home
from agent.settings.editing import keep_changes
from agent.settings.node_settings import read_settings


class NotStartedError(Exception):
    """One sentence: why there is no agent now."""


class Running(Struct, frozen=True):
    """What is told of an agent when it runs."""

    node: str
    name: str
    flock: str
    process: int
    control_port: int
    port: int
    data_folder: str
    log_folder: str


def run(
    name: str | None,
    port: int | None,
    started: Callable[[Running], None],
    *,
    until_input_ends: bool = False,
) -> str:
    """Run the agent of this user's home until it is asked to end, and return the reason. Raises
    ``NotStartedError``. A name or port that is given is kept in the settings."""
    home = Home.of()
    ending = InputEnding(native_ending()) if until_input_ends else native_ending()
    terminal = sys.stderr is not None and sys.stderr.isatty()
    try:
        keep_settings(home, {"name": name, "port": port})
        with asyncio.Runner(loop_factory=new_loop) as runner:
            options = Options(log_to_terminal=terminal)
            return runner.run(live_with_clients(home, options, ending, started))
    except (ServiceError, MembershipError) as error:
        raise NotStartedError(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise NotStartedError(f"the agent cannot start: {where}{error.strerror}") from error


async def live_with_clients(
    home: Home, options: Options, ending: Ending, started: Callable[[Running], None]
) -> str:
    """Run an agent that serves clients until it is asked to end, and return the reason; clients are
    told last, when everything is handed back. Raises ``ServiceError``."""
    servers: list[ControlServer] = []

    async def serve(service: Agent) -> None:
        server = ControlServer(service, home.data)
        await server.start()
        service.member_clients.serve(server.serve_member)
        servers.append(server)
        started(_running(service, server))

    try:
        return await live(home, options, ending, serve)
    finally:
        for server in servers:
            await server.stop()


def _running(service: Agent, server: ControlServer) -> Running:
    facts = service.now().facts
    return Running(
        facts.node,
        facts.name,
        facts.flock.name if facts.flock else "",
        facts.process_id,
        server.port,
        facts.port,
        facts.data_folder,
        facts.log_folder,
    )


def keep_settings(home: Home, told: dict[str, str | int | None]) -> None:
    """Write the values that are not None into the settings file, in the place of what it says so
    far.

    Not while an agent runs: a second start is refused, and changes nothing. Raises
    ``ServiceError``.
    """
    given = {key: value for key, value in told.items() if value is not None}
    if given:
        refuse_second_start(home)
        read_settings(home.settings_file)
        home.prepare()
        keep_changes(home.settings_file, given)


Beside = Callable[[Agent], Awaitable[None]]
"""Called when the node runs; what it begins ends when the service has stopped."""


async def live(home: Home, options: Options, ending: Ending, beside: Beside | None = None) -> str:
    """Run until somebody asks it to end; return the reason.

    Raises ``ServiceError`` when it cannot start.
    """
    service = await Agent.start(home, options)
    stopping: list[asyncio.Task[None]] = []

    def asked(reason: str) -> None:
        if not stopping:
            stopping.append(asyncio.create_task(service.stop(reason)))

    ending.watch(asked)
    try:
        if beside is not None:
            await beside(service)
        return await service.wait_stopped()
    finally:
        await service.stop("the process ends")
        ending.ended()
