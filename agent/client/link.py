"""One connection to an agent, from its greeting to its end: questions out, answers or events in.

It does not come back when it ends; ``Client`` makes another one. A connection either asks or
follows events: who does not take its events leaves them at the agent, and answers behind them
would wait as well.

Where the agent of this home is, its control file tells.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections import Counter, deque
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import get_args

import msgspec
from msgspec import Raw, Struct

from agent.api.rpc import Incoming, Method, P, R, Request, decoder_of
from agent.api.session import (
    CONTROL_FILE,
    EVENTS,
    HELLO,
    LATER,
    PROVE,
    Closing,
    ControlFile,
    Event,
    Events,
    Happening,
    Hello,
    Prove,
    Welcome,
    kind_of,
    read_control,
)
from agent.api.values import Position
from agent.client.errors import (
    ClientError,
    DisconnectedError,
    NoAgentError,
    NotUnderstoodError,
    error_of,
)
from agent.client.proof import new_nonce, proof_of, same
from agent.host.local_socket import account_of, connect, is_service_there, listens
from agent.paths import Home

NO_AGENT = "no agent runs here: start one with `wingbeat agent`"
READ_BYTES = 256 * 1024
LINE_BYTES_MAX = 256 * 1024 * 1024
GREETING_S_MAX = 10.0
EVENTS_UNREAD_MAX = 1_000
SUPERUSER = 0
SERVICE_TOKEN = "of-the-service-of-this-machine"
"""No secret: the system tells a service who has come."""
KINDS = frozenset(map(kind_of, get_args(Happening)))
ALSO = tuple(map(kind_of, LATER))
ALSO_SINCE_PROTOCOL = 2


class _Kind(Struct):
    type: str


class _OfSomeKind(Struct):
    happening: _Kind


_incoming = decoder_of(Incoming)
_event = decoder_of(Event)
_of_some_kind = decoder_of(_OfSomeKind)
_closing = decoder_of(Closing)
_encode = msgspec.json.Encoder().encode
log = logging.getLogger(__name__)


def read_control_file(home: Home | None = None) -> ControlFile:
    """Return where the agent of this home (default: this user's) listens, and its token, by the
    file that it left; whether it still runs is not looked at. Raises ``NoAgentError`` where there is
    no file or it cannot be read, ``NotUnderstoodError`` where another version wrote it."""
    home = home or Home.of()
    path = home.data / CONTROL_FILE
    try:
        return read_control(path.read_bytes())
    except FileNotFoundError:
        raise NoAgentError(NO_AGENT) from None
    except OSError as error:
        reason = "the agent runs under another account"
        if isinstance(error, NotADirectoryError):
            reason = "WINGBEAT_HOME has to name a folder"
        raise NoAgentError(f"{path} cannot be read ({error.strerror}): {reason}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise NotUnderstoodError(
            f"{path} is not what an agent of this version writes: update Wingbeat on both sides"
        ) from error


def find_agent(home: Home) -> ControlFile:
    """Return where the agent of this home listens, with its token; where it has none, the agent
    that runs as a service of this machine. Raises ``NoAgentError`` without either,
    ``NotUnderstoodError`` where another version wrote the file."""
    if (service := service_of(home)) is not None:
        return ControlFile(str(service), SERVICE_TOKEN, 0, service=True)
    return read_control_file(home)


def service_of(home: Home) -> Path | None:
    """Return where the agent that runs as a service of this machine listens, where that is the one
    for this home, which has no agent of its own; else None. Whether it answers is not looked at."""
    service = home.service
    if service is not None and is_service_there(service) and not _has_own(home):
        return service
    return None


def _has_own(home: Home) -> bool:
    try:
        control = read_control_file(home)
    except ClientError:
        return False
    return listens(control.place, control.process)


class Link:
    """Opened by ``open``; everything else raises ``DisconnectedError`` once it has ended."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._ids = count(1)
        self._asked: dict[int, asyncio.Future[Raw]] = {}
        self._events: deque[Event] = deque()
        self._arrived, self._taken = asyncio.Event(), asyncio.Event()
        self._reason = ""
        self.ended = False
        self.unknown: Counter[str] = Counter()
        """Events that were left out, by their kinds: a later version tells what this one has no name for."""
        self.welcome: Welcome
        self._hello: Hello
        self._reading = asyncio.create_task(self._read_all())

    @classmethod
    async def open(cls, home: Home, client: str, node: str = "") -> Link:
        """Find the agent for this home, connect, greet it or, through it, the member ``node``, and
        return the link. Raises ``NoAgentError`` when nobody listens, ``RequestError`` when it
        refuses, ``DisconnectedError`` when it hangs up first, ``NotUnderstoodError`` when no answer
        comes in time or it is not an agent's; nothing stays open then."""
        control = await asyncio.to_thread(find_agent, home)
        try:
            reader, writer = await connect(control.place, service=control.service)
        except OSError as error:
            raise NoAgentError(NO_AGENT) from error
        link = cls(reader, writer)
        try:
            await link.greet(Hello(await link._shown(control, writer), client, node))
        except TimeoutError as error:
            await link.close()
            raise NotUnderstoodError(
                f"what listens at {control.place} does not answer as an agent does: look at "
                f"process {control.process}, or start the agent anew"
            ) from error
        except BaseException:
            await link.close()
            raise
        return link

    async def _shown(self, control: ControlFile, writer: asyncio.StreamWriter) -> str:
        """What opens the agent at the other end, once it is certain that it is this account's."""
        account = account_of(writer)
        if control.service:
            return control.token
        if account is None:
            return await self._proof(control)
        if account not in (SUPERUSER, os.geteuid()) and os.geteuid() != SUPERUSER:
            raise NotUnderstoodError(
                f"another account (number {account}) listens at {control.place}, so nothing was said "
                f"to it: look who may write into that folder"
            )
        return control.token

    async def _proof(self, control: ControlFile) -> str:
        """Have the other end prove that it holds the token, and return the same of this one."""
        asked = new_nonce()
        async with asyncio.timeout(GREETING_S_MAX):
            told = await self.call(PROVE, Prove(asked))
        wanted = proof_of(control.token, "agent", control.place, asked, told.nonce)
        if not same(told.proof, wanted):
            raise NotUnderstoodError(
                f"what listens at {control.place} is not the agent of this account: it was told "
                f"nothing; start the agent anew"
            )
        return proof_of(control.token, "client", control.place, asked, told.nonce)

    async def greet(self, hello: Hello) -> None:
        """Send this greeting, wait for the answer and keep it as ``welcome``. Raises
        ``TimeoutError`` when none comes within ``GREETING_S_MAX``, ``RequestError`` when it is
        refused, ``DisconnectedError`` when the connection ends, ``NotUnderstoodError`` for an
        answer of another version."""
        self._hello = hello
        async with asyncio.timeout(GREETING_S_MAX):
            self.welcome = await self.call(HELLO, hello)

    async def greet_again(self) -> None:
        """Greet once more and wait for the answer, without limit: the question that costs an agent
        least, of whatever version. Raises what ``call`` raises."""
        await self.call(HELLO, self._hello)

    async def call(self, method: Method[P, R], params: P) -> R:
        """Ask, and wait for the answer, without limit. Raises ``RequestError`` when the agent
        refuses, ``DisconnectedError`` when the connection has ended or ends first, where nobody
        knows whether it was done, ``NotUnderstoodError`` for an answer of another version."""
        if self.ended:
            raise self._gone()
        number = next(self._ids)
        request = Request("2.0", number, method.name, Raw(_encode(params)))
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            self._writer.write(_encode(request) + b"\n")
            return _decoded(await answer, method)
        finally:
            del self._asked[number]

    async def follow(self, after: Position | None) -> Position:
        """Have the events after a position sent (None: from now on), and return the position after
        which they begin; ``next_event`` gives them. Raises what ``call`` raises."""
        also = ALSO if self.welcome.protocol >= ALSO_SINCE_PROTOCOL else ()
        return (await self.call(EVENTS, Events(after, also))).position

    async def next_event(self) -> Event:
        """Return the next event that was not taken yet, and wait for it if there is none. Raises
        ``DisconnectedError`` when the connection has ended and all that came before was taken."""
        while not self._events:
            if self.ended:
                raise self._gone()
            self._arrived.clear()
            await self._arrived.wait()
        self._taken.set()
        return self._events.popleft()

    async def wait_ended(self) -> None:
        """Wait, without limit, until the connection has ended, by either side; it may have ended
        already."""
        await asyncio.wait({self._reading})

    async def close(self) -> None:
        """End the connection and wait until it is closed; whoever waits for an answer or event gets
        ``DisconnectedError``. Nothing stays open if this is cancelled, and a second time does no
        harm."""
        self.ended = True
        self._reading.cancel()
        self._writer.close()
        await asyncio.gather(self._reading, return_exceptions=True)
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    # -- what arrives ----------------------------------------------------------------------

    async def _read_all(self) -> None:
        """Not through an asynchronous generator: one that is left at a line that is not understood
        lives on as a task of the loop, which nobody waits for."""
        held = bytearray()
        try:
            while data := await self._reader.read(READ_BYTES):
                for line in _whole_lines(held, data):
                    self._take(_incoming.decode(line))
                    while len(self._events) >= EVENTS_UNREAD_MAX:
                        self._taken.clear()
                        await self._taken.wait()
                if len(held) > LINE_BYTES_MAX:
                    self._reason = "what it said is too long"
                    break
        except OSError as error:
            self._reason = self._reason or error.strerror or ""
        except (msgspec.MsgspecError, UnicodeDecodeError):
            self._reason = "what it said is not understood"
        finally:
            self.ended = True
            self._writer.close()
            self._arrived.set()
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(self._gone())

    def _take(self, incoming: Incoming) -> None:
        if incoming.method == "event":
            self._take_event(incoming.params)
        elif incoming.method == "closing":
            self._reason = _closing.decode(incoming.params).reason
        elif incoming.id is None and incoming.error is not None:
            self._reason = incoming.error.message
        answer = self._asked.get(incoming.id) if isinstance(incoming.id, int) else None
        if answer is None or answer.done():
            return
        if incoming.error is not None:
            answer.set_exception(error_of(incoming.error))
        else:
            answer.set_result(incoming.result)

    def _take_event(self, told: Raw) -> None:
        try:
            self._events.append(_event.decode(told))
        except msgspec.ValidationError:
            kind = _of_some_kind.decode(told).happening.type
            if kind in KINDS:
                raise
            if kind not in self.unknown:
                log.info("the agent tells of %r, which this version does not know", kind)
            self.unknown[kind] += 1
        else:
            self._arrived.set()

    def _gone(self) -> DisconnectedError:
        because = f" ({self._reason})" if self._reason else ""
        return DisconnectedError(f"the agent ended the connection{because}")


def _whole_lines(held: bytearray, data: bytes) -> Iterator[bytes]:
    """Yield the lines that have arrived; the beginning of the next one is held."""
    *whole, rest = data.split(b"\n")
    for line in whole:
        held += line
        yield bytes(held)
        held.clear()
    held += rest


def _decoded(raw: Raw, method: Method[P, R]) -> R:
    try:
        return method.read_result.decode(raw)
    except msgspec.MsgspecError as error:
        raise NotUnderstoodError(
            f"the agent's answer to {method.name} is not understood ({error}): update Wingbeat, "
            f"so that agent and client are of one version"
        ) from error
