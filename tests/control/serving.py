"""A server on a real socket with a fake node behind it, and a client that only knows lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from agent.api.work import Submit
from agent.control.limits import Limits
from agent.control.server import ControlServer
from agent.control.verbs.submitting import submission
from tests.control.surface import NODE, FakeNode
from tests.hosts.waiting import EVENTUALLY_S_MAX

WITHIN_S = EVENTUALLY_S_MAX
"""Longer than anything takes that works, also on a machine that has other things to do."""


@dataclass
class Serving:
    """A running server, and its node."""

    node: FakeNode
    server: ControlServer
    folder: Path

    @property
    def control(self) -> dict[str, Any]:
        """What the control file says."""
        return dict(json.loads((self.folder / "control.json").read_text("utf-8")))


class LineClient:
    """Lines out, lines in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, line: bytes | str) -> None:
        """One line."""
        self.writer.write((line.encode() if isinstance(line, str) else line) + b"\n")

    async def line(self) -> bytes:
        """The next line, without its end; empty at the end of the connection."""
        async with asyncio.timeout(WITHIN_S):
            try:
                return (await self.reader.readline()).rstrip(b"\n")
            except ConnectionResetError:
                return b""

    async def heard(self) -> dict[str, Any]:
        """The next line, read."""
        return dict(json.loads(await self.line()))

    async def ask(
        self, method: str, params: object = None, request_id: object = 1
    ) -> dict[str, Any]:
        """A question and the next line."""
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
        self.send(json.dumps(message))
        return await self.heard()

    async def result(self, method: str, params: object = None) -> dict[str, Any]:
        """The answer to a question that has one."""
        answer = await self.ask(method, params)
        assert "result" in answer, answer
        return dict(answer["result"])

    async def refusal(self, method: str, params: object = None) -> tuple[int, str]:
        """Why a question has no answer."""
        answer = await self.ask(method, params)
        assert "error" in answer, answer
        return answer["error"]["code"], answer["error"]["message"]


@asynccontextmanager
async def serving(
    folder: Path, limits: Limits | None = None, *, flock: bool = True, telnet: bool = False
) -> AsyncIterator[Serving]:
    """A server that ends with the block."""
    node = FakeNode(folder, flock=flock)
    await node.history.start()
    server = ControlServer(node, folder, limits, telnet=telnet)
    await server.start()
    try:
        yield Serving(node, server, folder)
    finally:
        async with asyncio.timeout(WITHIN_S):
            await server.stop()
            await node.history.stop()


@asynccontextmanager
async def stranger(there: Serving, limit_bytes: int = 2**16) -> AsyncIterator[LineClient]:
    """A connection that has not said anything."""
    reader, writer = await asyncio.open_unix_connection(there.server.place, limit=limit_bytes)
    try:
        yield LineClient(reader, writer)
    finally:
        writer.transport.abort()


@asynccontextmanager
async def greeted(there: Serving) -> AsyncIterator[LineClient]:
    """A connection that has shown the token."""
    async with stranger(there, 2**24) as client:
        await client.result("hello", {"token": there.control["token"]})
        yield client


def workflow(name: str = "survey", **changes: object) -> dict[str, Any]:
    """Three tasks and a gate: copy -> check (a gate) -> merge, and spare beside them."""
    tasks = [
        {"id": "copy", "program": "copy", "expected_s": 2},
        {"id": "check", "gate": True, "asks": "look at the pictures", "after": ["copy"]},
        {"id": "merge", "program": "copy", "inputs": [{"task": "copy"}], "after": ["check"]},
        {"id": "spare", "program": "copy"},
    ]
    return {"name": name, "tasks": tasks, "key": "of these tests", **changes}


def id_of(told: dict[str, Any], submitter: str = "birch") -> str:
    """What the node calls this submission."""
    return submission(msgspec.convert(told, Submit), submitter, NODE, {}).workflow


SURVEY = id_of(workflow())
