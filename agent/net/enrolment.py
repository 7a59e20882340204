"""The keeper's desk: it lets in whoever was invited, and serves members that need the authority.

It is the only part of a node that talks to strangers, so everything here has a limit: one
question per connection, small, soon, and not many at a time. Nothing is issued before the secret
was right, the clocks agree, and the use of the invitation is burnt on the disk; without an
invitation, not before a person has let the machine in. What a member may
ask is decided by the certificate that it shows, never by what it says.

**What a keeper answers machines that ask to be let in, and who may join at all.**

The same limits hold as for those with an invitation: the clocks agree, the key is not one that was
sent away. What a request is, and how many there may be, is in ``join_requests``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from typing import assert_never

from agent.api.errors import InVainError, MembershipError
from agent.net.certificates import Applicant, Member, clean_name, read_request
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
    RequestBegun,
    Requesting,
    RequestIs,
    RequestShown,
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
from agent.net.invitation_book import GuessLimit
from agent.net.join_requests import JoinRequest, JoinRequests, keeper_key_of
from agent.net.membership import Membership
from agent.net.tls import JOIN, Arrival, arrival_of
from agent.protocol.link_reasons import NoLink
from agent.wording.speech import english, long

BURNING_S_MAX = 0.5
"""Between a keeper's question to the others and its use on its disk."""
CONNECTIONS_MAX = 64
"""Of strangers; members are not counted."""


Keepers = Collection[str]
Share = Callable[[Keepers | None], Awaitable[Keepers]]
"""Joins the invitation books of some keepers, or of all; which of them answered."""
CLOCK_DIFFERENCE_S_MAX = 1800


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
        name: str = "",
    ) -> None:
        own = requests or requests_of(membership)
        self._name = name and clean_name(name)
        self._requesting = JoinRequestServer(membership, own, may_ask=may_ask)
        self._share = share
        self._membership = membership
        self._elapsed = elapsed
        self._guesses = GuessLimit()
        self._strangers = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one question, answer it and close the connection, all within 15 seconds and a
        little. A fault of the stranger or of the network is not raised, it only costs the
        connection; what cannot be done is answered with ``Refused``."""
        stranger = _is_stranger(writer)
        self._strangers += stranger
        try:
            async with asyncio.timeout(EXCHANGE_S_MAX):
                arrival = arrival_of(writer.get_extra_info("ssl_object"), self._membership.roster)
                question = decode_question(await receive(reader, self._bytes_max(arrival)))
                await send(writer, encode(await self._reply(question, arrival, _host(writer))))
        except (OSError, EOFError, MembershipError):
            pass  # a stranger's fault costs the stranger its connection
        finally:
            self._strangers -= stranger
            await close(writer)

    def _bytes_max(self, arrival: Arrival | NoLink) -> int:
        if isinstance(arrival, NoLink) or arrival.member is None:
            return QUESTION_BYTES_MAX
        keeper = arrival.member.node_id in self._membership.roster.keepers()
        return KEEPERS_QUESTION_BYTES_MAX if keeper else QUESTION_BYTES_MAX

    async def _reply(self, question: Question, arrival: Arrival | NoLink, host: str) -> Answer:
        if isinstance(arrival, NoLink):
            return Refused(f"this machine is not let in, {english(arrival)}")
        if arrival.protocol != JOIN:
            return Refused("this is asked under another protocol: update Wingbeat")
        if arrival.member is None and self._strangers > CONNECTIONS_MAX:
            return Refused("too many machines ask at the same time: try again in a minute")
        try:
            return await self._answer(question, arrival.member, host)
        except MembershipError as error:
            return Refused(str(error)[:REASON_LENGTH_MAX], isinstance(error, InVainError))

    async def _answer(self, question: Question, member: Member | None, host: str) -> Answer:
        membership = self._membership
        if membership.roster.departure(membership.node_id) is not None:
            return Refused("this machine does not belong to the flock any more: ask another one")
        match question:
            case AskAuthority():
                proof = membership.proof(question.tag, question.challenge)
                return AuthorityIs(membership.flock.der, int(membership.clock()), proof, self._name)
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
        invited = membership.book().find(question.secret)
        if invited is None:
            self._guesses.note_wrong(host, self._elapsed())
        applicant = checked_applicant(membership, question.request, question.time_s)
        others = await self._share(None) if invited else ()
        refused = await membership.redeem(question.secret, applicant.node_id)
        if refused:
            return Refused(refused, in_vain=True)
        if others:
            # One of them may have asked just before this use was burnt, and burn one just now.
            await asyncio.sleep(BURNING_S_MAX)
            await self._share(others)
        if membership.book().is_one_too_many(question.secret, applicant.node_id):
            return Refused("the invitation is used up: ask for a new one", in_vain=True)
        admitted = await membership.admit(applicant, role=invited.role if invited else "")
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
                return Refused("an administrator expels, on a machine of his own: update Wingbeat")
            case Leave():
                await self._let_go(question, member)
            case _:
                assert_never(question)
        return Done(membership.roster.to_bytes())

    async def _let_go(self, question: Leave, member: Member) -> None:
        membership = self._membership
        if not membership.roster.charter:
            await membership.record_departure(member.node_id)
            return
        if question.act is None or question.act.by != member.node_id:
            raise MembershipError("who leaves says so in its own name: update Wingbeat there")
        membership.check_departure(member.node_id, "let go")
        await membership.take_acts(question.act)

    async def _serve_keeper(self, question: ShareBook | DecideRequest, member: Member) -> Answer:
        membership = self._membership
        if isinstance(question, DecideRequest):
            if not membership.roster.standing.is_administrator(member.node_id):
                return Refused("only administrators may ask this")
            return self._requesting.decide(question)
        if member.node_id not in membership.roster.keepers():
            return Refused("only keepers may ask this")
        await membership.join_book(question.entries)
        return BookIs(membership.book().entries)


def _is_stranger(writer: asyncio.StreamWriter) -> bool:
    tls = writer.get_extra_info("ssl_object")
    return tls is None or tls.getpeercert(binary_form=True) is None


def _host(writer: asyncio.StreamWriter) -> str:
    peer = writer.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) and peer else "unknown"


class JoinRequestServer:
    """The part of a keeper's desk for those without an invitation."""

    def __init__(
        self, membership: Membership, requests: JoinRequests, *, may_ask: bool = True
    ) -> None:
        self._membership, self._requests, self._may_ask = membership, requests, may_ask

    async def answer(self, question: Requesting, host: str) -> Answer:
        """Do what a stranger asks about its join request and return the answer: begin it, take its
        part of the code, tell the outcome (``Refused`` for an unknown one), issue the certificate
        once it was admitted, or withdraw it. Raise ``MembershipError`` with the reason for any
        other refusal."""
        requests = self._requests
        match question:
            case AskToJoin() if not self._may_ask:
                raise MembershipError(
                    "this keeper is set to let nobody in without an invitation: ask somebody of the "
                    "flock for one"
                )
            case AskToJoin(sent, user, time_s):
                self._membership.authority("admit")
                applicant = checked_applicant(self._membership, sent, time_s)
                return RequestBegun(*requests.begin(sent, applicant, user, host))
            case ShowNonce(number, nonce):
                return RequestShown(requests.show(number, nonce))
            case AskOutcome(number):
                return self._outcome(number)
            case Collect(number):
                with requests.collecting(number) as request:
                    return await self._admit(request.applicant)
            case WithdrawRequest(number):
                requests.withdraw(number)
                return self._outcome(number)
            case _:
                assert_never(question)

    def decide(self, question: DecideRequest) -> Answer:
        """Admit or refuse a request as a person at another keeper wants it, and return what has
        become of it; raise ``MembershipError`` when it is over, is joining already or has another
        code."""
        decided = self._requests.decide(question.request, question.code, admit=question.admit)
        return self._told(decided)

    def _outcome(self, number: bytes) -> Answer:
        request = self._requests.outcome(number)
        if request is None:
            return Refused("the keeper was started anew and forgot the request: ask again")
        return self._told(request)

    async def _admit(self, applicant: Applicant) -> Answer:
        membership = self._membership
        check_departure(membership, applicant)
        admitted = await membership.admit(applicant)
        return Welcome(admitted.certificate, membership.roster.to_bytes())

    def _told(self, request: JoinRequest) -> RequestIs:
        state = "waiting" if request.state == "begun" else request.state
        return RequestIs(state, self._requests.left_s(request))


