"""peers: the machines that this node sees, and the members that it does not."""

from agent.api.flock import Peers, PeersReply, PeerView
from agent.api.methods import PEERS
from agent.control.call import Call, verb
from agent.control.views import node_view
from agent.service_facts import Facts, MemberFacts, PeerFacts


async def serve(call: Call, params: Peers) -> PeersReply:  # noqa: ARG001 - it has none
    """In the order of names, those without a link with what is known of why."""
    facts = call.surface.facts()
    linked = {peer.node: _linked(peer) for peer in facts.peers}
    away = [
        _away(member, facts)
        for member in facts.members
        if not member.is_this_node and member.node not in linked
    ]
    views = sorted([*linked.values(), *away], key=lambda view: (view.name, view.node))
    return PeersReply(node_view(call.surface), tuple(views))


def _linked(peer: PeerFacts) -> PeerView:
    return PeerView(
        peer.node,
        peer.name,
        "linked",
        peer.address,
        peer.version,
        None if peer.round_trip_s is None else peer.round_trip_s * 1000,
        None if peer.clock_skew_s is None else round(peer.clock_skew_s * 1000),
        peer.willing,
        peer.owner_present,
        peer.load_percent,
        peer.reason,
    )


def _away(member: MemberFacts, facts: Facts) -> PeerView:
    refusals = [each for each in facts.refusals if each.node == member.node]
    last = max(refusals, key=lambda each: each.at_s, default=None)
    if last is None:
        return PeerView(member.node, member.name, "away")
    return PeerView(member.node, member.name, "away", last.address, reason=last.text)


VERB = verb(PEERS, serve)
