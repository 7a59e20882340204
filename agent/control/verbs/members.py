"""members: who belongs to the flock, and who did."""

from agent.api.flock import DepartureView, Members, MembersReply, MemberView
from agent.api.methods import MEMBERS
from agent.control.call import Call, verb
from agent.control.membership import required_flock


async def serve(call: Call, params: Members) -> MembersReply:  # noqa: ARG001 - it has none
    """In the order of names."""
    flock = required_flock(call)
    members = sorted(call.surface.members(), key=lambda each: (each.name, each.node))
    departures = call.surface.facts().departures
    return MembersReply(
        flock.name,
        tuple(
            MemberView(
                each.node,
                each.name,
                each.keeper,
                each.is_this_node,
                max(0, round(each.valid_until_s * 1000)),
            )
            for each in members
        ),
        tuple(
            DepartureView(each.node, each.name, each.expelled, max(0, round(each.at_s * 1000)))
            for each in departures
        ),
    )


VERB = verb(MEMBERS, serve)
