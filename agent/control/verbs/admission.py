"""Joining without an invitation, from both sides."""

from agent.api.admission import (
    ADMIT,
    ASK,
    ASKED,
    CONFIRM_ASK,
    NEARBY,
    REFUSE,
    REQUESTS,
    WITHDRAW_ASK,
    Admit,
    Answered,
    Asked,
    AskView,
    ConfirmAsk,
    Refuse,
    Requests,
    RequestsReply,
)
from agent.control.membership import decide_request, require_flock
from agent.control.request_context import RequestContext, serves

nearby = serves(NEARBY)(lambda call, _: call.rooms.flock.asking.nearby())
"""Return the flocks of this network, as far as they answer within a moment."""


ask = serves(ASK)(lambda call, params: call.rooms.flock.asking.ask(params.flock))
"""Ask a flock that did not invite this machine to let it in, and return the request. The
flock's people see it by then. Raises ``ServiceError`` where it cannot be asked."""


@serves(ASKED)
async def asked(call: RequestContext, params: Asked) -> AskView:
    """Return what has become of this machine's last request since the agent started."""
    return call.rooms.flock.asking.asked()


@serves(CONFIRM_ASK)
async def confirm_ask(call: RequestContext, params: ConfirmAsk) -> AskView:
    """Note that a person here sees the same code at the keeper, so that this machine joins once it
    is let in, and return the request. Raises ``ServiceError`` for another code, and where no
    request is open."""
    return call.rooms.flock.asking.confirm(params.code)


withdraw_ask = serves(WITHDRAW_ASK)(lambda call, _: call.rooms.flock.asking.withdraw())
"""Withdraw this machine's request; without one nothing happens."""


@serves(REQUESTS)
async def requests(call: RequestContext, params: Requests) -> RequestsReply:
    """Return which machines ask to be let in, or are let in and have not joined yet, as far as
    linked keepers tell, the oldest first; whether this node decides, and the names of those that do:
    the administrators'. Raises ``RefusedError`` without a flock."""
    require_flock(call)
    deciding = [each for each in call.rooms.flock.members() if each.role == "administrator"]
    may_admit = any(each.own for each in deciding)
    names = sorted(each.name for each in deciding)
    return RequestsReply(tuple(call.rooms.flock.requests()), may_admit, tuple(names))


@serves(ADMIT)
async def admit(call: RequestContext, params: Admit) -> Answered:
    """Admit a machine that asks. It belongs as soon as it has come, which it does when a person
    there agrees too. Raises ``RefusedError`` where none or several are meant or its code was not
    given, ``ServiceError`` where that is wrong, the request is over, or only a keeper can."""
    return await decide_request(call, params.request, params.code, admit=True)


@serves(REFUSE)
async def refuse(call: RequestContext, params: Refuse) -> Answered:
    """Refuse a machine that asks; it is told so, and may ask again. Raises ``RefusedError`` where
    none or several are meant, ``ServiceError`` where the request is over or only a keeper can."""
    return await decide_request(call, params.request, "", admit=False)
