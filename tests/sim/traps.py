"""Misfortunes that wait for a moment: between claim and start, between disk and network.

Random times hit a window of a millisecond once in a thousand runs. A trap names the moment (an
effect that is about to be carried out, or just was) and what happens then, once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.protocol.effects import Effect, Persist, Send, StartChild
from agent.protocol.messages import ClaimAnswers, State, TryDequeue
from agent.protocol.records import Phase, Scheduled, Terminated

if TYPE_CHECKING:
    from tests.sim.machine import Machine
    from tests.sim.simulation import Simulation

MOMENTS_BEFORE = ("persisting a won claim", "persisting a success", "starting", "telling")
MOMENTS_BEHIND = ("persisted a won claim", "persisted a success", "claimed", "consented", "started")
MOMENTS = MOMENTS_BEFORE + MOMENTS_BEHIND
AHEAD = "claimed ahead"
"""Only for those who ask for it: most runs never come to this moment."""
ACTIONS = ("die", "die silently", "restart", "stall", "cut", "reset", "owner", "disk")


def _writes(phase: type[Phase]) -> Callable[[Machine, Effect], bool]:
    def matches(machine: Machine, effect: Effect) -> bool:
        return isinstance(effect, Persist) and any(
            run.host == machine.node_id
            and run.incarnation == effect.identity.incarnation
            and isinstance(run.phase, phase)
            for part in effect.lives
            for run in part.life.runs
        )

    return matches


def _sends(kind: type) -> Callable[[Machine, Effect], bool]:
    def matches(_: Machine, effect: Effect) -> bool:
        return isinstance(effect, Send) and isinstance(effect.message, kind)

    return matches


def _claims_ahead(machine: Machine, effect: Effect) -> bool:
    if machine.node is None or not _sends(TryDequeue)(machine, effect):
        return False
    return bool(machine.node.claims.held())


def _consents(_: Machine, effect: Effect) -> bool:
    return (
        isinstance(effect, Send)
        and isinstance(effect.message, ClaimAnswers)
        and bool(effect.message.consents)
    )


def _starts(_: Machine, effect: Effect) -> bool:
    return isinstance(effect, StartChild)


MATCHES: dict[str, Callable[[Machine, Effect], bool]] = {
    "persisting a won claim": _writes(Scheduled),
    "persisting a success": _writes(Terminated),
    "starting": _starts,
    "telling": _sends(State),
    "persisted a won claim": _writes(Scheduled),
    "persisted a success": _writes(Terminated),
    "claimed": _sends(TryDequeue),
    AHEAD: _claims_ahead,
    "consented": _consents,
    "started": _starts,
}


class Traps:
    """Springs the traps that machines carry."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation

    def before(self, machine: Machine, effect: Effect) -> None:
        """An effect is about to be carried out."""
        self._spring(machine, effect, MOMENTS_BEFORE)

    def behind(self, machine: Machine, effect: Effect) -> None:
        """An effect was carried out."""
        self._spring(machine, effect, (*MOMENTS_BEHIND, AHEAD))

    def _spring(self, machine: Machine, effect: Effect, moments: tuple[str, ...]) -> None:
        if machine.trap is None:
            return
        moment, action = machine.trap
        if moment not in moments or not MATCHES[moment](machine, effect):
            return
        machine.trap = None
        self._act(machine, action)

    def _act(self, machine: Machine, action: str) -> None:
        faults, draw = self.simulation.faults, self.simulation.world.random
        if action == "die":
            faults.crash_now(machine, back_s=draw.uniform(1.0, 12.0))
        elif action == "die silently":
            faults.crash_now(machine, back_s=draw.uniform(0.3, 12.0), silent=True)
        elif action == "restart":
            faults.crash_now(machine, back_s=0.05)
        elif action == "stall":
            faults.stall(machine.index, draw.uniform(0.3, 10.0))
        elif action == "cut":
            faults.isolate(machine.index, draw.uniform(0.5, 12.0))
        elif action == "reset":
            faults.reset_all(machine.index)
        elif action == "owner":
            # After this list of effects: the node is in the middle of none when it is told.
            self.simulation.world.after(0.0, faults.owner, machine.index, True)
            self.simulation.world.after(draw.uniform(0.5, 20.0), faults.owner, machine.index, False)
        else:
            faults.full(machine.index, draw.uniform(0.1, 5.0))
