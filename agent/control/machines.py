"""Machines as clients see them: this one, those that are linked, those that are away."""

from __future__ import annotations

from agent import __version__
from agent.api import flock, values, work
from agent.api.reasons import as_why
from agent.control.copied import copied_peer
from agent.control.views import Views, tasks_by_host
from agent.flock.facts import PeerFacts
from agent.node.facts import Facts
from agent.protocol.messages import Capabilities
from agent.protocol.records import NodeId, Run, TaskId
from agent.protocol.states import TaskState
from agent.wording.speech import english

TASKS_SHOWN_MAX = 64
Hands = dict[NodeId, list[tuple[TaskId, Run]]]


def node_view(views: Views) -> work.NodeView:
    """Return the row of the node that answers."""
    now = views.now
    belongs, facts = now.flock, now.facts
    tasks = _tasks(tasks_by_host(now.table).get(now.node, ()), views)
    return work.NodeView(
        now.node,
        now.name,
        facts.version or __version__,
        belongs.name if belongs else "",
        facts.volunteering,
        english(facts.presence_reason),
        facts.owner_present,
        facts.slots,
        _running(tasks),
        tasks,
        capabilities_view(facts.capabilities, facts.programs),
        facts.load_percent,
        as_why(facts.presence_reason),
    )


def peer_views(views: Views) -> tuple[flock.PeerView, ...]:
    """Return the rows of the other machines by name; those without a link say why, as far as it is
    known."""
    facts, hands = views.now.facts, tasks_by_host(views.now.table)
    linked = {peer.node: _linked(peer, facts, hands, views) for peer in facts.peers}
    away = [
        _away(member, facts)
        for member in facts.members
        if not member.own and member.node not in linked
    ]
    return tuple(sorted([*linked.values(), *away], key=lambda view: (view.name, view.node)))


def peer_view(views: Views, node: NodeId) -> flock.PeerView | None:
    """Return the row of one machine; None where it neither is linked nor belongs."""
    facts = views.now.facts
    for peer in facts.peers:
        if peer.node == node:
            return _linked(peer, facts, tasks_by_host(views.now.table), views)
    members = (each for each in facts.members if each.node == node and not each.own)
    member = next(members, None)
    return None if member is None else _away(member, facts)


def capabilities_view(has: Capabilities, programs: tuple[str, ...] = ()) -> values.Capabilities:
    """Return what a machine has, as clients see it; ``programs``, if there are any, instead of its
    own."""
    return values.Capabilities(
        has.system,
        has.architecture,
        has.memory_mb,
        has.disk_mb,
        has.cores,
        programs or has.programs,
        has.tags,
        has.takes_published,
    )


def _linked(peer: PeerFacts, facts: Facts, hands: Hands, views: Views) -> flock.PeerView:
    tasks = _tasks(hands.get(peer.node, ()), views)
    reason = copied_peer(facts, peer.node) or peer.reason
    return flock.PeerView(
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
        english(reason),
        peer.slots,
        _running(tasks),
        tasks,
        capabilities_view(peer.capabilities),
        peer.node == facts.master,
        max(0, round(peer.linked_since_s * 1000)),
        peer.bytes_in,
        peer.bytes_out,
        as_why(reason),
    )


def _away(member: flock.MemberView, facts: Facts) -> flock.PeerView:
    refusals = [each for each in facts.refusals if each.node == member.node]
    last = max(refusals, key=lambda each: each.at_s, default=None)
    if last is None:
        return flock.PeerView(member.node, member.name, "away")
    return flock.PeerView(member.node, member.name, "away", last.address, reason=last.text)


def _tasks(
    hand: list[tuple[TaskId, Run]] | tuple[()], views: Views
) -> tuple[work.CurrentTask, ...]:
    return tuple(views.current(task, run) for task, run in hand[:TASKS_SHOWN_MAX])


def _running(tasks: tuple[work.CurrentTask, ...]) -> int:
    return sum(each.state is not TaskState.SCHEDULED for each in tasks)
