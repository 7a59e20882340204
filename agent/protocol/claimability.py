"""Whether a task may be claimed here and now: what the table says, joined with who is up.

``reading`` says what a task's records mean, the same on every node. This adds what only this node
can know: that the owner is down for it, that it can reach the inputs, that its owner is away.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from agent.protocol.core import Core
from agent.protocol.datasets import Datasets
from agent.protocol.going_on import copies_max
from agent.protocol.liveness import Liveness
from agent.protocol.needs import only_once, seats_of
from agent.protocol.own_run import Stage
from agent.protocol.reading import DerivedState
from agent.protocol.reasons import HelpsOthers, Reason
from agent.protocol.records import ENDED, Run, Suspended, TaskId, TaskSpec
from agent.protocol.runs import Runs
from agent.protocol.seats import banned_in, helps_with, misfit
from agent.protocol.second_runs import COPY, copies_of, of_one_attempt
from agent.protocol.sharing_reasons import OwnerTakesNoWork


class Claimability:
    """Questions about a task, answered from this node's view."""

    def __init__(self, core: Core, liveness: Liveness, datasets: Datasets, runs: Runs) -> None:
        self._core = core
        self._liveness = liveness
        self._datasets = datasets
        self._runs = runs

    def is_taken(self, task: TaskId) -> bool:
        """Tell whether nobody may claim the task: it has ended, or its owner, or a copy beside the
        owner, is alive for this node and not offered. False for an unknown task."""
        reading = self._core.table.reading(task)
        if reading is None:
            return False
        if reading.state in ENDED:
            return True
        owner = reading.owner
        if owner is None:
            return False
        runs = self._core.table.life(task).runs if COPY in owner.more or self.copied(task) else ()
        beside = (run for run in runs if run.live and of_one_attempt(run, owner))
        return any(self._goes_on(run) for run in (owner, *beside))

    def _goes_on(self, run: Run) -> bool:
        offered = isinstance(run.phase, Suspended) and run.phase.offered
        return not offered and self._liveness.alive(run.host, run.incarnation)

    def copied(self, task: TaskId) -> bool:
        """Tell whether a copy of the run that has the task was ever made."""
        owner = self._core.table.owned.get(task)
        return owner is not None and bool(copies_of(self._core.table.life(task), owner))

    def obstacle_to_copy(self, task: TaskId) -> str:
        """Return in words why nobody may begin a copy of the run that has the task, empty when one
        may."""
        table = self._core.table
        spec, reading = table.specs.get(task), table.reading(task)
        if spec is None or reading is None or reading.owner is None or reading.state in ENDED:
            return "nobody has it"
        if only_once(spec) or seats_of(spec):
            return "it must not run twice at once"
        if not self.is_taken(task):
            return "anybody may take it"
        copies = copies_of(table.life(task), reading.owner)
        return "it has its copies" if len(copies) >= copies_max(self._core) else ""

    def obstacle_to_copy_here(self, task: TaskId) -> str:
        """Return in words why this node may not begin a copy of the run that has the task, empty
        when it may. An input that is found missing is searched for from now on."""
        obstacle = self.obstacle_to_copy(task)
        if obstacle:
            return obstacle
        core, spec = self._core, self._core.table.specs[task]
        reading, owner = core.table.reading(task), core.table.owned[task]
        mine = [run for run in core.table.life(task).runs if run.host == core.me]
        if task in self._runs.mine or any(
            (run.generation, run.attempt) == (owner.generation, owner.attempt) for run in mine
        ):
            return "it has run here"
        if reading is None or not reading.supplied or reading.inputs is None:
            return "what it needs is not there"
        resting = "it could not be started here lately" if task in self._runs.resting else ""
        return resting or self._not_for_here(spec) or self._not_reachable(spec)

    def obstacle(self, task: TaskId) -> str:
        """Return in words why this node may not claim the task now, empty when it may; promises to
        peers are not looked at. An input that is found missing is searched for from now on."""
        spec, reading = self._core.table.specs.get(task), self._core.table.reading(task)
        if spec is None or reading is None:
            return "it is not known here"
        return (
            self._not_open(task, reading)
            or _not_supplied(spec, reading, self._core.settings.words)
            or self._not_for_here(spec)
            or self._not_reachable(spec)
        )

    def obstacle_ahead(self, task: TaskId) -> str:
        """Return in words why a claim made ahead cannot stand; empty when it can. While what the
        task needs is still about to end here, inputs and a free slot do not matter; after that the
        task must be claimable now."""
        spec, reading = self._core.table.specs.get(task), self._core.table.reading(task)
        if spec is None or reading is None:
            return "it is not known here"
        if not reading.supplied and self._is_about_to_be_supplied(task):
            return self._not_open(task, reading) or self._not_for_here(spec)
        taken = self._runs.executing() >= self._core.slots
        return "the place is taken by now" if taken else self.obstacle(task)

    def _not_open(self, task: TaskId, reading: DerivedState) -> str:
        if self.is_taken(task):
            return f"it is {reading.state.value}"
        if task in self._runs.mine:
            return "an earlier run of it is still here"
        return "it could not be started here lately" if task in self._runs.resting else ""

    def _not_for_here(self, spec: TaskSpec) -> str:
        unfit = misfit(spec, self._core.capabilities)
        if unfit is None:
            return self._unwilling(spec.task)
        return self._core.settings.words(msgspec.structs.replace(unfit, host=self._core.name))

    def _not_reachable(self, spec: TaskSpec) -> str:
        missing = self._datasets.missing_input(spec)
        return f"input {missing} is nowhere reachable" if missing is not None else ""

    def _is_about_to_be_supplied(self, task: TaskId) -> bool:
        """What it needs is finished, or goes to its end on this node."""
        return all(self._ends_here(each) for each in self._core.table.producers[task])

    def _ends_here(self, producer: TaskId) -> bool:
        reading = self._core.table.reading(producer)
        if reading is not None and reading.outcome is not None:
            return True
        own = self._runs.mine.get(producer)
        return own is not None and own.stage in (Stage.RUNNING, Stage.COPYING)

    def _unwilling(self, task: TaskId) -> str:
        core = self._core
        if core.stopping:
            return "the agent stops"
        at_home = core.own.has(task)
        if core.willing:
            if core.presence.own_only and not at_home:
                return f"{core.name} helps only with its own work now"
            if not at_home and (ban := banned_in(core, core.presence.bans, task)):
                return core.settings.words(OwnerTakesNoWork(ban, core.name))
            if not at_home and not helps_with(core, core.presence.people, task):
                return core.settings.words(HelpsOthers(core.presence.people, core.name))
            return ""
        waited_for = at_home and core.table.interactive(task) and not core.presence.paused
        if waited_for and self._runs.idle():
            return ""
        reason = core.settings.words(core.presence.reason)
        return reason or "this machine does not volunteer now"


def _not_supplied(spec: TaskSpec, reading: DerivedState, words: Callable[[Reason], str]) -> str:
    if reading.supplied and reading.inputs is not None and not spec.gate:
        return ""
    return words(reading.reason) if reading.reason else "what it needs is not finished"
