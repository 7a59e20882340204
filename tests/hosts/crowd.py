"""Many peers in one process, for an agent that is measured: real nodes, real TLS, no hosts.

``python -m tests.hosts.crowd FOLDER ADDRESS COUNT INVITATION FIRST_PORT``. Each peer is a whole
node with a disk, but all share one interpreter, so that thirty fit beside the one that counts. It
says ``ready`` when all have joined. To each line of input it answers with a line: how many
messages and bytes the peers have exchanged with the agent, whose node id the line names. It ends
with its input.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from agent.node.agent import Agent
from agent.node.running import Options
from agent.paths import Home


async def main() -> None:
    """From the start of the first to the end of the input."""
    folder, address, count, invitation, first_port = sys.argv[1:]
    ports = range(int(first_port), int(first_port) + int(count))
    services = [await _peer(Path(folder), address, port, ports) for port in ports]
    try:
        for service in services:
            await service.flock.join(invitation)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while line := await asyncio.to_thread(sys.stdin.readline):
            sys.stdout.write(json.dumps(_traffic(services, line.strip())) + "\n")
            sys.stdout.flush()
    finally:
        await asyncio.gather(*(service.stop("the measurement is over") for service in services))


async def _peer(folder: Path, address: str, port: int, ports: range) -> Agent:
    home = Home.at(folder / f"peer{port}")
    home.prepare()
    others = [f"{address}:{each}" for each in ports if each != port]
    home.settings_file.write_text(
        f'name = "peer{port}"\nport = {port}\naddresses = {json.dumps(others)}\n'
        'volunteer = "always"\n'
    )
    return await Agent.start(home, Options(discovery=False, log_to_files=False))


def _traffic(services: list[Agent], agent: str) -> dict[str, int]:
    """As the peers counted it on their links with the agent."""
    found = {"linked": 0, "messages": 0, "bytes": 0}
    for service in services:
        for report in service.network.links.report() if service.network else ():
            if report.peer == agent:
                found["linked"] += 1
                found["messages"] += report.traffic.messages_in + report.traffic.messages_out
                found["bytes"] += report.traffic.bytes_in + report.traffic.bytes_out
    return found


if __name__ == "__main__":
    asyncio.run(main())
