"""The attacks of ``live_fuzz`` on who belongs, each a coroutine on a host outside the flock.

Strangers of every kind dial the agent: without a certificate, with a foreign or an expired one, and
with those that somebody can make who once saw the authority's key. Among the attackers one was a
keeper of the flock (the agent has appointed it) and was expelled: it signs newcomers and statements
with the authority's key and its own. Members that belong pass on what it says. And whoever has no
certificate may ask a keeper to be let in: by all questions there are, whole and changed.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random

from agent.api import admission, flock
from agent.api.errors import MembershipError
from agent.flock.gossip import RequestWord, gossip_of
from agent.net import certificates
from agent.net.authority import EXPELLED, KEEPER
from agent.net.certificates import Signer
from agent.net.enrolment_messages import (
    Answer,
    AskAuthority,
    AskOutcome,
    AskToJoin,
    AuthorityIs,
    Collect,
    DecideRequest,
    Expel,
    Join,
    Leave,
    Question,
    Refused,
    Renew,
    RequestBegun,
    RequestIs,
    RequestShown,
    ShareBook,
    ShowNonce,
    TakeAuthority,
    WithdrawRequest,
    decode_answer,
    encode,
)
from agent.net.invitation_book import Entry
from agent.net.join_requests import REQUESTS_PER_ORIGIN_MAX
from agent.net.roster import Roster
from agent.net.tls import JOIN
from agent.net.wire import Kind, frame
from tests.bench.live_attacks import (
    CLOSED_S_MAX,
    OUT_OF_FAVOUR_S,
    Attack,
    Counts,
    Target,
    linked,
    many,
)
from tests.bench.live_mutants import Breeder
from tests.hosts.stranger import Stranger, TurnedAwayError, context_of
from tests.net.flocks import Node, expired_node, new_authority, new_node

STRANGER_SHARE, QUESTION_SHARE, GOSSIP_SHARE = 0.0002, 0.01, 0.001
QUESTIONS_MIN, GOSSIP_MIN = 200, 20
MUTANT_SHARE = 0.7
APPOINTED_S_MAX = 30.0
LENGTH_BYTES = 4
LET_IN = (AuthorityIs, Refused, RequestBegun, RequestIs, RequestShown)
"""What a stranger may be answered; anything else gives it something."""


@dataclass
class Intruders:
    """Who does not belong, made once for a run."""

    target: Target
    strangers: dict[str, Node | None] = field(default_factory=dict)
    roster: bytes = b""
    """What the expelled keeper would have others believe."""

    async def gather(self) -> None:
        """Expel one keeper and one member, and let the keeper do its worst."""
        target = self.target
        thief = await self._appointed()
        target.members = [each for each in target.members if each[0] is not thief]
        plain = new_node(target.authority, "expelled", signer=target.signer)
        stranger = await linked(target, plain, context_of(plain, target.folder))
        for node in (plain, thief):
            params = flock.Expel(node.node_id)
            await asyncio.to_thread(target.host.call, flock.EXPEL, params)
        stranger.close()
        stolen = Signer(thief.node_id, thief.key)
        smuggled = new_node(target.authority, "smuggled", signer=stolen)
        self.strangers = {
            "none": None,
            "foreign": new_node(new_authority("Elsewhere"), "foreign"),
            "expired": expired_node(target.authority, signer=target.signer),
            "with the authority's key alone": new_node(target.authority, "smuggled"),
            "expelled": plain,
            "expelled keeper": thief,
            "let in by the expelled keeper": smuggled,
            "let in by whom it let in": new_node(
                target.authority, "smuggled", signer=Signer(smuggled.node_id, smuggled.key)
            ),
        }
        self.roster = self._false_roster(thief, smuggled, stolen)

    async def _appointed(self) -> Node:
        """The attacker that the agent has made a keeper, as it makes three of those that it has."""
        own = {node.node_id: node for node, _ in self.target.members}
        async with asyncio.timeout(APPOINTED_S_MAX):
            while True:
                for node_id in await _keepers(self.target):
                    if node_id in own:
                        return own[node_id]
                await asyncio.sleep(0.1)

    def _false_roster(self, thief: Node, smuggled: Node, stolen: Signer) -> bytes:
        """A newcomer, made a keeper, and the agent's own peer expelled."""
        authority, target = self.target.authority, self.target
        false = Roster(authority.flock)
        false.founder = target.signer.node_id
        for node in (thief, smuggled):
            false._members[node.node_id] = node.member
        now_s = thief.member.valid_from_s + certificates.BACKDATED_S
        for kind, node_id in ((KEEPER, smuggled.node_id), (EXPELLED, target.peer)):
            false._statements[kind, node_id] = authority.state(kind, node_id, now_s, stolen)
        return false.to_bytes()


async def _keepers(target: Target) -> list[str]:
    reply = await asyncio.to_thread(target.host.call, flock.MEMBERS, flock.Members())
    return [each.node for each in reply.members if each.keeper]


_known: dict[int, Intruders] = {}


async def _intruders(target: Target) -> Intruders:
    if id(target) not in _known:
        made = Intruders(target)
        await made.gather()
        _known[id(target)] = made
    return _known[id(target)]


