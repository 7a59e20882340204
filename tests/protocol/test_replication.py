"""Work queues with replication on live nodes: free machines run copies of what runs, the first end counts."""

import pytest
from msgspec import Raw, msgpack, structs

from agent.protocol.policy import flock_rules
from agent.protocol.policy.central import LastingReplication2
from agent.protocol.policy.copying import RunningView, WhereItHelps
from agent.protocol.policy.flock_rules import past_of
from agent.protocol.policy.placing import Waiting
from agent.protocol.policy.view import Evidence
from agent.protocol.records import Claim, Life, More, Phase, Run, Running, TaskState, Terminated
from agent.protocol.second_runs import (
    COPY,
    FIRST_COPY,
    GOT,
    LEADING,
    NOT_TOLD,
    copies_of,
    hosts_beside,
    how_far,
    is_copy,
    leads,
    of_one_attempt,
    with_how_far,
)
from tests.certain import certain
from tests.protocol.test_flock_policy import LASTING, PASSING, after, choose, core_of, tell
from tests.sim.lan import Flock, Step

RUNNING, NOTHING = Running(), More()
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


def attempt(host: str, number: int = 1, phase: Phase = RUNNING, more: More = NOTHING) -> Run:
    return Run(1, number, host, 1, Claim(1, (1, 0), host), 1, phase=phase, more=more)


FIRST = attempt("a")
COPIED = attempt("b", more=FIRST_COPY)


@pytest.mark.parametrize(
    ("other", "beside"),
    [
        (COPIED, True),
        (attempt("b", more={COPY: LEADING}), True),
        (attempt("b"), False),
        (attempt("a", more=FIRST_COPY), False),
        (attempt("b", 2, more=FIRST_COPY), False),
    ],
)
def test_a_copy_is_of_the_attempt_of_its_original_on_another_machine(
    other: Run, beside: bool
) -> None:
    assert of_one_attempt(FIRST, other) is of_one_attempt(other, FIRST) is beside
    assert hosts_beside([FIRST, other], FIRST) == ["b"] * beside
    ended = structs.replace(other, phase=Terminated())
    assert hosts_beside([FIRST, ended], FIRST) == []


def test_copies_of_an_attempt_are_known_also_when_they_have_ended() -> None:
    ended, later = (
        attempt("c", phase=Terminated(), more=FIRST_COPY),
        attempt("d", 2, more=FIRST_COPY),
    )
    life = Life(1, runs=(FIRST, COPIED, ended, later))
    assert copies_of(life, FIRST) == copies_of(life, COPIED) == [COPIED, ended]
    assert [is_copy(each) for each in life.runs] == [False, True, True, True]
    assert [leads(each) for each in (FIRST, COPIED, attempt("b", more={COPY: LEADING}))] == [
        *(False, False, True)
    ]


def test_how_far_a_run_had_come_is_told_and_nonsense_is_less_than_anything() -> None:
    far = (2, 1, 500, 60_000)
    told = structs.replace(COPIED, more=with_how_far(COPIED.more, far))
    assert (how_far(told), is_copy(told)) == (far, True)
    unreadable = structs.replace(FIRST, more={GOT: Raw(msgpack.encode("far"))})
    assert how_far(unreadable) == how_far(FIRST) == NOT_TOLD < (0, 0, 0, 0)
