"""``python -m tests.driver.node_process HOME``: a node by itself, asked by lines of JSON.

The first line that it prints tells its id, or why it cannot start.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from agent.api.errors import ServiceError
from agent.host.stop_signals import native_ending
from agent.node.agent import Agent
from agent.node.hosting import live
from agent.node.options import Options
from agent.paths import Home
from agent.protocol.events import InputsFetched


def say(**told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


async def beside(service: Agent) -> None:
    """Answer questions for as long as the service runs."""
    say(node=service.node_id)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    _kept.append(asyncio.create_task(answer(service, reader)))


_kept: list[asyncio.Task[None]] = []


async def answer(service: Agent, reader: asyncio.StreamReader) -> None:
    while line := await reader.readline():
        question = json.loads(line)
        match question["ask"]:
            case "join":
                await service.flock.join(question["text"])
                say(joined=True)
            case "stop":
                await service.stop("asked to")
            case "peers":
                say(peers=[peer.node for peer in service.now().peers if peer.version])
            case "break":
                service.live.hand(InputsFetched([], (1, 1, "", 1)))  # type: ignore[arg-type]
            case _:
                say(unknown=question)


def main() -> int:
    options = Options(discovery=False)
    try:
        home = Home.at(Path(sys.argv[1]))
        reason = asyncio.run(live(home, options, native_ending(), beside))
    except ServiceError as error:
        say(error=str(error))
        return 1
    say(ended=reason)
    return 0


if __name__ == "__main__":
    sys.exit(main())
