"""Joining without an invitation, from both sides."""

from agent.api.admission import (
    Admit,
    Answered,
    Ask,
    Asked,
    AskView,
    ConfirmAsk,
    Nearby,
    NearbyFlock,
    NearbyReply,
    Refuse,
    Requests,
    RequestsReply,
    WithdrawAsk,
)
from agent.api.methods import ADMIT, ASK, ASKED, CONFIRM_ASK, NEARBY, REFUSE, REQUESTS, WITHDRAW_ASK
from agent.control.admission import ask_view, decided, refusing, request_view
from agent.control.membership import required_flock
from agent.control.request_context import RequestContext, serves


@serves(NEARBY)
async def nearby(call: RequestContext, params: Nearby) -> NearbyReply:
    """Which flocks are on this network.

    As far as they answer within a moment.
    """
    flocks, trouble = await call.rooms.flock.asking.nearby()
    found = [
        NearbyFlock(each.flock_id, each.name, each.machines, each.askable, each.own)
        for each in flocks
    ]
    return NearbyReply(tuple(found), trouble)


@serves(ASK)
async def ask(call: RequestContext, params: Ask) -> AskView:
    """This machine wants to join a flock that nobody invited it to.

    The flock's people see the request when this is answered.
    """
    with refusing():
        return ask_view(await call.rooms.flock.asking.ask(params.flock))


@serves(ASKED)
async def asked(call: RequestContext, params: Asked) -> AskView:
    """What has become of this machine's request.

    The last one of this start of the agent.
    """
    return ask_view(call.rooms.flock.asking.asked())


@serves(CONFIRM_ASK)
async def confirm_ask(call: RequestContext, params: ConfirmAsk) -> AskView:
    """A person here says that the keeper shows the same code.

    Only with the code of the request that is open, so that no other one is meant.
    """
    return ask_view(call.rooms.flock.asking.confirm(params.code))


@serves(WITHDRAW_ASK)
async def withdraw_ask(call: RequestContext, params: WithdrawAsk) -> AskView:
    """This machine does not want to join any more.

    Without a request nothing happens.
    """
    return ask_view(await call.rooms.flock.asking.withdraw())


@serves(REQUESTS)
async def requests(call: RequestContext, params: Requests) -> RequestsReply:
    """Which machines ask to be let in.

    Every member knows; keepers can answer.
    """
    flock = required_flock(call)
    keepers = sorted(each.name for each in call.rooms.flock.members() if each.keeper)
    found = map(request_view, call.rooms.flock.requests())
    return RequestsReply(tuple(found), flock.keeper, tuple(keepers))


@serves(ADMIT)
async def admit(call: RequestContext, params: Admit) -> Answered:
    """A machine that asks is let in.

    It belongs as soon as it has come, which it does when a person there agrees too.
    """
    return await decided(call, params.request, params.code, admit=True)


@serves(REFUSE)
async def refuse(call: RequestContext, params: Refuse) -> Answered:
    """A machine that asks is not let in.

    It is told so; it may ask again.
    """
    return await decided(call, params.request, "", admit=False)
