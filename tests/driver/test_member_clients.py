"""Clients of other machines over TLS: let in while their machine belongs, cut off when it does not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.api.errors import ServiceError
from agent.node.agent import Agent
from tests.driver.nodes import members
from tests.hosts.waiting import eventually


class Taken:
    """Serves clients of members: repeats what they say, and remembers who is there."""

    def __init__(self, service: Agent) -> None:
        self.there: list[str] = []
        service.member_clients.serve(self._accept)

    async def _accept(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.there.append(name)
        try:
            while line := await reader.readline():
                writer.write(line)
        except ConnectionError:
            pass  # it was cut off, which ends it as well
        finally:
            self.there.remove(name)


async def ended(reader: asyncio.StreamReader) -> bool:
    """Whether nothing comes any more."""
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


async def test_the_client_of_a_machine_that_is_expelled_is_cut_off(tmp_path: Path) -> None:
    async with members(tmp_path, "ant", "bee", "cat") as (ant, bee, cat):
        taken = Taken(ant)
        ways = {each.name: await each.member_clients.open(ant.node_id) for each in (bee, cat)}
        for reader, writer in ways.values():
            writer.write(b"anybody there?\n")
            assert await reader.readline() == b"anybody there?\n"
        assert sorted(taken.there) == ["bee", "cat"]
        await bee.flock.expel("cat")
        assert await ended(ways["cat"][0])
        await eventually(lambda: taken.there == ["bee"])
        reader, writer = ways["bee"]
        writer.write(b"still\n")
        assert await reader.readline() == b"still\n"
        with pytest.raises(ServiceError, match="cannot be asked"):
            await talks(cat, ant)
        for _, writer in ways.values():
            writer.transport.abort()


async def talks(asking: Agent, asked: Agent) -> None:
    """A connection on which something is answered; raises ``ServiceError``."""
    reader, writer = await asking.member_clients.open(asked.node_id)
    try:
        writer.write(b"anybody there?\n")
        try:
            answer = await reader.readline()
        except ConnectionError:
            answer = b""
        if answer != b"anybody there?\n":
            raise ServiceError(f"{asked.name} cannot be asked: {answer.decode()}")
    finally:
        writer.transport.abort()
