"""A live node at one moment, as whoever shows it wants to know it."""

from __future__ import annotations

import time
from functools import cached_property

from msgspec.structs import replace

from agent import __version__
from agent.api.flock import Finding, MemberView, PeerView
from agent.api.reasons import Reason, as_why, text_of
from agent.api.update import UpdateView
from agent.api.values import capabilities_of
from agent.api.volunteering import own_work
from agent.api.work import NodeView
from agent.flock.operations import FlockFacts, FlockOperations
from agent.flock.own_node import OwnNode
from agent.node.diagnosis import Facts, copied_peer, findings, own_identity_copied, rules_differ
from agent.node.running import RunningNode
from agent.node.suspicions import suspicions
from agent.presence.watching import PresenceWatcher
from agent.protocol.lengths import Lengths
from agent.protocol.records import NodeId, Run, TaskId, WorkflowSpec
from agent.protocol.table import Table
from agent.settings.layers import Settled
from agent.wording.speech import english


class Snapshot:
    """A node at one moment. What takes a look at the disk is found out when it is asked for."""

    def __init__(
        self,
        own: OwnNode,
        flock: FlockOperations,
        live: RunningNode,
        presence: PresenceWatcher,
        settled: Settled,
        update: UpdateView | None = None,
    ) -> None:
        self._own, self._flock, self._live, self._presence = own, flock, live, presence
        self._settled = settled
        self.node, self.name, self.name_of = live.node_id, own.name, own.name_of
        self.update = update

    def gone_ms(self, run: Run) -> int:
        """Return since when the machine of a run is gone for this node, by the wall clock; 0 while
        the run may still go on."""
        return self._live.node.gone_since_ms(run)

    def left_for(self, task: TaskId) -> NodeId:
        """Return the machine to which a ready task was left by the latest plan of this node, as it
        ends there sooner than where a place is free; empty where it was left to none."""
        return self._live.node.left_for(task)

    @property
    def lengths(self) -> Lengths:
        """What the node has learned of how long tasks take."""
        return self._live.node.lengths

    @property
    def table(self) -> Table:
        """The table, to be read only, and only in the loop; ahead of the notices, which tell what is
        on disk. While the node begins anew there is none, and clients come all the same."""
        return self._live.node.table

    @property
    def shared_with(self) -> tuple[str, ...]:
        """Return who may act on what is submitted here, where its person names nobody."""
        return self._settled.settings.shared_with

    def home_of(self, spec: WorkflowSpec) -> NodeId:
        """Return the node on which its own person submitted a workflow, this one only where that
        was noted here; empty where it is nobody's own."""
        return self._live.node.home_of(spec)

    def others_of_person(self, home: NodeId) -> list[str]:
        """Return the other machines of the person for whom one speaks, by their ids and by what they
        are called."""
        return self._live.node.others_of_person(home)

    @property
    def flock(self) -> FlockFacts | None:
        """Return the flock that it belongs to; None when it runs alone."""
        return self._flock.flock()

    @cached_property
    def status(self) -> NodeView:
        """Return how this node is: its name and flock (empty without one), whether it helps and
        why, what it has, how busy it is. What it runs is not told. Found out once for a
        snapshot."""
        live, flock = self._live, self.flock
        told = live.presence
        reason = told.reason
        if reason == self._presence.current().reason:  # in full for whoever sits here
            reason = self._presence.state().reason
        return NodeView(
            self.node,
            self.name,
            __version__,
            flock.name if flock else "",
            told.helps,
            text_of(reason),
            told.owner_present,
            self._own.settings.slots,
            capabilities=capabilities_of(live.capabilities),
            load_percent=told.load_percent,
            why=as_why(reason),
            own_work=own_work(willing=told.willing, paused=told.paused),
            update=self.update,
            people=told.people,
            bans=told.bans,
            rules=self.rules,
        )

    @cached_property
    def peers(self) -> tuple[PeerView, ...]:
        """Return the linked machines, those that have been linked longest first, with who is
        master, and the reason not to rely on one whose identity was copied; none without a
        network."""
        network, master = self._own.network, self._live.node.master
        if network is None:
            return ()
        copied = network.links.copies()
        linked = network.peers.views(network.links.report(), time.time())
        return tuple(
            copied_peer(replace(each, master=each.node == master), copied) for each in linked
        )

    @property
    def away(self) -> tuple[PeerView, ...]:
        """Return the members without a link, with what is known of why."""
        return away_of(self.facts)

    @property
    def warning(self) -> Reason | None:
        """Return what is wrong with this node's own place among the others; None when nothing is."""
        if self.facts.flock is None:
            return self.facts.standing
        return own_identity_copied(self.facts) or rules_differ(self.facts)

    @property
    def rules(self) -> str:
        """Return by which rules this node decides who runs what."""
        return self._live.node.rules

    @property
    def overruled(self) -> tuple[Reason, ...]:
        """Return which of the owner's settings the policy of this machine overrules."""
        return self._settled.overruled

    def findings(self) -> tuple[Finding, ...]:
        """Return all that is wrong, what explains most first."""
        return tuple(findings(self.facts))

    @cached_property
    def facts(self) -> Facts:
        """Return all that explains why machines are not seen, or this one does not work, as it is
        when this is first asked for. Without a network what only that knows is empty."""
        own, live, network = self._own, self._live, self._own.network
        settings, discovery = own.settings, network.discovery if network else None
        return Facts(
            node=self.node,
            name=self.name,
            port=0 if network is None else network.links.port,
            listen=settings.listen,
            flock=self.flock,
            members=tuple(self._flock.members()),
            peers=self.peers,
            refusals=() if network is None else tuple(network.links.refusals()),
            static_addresses=tuple(str(each) for each in settings.addresses),
            discovers=discovery is not None,
            multicast_trouble=discovery.trouble if discovery else None,
            foreign_flocks=() if network is None else tuple(network.foreign),
            keeping_up_error="" if network is None else network.keeping_up_error,
            journal_notices=live.notices,
            disk_usable=live.driver.disk_usable,
            data_folder=str(own.home.data),
            copied=() if network is None else tuple(network.links.copies()),
            port_wanted=settings.port,
            standing=self._flock.standing.state,
            laid_down=self._settled.wrong,
            rules=self.rules,
            suspicions=tuple(suspicions(live.node, self.name_of)),
        )


def away_of(facts: Facts) -> tuple[PeerView, ...]:
    """Return the members without a link, this node left out, each with the address and the reason of
    its latest refusal where there was one."""
    linked = {peer.node for peer in facts.peers}
    return tuple(
        _away(member, facts)
        for member in facts.members
        if not member.own and member.node not in linked
    )


def _away(member: MemberView, facts: Facts) -> PeerView:
    refusals = [each for each in facts.refusals if each.peer == member.node]
    last = max(refusals, key=lambda each: each.at_s, default=None)
    if last is None:
        return PeerView(member.node, member.name, "away")
    text, why = english(last.why), as_why(last.why)
    return PeerView(member.node, member.name, "away", last.address, reason=text, why=why)
