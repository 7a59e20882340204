"""Who talks to an agent by hand: connections that greet as a member does, and then do as they like.

Nothing of the agent's link code is used but the frames, so that what it would never send can be
sent. Certificates of the other side are not looked at: here it is the agent that has to look.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from agent.net.tls import LINK
from agent.net.wire import (
    LINK_LIMITS,
    FrameReader,
    Kind,
    Opening,
    frame,
    opening_frame,
)
from agent.protocol.messages import PROTOCOL_VERSION
from tests.hosts.lan import enter
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.net.flocks import Node

ANSWER_S_MAX = EVENTUALLY_S_MAX
READ_BYTES = 256 * 1024

T = TypeVar("T")
Frame = tuple[int, bytes]


class TurnedAwayError(Exception):
    """The agent did not agree to a link."""


def run_in(namespace: str | None, work: Coroutine[Any, Any, T]) -> T:
    """Run this in a thread that lives in a namespace."""
    found: list[T] = []
    failed: list[BaseException] = []

    def main() -> None:
        try:
            if namespace is not None:
                enter(namespace)
            found.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            failed.append(error)

    thread = Thread(target=main)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


def context_of(node: Node | None, folder: Path) -> ssl.SSLContext:
    """To dial as this node, or as one without a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([LINK])
    if node is not None:
        paths = node.files(folder / node.node_id)
        context.load_cert_chain(paths.certificate, paths.key)
    return context


@dataclass
class Stranger:
    """One connection to an agent."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    frames: FrameReader = field(default_factory=lambda: FrameReader(LINK_LIMITS))

    @classmethod
    async def dial(
        cls, address: tuple[str, int], context: ssl.SSLContext, unread_bytes_max: int = 2**16
    ) -> Stranger:
        """As far as the handshake."""
        reader, writer = await asyncio.open_connection(
            *address, ssl=context, server_hostname="", limit=unread_bytes_max
        )
        return cls(reader, writer)

    async def greet(self, own_id: str, agent_id: str, instance: str) -> None:
        """Until this is a link; raises ``TurnedAwayError``."""
        self.writer.write(opening_frame(Opening(instance, 0, PROTOCOL_VERSION)))
        async with asyncio.timeout(ANSWER_S_MAX):
            await self._expect(Kind.OPENING)
            if own_id > agent_id:
                self.writer.write(frame(Kind.WELCOME))
            else:
                await self._expect(Kind.WELCOME)

    async def next(self) -> Frame | None:
        """The next frame of the agent; none when it has closed the connection."""
        while True:
            found = self.frames.next()
            if found is not None:
                return found
            data = await self._read()
            if not data:
                return None
            self.frames.add(data)

    async def drain(self) -> None:
        """Read and forget, until the agent closes the connection."""
        while await self._read():
            pass

    def close(self) -> None:
        """Without a word."""
        with suppress(Exception):
            self.writer.transport.abort()

    async def _read(self) -> bytes:
        try:
            return await self.reader.read(READ_BYTES)
        except (OSError, ssl.SSLError):
            return b""

    async def _expect(self, kind: Kind) -> None:
        found = await self.next()
        if found is None or found[0] != kind:
            raise TurnedAwayError(f"{found} instead of {kind}")
