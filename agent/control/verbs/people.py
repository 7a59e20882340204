"""Who is who in the flock, and which machines are one person's."""

import asyncio

from agent.api.administration import Acted
from agent.api.errors import RefusedError
from agent.api.people import (
    ME,
    MEET,
    PAIR,
    UNPAIR,
    Me,
    Meet,
    MeReply,
    Met,
    Pair,
    Paired,
    Unpair,
)
from agent.api.rpc import ErrorCode
from agent.control.membership import require_membership
from agent.control.naming import find_member
from agent.control.request_context import RequestContext, serves
from agent.protocol.phrases import said
from agent.protocol.records import NodeId

ASKED_S_MAX = 10.0


@serves(ME)
async def me(call: RequestContext, params: Me) -> MeReply:
    """Return for whom this machine speaks, and with which others. Raises ``RefusedError`` without a
    flock."""
    require_membership(call)
    return call.rooms.flock.pairing.mine()


@serves(PAIR)
async def pair(call: RequestContext, params: Pair) -> Paired:
    """Without a code show a new one; with a code that another machine shows, make this machine that
    one's person's. Raises ``RefusedError`` without a flock and where no linked machine shows the
    code, ``ServiceError`` for a typing error and where this machine is paired already."""
    require_membership(call)
    room = call.rooms.flock.pairing
    if not params.code:
        return await room.show()
    tag = await room.typed(params.code)
    for node, met in await _met(call, tag):
        if consent := room.consent(node, met):
            await call.members.ask(node, MEET, Meet(tag, consent))
            return await room.settled(met.person)
    raise RefusedError(
        ErrorCode.UNKNOWN,
        said(
            "no machine that is linked shows this code: they are good for ten minutes and once; show "
            "another one there (`wingbeat me pair`)"
        ),
    )


async def _met(call: RequestContext, tag: bytes) -> list[tuple[NodeId, Met]]:
    """What those members answer that know the code, or say so."""
    asked = {
        asyncio.create_task(call.members.ask(each.node, MEET, Meet(tag))): each.node
        for each in call.now.peers
    }
    try:
        if asked:
            await asyncio.wait(asked, timeout=ASKED_S_MAX)
    finally:
        for each in asked:
            each.cancel()
    answers = await asyncio.gather(*asked, return_exceptions=True)
    found = zip(asked.values(), answers, strict=True)
    return [(node, told) for node, told in found if isinstance(told, Met)]


@serves(UNPAIR)
async def unpair(call: RequestContext, params: Unpair) -> Acted:
    """Take a machine away from its person, as one of his or as an administrator; return who has said so
    where that is not enough. Raises ``RefusedError`` without a flock and where none or several are
    meant, ``ServiceError`` where this machine may not, or the recovery phrase is wanted."""
    require_membership(call)
    member = find_member(call.rooms.flock.members(), params.member)
    return await call.rooms.flock.pairing.unpair(member.node, params.phrase)


@serves(MEET)
async def meet(call: RequestContext, params: Meet) -> Met:
    """Answer a member that was told the code shown here. Raises ``ServiceError`` where the code is
    another one or none, as for clients of this machine."""
    return await call.rooms.flock.pairing.meet(call.member_node, params.tag, params.consent)