async def wrong_certificates(target: Target, frames: int) -> Counts:
    """Nobody of them hears a greeting."""
    found = {"strangers let in": 0, "strangers": 0}
    count = max(10, int(frames * STRANGER_SHARE))
    for node in (await _intruders(target)).strangers.values():
        await many(count, _dialling(target, node, found))
    return found


def _dialling(target: Target, node: Node | None, found: Counts) -> Callable[[], Awaitable[None]]:
    context = context_of(node, target.folder)

    async def one() -> None:
        found["strangers"] += 1
        try:
            stranger = await Stranger.dial(target.place, context)
            own = node.node_id if node else "nobody"
            await stranger.greet(own, target.host.node, "stranger")
            found["strangers let in"] += 1
        except (OSError, ssl.SSLError, TurnedAwayError):
            return
        stranger.close()

    return one


async def false_gossip(target: Target, frames: int) -> Counts:
    """Members that belong pass on what an expelled keeper says, and make up who asks to join."""
    intruders, breeder = await _intruders(target), target.breeder()
    asks = RequestWord("f" * 16, "made up", "nobody", "192.0.2.1", "000 000", 0.0, 60.0, "waiting")
    bodies = (gossip_of(intruders.roster), gossip_of(requests=[asks]))
    found = {"false gossip": 0, "false gossip mutated": 0}
    await asyncio.sleep(OUT_OF_FAVOUR_S)

    async def one() -> None:
        node, context = breeder.random.choice(target.members)
        try:
            stranger = await linked(target, node, context)
        except TurnedAwayError:
            return
        for body in bodies:
            stranger.writer.write(frame(Kind.GOSSIP, body))
        changed = breeder.changed(breeder.random.choice(bodies))
        stranger.writer.write(frame(Kind.GOSSIP, changed))
        found["false gossip"] += len(bodies)
        found["false gossip mutated"] += 1
        await stranger.writer.drain()
        await asyncio.sleep(0.2)
        stranger.close()

    await many(max(GOSSIP_MIN, int(frames * GOSSIP_SHARE)), one)
    return found


async def join_questions(target: Target, frames: int) -> Counts:
    """All questions of joining, of nobody."""
    asking = _Asking(target.breeder())
    found = {"questions of strangers": 0, "answered questions of strangers": 0}
    found |= {"strangers given something": 0, "requests beyond the bound": 0}
    context = context_of(None, target.folder)
    context.set_alpn_protocols([JOIN])

    async def one() -> None:
        reader, writer = await asyncio.open_connection(
            *target.place, ssl=context, server_hostname=""
        )
        try:
            writer.write(asking.words())
            found["questions of strangers"] += 1
            answer = await _answer(reader)
        finally:
            writer.transport.abort()
        if answer is not None:
            asking.hear(answer)
            found["answered questions of strangers"] += 1
            found["strangers given something"] += not isinstance(answer, LET_IN)

    await many(max(QUESTIONS_MIN, int(frames * QUESTION_SHARE)), one)
    reply = await asyncio.to_thread(target.host.call, admission.REQUESTS, admission.Requests())
    beyond = max(0, len(reply.requests) - REQUESTS_PER_ORIGIN_MAX)
    found["requests beyond the bound"] += beyond
    return found


async def _answer(reader: asyncio.StreamReader) -> Answer | None:
    try:
        async with asyncio.timeout(CLOSED_S_MAX):
            length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
            return decode_answer(await reader.readexactly(length))
    except (OSError, EOFError, MembershipError):
        return None


class _Asking:
    """Whole questions, some of which follow on what was answered, and mutants of them."""

    def __init__(self, breeder: Breeder) -> None:
        self._breeder = breeder
        self._random: Random = breeder.random
        self._numbers = [self._random.randbytes(16)]
        self._nonce = self._random.randbytes(16)
        self._request = certificates.request_certificate(certificates.new_key(), "asks")

    def words(self) -> bytes:
        """One question as bytes, whole or not."""
        body = encode(self._question())
        if self._random.random() < MUTANT_SHARE:
            body = self._breeder.changed(body)
        return len(body).to_bytes(LENGTH_BYTES, "big") + body

    def hear(self, answer: Answer) -> None:
        """A request has begun: go on with it."""
        if isinstance(answer, RequestBegun):
            self._numbers = [*self._numbers[-8:], answer.number]

    def _question(self) -> Question:
        number, now_s = self._random.choice(self._numbers), int(time.time())
        entry = Entry(self._random.randbytes(32), 200, 2**31)
        return self._random.choice(
            (
                AskAuthority(self._random.randbytes(8), self._random.randbytes(16)),
                Join(self._random.randbytes(12), self._request, now_s),
                Renew(self._request),
                TakeAuthority(),
                Expel("nobody"),
                Leave(),
                ShareBook((entry,)),
                AskToJoin(self._request, "asks", now_s),
                ShowNonce(number, self._nonce),
                AskOutcome(number),
                Collect(number),
                WithdrawRequest(number),
                DecideRequest(number.hex()[:16], "", True),
            )
        )


ATTACKS: dict[str, Attack] = {
    "wrong certificates": wrong_certificates,
    "false gossip": false_gossip,
    "join questions": join_questions,
}
