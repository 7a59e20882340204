"""A node that starts: what it must wait for before it claims anything.

It treats every known member as suspected, not down, until each is linked or 5 s have passed, and
it claims nothing before it holds the table of one peer. So promises need not be on disk, and
thirty machines that boot together after a power cut do not all start the first task. A node that
is alone after that works alone.

The table comes from the master where one is linked, else from any peer. A node with an empty
table asks for all of it; one that remembers most compares (``healing``).
"""

from __future__ import annotations

from collections.abc import Callable

from agent.protocol.core import Core, Part, Peer
from agent.protocol.election import Election
from agent.protocol.events import Started
from agent.protocol.healing import Healing
from agent.protocol.liveness import Liveness
from agent.protocol.messages import Records, TasksTransfer
from agent.protocol.records import NodeId


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
        self._asked: NodeId | None = None
        self._asked_s = 0.0
        self._holds_table = False

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {Started: self._started, TasksTransfer: self._transfer, Records: self._records}

    def _started(self, event: Started) -> None:
        core = self.core
        core.incarnation = max(core.incarnation, core.wall_ms)
        core.save_identity()
        self._liveness.started_s = core.now_s
        self._begin()
        self._liveness.tell_status()
        self._join_if_ready()

    def start_over(self) -> None:
        """This node slept so long that peers went on without it: it must join them again."""
        core = self.core
        core.joined = False
        self._asked, self._holds_table = None, False
        self._healing.compared = False
        self._liveness.started_s = core.now_s
        self._liveness.lost_s.clear()
        for peer in core.peers.values():
            self._healing.compare_with(peer)

    def on_greeted(self, peer: Peer) -> None:
        self._join_if_ready()

    def on_gone(self, peer: Peer) -> None:
        if peer.node == self._asked:
            self._asked = None

    def on_tick(self) -> None:
        self._join_if_ready()

    def _join_if_ready(self) -> None:
        core = self.core
        if core.joined:
            return
        self._ask_for_table()
        others = [member for member in core.members if member != core.me]
        linked = core.greeted()
        waited = core.now_s - self._liveness.started_s >= core.settings.start_wait_s
        everybody = all(member in linked for member in others)
        if (everybody or waited) and (self._holds_table or not linked):
            core.joined = True
            core.wake = core.liveness_changed = True
            self._liveness.tell_status()

    def _ask_for_table(self) -> None:
        core = self.core
        if self._holds_table:
            return
        if self._healing.compared:
            self._holds_table = True
            return
        overdue = core.now_s - self._asked_s >= core.settings.transfer_wait_s
        if self._asked is not None and not overdue:
            return
        donors = [peer for peer in core.peers.values() if peer.greeted and not peer.suspected]
        if not donors or core.table.workflows:
            return
        donors.sort(key=lambda p: (p.node == self._asked, not self._is_master(p), not p.has_table))
        self._asked, self._asked_s = donors[0].node, core.now_s
        core.send(donors[0].node, TasksTransfer())

    def _is_master(self, peer: Peer) -> bool:
        return peer.node == self._election.master

    def _transfer(self, peer: Peer, message: TasksTransfer) -> None:
        table = self.core.table
        pieces = self._healing.in_pieces(table.workflows, [], list(table.prunings.values()))
        for piece in pieces[:-1]:
            self.core.send(peer.node, piece)
        last = pieces[-1]
        self.core.send(peer.node, Records(last.workflows, last.lives, last.prunings, last=True))

    def _records(self, peer: Peer, message: Records) -> None:
        self._healing.take(peer, message)
        if message.last and peer.node == self._asked:
            self._holds_table = True
            self._join_if_ready()
