"""When finished workflows leave the table, tick by tick, on a clock that the test moves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agent.protocol.clock import Instant
from agent.protocol.messages import Capabilities
from agent.protocol.node import Node, NodeSetup
from agent.protocol.pruning import Prunings, needed_elsewhere
from agent.protocol.records import (
    Claim,
    Life,
    PriorityWish,
    Pruning,
    Run,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.settings import Settings

START_MS = 1_800_000_000_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
CLAIM = Claim(1, (1, 0), "me")


def ended(task: str, at_ms: int) -> TaskLife:
    run = Run(1, 1, "me", 1, CLAIM, 1, phase=Terminated((), ("me",)), revision=3)
    return TaskLife(task, Life(1, runs=(replace(run, stamp=(at_ms, 0)),)))


def workflow(name: str, *tasks: TaskSpec, at_ms: int = START_MS) -> Workflow:
    spec = WorkflowSpec(name, name, (at_ms, 0), "me", "ana", tasks)
    return Workflow(spec, PriorityWish(1, "me", 50))


def mill(task: str, *needs: str) -> TaskSpec:
    return TaskSpec(task, task, "mill", after=needs)


class Cleaner:
    """The master, alone, and what it removes of its finished workflows."""

    def __init__(self, *names: str, **settings: Any) -> None:
        setup = NodeSetup("me", "me", 1, Capabilities(), Settings(**settings))
        self.core = Node(setup)._core
        self.core.joined = True
        self.election = SimpleNamespace(master="me")
        self.prunings = Prunings(self.core, cast("Any", self.election))
        self.at(0.0)
        known = [workflow(name, mill(f"{name} 1")) for name in names]
        self.core.learn("", known, [ended(f"{name} 1", START_MS) for name in names])

    def at(self, now_s: float, ahead_ms: int = 0) -> set[str]:
        """Look at this second, with the wall clock so far ahead; what is left."""
        self.core.set_now(Instant(now_s, START_MS + round(now_s * 1000) + ahead_ms), "")
        self.prunings.on_tick()
        return set(self.core.table.workflows)

    def removed_later(self, name: str, since_s: float, until_s: float) -> float:
        """When the workflow leaves the table, looked at each second; infinite where it does not."""
        while since_s <= until_s:
            if name not in self.at(since_s):
                return since_s
            since_s += 1.0
        return float("inf")


@pytest.mark.parametrize(("retention_s", "first_s"), [(2, 4), (20, 30), (40, 50), (50, 60)])
def test_a_short_while_is_kept_and_seen_finished_for_as_long(
    retention_s: int, first_s: float
) -> None:
    """It is looked at every ten seconds, or more often where less is kept."""
    cleaner = Cleaner("bread", retention_ms=retention_s * 1_000)
    assert cleaner.removed_later("bread", 1.0, 90.0) == first_s


def test_what_is_kept_for_days_was_seen_finished_for_an_hour() -> None:
    cleaner = Cleaner("bread", retention_ms=2 * HOUR_MS)
    ahead_ms = 3 * HOUR_MS
    assert cleaner.at(20.0, ahead_ms) == {"bread"}
    assert cleaner.at(20.0 + 3_599.0, ahead_ms) == {"bread"}
    assert cleaner.at(20.0 + 3_609.0, ahead_ms) == set()


def test_looking_has_a_pace_and_an_amount() -> None:
    cleaner = Cleaner(*map(str, range(201)), retention_ms=20_000)
    cleaner.at(10.0)
    assert len(cleaner.at(40.0)) == 1
    assert len(cleaner.at(49.9)) == 1
    assert len(cleaner.at(50.0)) == 0
    assert {each.by for each in cleaner.core.table.prunings.values()} == {"me"}
    assert {each.stamp for each in cleaner.core.table.prunings.values()} == {
        (START_MS + 40_000, 0),
        (START_MS + 50_000, 0),
    }


def test_only_a_master_that_has_joined_removes() -> None:
    for joined, master in ((False, "me"), (True, "other")):
        cleaner = Cleaner("bread", retention_ms=20_000)
        cleaner.core.joined, cleaner.election.master = joined, master
        assert cleaner.removed_later("bread", 1.0, 60.0) == float("inf")


def test_what_is_unfinished_has_not_rested() -> None:
    cleaner = Cleaner("bread", retention_ms=20_000)
    cleaner.at(10.0)
    cleaner.core.table.unfinished["bread"] = {"bread 1": None}
    assert cleaner.at(40.0) == {"bread"}
    cleaner.core.table.unfinished["bread"] = {}
    assert cleaner.at(50.0) == cleaner.at(60.0) == {"bread"}
    assert cleaner.at(70.0) == set()
    assert not cleaner.prunings._finished_s, "what is gone is not remembered"


@pytest.mark.parametrize(
    ("moved_ms", "kept"),
    [(0, False), (19_000, True), (DAY_MS + 40_000, True), (DAY_MS + 40_001, False)],
)
def test_the_last_move_of_a_task_counts_unless_it_is_of_the_future(
    moved_ms: int, kept: bool
) -> None:
    """A day ahead is believed, and no more."""
    cleaner = Cleaner(retention_ms=21_000)
    bread = workflow("bread", mill("a"), mill("b"))
    moved = ended("b", START_MS + moved_ms)
    cleaner.core.learn("", [bread], [ended("a", START_MS), moved])
    cleaner.at(10.0)
    assert (cleaner.at(40.0) == {"bread"}) is kept


@pytest.mark.parametrize(("submitted_ms", "kept"), [(START_MS + 19_000, True), (START_MS, False)])
def test_so_does_when_it_was_submitted(submitted_ms: int, kept: bool) -> None:
    cleaner = Cleaner(retention_ms=21_000)
    bread = workflow("bread", mill("a"), at_ms=submitted_ms)
    cleaner.core.learn("", [bread], [ended("a", START_MS)])
    cleaner.at(10.0)
    assert (cleaner.at(40.0) == {"bread"}) is kept


def test_a_workflow_is_kept_while_another_needs_it() -> None:
    cleaner = Cleaner(retention_ms=20_000)
    cleaner.core.learn(
        "",
        [workflow("bread", mill("a"), mill("b", "a")), workflow("cake", mill("c", "a"))],
        [ended("a", START_MS), ended("b", START_MS)],
    )
    table = cleaner.core.table
    bread, cake = table.workflows["bread"], table.workflows["cake"]
    assert needed_elsewhere(table, bread)
    assert not needed_elsewhere(table, cake)
    assert cleaner.at(10.0) == cleaner.at(40.0) == {"bread", "cake"}
    cleaner.core.learn("", lives=[ended("c", START_MS)])
    assert not needed_elsewhere(table, bread)
    assert cleaner.at(50.0) == {"cake"}, "the other has not rested for as long"
    assert cleaner.at(80.0) == set()


def test_its_own_unfinished_tasks_do_not_make_a_workflow_needed_elsewhere() -> None:
    cleaner = Cleaner()
    cleaner.core.learn("", [workflow("bread", mill("a"), mill("b", "a"))])
    assert not needed_elsewhere(cleaner.core.table, cleaner.core.table.workflows["bread"])


@pytest.mark.parametrize(
    ("ahead_ms", "forgets"), [(DAY_MS, True), (DAY_MS + 1, False), (-DAY_MS - 1, False)]
)
def test_an_old_pruning_is_forgotten_by_clocks_that_agree_within_a_day(
    monkeypatch: pytest.MonkeyPatch, ahead_ms: int, forgets: bool
) -> None:
    """And by the earlier of the two."""
    cleaner = Cleaner(pruning_kept_ms=400 * DAY_MS)
    at_ms = START_MS + 10_000
    monkeypatch.setattr(type(cleaner.core), "flock_wall_ms", lambda _: at_ms + ahead_ms)
    oldest_ms = at_ms - 400 * DAY_MS
    prunings = [Pruning("old", 1, (oldest_ms - 1, 0)), Pruning("new", 1, (oldest_ms, 0))]
    cleaner.core.learn("", prunings=prunings)
    cleaner.at(10.0)
    assert ("old" not in cleaner.core.table.prunings) is forgets
    assert "new" in cleaner.core.table.prunings


def test_nothing_is_removed_or_forgotten_while_most_members_are_not_heard() -> None:
    cleaner = Cleaner("bread", retention_ms=20_000, pruning_kept_ms=1_000)
    cleaner.core.members.update(dict.fromkeys(("other", "third")))
    cleaner.core.learn("", prunings=[Pruning("old", 1, (START_MS - DAY_MS, 0))])
    assert cleaner.removed_later("bread", 1.0, 60.0) == float("inf")
    assert "old" in cleaner.core.table.prunings
