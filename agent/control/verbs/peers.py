"""peers: the machines that this node sees, and the members that it does not."""

from agent.api.flock import Peers, PeersReply
from agent.api.methods import PEERS
from agent.control.call import Call, verb
from agent.control.copied import own_identity_copied
from agent.control.machines import node_view, peer_views


async def serve(call: Call, params: Peers) -> PeersReply:  # noqa: ARG001 - it has none
    """In the order of names, those without a link with what is known of why."""
    surface, views = call.surface, call.views
    warning = own_identity_copied(surface.facts())
    return PeersReply(node_view(surface, views), peer_views(surface, views), warning)


VERB = verb(PEERS, serve)
