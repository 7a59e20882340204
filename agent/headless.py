"""An agent as a process: a live node, and the way in to it for clients.

Kept apart from the command that starts it, because this is the one place that puts a node and its
clients' server together, and the command line may know neither. Whoever hosts a node in another
way (a window) does the same three things: the node, the server beside it, the order of their ends.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from agent.control.server import ControlServer
from agent.driver.resting import new_loop
from agent.net.refusals import MembershipError
from agent.paths import Home
from agent.service import Options, Service
from agent.service_ending import Ending, native_ending
from agent.service_facts import ServiceError
from agent.service_headless import live


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


def run(name: str | None, port: int | None, started: Callable[[Running], None]) -> str:
    """Run the agent of this user's home until it is asked to end; the reason."""
    home = Home.of()
    terminal = sys.stderr is not None and sys.stderr.isatty()
    try:
        keep_settings(home, {"name": name, "port": port})
        with asyncio.Runner(loop_factory=new_loop) as runner:
            options = Options(log_to_terminal=terminal)
            return runner.run(live_with_clients(home, options, native_ending(), started))
    except (ServiceError, MembershipError) as error:
        raise NotStartedError(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise NotStartedError(f"the agent cannot start: {where}{error.strerror}") from error


async def live_with_clients(
    home: Home, options: Options, ending: Ending, started: Callable[[Running], None]
) -> str:
    """Until it is asked to end. Clients are told last, when everything is handed back."""
    servers: list[ControlServer] = []
    ends: list[asyncio.Task[None]] = []

    async def serve(service: Service) -> None:
        def stop(reason: str) -> None:
            ends.append(asyncio.create_task(service.stop(reason)))

        server = ControlServer(service, home.data, stop)
        await server.start()
        servers.append(server)
        started(_running(service, server))

    try:
        return await live(home, options, ending, serve)
    finally:
        for server in servers:
            await server.stop()


def _running(service: Service, server: ControlServer) -> Running:
    facts = service.facts()
    return Running(
        facts.node,
        facts.name,
        service.flock.name if service.flock else "",
        facts.process_id,
        server.port,
        facts.port,
        facts.data_folder,
        facts.log_folder,
    )


def keep_settings(home: Home, told: dict[str, str | int | None]) -> None:
    """Put what was told into the settings file, in the place of what it says so far.

    Only whole lines of top-level keys are touched: comments and everything else stay.
    """
    given = {key: value for key, value in told.items() if value is not None}
    if not given:
        return
    home.prepare()
    path = home.settings_file
    text = path.read_text("utf-8") if path.exists() else ""
    for key, value in given.items():
        pattern = re.compile(rf"^{key}[ \t]*=.*\n?", re.MULTILINE)
        text = f"{key} = {json.dumps(value)}\n" + pattern.sub("", text)
    _replace(path, text)


def _replace(path: Path, text: str) -> None:
    fresh = path.with_name(path.name + ".unfinished")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)
