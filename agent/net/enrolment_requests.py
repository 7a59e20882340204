"""What a keeper answers machines that ask to be let in, and who may join at all.

The same limits hold as for those with an invitation: the clocks agree, the key is not one that was
sent away. What a request is, and how many there may be, is in ``join_requests``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from agent.api.errors import MembershipError
from agent.net.certificates import Applicant, read_request
from agent.net.enrolment_messages import (
    Answer,
    AskOutcome,
    AskToJoin,
    Collect,
    DecideRequest,
    Refused,
    RequestBegun,
    Requesting,
    RequestIs,
    RequestShown,
    ShowNonce,
    Welcome,
    WithdrawRequest,
)
from agent.net.join_requests import JoinRequest, JoinRequests, keeper_key_of
from agent.net.membership import Membership
from agent.net.refusals import duration

CLOCK_DIFFERENCE_S_MAX = 1800


class JoinRequestServer:
    """The part of a keeper's desk for those without an invitation."""

    def __init__(
        self, membership: Membership, requests: JoinRequests, *, may_ask: bool = True
    ) -> None:
        self._membership, self._requests, self._may_ask = membership, requests, may_ask

    async def answer(self, question: Requesting, host: str) -> Answer:
        """Do what a stranger asks about its join request and return the answer: begin it, take its
        part of the code, tell the outcome, issue the certificate once it was admitted, or withdraw
        it. Raise ``MembershipError`` with the reason for a refusal."""
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
        """Decide on a request as a person at another keeper wants it, and return what becomes of
        it; raise ``MembershipError`` when it cannot be decided."""
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
    """Return who asks for a certificate; raise ``MembershipError`` when its clock is wrong, the
    request invalid or its key was sent away before."""
    if fault := clock_fault(time_s - membership.clock()):
        raise fault
    applicant = read_request(request)
    check_departure(membership, applicant)
    return applicant


def check_departure(membership: Membership, applicant: Applicant) -> None:
    """Raise ``MembershipError`` when the applicant's key left the flock or was expelled: it is out
    for ever."""
    if membership.roster.departure(applicant.node_id) is not None:
        raise MembershipError(
            "this machine belonged to the flock under this key and does not any more: "
            "leave on it, which forgets the key, and join again"
        )


def clock_fault(ahead_s: float) -> MembershipError | None:
    """Return the error for a machine that cannot join because its clock is so far ahead of the
    flock's, or behind it where negative; None where the difference is small."""
    if abs(ahead_s) <= CLOCK_DIFFERENCE_S_MAX:
        return None
    direction = "ahead of" if ahead_s > 0 else "behind"
    return MembershipError(
        f"the clock of this machine is {duration(ahead_s)} {direction} the flock's: "
        f"set it right and join again"
    )