def requests_of(
    membership: Membership, changed: Callable[[JoinRequest], None] = lambda _: None
) -> JoinRequests:
    """Return a keeper's list of join requests, still empty; ``changed`` is called with each that
    changes."""
    own = keeper_key_of(membership.member.certificate)
    return JoinRequests(membership.flock.flock_id, own, changed, clock=membership.clock)


def checked_applicant(membership: Membership, request: bytes, time_s: int) -> Applicant:
    """Return who asks, in this certificate request, at ``time_s`` by its own clock; raise
    ``MembershipError`` when that clock is wrong, the request invalid or its key was sent away
    before."""
    if fault := clock_fault(time_s - membership.clock()):
        raise fault
    applicant = read_request(request)
    check_departure(membership, applicant)
    return applicant


def check_departure(membership: Membership, applicant: Applicant) -> None:
    """Raise ``MembershipError`` when the applicant's key left the flock or was expelled, because
    then it is out for ever; else do nothing."""
    if membership.roster.departure(applicant.node_id) is not None:
        raise InVainError(
            "this machine belonged to the flock under this key and does not any more: "
            "leave on it, which forgets the key, and join again"
        )


def clock_fault(ahead_s: float) -> MembershipError | None:
    """Return the error for a machine that cannot join because its clock is so far ahead of the
    flock's, or behind it where negative; None for half an hour or less."""
    if abs(ahead_s) <= CLOCK_DIFFERENCE_S_MAX:
        return None
    direction = "ahead of" if ahead_s > 0 else "behind"
    return MembershipError(
        f"the clock of this machine is {long(abs(ahead_s))} {direction} the flock's: "
        f"set it right and join again"
    )
