"""The master: the node that hands the table to newcomers. Nothing waits for it.

The election is the source's: every node answers a call with its candidacy; the highest
reputation wins, then the larger table, the older candidacy, the lower name. With the repair that
the source only proposes: heartbeats carry the master and the stamp of its election, and of two
masters the one elected later stands, so that after a partition one remains. The stamp of a new
election is always above the last one known: a clock that was once far ahead rules nobody out.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.protocol.clock import TimerKind
from agent.protocol.core import Core, Part, Peer
from agent.protocol.liveness import Liveness
from agent.protocol.messages import (
    Heartbeat,
    NewMaster,
    StartNewMasterElection,
    TryToBeMaster,
    WhoIsMaster,
)
from agent.protocol.records import NodeId, Stamp
from agent.protocol.sanity import sane_stamp

CandidacyRank = tuple[int, int, Stamp, str, str]


def candidacy_rank(candidacy: TryToBeMaster, node: NodeId) -> CandidacyRank:
    """Return the key that sorts candidacies, the winner first."""
    return (-candidacy.reputation, -candidacy.tasks, candidacy.stamp, candidacy.name, node)


class Election(Part):
    """Elects a master when there is none, and learns of others' elections."""

    def __init__(self, core: Core, liveness: Liveness) -> None:
        super().__init__(core)
        self._liveness = liveness
        self._candidacies: dict[NodeId, TryToBeMaster] = {}
        self._quiet_until_s = 0.0
        """The winner is given the time to say so before anybody calls another election."""

    def handlers(self) -> dict[type, Callable[..., None]]:
        """Return, by the type of a message or event, the method that handles it; what is not named
        here, this part does not handle."""
        return {
            WhoIsMaster: self._asked,
            StartNewMasterElection: self._called,
            TryToBeMaster: self._candidacy,
            NewMaster: self._new_master,
            Heartbeat: self._heard,
        }

    @property
    def master(self) -> NodeId:
        """The master, empty when none is known or it is down for me."""
        master = self._liveness.master
        return master if master and self._liveness.up(master) else ""

    def on_greeted(self, peer: Peer) -> None:
        if not self.master:
            self.core.send(peer.node, WhoIsMaster())

    def on_tick(self) -> None:
        """Call an election and stand in it, once this node has joined, when no master is up, no
        election is under way and none has just ended."""
        waited = self.core.now_s >= self._quiet_until_s
        if self.core.joined and not self.master and not self._running and waited:
            self.core.broadcast(StartNewMasterElection())
            self._stand()

    @property
    def _running(self) -> bool:
        return bool(self._candidacies)

    def _stand(self) -> None:
        core = self.core
        mine = TryToBeMaster(core.reputation, len(core.table.specs), core.stamp(), core.name)
        self._candidacies = {core.me: mine}
        core.broadcast(mine)
        core.timers.arm(TimerKind.ELECTION, core.now_s + core.settings.election_window_s)

    def _called(self, peer: Peer, message: StartNewMasterElection) -> None:
        if not self._running and self.core.joined:
            self._stand()

    def _candidacy(self, peer: Peer, message: TryToBeMaster) -> None:
        if not self.core.joined:
            return
        if not self._running:
            self._stand()
        self._candidacies[peer.node] = message

    def close(self) -> None:
        """End the window for candidacies; if this node has won, become the master and say so to
        everybody. If another has won, no election is called here for a moment. Do nothing where
        none is under way."""
        core, candidacies = self.core, self._candidacies
        if not candidacies:
            return
        self._quiet_until_s = core.now_s + core.settings.heartbeat_s
        winner = min(candidacies, key=lambda node: candidacy_rank(candidacies[node], node))
        self._candidacies = {}
        if winner != core.me or not core.joined:
            return
        wall_ms, counter = self._liveness.elected
        elected = max(core.stamp(), (wall_ms, counter + 1))
        self._adopt(core.me, elected)
        core.broadcast(NewMaster(core.me, elected))

    def _asked(self, peer: Peer, message: WhoIsMaster) -> None:
        if self.master:
            self.core.send(peer.node, NewMaster(self.master, self._liveness.elected))

    def _new_master(self, peer: Peer, message: NewMaster) -> None:
        self._adopt(message.master, message.elected)

    def _heard(self, peer: Peer, message: Heartbeat) -> None:
        """Every heartbeat repeats who is master, and since when."""
        if message.master:
            self._adopt(message.master, message.elected)

    def _adopt(self, master: NodeId, elected: Stamp) -> None:
        liveness = self._liveness
        if not sane_stamp(elected):
            self.core.count("election out of time")
        elif (elected, master) > (liveness.elected, liveness.master):
            liveness.master, liveness.elected = master, elected
