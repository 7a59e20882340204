"""peers: the machines that this node sees, and the members that it does not."""

from agent.api.flock import Peers, PeersReply
from agent.api.methods import PEERS
from agent.control.call import Call, verb
from agent.control.copied import own_identity_copied
from agent.control.machines import node_view, peer_views


async def serve(call: Call, params: Peers) -> PeersReply:  # noqa: ARG001 - it has none
    """In the order of names, those without a link with what is known of why."""
    surface, facts, views = call.surface, call.surface.facts(), call.views
    return PeersReply(
        node_view(surface, facts, views),
        peer_views(surface, facts, views),
        own_identity_copied(facts),
    )


VERB = verb(PEERS, serve)
