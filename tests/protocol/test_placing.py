"""The documents' rules of who runs what: their formulas, and what becomes of them among many hosts."""

from math import exp, log, log2
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.policy.availability import (
    Repairs,
    by_copies,
    least_copies,
    lifetime,
    of_group,
    reachable,
)
from agent.protocol.policy.best_fit import SCORE_MAX, BestFit, CorrectedBestFit
from agent.protocol.policy.central import FailureRate, LastingReplication2
from agent.protocol.policy.competition import Competition
from agent.protocol.policy.lasting import half_s, in_steps, much_likelier, survival
from agent.protocol.policy.placing import HostPast, Placing, Waiting
from agent.protocol.policy.reaching import Lasting, length_s, rate, reach, rounded_s, worth
from agent.protocol.policy.refraining import STRATEGIES, neighbours
from tests.bench.policies import RULES
from tests.certain import certain
from tests.sim.queues import Queues, hosts, work
from tests.sim.rings import Ring


def host(*spans_s: float, done: int = 0, broken_off: int = 0, speed: float = 1.0) -> HostPast:
    past = HostPast("acor", speed, done=done, broken_off=broken_off)
    now_s = 0.0
    for span_s in spans_s:
        past.up_since_s = now_s
        now_s += span_s
        past.failed(now_s)
    return past


def test_a_host_that_has_not_failed_is_believed_to_last() -> None:
    assert host().failure_rate == 1e-8
    assert host(100.0, 300.0).failure_rate == 1 / 200
    assert host(300.0, 100.0).spans_s == [100.0, 300.0]


def test_scores_are_those_of_the_source() -> None:
    past, task = host(1_000.0), Waiting(500.0)
    assert Placing().score(task, past) == 0
    assert Competition().score(task, past) == pytest.approx(exp(-0.5))
    assert BestFit().score(task, past) == pytest.approx(exp(-0.5) / 0.5)
    fast = host(1_000.0, speed=2.0)
    assert Competition().score(task, fast) == pytest.approx(exp(-0.25))
    assert BestFit().score(task, fast) == pytest.approx(exp(-0.25) / 0.75)
    assert BestFit().score(Waiting(1_000.0), past) == SCORE_MAX
    assert CorrectedBestFit().score(Waiting(500.0, 2), past) == pytest.approx(
        exp(-0.5 * 1.21) / (1 - 0.5 * 1.21)
    )
    assert FailureRate().score(task, HostPast("acor", broken_off=1)) == -500 * 2
    assert FailureRate().score(task, HostPast("acor")) == -500
    assert FailureRate().score(task, host(done=3, broken_off=1, speed=2.0)) == -250 * 1.25


def test_a_bound_for_how_long_a_host_stays_needs_77_times() -> None:
    few, enough = host(*range(1, 77)), host(*range(1, 78))
    task = Waiting(1.0)
    assert LastingReplication2().score(task, few) == 0
    assert LastingReplication2().score(task, enough) == 1.0
    foretold = HostPast("acor", foretold=True)
    foretold.failed(1_000.0)
    assert LastingReplication2().score(task, foretold) == pytest.approx(-1_000 * log(0.95))
    assert LastingReplication2().score(task, host(*range(1, 301))) == 8.0
    assert LastingReplication2().score(task, host(*range(1, 1_001))) == 36.0


def test_what_had_run_for_longer_than_was_said_is_longer() -> None:
    assert length_s(Waiting(100.0, 1, 80.0)) == 100.0
    assert length_s(Waiting(100.0, 1, 120.0)) == 180.0


def test_who_has_just_come_is_not_relied_upon() -> None:
    assert rate(host(), 0.0) > rate(host(), 1e6) > 0
    assert worth(0.0) == 1.0
    assert worth(1.0) > worth(2.0) > 0
    assert Lasting().score(Waiting(10.0), host(10.0)) == worth(1.0)
    assert Lasting().score(Waiting(10.0), host(10.0, speed=2.0)) == worth(0.5)
    assert worth(2.0) == pytest.approx(2 / (exp(2) - 1))
    assert rate(host(), 0.0) == 1 / 5_000
    assert rate(host(100.0, 300.0), 900.0) == 3 / (400 + 800 + 5_000)


