"""Second runs on purpose, which are counted apart from what a fault makes run twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.effects import StartChild
from agent.protocol.needs import only_once
from agent.protocol.policy import flock_rules
from agent.protocol.records import TaskId, run_name
from agent.protocol.second_runs import is_copy
from tests.sim.failure import Broken

if TYPE_CHECKING:
    from tests.sim.checks import Watch
    from tests.sim.machine import Machine


def is_a_copy(machine: Machine, effect: StartChild) -> bool:
    """As its record says; a second run that does not say so counts as a start."""
    node = machine.node
    runs = () if node is None else node.table.life(effect.task).runs
    return any(run_name(run) == effect.run and is_copy(run) for run in runs)


def copies_are_bounded(
    watch: Watch, machine: Machine, effect: StartChild, copied: tuple[TaskId, int, int]
) -> None:
    """A copy is begun only of what goes on and may run twice, on a machine with a place for it, and at
    most one of an attempt; with faults one more for each."""
    node, count = machine.node, len(watch.ledger.copies[copied])
    if only_once(effect.spec):
        raise Broken("copies are bounded", f"{machine} copies what is for once", effect.task)
    runs = () if node is None else node.table.life(effect.task).runs
    if not any((run.generation, run.attempt) == copied[1:] and not is_copy(run) for run in runs):
        raise Broken("copies are bounded", f"{machine} copies nothing", effect.task)
    rules = {flock_rules[each.plan.policy] for each in watch.simulation.machines}
    most = max(watch.simulation.plan.settings.copies_max, *(each.copies.most for each in rules), 0)
    allowed = watch.ledger.copies_allowed(copied, most)
    if count > allowed:
        raise Broken("copies are bounded", f"{count} copies, {allowed} allowed", effect.task)
    here = [each for each in machine.children.living.values() if not each.stopping]
    if len(here) >= machine.plan.slots and (effect.task, effect.run) not in machine.children.living:
        raise Broken("copies are bounded", f"{machine} has no place for it", effect.task)
