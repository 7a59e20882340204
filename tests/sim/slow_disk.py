"""Disks that take their time: what waits for a commit, and what goes ahead of it.

The outbox is that of the live agent, so that a claim here overtakes records as it does there. A
machine that dies loses what was not committed; one that stands still commits nothing.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING

from agent.driver.driver import GATHERING_S
from agent.driver.outbox import Outbox
from agent.protocol.effects import Effect, Persist, Send, StartChild
from agent.protocol.events import ChildNotStarted
from agent.protocol.node import Node
from agent.protocol.reasons import EndCause
from tests.sim.checks import missing_inputs

if TYPE_CHECKING:
    from tests.sim.machine import Machine

COMMIT_S = 0.3
"""A commit takes up to so long."""


class SlowDisk:
    """Carries out what one start of a machine's agent asks for."""

    def __init__(self, machine: Machine) -> None:
        self._machine, self._boots = machine, machine.boots
        self._outbox = Outbox(self._do, self._submit, self._refused, self._submit_soon)
        self._waiting: deque[tuple[Persist, Future[None]]] = deque()
        self._last_s = 0.0
        self._links_made = 0
        self._linked_as: dict[str, int] = {}

    def linked(self, peer: str) -> None:
        """What waits for this peer was for its former link."""
        self._links_made += 1
        self._linked_as[peer] = self._links_made

    def carry_out(self, effects: list[Effect]) -> None:
        """Now, or when what they tell of is on disk."""
        self._outbox.put(effects, self._links_made)

    @property
    def at_work(self) -> bool:
        """Something is not on it yet."""
        return bool(self._waiting)

    def _node(self) -> Node | None:
        return self._machine.node if self._machine.boots == self._boots else None

    def _do(self, effect: Effect, links_made: int) -> None:
        if isinstance(effect, Send):
            peers = [p for p in effect.peers if self._linked_as.get(p, 0) <= links_made]
            effect = Send(tuple(peers), effect.message)
        node, machine = self._node(), self._machine
        if node is None:
            return
        if isinstance(effect, StartChild) and missing_inputs(machine, effect):
            told = ChildNotStarted(
                effect.task, effect.run, EndCause("NotFetched", error="an input was lost meanwhile")
            )
            machine.world.after(0.0, machine.hand_to, self._boots, told)
        else:
            machine.carry_out_one(node, effect)

    def _submit_soon(self) -> None:
        self._machine.world.after(GATHERING_S, self._submit_gathered)

    def _submit_gathered(self, *_: object) -> None:
        """A machine that has died submits nothing any more."""
        if self._node() is not None:
            self._outbox.submit()

    def _submit(self, persist: Persist) -> Future[None]:
        world, commit = self._machine.world, Future[None]()
        self._last_s = max(self._last_s, world.now + world.random.uniform(0.0, COMMIT_S))
        self._waiting.append((persist, commit))
        world.at(self._last_s, self._commit)
        return commit

    def _commit(self, *_: object) -> None:
        """The oldest that waits."""
        machine, node = self._machine, self._node()
        if node is None:
            return
        if machine.stalled:
            machine.world.after(COMMIT_S, self._commit)
            return
        persist, commit = self._waiting.popleft()
        if machine.carry_out_one(node, persist):
            commit.set_result(None)
        elif self._node() is node:
            commit.set_exception(OSError("the disk is full"))
        if self._node() is node:
            self._outbox.advance()

    def _refused(
        self, persist: Persist, dropped: tuple[Effect, ...], _error: BaseException
    ) -> None:
        self._machine.refuse(persist, dropped)
