"""A headless agent with its client protocol, as ``wingbeat agent`` is, for the hosts of the tests.

``python -m tests.hosts.agent_process [--no-discovery]``, with its home in ``WINGBEAT_HOME``.
"""

from __future__ import annotations

import asyncio
import sys

from agent.control.server import ControlServer
from agent.paths import Home
from agent.service import Options, Service
from agent.service_headless import run


def main() -> int:
    """Until somebody asks it to end."""
    stopping: list[asyncio.Task[None]] = []

    async def beside(service: Service) -> None:
        def stop(reason: str) -> None:
            stopping.append(asyncio.create_task(service.stop(reason)))

        server = ControlServer(service, service.home.data, stop)
        await server.start()
        stopping.append(asyncio.create_task(_end_with(service, server)))

    run(Home.of(), Options(discovery="--no-discovery" not in sys.argv[1:]), beside)
    return 0


async def _end_with(service: Service, server: ControlServer) -> None:
    await service.wait_stopped()
    await server.stop()


if __name__ == "__main__":
    sys.exit(main())
