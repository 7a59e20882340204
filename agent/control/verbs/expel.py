"""expel: a member is sent away, for ever."""

from agent.api.flock import Expel, Expelled
from agent.api.methods import EXPEL
from agent.control.call import Call, verb
from agent.control.membership import required_membership
from agent.control.naming import find_member


async def serve(call: Call, params: Expel) -> Expelled:
    """By its id, so that the name of one cannot hit another."""
    required_membership(call)
    member = find_member(call.surface.members(), params.member)
    warning = await call.surface.expel(member.node)
    return Expelled(member.node, member.name, warning)


VERB = verb(EXPEL, serve)
