"""What the verbs share that are about the flock, and about joining it without an invitation."""

from __future__ import annotations

from agent.api.admission import Answered, JoinRequestView, same_code
from agent.api.errors import RefusedError
from agent.api.flock import MemberView
from agent.api.rpc import ErrorCode
from agent.api.wording import moment
from agent.control.naming import find_member
from agent.control.port import Belonging
from agent.control.request_context import RequestContext
from agent.protocol.phrases import said
from agent.wording.english import HOW_TO_JOIN, sent_away


def require_flock(call: RequestContext) -> Belonging:
    """Return the flock of this node, also one that has expelled it. Raises ``RefusedError``,
    telling how to join, where it has none."""
    flock = call.now.flock
    if flock is None:
        raise RefusedError(ErrorCode.NO_FLOCK, HOW_TO_JOIN)
    return flock


def require_membership(call: RequestContext) -> Belonging:
    """Return the flock that this node belongs to. Raises ``RefusedError`` where it has none, or was
    expelled from the one that it still knows."""
    flock = require_flock(call)
    if flock.expelled:
        raise RefusedError(ErrorCode.NO_FLOCK, sent_away(flock.name))
    return flock


def other_member(call: RequestContext, reference: str) -> MemberView:
    """Return the member that is meant by id, name or the beginning of one, which may be this node.
    Raises ``RefusedError`` without a flock or expelled from it, and where none or several are
    meant, saying of one that is gone when and how it went."""
    require_membership(call)
    members = call.rooms.flock.members()
    if not any(reference in (each.name, each.node) for each in members):
        for gone in call.rooms.flock.departures():
            if reference in (gone.name, gone.node):
                name, when = gone.name, moment(gone.at_ms / 1000)
                fault = said(
                    "{name} left the flock on {when}: it is not asked", name=name, when=when
                )
                if gone.expelled:
                    fault = said(
                        "{name} was sent away from the flock on {when}: it is not asked",
                        name=name,
                        when=when,
                    )
                raise RefusedError(ErrorCode.UNKNOWN, fault)
    return find_member(members, reference)


async def decide_request(
    call: RequestContext, reference: str, code: str, *, admit: bool
) -> Answered:
    """Admit or refuse the request that a person means by its id, code or name, and return what was
    decided. Raises ``RefusedError`` without a flock, where none or several are meant, or one is to
    be admitted by its name alone, with ``code`` empty; ``ServiceError`` where it is over, the code
    is another one, or only a keeper can."""
    require_membership(call)
    wanted = find_request(call.rooms.flock.requests(), reference)
    if admit and not code:
        check_compared(wanted, reference)
    answered = await call.rooms.flock.decide(wanted.request, code, admit=admit)
    return Answered(answered.request, answered.name, answered.code, admit)


def find_request(requests: list[JoinRequestView], reference: str) -> JoinRequestView:
    """Return the request with this id, else this code, else this name in whatever case. Raises
    ``RefusedError`` where none has it, or several: names may repeat, even on purpose."""
    found = (
        [each for each in requests if each.request == reference]
        or [each for each in requests if same_code(each.code, reference)]
        or [each for each in requests if each.name.casefold() == reference.casefold()]
    )
    if len(found) == 1:
        return found[0]
    if not found:
        names = ", ".join(f"{each.name} ({each.code})" for each in requests)
        asking = said("these ask: {names}", names=names) if names else said("none asks at present")
        sentence = said(
            'no machine that asks has the name or code "{reference}": {asking}',
            reference=reference,
            asking=asking,
        )
        raise RefusedError(ErrorCode.UNKNOWN, sentence)
    codes = ", ".join(each.code for each in found)
    sentence = said(
        "several machines that ask call themselves {reference}: give the code ({codes})",
        reference=reference,
        codes=codes,
    )
    raise RefusedError(ErrorCode.AMBIGUOUS, sentence)


def check_compared(wanted: JoinRequestView, reference: str) -> None:
    """Raise ``RefusedError`` unless the reference is the request's id or its code: nobody is let in
    by its name alone, for that is its own word. Else do nothing."""
    if reference != wanted.request and not same_code(wanted.code, reference):
        raise RefusedError(
            ErrorCode.REFUSED,
            said(
                "give the code that {reference} shows, so that it is the one you mean",
                reference=reference,
            ),
        )


def open_requests(requests: list[JoinRequestView]) -> list[JoinRequestView]:
    """Return the requests that nobody has answered."""
    return [each for each in requests if not each.admitted]
