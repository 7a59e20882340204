"""requests: which machines ask to be let in."""

from agent.api.admission import Requests, RequestsReply
from agent.api.methods import REQUESTS
from agent.control.admission import request_view
from agent.control.call import Call, verb
from agent.control.membership import required_flock


async def serve(call: Call, params: Requests) -> RequestsReply:  # noqa: ARG001 - it has none
    """Every member knows; keepers can answer."""
    flock = required_flock(call)
    keepers = sorted(each.name for each in call.surface.members() if each.keeper)
    found = map(request_view, call.surface.admission.requests())
    return RequestsReply(tuple(found), flock.keeper, tuple(keepers))


VERB = verb(REQUESTS, serve)
