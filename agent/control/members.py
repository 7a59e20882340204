"""Asking other members on behalf of a client: one question, or a whole conversation passed on.

The way is a connection that both nodes have verified, so the client needs nothing but the agent
of its own machine. A conversation is passed on line by line and not looked into: the other node
decides what it answers. For single questions a connection is kept a while, because whoever follows
the log of a task asks the same node again and again.

For a whole conversation the client says hello with the name of a member; from then on its lines go there and all that is
said there comes back, events too, until either side ends. This node looks at nothing but line
ends, so limits on the length of lines count here already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode, Incoming, Method, P, R, Request
from agent.api.session import HELLO, Hello, Welcome
from agent.client.errors import ClientError, DisconnectedError, RequestError
from agent.client.link import Link
from agent.control.port import NodePort
from agent.protocol.phrases import said
from agent.protocol.records import NodeId

KEPT_S = 30.0
ANSWER_S_MAX = 75.0
"""Longer than anybody may be asked to wait for news."""

READ_BYTES = 256 * 1024
GREETING_S_MAX = 10.0
_incoming = msgspec.json.Decoder(Incoming)
_welcome = msgspec.json.Decoder(Welcome)
_encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class _Kept:
    link: Link
    closing: asyncio.TimerHandle | None = None
    busy: int = 0


@dataclass(slots=True)
class Members:
    """The connections to other members that this node has for its clients."""

    node: NodePort
    _kept: dict[NodeId, _Kept] = field(default_factory=dict)
    _opening: dict[NodeId, asyncio.Lock] = field(default_factory=dict)
    _closing: set[asyncio.Task[None]] = field(default_factory=set)

    async def ask(self, node: NodeId, method: Method[P, R], params: P) -> R:
        """Ask another member one question, wait for its answer, ``ANSWER_S_MAX`` at most, and
        return it, over a connection that is kept for a while; asked again once if that breaks.
        Raises ``RefusedError`` with what the other node says, or why it does not answer,
        ``ServiceError`` where there is no way to it."""
        name = self.node.now().name_of(node)
        for attempt in (1, 2):
            kept = await self._linked(node)
            kept.busy += 1
            try:
                async with asyncio.timeout(ANSWER_S_MAX):
                    return await kept.link.call(method, params)
            except RequestError as error:
                raise RefusedError(_known(error.code), str(error)) from error
            except DisconnectedError as error:
                self._drop(node, kept)
                if attempt == 2:
                    raise _unanswered(name, error) from error
            except (ClientError, TimeoutError) as error:
                self._drop(node, kept)
                raise _unanswered(name, error) from error
            finally:
                kept.busy -= 1
                self._keep_a_while(node, kept)
        raise AssertionError("two attempts end in an answer or a refusal")

    async def close(self) -> None:
        """Close all connections to other members, and wait until they are closed."""
        for node, kept in list(self._kept.items()):
            self._drop(node, kept)
        await asyncio.gather(*self._closing)

    async def _linked(self, node: NodeId) -> _Kept:
        async with self._opening.setdefault(node, asyncio.Lock()):
            kept = self._kept.get(node)
            if kept is None or kept.link.ended:
                streams = await self.node.reach(node)
                link = Link(*streams)
                try:
                    await link.greet(hello_for("agent", self.node.now().name))
                except asyncio.CancelledError:
                    self._close(link)  # whoever asked does not wait any longer
                    raise
                except (ClientError, TimeoutError) as error:
                    await link.close()
                    raise _unanswered(self.node.now().name_of(node), error) from error
                kept = self._kept[node] = _Kept(link)
            return kept

    def _keep_a_while(self, node: NodeId, kept: _Kept) -> None:
        if kept.closing is not None:
            kept.closing.cancel()
        if self._kept.get(node) is kept:
            loop = asyncio.get_running_loop()
            kept.closing = loop.call_later(KEPT_S, self._unused, node, kept)

    def _unused(self, node: NodeId, kept: _Kept) -> None:
        if not kept.busy:
            self._drop(node, kept)

    def _drop(self, node: NodeId, kept: _Kept) -> None:
        if kept.closing is not None:
            kept.closing.cancel()
        if self._kept.get(node) is kept:
            del self._kept[node]
        self._close(kept.link)

    def _close(self, link: Link) -> None:
        task = asyncio.create_task(link.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def hello_for(client: str, name: str) -> Hello:
    """Return the first word of a conversation that is passed on."""
    return Hello("", f"{client or 'client'} on {name}"[:256])


def _known(code: int) -> ErrorCode:
    """A later version may have codes of its own."""
    return ErrorCode(code) if code in set(ErrorCode) else ErrorCode.REFUSED


def _unanswered(name: str, error: BaseException) -> RefusedError:
    reason = str(error) or "it does not answer"
    return RefusedError(
        ErrorCode.REFUSED, said("{name} cannot be asked: {reason}", name=name, reason=reason)
    )


class Relay:
    """From the greeting there until either side ends."""

    def __init__(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.name = name
        self._reader, self._writer = reader, writer

    async def greet(self, hello: Hello) -> Welcome:
        """Say hello to the other member, wait some seconds for its answer and return it. Raises
        ``RefusedError`` with what it says against it, or when it is silent or not understood; the
        relay is closed then."""
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
                    raise RefusedError(
                        ErrorCode.REFUSED,
                        said("{name}: {message}", name=self.name, message=answer.error.message),
                    )
                return _welcome.decode(answer.result)
        except (EOFError, OSError, ValueError, msgspec.MsgspecError) as error:
            raise RefusedError(ErrorCode.REFUSED, f"{self.name} {_silence(error)}") from error

    async def say(self, line: bytes) -> None:
        """Send a line of the client to the other member, and wait until it has room for more;
        raises ``OSError`` when the connection is lost."""
        self._writer.write(line + b"\n")
        await self._writer.drain()

    async def hear(self, tell: Callable[[bytes], Awaitable[None]]) -> None:
        """Pass on to ``tell`` all that the other member says, as it comes, until it ends the
        connection; raises ``OSError`` when that is lost."""
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
