"""A client in the agent's own process: let in like any other, and told when the agent has ended."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.client.errors import NoAgentError
from agent.control.server import ControlServer
from tests.control.serving import WITHIN_S, LineClient, serving


def test_a_client_within_talks_as_one_outside(tmp_path: Path) -> None:
    async def scene() -> None:
        async with serving(tmp_path) as there:
            way = await there.server.dial()
            assert way.control.port == there.server.port
            client = LineClient(way.reader, way.writer)
            assert there.server.clients == 0
            await client.result("hello", {"token": way.control.token})
            assert there.server.clients == 1
            await client.result("status")
            await there.server.stop("the test is over")
            assert there.node.member_clients.accept is None
            assert (await client.heard())["params"]["reason"] == "the test is over"
            assert await client.line() == b""
            way.writer.close()
            with pytest.raises(NoAgentError, match="has ended"):
                await there.server.dial()

    asyncio.run(scene())


def test_another_thread_may_dial(tmp_path: Path) -> None:
    async def ask(server: ControlServer) -> dict[str, object]:
        way = await server.dial()
        client = LineClient(way.reader, way.writer)
        answer = await client.result("hello", {"token": way.control.token})
        way.writer.close()
        return answer

    async def scene() -> None:
        async with serving(tmp_path) as there, asyncio.timeout(WITHIN_S):
            answer = await asyncio.to_thread(lambda: asyncio.run(ask(there.server)))
            assert answer["name"] == "birch"

    asyncio.run(scene())


def test_where_the_loop_has_ended_nobody_answers(tmp_path: Path) -> None:
    async def started() -> ControlServer:
        async with serving(tmp_path) as there:
            server = there.server
        server._stopped_for = ""  # as if the loop had ended without a word
        return server

    server = asyncio.run(started())
    with pytest.raises(NoAgentError, match="has ended"):
        asyncio.run(server.dial())
