"""Whether a task may be claimed here and now: what the table says, joined with who is up.

``reading`` says what a task's records mean, the same on every node. This adds what only this node
can know: that the owner is down for it, that it can reach the inputs, that its owner is away.
"""

from __future__ import annotations

from agent.protocol.core import Core
from agent.protocol.datasets import Datasets
from agent.protocol.liveness import Liveness
from agent.protocol.matching import misfit
from agent.protocol.records import Suspended, TaskId
from agent.protocol.runs import Runs
from agent.protocol.states import ENDED


class Claimability:
    """Questions about a task, answered from this node's view."""

    def __init__(self, core: Core, liveness: Liveness, datasets: Datasets, runs: Runs) -> None:
        self._core = core
        self._liveness = liveness
        self._datasets = datasets
        self._runs = runs

    def taken(self, task: TaskId) -> bool:
        """Nobody may claim it: it has ended, or its owner is alive for me and keeps it."""
        reading = self._core.table.reading(task)
        if reading is None:
            return False
        if reading.state in ENDED:
            return True
        owner = reading.owner
        if owner is None or (isinstance(owner.phase, Suspended) and owner.phase.offered):
            return False
        return self._liveness.alive(owner.host, owner.incarnation)

    def obstacle(self, task: TaskId) -> str:
        """Why this node may not claim the task; empty when it may."""
        core = self._core
        spec = core.table.specs.get(task)
        reading = core.table.reading(task)
        if spec is None or reading is None:
            return "it is not known here"
        if self.taken(task):
            return f"it is {reading.state.value}"
        if task in self._runs.mine:
            return "an earlier run of it is still here"
        if task in self._runs.resting:
            return "it could not be started here lately"
        if not reading.supplied or reading.inputs is None or spec.gate:
            return reading.reason or "what it needs is not finished"
        unfit = misfit(spec, core.capabilities)
        if unfit:
            return f"{core.name} {unfit}"
        unwilling = self._unwilling(task)
        if unwilling:
            return unwilling
        missing = self._datasets.missing_input(spec)
        return f"input {missing} is nowhere reachable" if missing is not None else ""

    def _unwilling(self, task: TaskId) -> str:
        core = self._core
        at_home = core.table.home(task) == core.me
        if core.willing:
            choosy = core.presence.own_only and not at_home
            return f"{core.name} helps only with its own work now" if choosy else ""
        if at_home and core.table.interactive(task) and self._runs.idle():
            return ""
        return core.presence.reason or "this machine does not volunteer now"
