"""Runs that a late claim of a better host takes over, where the rules of the flock have that (``policy.late_claims``).

The source lets a late claimant contest a run with its host. Here all know who is free and how well it suits
a task, so the host of a run plays the contest through: where somebody free suits it better, and nothing
waits that could go there, it gives the run back. The task is then claimed as any other, and the same
score decides: no two ever run it, and nothing new is said on the network.

A run is given back while it has just begun, or when its program saves its state; one that may run only
once, that somebody waits for, or that was broken off before, is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from agent.protocol.copies import LOOKED_AT_MAX, LOOKS_EVERY_S
from agent.protocol.core import Core, Part
from agent.protocol.evidence import Knowledge, broken_off
from agent.protocol.going_on import is_beside
from agent.protocol.needs import only_once
from agent.protocol.own_run import OwnRun, Stage
from agent.protocol.planning import Planning
from agent.protocol.runs import Runs
from agent.protocol.seats import SeatPlan


class TakeOvers(Part):
    """Gives back what a better host goes for."""

    def __init__(self, core: Core, runs: Runs, planning: Planning, knowledge: Knowledge) -> None:
        super().__init__(core)
        self._runs, self._planning, self._knowledge = runs, planning, knowledge
        self._looked_s = -1e9

    def on_tick(self) -> None:
        """Now and then give back runs of this node that have just begun, or have saved their state,
        and that, by the flock's rule, a free host should have; not while other tasks wait that a
        free host could take, nor where the rule takes nothing over."""
        core, rule = self.core, self.core.rule.placing
        if rule is None or not rule.just_begun or core.stopping:
            return
        if core.now_s - self._looked_s < LOOKS_EVERY_S or not self._runs.mine:
            return
        self._looked_s = core.now_s
        may_go = [own for own in self._runs.mine.values() if self._may_go(own, rule.just_begun)]
        if not may_go:
            return
        plan = self._planning.seat_plan()
        specs = core.table.specs
        if any(plan.has_place(specs[task]) for task in islice(core.table.ready, LOOKED_AT_MAX)):
            return
        self._runs.give_back(self._won(plan, may_go), "TakenOver")

    def _may_go(self, own: OwnRun, just_begun: float) -> bool:
        core = self.core
        if own.stage is not Stage.RUNNING or is_beside(core, own) or only_once(own.spec):
            return False
        if core.table.interactive(own.task) or broken_off(core.table.lives.get(own.task)):
            return False
        length_ms = max(1, core.lengths.of(own.spec, core.me).q50_ms)
        come = max(own.permille / 1000, own.passed_ms(core.now_s) / length_ms)
        return own.run.checkpoint is not None or come < just_begun

    def _won(self, plan: SeatPlan, may_go: list[OwnRun]) -> Iterator[str]:
        """Those for which somebody free is better, each for another place."""
        score, me = self._knowledge.score, self.core.me
        for own in may_go:
            here = score(self._knowledge.of(own.spec, me))
            better = [
                (score(self._knowledge.of(own.spec, each.node)), each)
                for each in plan.room(own.spec)
                if each.node != me
            ]
            there, seats = max(better, key=lambda each: each[0], default=(0, None))
            if seats is not None and there > here:
                seats.take()
                yield own.task