@pytest.mark.parametrize("length", [1.0, 1.15, 7.0, 1_000.0, 5e5])
def test_lengths_are_told_apart_by_quarters_of_octaves(length: float) -> None:
    assert abs(log2(rounded_s(length) / length)) <= 0.126
    assert rounded_s(0.2) == rounded_s(1.0)


@pytest.mark.parametrize(
    ("waiting", "reached"),
    [
        ({1_000.0: 1e5, 10.0: 1e5}, {1_000.0: 1e-4, 10.0: 1e-2}),
        ({1_000.0: 9e5, 10.0: 1e3}, {1_000.0: 1e-2, 10.0: 1e-2}),
        ({1_000.0: 1e3, 10.0: 9e5}, {1_000.0: 1e-4, 10.0: 1e-2}),
    ],
)
def test_who_lasts_takes_the_longest_and_others_what_is_left(
    waiting: dict[float, float], reached: dict[float, float]
) -> None:
    """A quarter more is allowed for."""
    found = reach([1e-4, 1e-2], waiting)
    assert found == pytest.approx({each: 1.25 * highest for each, highest in reached.items()})


rates = st.lists(st.floats(1e-7, 1e-3), min_size=1, max_size=20).map(sorted)
lengths = st.dictionaries(st.floats(1.0, 2e4), st.floats(1.0, 1e7), min_size=1, max_size=8)


@given(rates, lengths)
def test_longer_tasks_are_reached_for_by_fewer_and_all_by_somebody(
    found: list[float], waiting: dict[float, float]
) -> None:
    reached = reach(found, waiting)
    assert reached.keys() == waiting.keys()
    in_order = [reached[each] for each in sorted(waiting, reverse=True)]
    assert in_order == sorted(in_order)
    assert all(each >= found[0] for each in in_order)


@pytest.mark.parametrize(
    ("curve", "seconds", "chance"),
    [
        ((900, 600, 300), 0, 1.0),
        ((900, 600, 300), -5, 1.0),
        ((900, 600, 300), 300, 0.9**0.5),
        ((900, 600, 300), 1_800, 0.6),
        ((900, 600, 300), 7_200, 0.3),
        ((900, 600, 300), 12_600, 0.15),
        ((600, 900, 300), 1_800, 0.6),
        ((0, 0, 0), 600, 0.001),
        ((), 5, 0.9),
        ((900, 600), 5, 0.9),
    ],
)
def test_how_likely_a_machine_stays_falls_evenly_between_what_it_tells(
    curve: tuple[int, ...], seconds: float, chance: float
) -> None:
    assert survival(curve, seconds) == pytest.approx(chance)


def test_when_a_machine_is_as_likely_needed_as_free() -> None:
    assert certain(half_s((900, 600, 300))) == pytest.approx(3_220, abs=30)
    assert half_s((900, 600, 500)) is not None
    assert half_s((900, 600, 501)) is half_s(()) is None
    assert [in_steps(each) for each in (0.0, 0.52, 0.53, 1.0)] == [0, 10, 11, 20]
    assert (much_likelier(0.62, 0.5), much_likelier(0.59, 0.5)) == (True, False)


@pytest.mark.parametrize("rule", RULES.values(), ids=str)
def test_every_rule_ends_all_of_the_work(rule: type[Placing]) -> None:
    rng = Random(7)
    tasks = work("medium", 3e5, rng)
    members = hosts(8, "unstable")
    outcome = Queues(rule(), members, tasks, rng).run()
    assert outcome.given_up == 0
    assert all(task.done and not task.runs for task in tasks)
    assert sum(each.done for each in members) == len(tasks)
    began = sum(task.begun for task in tasks)
    assert outcome.executions == began / len(tasks)
    assert (outcome.wasted_s > 0) == (began > len(tasks))


def test_a_state_that_was_saved_is_not_run_again() -> None:
    outcomes = []
    for saves_every_s in (0.0, 60.0):
        rng = Random(3)
        tasks = work("large", 2e6, rng)
        outcomes.append(Queues(Lasting(), hosts(8, "unstable"), tasks, rng, saves_every_s).run())
    without, saved = outcomes
    assert saved.wasted_s < without.wasted_s / 10
    assert saved.makespan_s < without.makespan_s


