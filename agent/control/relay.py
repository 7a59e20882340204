"""A conversation with another member, passed on for a client of this machine.

The client says hello with the name of a member; from then on its lines go there and all that is
said there comes back, events too, until either side ends. This node looks at nothing but line
ends, so limits on the length of lines count here already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from agent.api.methods import HELLO
from agent.api.rpc import ErrorCode, Incoming, Request
from agent.api.session import Hello, Welcome
from agent.control.refusal import RefusedError

READ_BYTES = 256 * 1024
GREETING_S_MAX = 10.0

_incoming = msgspec.json.Decoder(Incoming)
_welcome = msgspec.json.Decoder(Welcome)
_encode = msgspec.json.Encoder().encode


class Relay:
    """From the greeting there until either side ends."""

    def __init__(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.name = name
        self._reader, self._writer = reader, writer

    async def greet(self, hello: Hello) -> Welcome:
        """Say hello to the other member, and return its answer. Raises ``RefusedError`` with what
        is said against it; the relay is closed then."""
        try:
            return await self._greeted(hello)
        except BaseException:
            self.close()
            raise

    async def _greeted(self, hello: Hello) -> Welcome:
        request = Request("2.0", 0, HELLO.name, msgspec.Raw(_encode(hello)))
        self._writer.write(_encode(request) + b"\n")
        try:
            async with asyncio.timeout(GREETING_S_MAX):
                line = await self._reader.readline()
                if not line:
                    raise EOFError
                answer = _incoming.decode(line)
                if answer.error is not None:
                    raise RefusedError(ErrorCode.REFUSED, f"{self.name}: {answer.error.message}")
                return _welcome.decode(answer.result)
        except (EOFError, OSError, ValueError, msgspec.MsgspecError) as error:
            raise RefusedError(ErrorCode.REFUSED, f"{self.name} {_silence(error)}") from error

    async def say(self, line: bytes) -> None:
        """Pass a line of the client on, and wait until it is sent."""
        self._writer.write(line + b"\n")
        await self._writer.drain()

    async def hear(self, tell: Callable[[bytes], Awaitable[None]]) -> None:
        """Tell all that is said there, until it ends."""
        while data := await self._reader.read(READ_BYTES):
            await tell(data)

    def close(self) -> None:
        """End the conversation, for the client has gone."""
        self._writer.close()


def _silence(error: BaseException) -> str:
    """Each way in which there is no greeting, for a person."""
    match error:
        case TimeoutError():
            return f"took the call and said nothing for {GREETING_S_MAX:.0f} s: look at its load"
        case EOFError() | OSError():
            return (
                "ended the conversation before it began: its agent is stopping, or does not take "
                "this machine for a member; its log says which"
            )
        case _:
            return "answers in a way that this version does not understand: update both"
