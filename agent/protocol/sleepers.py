"""Waking machines that sleep, for work that waits and that only they can take.

A machine whose owner allows it tells its peers at which addresses it can be woken. Whoever hears nothing of
it any more, without a goodbye, takes it for asleep. Work that has waited for ``WAITS_S`` while no machine
that is up could take it, busy or not, has one woken that could: not all peers send at once, but one after
the other, in the order of their ids, as nobody knows here who of them is on its network.

What has been woken is told so when it is linked: it may sleep again after the work (``agent.presence``). A
machine that said goodbye was switched off by somebody, and stays off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from agent.protocol.core import Core, Part, Peer
from agent.protocol.effects import WakeMachine, WasWoken
from agent.protocol.messages import Goodbye, Status, WokenForWork
from agent.protocol.news import News
from agent.protocol.planning import Planning
from agent.protocol.records import NodeId, TaskId, TaskSpec
from agent.protocol.seats import misfit
from agent.protocol.sharing_reasons import MachineWoken

WAITS_S = 600.0
LOOKS_EVERY_S = 15.0
"""So often one of the peers sends, while somebody is to be woken."""
ROUNDS = 3
"""So often each of them does before it is left asleep for as long as work waits first."""
WOKEN_S = 300.0
"""What comes so soon after it was called was woken by that."""
LOOKED_AT_MAX = 100


@dataclass(slots=True)
class _Sleeper:
    """A machine that was silent all at once, as it told of itself last."""

    status: Status
    since_s: float
    called: int = 0
    called_s: float = -1e9


class Sleepers(Part):
    """Who is asleep, what waits for them, and whose turn it is to wake them."""

    def __init__(self, core: Core, planning: Planning, claimable: Callable[[TaskId], bool]) -> None:
        super().__init__(core)
        self._planning, self._claimable = planning, claimable
        self.asleep: dict[NodeId, _Sleeper] = {}
        self._leaving: dict[NodeId, None] = {}
        self._waits_since_s: dict[TaskId, float] = {}
        self._looked_s = -1e9

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {Goodbye: self._goodbye, WokenForWork: self._woken}

    def _goodbye(self, peer: Peer, message: Goodbye) -> None:
        self._leaving[peer.node] = None
        self.asleep.pop(peer.node, None)

    def _woken(self, peer: Peer, message: WokenForWork) -> None:
        self.core.emit(WasWoken(peer.node))

    def on_gone(self, peer: Peer) -> None:
        """Take a machine that may be woken for asleep, unless it said goodbye."""
        status = peer.status
        if peer.node not in self._leaving and status is not None and status.capabilities.wakes:
            self.asleep[peer.node] = _Sleeper(status, self.core.now_s)

    def on_greeted(self, peer: Peer) -> None:
        """Note that this peer is awake; where one of the nodes, not only this one, had its turn to
        wake it within ``WOKEN_S``, tell it that it was woken for work."""
        self._leaving.pop(peer.node, None)
        sleeper = self.asleep.pop(peer.node, None)
        if sleeper is not None and self.core.now_s - sleeper.called_s <= WOKEN_S:
            self.core.send(peer.node, WokenForWork())

    def on_news(self, news: News) -> None:
        """Forget how long tasks have waited that moved or were removed."""
        for task, _, _ in news.moved:
            self._waits_since_s.pop(task, None)
        for task in news.forgotten_tasks:
            self._waits_since_s.pop(task, None)

    def on_tick(self) -> None:
        """Now and then call for a sleeping machine for each task that has waited long and fits
        nobody awake, if it is this node's turn to wake one."""
        core = self.core
        if core.now_s - self._looked_s < LOOKS_EVERY_S or not core.table.ready or not core.joined:
            return
        self._looked_s = core.now_s
        plan = self._planning.seat_plan()
        for spec in self._waiting():
            since_s = self._waits_since_s.setdefault(spec.task, core.now_s)
            if core.now_s - since_s >= WAITS_S and not plan.fitting(spec):
                self._call_for(spec)

    def _waiting(self) -> Iterator[TaskSpec]:
        table = self.core.table
        for task in islice(table.ready, LOOKED_AT_MAX):
            if not table.specs[task].gate and self._claimable(task):
                yield table.specs[task]

    def _call_for(self, spec: TaskSpec) -> None:
        """One that could take it; the one that is asleep for the shortest time, which is nearest to
        being what it said."""
        core, now_s = self.core, self.core.now_s
        fit = [
            (each.since_s, node)
            for node, each in self.asleep.items()
            if misfit(spec, each.status.capabilities) is None and each.status.helps
        ]
        if not fit:
            return
        node = max(fit)[1]
        sleeper = self.asleep[node]
        callers = sorted([core.me, *core.voters()])
        if sleeper.called >= ROUNDS * len(callers):
            if now_s - sleeper.called_s < WAITS_S:
                return
            sleeper.called = 0
        if now_s - sleeper.called_s < LOOKS_EVERY_S:
            return
        turn = callers[sleeper.called % len(callers)]
        sleeper.called, sleeper.called_s = sleeper.called + 1, now_s
        if turn == core.me:
            core.emit(WakeMachine(node, sleeper.status.capabilities.wakes))
            core.note(spec.task, MachineWoken(node))
