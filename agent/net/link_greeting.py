"""From a connection to a link: who is there, and is this the one link of the pair.

TLS lets the dialling side believe in a connection that the other side is about to refuse, both
sides may dial at once, and an old link may look alive on one side only. So both sides open with
a word, and exactly one of the two decides: of a link the higher node id, of a bulk connection
the one that was dialled. Only its WELCOME makes the connection count, on both sides, and what it
does not welcome it refuses in words.

Nothing here has long: who dialled and has said nothing after a second is gone, and a greeting that
is not done after a few seconds ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import Callable
from typing import Protocol

from agent.net.addresses import Address
from agent.net.link_refusals import Cause, LinkRefusal, cause_of, explained
from agent.net.link_tls import TlsConnection
from agent.net.wire import (
    ALPN_BULK,
    ALPN_LINK,
    GREETING_LIMITS,
    FrameReader,
    Kind,
    Opening,
    frame,
    opening_frame,
    read_opening,
    read_refused,
    refused_frame,
)
from agent.protocol.link_reasons import LinkTrouble, NoLink, RefusesThis
from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.records import NodeId

FIRST_BYTES_S = 1.0
"""Whoever dials speaks first, at once."""
HANDSHAKE_S = 5.0
KEEPALIVE_IDLE_S = 10
KEEPALIVE_STEP_S = 3
KEEPALIVE_COUNT = 3

Verify = Callable[[ssl.SSLObject], tuple[NodeId, str] | NoLink]
"""Who is at the other end of a finished handshake: node id and name, or why it is refused."""


class GreetingJudge(Protocol):
    """Who says what becomes of a greeting; ``links.Links`` is one."""

    def decide(self, greeting: Greeting) -> None:
        """Decide on the connection: welcome it, refuse it, or do so later."""

    def welcomed(self, greeting: Greeting) -> None:
        """Take on a connection that the other side has welcomed."""

    def greeting_over(self, greeting: Greeting) -> None:
        """Forget a greeting that has become a link or bulk connection, or ended."""

    def refused(self, refusal: LinkRefusal) -> None:
        """Note that there will be no link by this connection."""


class GreetingOwner(GreetingJudge, Protocol):
    """Who lets greetings in; ``link_reception.Reception`` is one."""

    me: NodeId

    @property
    def verify(self) -> Verify: ...

    def own_opening(self) -> Opening: ...

    def admit(self, greeting: Greeting) -> bool:
        """Tell whether a connection from outside may begin to greet."""

    def verified(self, greeting: Greeting) -> bool:
        """Tell whether a member, whose peer is known now, may go on to greet."""

    def came_for(self, greeting: Greeting, protocol: str) -> bool:
        """Hand a connection that is for another protocol to whoever serves that; return False when
        it is for a link."""


class Greeting:
    """One connection before it is anything; the first application of its connection."""

    __slots__ = (
        "_expected",
        "_first",
        "_owner",
        "_timer",
        "_understood",
        "address",
        "bulk",
        "connection",
        "dialled",
        "name",
        "opening",
        "outcome",
        "over",
        "peer",
        "reader",
    )

    def __init__(
        self,
        owner: GreetingOwner,
        address: Address | None,
        expected: NodeId | None = None,
        *,
        bulk: bool = False,
    ) -> None:
        loop = asyncio.get_running_loop()
        self._owner, self._expected = owner, expected
        self.dialled, self.bulk = address is not None, bulk
        self.address = address or Address("", 0)
        self.reader = FrameReader(GREETING_LIMITS)
        self.connection: TlsConnection
        self.peer: NodeId = ""
        self.name = ""
        self.opening: Opening | None = None
        self.outcome: asyncio.Future[LinkRefusal | None] = loop.create_future()
        """How it ended, ``None`` for well; known to whoever dialled."""
        self.over = False
        self._understood = False
        self._first: asyncio.TimerHandle | None = None
        self._timer = loop.call_later(HANDSHAKE_S, self._too_slow, HANDSHAKE_S)

    # -- what the owner does ---------------------------------------------------------------

    @property
    def decides(self) -> bool:
        """Whether this side decides what the connection becomes."""
        return not self.dialled if self.bulk else self._owner.me > self.peer

    def welcome(self) -> None:
        """Tell the other side that this connection is welcome."""
        self.connection.write(frame(Kind.WELCOME))

    def refuse(self, why: NoLink) -> None:
        """End the greeting for this reason, tell it the owner, and the other side if that speaks our
        protocol, and close the connection. Do nothing once the greeting is over."""
        if self.over:
            return
        if self._understood:
            self.connection.write(refused_frame(cause_of(why), why))
        self.connection.close()
        self._end(cause_of(why), why)

    def give_way(self) -> None:
        """Cut the connection without a word, because others come and it is one of too many."""
        if not self.over:
            self.connection.abort()
            self._end(Cause.BUSY, NoLink("TooManyGreet"))

    def succeed(self) -> None:
        """End the greeting: the connection belongs to a link or a bulk transfer from now on."""
        self._finish(None)

    # -- what the connection tells ---------------------------------------------------------

    def connected(self, transport: asyncio.Transport) -> bool:
        """Note where a connection from outside comes from and have it kept alive; return False,
        which ends it, when too many connections are greeting or this node is stopping; the owner is
        told of that refusal."""
        peer_name = transport.get_extra_info("peername")
        if not self.dialled and peer_name:
            self.address = Address(*peer_name[:2])
        keep_alive(transport.get_extra_info("socket"))
        if self.dialled or self._owner.admit(self):
            if not self.dialled:
                self._first = asyncio.get_running_loop().call_later(FIRST_BYTES_S, self._silent)
            return True
        self._end(Cause.BUSY, NoLink("TooManyGreet"))
        return False

    def secured(self) -> None:
        """Judge protocol and certificate of the other side after the TLS handshake: say this side's
        opening, hand the connection to another protocol, or refuse it, also where another node
        answers than the one expected."""
        tls = self.connection.tls
        spoken = tls.selected_alpn_protocol()
        if not self.dialled and self._owner.came_for(self, spoken or ""):
            return
        if not self.dialled:
            self.bulk = spoken == ALPN_BULK
        if spoken != (ALPN_BULK if self.bulk else ALPN_LINK):
            self.refuse(NoLink("OtherVersion"))
            return
        self._understood = True
        verified = self._owner.verify(tls)
        if isinstance(verified, NoLink):
            self.refuse(verified)
            return
        self.peer, self.name = verified
        if not self.dialled and not self._owner.verified(self):
            self.refuse(NoLink("TooManyGreet"))
        elif self._expected not in (None, self.peer) and self.peer != self._owner.me:
            self.refuse(NoLink("OtherAnswers", name=self.name))
        else:
            self.connection.write(opening_frame(self._owner.own_opening()))

    def received(self, data: memoryview) -> None:
        """Hear the words of the other side in what arrived, as long as the greeting goes on; refuse
        it when it sends what no agent sends."""
        self.reader.add(data)
        try:
            while not self.over and (found := self.reader.next()) is not None:
                self._hear(*found)
        except RemoteProtocolError as error:
            self.refuse(NoLink("SentNonsense", error=str(error)))

    def pause_writing(self) -> None:
        """Do nothing; what is said in a greeting is too short to matter."""

    def resume_writing(self) -> None:
        """Do nothing; what is said in a greeting is too short to matter."""

    def lost(self, error: Exception | None) -> None:
        if not self.over:
            why = explained(error)
            self._end(cause_of(why), why)

    # -- inside ----------------------------------------------------------------------------

    def _hear(self, kind: int, body: bytes) -> None:
        if kind == Kind.REFUSED:
            word = read_refused(body)
            cause = Cause(word.cause) if word.cause in set(Cause) else Cause.REFUSED
            self.connection.close()
            told = word.reason()
            refused = cause is Cause.REFUSED
            self._end(cause, RefusesThis(told) if refused else told)
        elif kind == Kind.OPENING and self.opening is None:
            self.opening = read_opening(body)
            if self.peer == self._owner.me:
                self._refuse_own_identity(self.opening)
            elif self.decides:
                self._owner.decide(self)
        elif kind == Kind.WELCOME and self.opening is not None and not self.decides:
            self._owner.welcomed(self)
        else:
            raise RemoteProtocolError(f"a frame of kind {kind} out of turn")

    def _refuse_own_identity(self, opening: Opening) -> None:
        if opening.instance == self._owner.own_opening().instance:
            self.refuse(NoLink("IsItself"))
        else:
            self.refuse(NoLink("IdentityTaken"))

    def _silent(self) -> None:
        if not self.connection.heard:
            self._too_slow(FIRST_BYTES_S)

    def _too_slow(self, after_s: float) -> None:
        if not self.over:
            self.connection.abort()
            self._end(Cause.SLOW, NoLink("TooSlow", length_ms=round(after_s * 1000)))

    def _end(self, cause: Cause, why: LinkTrouble) -> None:
        peer = self.peer or self._expected or ""
        refusal = LinkRefusal(peer, self._place(), cause, why, time.time())
        self._finish(refusal)
        self._owner.refused(refusal)

    def _place(self) -> str:
        """Who dialled from elsewhere did so from a port that means nothing."""
        return str(self.address) if self.dialled else self.address.host

    def _finish(self, refusal: LinkRefusal | None) -> None:
        if self.over:
            return
        self.over = True
        self._timer.cancel()
        if self._first is not None:
            self._first.cancel()
        if not self.outcome.done():
            self.outcome.set_result(refusal)
        self._owner.greeting_over(self)


def keep_alive(connected: socket.socket | None) -> None:
    """Have the system find out within half a minute when the other machine is gone, where it knows
    how, and send small packets at once; do nothing without a socket. Raise ``OSError`` for one that
    is closed or not of TCP."""
    if connected is None:
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for name, value in (
        ("TCP_KEEPIDLE", KEEPALIVE_IDLE_S),
        ("TCP_KEEPINTVL", KEEPALIVE_STEP_S),
        ("TCP_KEEPCNT", KEEPALIVE_COUNT),
        ("TCP_USER_TIMEOUT", 1000 * KEEPALIVE_IDLE_S),
    ):
        option = getattr(socket, name, None)
        if option is not None:
            with contextlib.suppress(OSError):
                connected.setsockopt(socket.IPPROTO_TCP, option, value)
