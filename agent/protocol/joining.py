"""A node that starts: what it must wait for before it claims anything.

It treats every known member as suspected, not down, until each is linked or 5 s have passed, and
it claims nothing before it holds the table of one peer. So promises need not be on disk, and
thirty machines that boot together after a power cut do not all start the first task. A node that
is alone after that works alone. A node that slept starts over in the same way.

Where links are still being found after those 5 s, there may be a member that claims and asks nobody
whom this node would ask: up, but linked neither with it nor with any of its peers. For that one it
waits longer, and not without end, as some machines never get a link.

The table comes from the master where one is linked, else from any peer. A node with an empty
table asks for all of it; one that remembers most compares (``healing``). Whatever was asked is
asked again, of another where there is one, until it has come.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from agent.protocol.core import Core, Part, Peer
from agent.protocol.election import Election
from agent.protocol.events import Started
from agent.protocol.healing import Healing
from agent.protocol.liveness import Liveness
from agent.protocol.messages import Records, TasksTransfer
from agent.protocol.records import NodeId

INCARNATION_STEPS = 1_009
"""With its clock set back and its disk restored to an older image, a host would count the same
incarnations again that it had before; steps of uneven length keep the two apart."""


class Joining(Part):
    """Decides when this node has joined, and hands its table to those that have not."""

    def __init__(
        self,
        core: Core,
        liveness: Liveness,
        election: Election,
        healing: Healing,
        begin: Callable[[], None],
    ) -> None:
        super().__init__(core)
        self._liveness = liveness
        self._election = election
        self._healing = healing
        self._begin = begin
        self._donor: NodeId = ""
        self._asked_s = -1e9
        self._transferred = False

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {Started: self._started, TasksTransfer: self._transfer, Records: self._records}

    def _started(self, event: Started) -> None:
        core = self.core
        core.incarnation = max(core.incarnation + core.wall_ms % INCARNATION_STEPS, core.wall_ms)
        core.save_identity()
        self._liveness.started_s = core.now_s
        self._begin()
        self._liveness.tell_status()
        self._join_if_ready()

    def start_over(self) -> None:
        """Begin to join anew, as this node slept so long that its peers went on without it: ask all
        that have greeted to compare tables, and claim nothing before one has. Return without
        waiting for that."""
        core = self.core
        core.joined = self._transferred = False
        self._donor, self._asked_s = "", core.now_s
        self._liveness.started_s = core.now_s
        self._liveness.forget_losses()
        self._liveness.tell_status()
        for peer in core.peers.values():
            if peer.greeted:
                self._healing.compare_with(peer)

    def on_greeted(self, peer: Peer) -> None:
        self._join_if_ready()

    def on_gone(self, peer: Peer) -> None:
        if peer.node == self._donor:
            self._donor, self._asked_s = "", -1e9

    def on_tick(self) -> None:
        self._join_if_ready()

    def _join_if_ready(self) -> None:
        core = self.core
        if core.joined:
            return
        linked = core.greeted()
        if linked and not self._holds_table():
            self._ask_for_table()
            return
        waited_s = core.now_s - self._liveness.started_s
        waited = waited_s >= core.settings.start_wait_s and (
            waited_s >= core.settings.start_wait_s_max or not self._is_apart()
        )
        everybody = all(member in core.peers or member == core.me for member in core.members)
        if waited or (everybody and len(linked) == len(core.peers)):
            core.joined = core.wake = core.liveness_changed = True
            self._liveness.tell_status()

    def _is_apart(self) -> bool:
        """Tell whether a member is up that no peer of this node is linked with."""
        near = {self.core.me, *self.core.peers}
        far: set[NodeId] = set()
        for peer in self.core.peers.values():
            if peer.status is not None and not peer.suspected:
                near.update(peer.status.neighbours)
                far.update(peer.status.reached)
        return not near.issuperset(far & self.core.members.keys())

    def _holds_table(self) -> bool:
        return self._transferred or any(peer.compared for peer in self.core.peers.values())

    def _ask_for_table(self) -> None:
        core = self.core
        if core.now_s - self._asked_s < core.settings.transfer_wait_s:
            return
        donors = [peer for peer in core.peers.values() if peer.greeted and not peer.suspected]
        if not donors:
            return
        master = self._election.master
        donors.sort(key=lambda p: (p.node == self._donor, p.node != master, not p.has_table))
        self._donor, self._asked_s = donors[0].node, core.now_s
        if core.table.workflows:
            self._healing.compare_with(donors[0])
        else:
            core.send(self._donor, TasksTransfer())

    def _transfer(self, peer: Peer, message: TasksTransfer) -> None:
        table = self.core.table
        pieces = self._healing.in_pieces(table.workflows, [], list(table.prunings.values()))
        pieces[-1] = msgspec.structs.replace(pieces[-1], last=True)
        for piece in pieces:
            self.core.send(peer.node, piece)

    def _records(self, peer: Peer, message: Records) -> None:
        self._healing.take(peer, message)
        if message.last and peer.node == self._donor:
            self._transferred = True
            self._join_if_ready()