def test_the_chance_of_a_result_grows_with_its_holders() -> None:
    assert of_group(3, 1, 1e6, 1e3) == pytest.approx(reachable([1e6 / (1e6 + 1e3)] * 3))
    assert (of_group(2, 1, 60.0, 60.0), of_group(3, 2, 60.0, 60.0)) == (0.75, 0.5)
    assert reachable([]) == 0
    assert reachable([0.5, 0.9]) == pytest.approx(0.95)
    lasts = [lifetime(nodes, 1e6, 1e3, Repairs(30, 0.1, 300)) for nodes in (1, 2, 3)]
    assert lasts[0].until_lost_s == pytest.approx(1e6)
    assert lasts[0].until_lost_s < lasts[1].until_lost_s < lasts[2].until_lost_s
    assert all(0 < each <= 1 for last in lasts for each in last.answered)


def test_of_two_that_come_back_bare_each_state_is_left_as_often_as_it_is_come_to() -> None:
    """Whole, one away, one bare: the time in each follows from what is told, and has to balance."""
    up_s, down_s, repairs = 1_000.0, 95.0, Repairs(27, 0.1, 300)
    news_s = 3 + log(log(27))
    repaired = 1 / (10 + news_s) + 1 / (exp(2 * 0.3465 + 300 * 0.002448 + 0.3851) + news_s)
    found = lifetime(2, up_s, down_s, repairs)
    one, both = (share * found.until_lost_s for share in found.answered)
    whole = 2 * one - found.until_lost_s
    bare, away = both - whole, found.until_lost_s - both
    assert whole * 2 / up_s == pytest.approx(1 + bare * repaired)
    assert away * (1 / up_s + 1 / (down_s + 5)) == pytest.approx(whole * 2 / up_s + bare / up_s)
    assert bare * (2 / up_s + repaired) == pytest.approx(away / (down_s + 5))


def test_so_many_copies_are_made_that_one_can_be_had() -> None:
    shares = by_copies([0.5, 0.9, 0.6], 9)
    assert shares == pytest.approx((2 / 3, (0.95 + 0.8 + 0.96) / 3, 0.98))
    assert by_copies([0.5, 0.9, 0.6], 2) == shares[:2]
    for goal, at_least, copies in (
        (shares[1], 1, 2),
        (shares[1], 3, 3),
        (0.1, 1, 1),
        (0.99, 2, 3),
        (0.99, 5, 5),
    ):
        assert least_copies(shares, goal, at_least) == copies


def test_neighbours_lie_around_a_place_of_the_ring() -> None:
    ring = [f"w{n}" for n in range(6)]
    assert neighbours(ring, "w0", 4) == ["w5", "w1", "w2"]
    assert neighbours(ring, "w5", 2) == ["w0"]
    assert sorted(neighbours(ring, "w2", 99)) == ["w0", "w1", "w3", "w4", "w5"]


def test_strategies_differ_in_who_must_be_better_off() -> None:
    refrains = {
        name: (strategy(2, [1, 1, 3]), strategy(2, [1, 3, 3]), strategy(2, [3, 3, 3]))
        for name, strategy in STRATEGIES.items()
    }
    assert refrains == {
        "no fairness": (False, False, False),
        "not best": (True, True, True),
        "worst": (False, False, True),
        "worse than average": (False, True, True),
        "worse than the majority": (False, True, True),
        "equal or worse than the majority": (False, True, True),
    }
    as_well_off = {name: strategy(2, [2, 1]) for name, strategy in STRATEGIES.items()}
    assert set(as_well_off.values()) == {False}
    assert not STRATEGIES["worst"](2, [2, 3])
    assert not STRATEGIES["worse than average"](2, [1, 3])
    assert not STRATEGIES["worse than the majority"](2, [1, 3])
    assert STRATEGIES["equal or worse than the majority"](2, [2, 2, 1])
    assert not STRATEGIES["worse than the majority"](2, [2, 2, 1])


def test_what_nobody_wants_is_somebodys_after_a_while() -> None:
    ring = Ring("equal or worse than the majority")
    ring.run()
    assert sum(each.ended for each in ring.workers) == 60
    alike = Ring("equal or worse than the majority", link_worth=0.0)
    alike.run()
    assert alike.forced
    assert max(alike.waits_s) > 100
