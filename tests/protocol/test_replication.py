"""Work queues with replication on live nodes: free machines run copies of what runs, the first end counts."""

import pytest

from agent.protocol.policy import flock_rules
from agent.protocol.policy.central import LastingReplication2
from agent.protocol.policy.copying import RunningView, WhereItHelps
from agent.protocol.policy.flock_rules import past_of
from agent.protocol.policy.placing import Waiting
from agent.protocol.policy.view import Evidence
from agent.protocol.records import TaskState
from agent.protocol.second_runs import is_copy
from tests.certain import certain
from tests.protocol.test_flock_policy import LASTING, PASSING, after, choose, core_of, tell
from tests.sim.lan import Flock, Step

RUNS = {"WQR-2": 2, "WQR-4": 4, "WQR-FA-2": 2, "WQR-FA-4": 4, "look-ahead": 1}


@pytest.mark.parametrize(("rules", "runs"), RUNS.items())
def test_so_many_machines_run_a_task_where_nothing_waits(rules: str, runs: int) -> None:
    flock = Flock(6, policy=rules)
    (name,) = flock.submit("w", [Step(30.0)])
    assert flock.run()
    hosts = [host for _, host in flock.times[name].started]
    assert len(hosts) == len(set(hosts)) == runs
    after(flock)
    assert not any(machine.children.living for machine in flock.simulation.machines)


def test_copies_wait_until_nothing_else_does() -> None:
    flock = Flock(3, policy="WQR-4")
    names = flock.submit("w", [Step(20.0)] * 7)
    assert flock.run()
    begun = sorted((at_s, name) for name in names for at_s, _ in flock.times[name].started)
    assert {name for _, name in begun[:7]} == {*names}
    assert len(begun) > 7


def test_the_machine_that_surely_stays_longest_is_the_first() -> None:
    flock = Flock(3)
    choose(flock, "WQR-FA-2")
    tell(flock, PASSING, PASSING, LASTING)
    after(flock)
    (name,) = flock.submit("w", [Step(600.0)])
    assert flock.run()
    assert flock.times[name].started[0][1] == flock.simulation.machines[2].plan.name


def test_who_foretells_how_likely_it_stays_is_scored_by_that() -> None:
    score = LastingReplication2().score
    stays, goes = (past_of(Evidence(60_000, 60_000, lasts_permille=p)) for p in (900, 300))
    assert score(Waiting(60.0), stays) > score(Waiting(60.0), goes) > 0
    assert {flock_rules[each].copies.most for each in ("WQR-4", "WQR-FA-4")} == {3}


def test_the_four_queues_of_a_worker_are_what_every_table_tells() -> None:
    """Document 002 has queues of what is submitted, processed, done and redundant."""
    flock = Flock(3, policy="WQR-2")
    first, second, third = flock.submit("w", [Step(20.0), Step(40.0), Step(40.0)])
    (waits,) = flock.submit("x", [Step(30.0)])
    flock.run_until(flock.world.now + 10.0)
    table = core_of(flock, 2).table
    assert [*table.ready] == [waits]
    assert {*table.owned} == {first, second, third}
    assert flock.run()
    copied = [each for each in table.lives if any(map(is_copy, table.life(each).runs))]
    assert copied
    assert {certain(table.reading(each)).state for each in table.lives} == {TaskState.TERMINATED}
    assert not {*table.ready, *table.owned}


@pytest.mark.parametrize(
    ("worth", "run"),
    [
        (True, RunningView(15.0, None, None, 1.0, 0.0, last=False)),
        (False, RunningView(14.9, 60.0, 1.0, 0.1, 1.0, last=True)),
        (True, RunningView(None, 10.0, 10.0, 0.5, 1.0, last=False)),
        (False, RunningView(None, 9.9, 9.9, 0.5, 1.0, last=False)),
        (False, RunningView(None, None, 60.0, 0.5, 1.0, last=True)),
        (False, RunningView(None, 60.0, None, 0.5, 1.0, last=True)),
        (True, RunningView(None, 60.0, 60.0, 0.5, 0.65, last=False)),
        (False, RunningView(None, 60.0, 60.0, 0.5, 0.6, last=False)),
        (False, RunningView(None, 60.0, 60.0, 0.89, 0.95, last=False)),
        (True, RunningView(None, 60.0, 60.0, 0.85, 1.0, last=False)),
        (False, RunningView(None, 60.0, 60.0, 0.9, 1.1, last=False)),
        (True, RunningView(None, 25.1, 20.0, 1.0, 1.0, last=True)),
        (False, RunningView(None, 25.0, 20.0, 1.0, 1.0, last=True)),
        (False, RunningView(None, 60.0, 20.0, 1.0, 1.0, last=False)),
    ],
)
def test_a_copy_is_worth_it_where_a_run_stands_still_or_another_machine_is_much_better(
    worth: bool, run: RunningView
) -> None:
    assert WhereItHelps().worth(run, 15.0) is worth
    assert flock_rules["WQR-2"].copies.worth(run, 15.0) is True


def test_rules_of_replication_may_fill_all_places_ours_no_more_than_the_settings_say() -> None:
    bounds = {name: (each.copies.most, each.copies.share) for name, each in flock_rules.items()}
    assert bounds["look-ahead"] == bounds["FCFS"] == (1, 0.0)
    assert [bounds[name] for name in ("WQR-2", "WQR-FA-4")] == [(1, 1.0), (3, 1.0)]
