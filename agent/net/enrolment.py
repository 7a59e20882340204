"""The keeper's desk: it lets in whoever was invited, and serves members that need the authority.

It is the only part of a node that talks to strangers, so everything here has a limit: one
question per connection, small, soon, and not many at a time. Nothing is issued before the secret
was right, the clocks agree, and the use of the invitation is burnt on the disk; without an
invitation, not before a person has let the machine in (``enrolment_requests``). What a member may
ask is decided by the certificate that it shows, never by what it says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from typing import assert_never

from agent.api.errors import MembershipError
from agent.net.certificates import Member, read_request
from agent.net.enrolment_messages import (
    EXCHANGE_S_MAX,
    KEEPERS_QUESTION_BYTES_MAX,
    QUESTION_BYTES_MAX,
    REASON_LENGTH_MAX,
    Answer,
    AskAuthority,
    AskOutcome,
    AskToJoin,
    AuthorityIs,
    AuthorityKey,
    BookIs,
    Collect,
    DecideRequest,
    Done,
    Expel,
    Join,
    Leave,
    Question,
    Refused,
    Renew,
    ShareBook,
    ShowNonce,
    TakeAuthority,
    Welcome,
    WithdrawRequest,
    close,
    decode_question,
    encode,
    receive,
    send,
)
from agent.net.enrolment_requests import JoinRequestServer, checked_applicant, requests_of
from agent.net.invitation_book import GuessLimit
from agent.net.join_requests import JoinRequests
from agent.net.membership import Membership
from agent.net.refusals import Refusal
from agent.net.tls import JOIN, Arrival, arrival_of

BURNING_S_MAX = 0.5
"""Between a keeper's question to the others and its use on its disk."""
CONNECTIONS_MAX = 64


Keepers = Collection[str]
Share = Callable[[Keepers | None], Awaitable[Keepers]]
"""Joins the invitation books of some keepers, or of all; which of them answered."""


async def _with_nobody(keepers: Keepers | None) -> Keepers:
    """Where a keeper knows no others."""
    del keepers
    return ()


class EnrolmentServer:
    """Serves the connections that arrive for joining."""

    def __init__(
        self,
        membership: Membership,
        elapsed: Callable[[], float] = time.monotonic,
        share: Share = _with_nobody,
        requests: JoinRequests | None = None,
        *,
        may_ask: bool = True,
    ) -> None:
        own = requests or requests_of(membership)
        self._requesting = JoinRequestServer(membership, own, may_ask=may_ask)
        self._share = share
        self._membership = membership
        self._elapsed = elapsed
        self._guesses = GuessLimit()
        self._open = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one question and close the connection, whatever happens on it. Raises nothing: a
        stranger's fault only costs it the connection."""
        self._open += 1
        try:
            async with asyncio.timeout(EXCHANGE_S_MAX):
                arrival = arrival_of(writer.get_extra_info("ssl_object"), self._membership.roster)
                question = decode_question(await receive(reader, self._bytes_max(arrival)))
                await send(writer, encode(await self._reply(question, arrival, _host(writer))))
        except (OSError, EOFError, MembershipError):
            pass  # a stranger's fault costs the stranger its connection
        finally:
            self._open -= 1
            await close(writer)

    def _bytes_max(self, arrival: Arrival | Refusal) -> int:
        if isinstance(arrival, Refusal) or arrival.member is None:
            return QUESTION_BYTES_MAX
        keeper = arrival.member.node_id in self._membership.roster.keepers()
        return KEEPERS_QUESTION_BYTES_MAX if keeper else QUESTION_BYTES_MAX

    async def _reply(self, question: Question, arrival: Arrival | Refusal, host: str) -> Answer:
        if isinstance(arrival, Refusal):
            return Refused(f"this machine is not let in, {arrival.reason}")
        if arrival.protocol != JOIN:
            return Refused("this is asked under another protocol: update Wingbeat")
        if self._open > CONNECTIONS_MAX:
            return Refused("too many machines ask at the same time: try again in a minute")
        try:
            return await self._answer(question, arrival.member, host)
        except MembershipError as error:
            return Refused(str(error)[:REASON_LENGTH_MAX])

    async def _answer(self, question: Question, member: Member | None, host: str) -> Answer:
        membership = self._membership
        if membership.roster.departure(membership.node_id) is not None:
            return Refused("this machine does not belong to the flock any more: ask another one")
        match question:
            case AskAuthority():
                proof = membership.proof(question.tag, question.challenge)
                return AuthorityIs(membership.flock.der, int(membership.clock()), proof)
            case Join():
                return await self._join(question, host)
            case AskToJoin() | ShowNonce() | AskOutcome() | Collect() | WithdrawRequest():
                return await self._requesting.answer(question, host)
            case Renew() | TakeAuthority() | Expel() | Leave() | ShareBook() | DecideRequest():
                if member is None:
                    return Refused("only members may ask this: join the flock first")
                return await self._serve_member(question, member)
            case _:
                assert_never(question)

    async def _join(self, question: Join, host: str) -> Answer:
        membership = self._membership
        if self._guesses.blocked(host, self._elapsed()):
            return Refused("too many wrong invitations came from this address: wait a minute")
        known = membership.book().find(question.secret) is not None
        if not known:
            self._guesses.note_wrong(host, self._elapsed())
        applicant = checked_applicant(membership, question.request, question.time_s)
        others = await self._share(None) if known else ()
        refused = await membership.redeem(question.secret, applicant.node_id)
        if refused:
            return Refused(refused)
        if others:
            # One of them may have asked just before this use was burnt, and burn one just now.
            await asyncio.sleep(BURNING_S_MAX)
            await self._share(others)
        if membership.book().is_one_too_many(question.secret, applicant.node_id):
            return Refused("the invitation is used up: ask for a new one")
        admitted = await membership.admit(applicant)
        return Welcome(admitted.certificate, membership.roster.to_bytes())

    async def _serve_member(
        self,
        question: Renew | TakeAuthority | Expel | Leave | ShareBook | DecideRequest,
        member: Member,
    ) -> Answer:
        membership = self._membership
        match question:
            case Renew():
                applicant = read_request(question.request)
                if applicant.node_id != member.node_id:
                    return Refused("a certificate is renewed for the key that it has: ask with it")
                admitted = await membership.admit(applicant)
                return Welcome(admitted.certificate, membership.roster.to_bytes())
            case TakeAuthority():
                if member.node_id not in membership.roster.keepers():
                    return Refused("this machine is not appointed: let a keeper appoint it")
                return AuthorityKey(membership.authority("hand on its key").key_file)
            case ShareBook() | DecideRequest():
                return await self._serve_keeper(question, member)
            case Expel():
                await membership.expel(question.node_id)
            case Leave():
                await membership.record_departure(member.node_id)
            case _:
                assert_never(question)
        return Done(membership.roster.to_bytes())

    async def _serve_keeper(self, question: ShareBook | DecideRequest, member: Member) -> Answer:
        membership = self._membership
        if member.node_id not in membership.roster.keepers():
            return Refused("only keepers may ask this")
        if isinstance(question, DecideRequest):
            return self._requesting.decide(question)
        await membership.join_book(question.entries)
        return BookIs(membership.book().entries)


def _host(writer: asyncio.StreamWriter) -> str:
    peer = writer.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) and peer else "unknown"
