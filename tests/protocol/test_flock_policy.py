"""The rules that an administrator chooses for the flock: they spread, they stay, and they decide."""

from collections import Counter
from math import exp, log
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw, msgpack, structs

from agent.api.settings import Rules
from agent.protocol.events import PolicyChosen
from agent.protocol.evidence import broken_off
from agent.protocol.flock_policy import CHOICE, choice_in, other_rules
from agent.protocol.policy import CHOSEN, DEFAULT_RULE, SCORE_MAX, Evidence, flock_rules
from agent.protocol.policy.flock_rules import ByRule, past_of, waiting_of
from agent.protocol.policy.lasting import CURVE_S
from agent.protocol.policy.placing import HostPast, Waiting
from agent.wording import rules as wording
from tests.bench.policies_page import FOR_WHOM
from tests.sim.lan import Flock, Step

LASTING, PASSING = (1000, 1000, 1000), (300, 100, 10)
RULES = [each.name for each in CHOSEN]


def core_of(flock: Flock, number: int):  # type: ignore[no-untyped-def]
    node = flock.simulation.machines[number].node
    assert node is not None
    return node._core


def rules_of(flock: Flock) -> list[str]:
    return [core_of(flock, n).rule.name for n in range(len(flock.simulation.machines))]


def choose(flock: Flock, name: str, number: int = 0) -> None:
    flock.simulation.machines[number].hand(PolicyChosen(name))


def tell(flock: Flock, *curves: tuple[int, ...]) -> None:
    for machine, curve in zip(flock.simulation.machines, curves, strict=True):
        machine.lasts = curve
        machine.tell_presence()


def after(flock: Flock, seconds: float = 2.0) -> None:
    flock.run_until(flock.world.now + seconds)


def fails_at(rate: float) -> tuple[int, ...]:
    return tuple(round(1000 * exp(-rate * at_s)) for at_s in CURVE_S)


# -- how a choice gets around --------------------------------------------------------------


def test_a_choice_of_one_is_everybodys_and_the_latest_holds() -> None:
    flock = Flock(4)
    assert rules_of(flock) == [DEFAULT_RULE] * 4
    choose(flock, "EC", 1)
    after(flock)
    assert rules_of(flock) == ["EC"] * 4
    choose(flock, "BFGCE", 3)
    after(flock)
    assert rules_of(flock) == ["BFGCE"] * 4
    assert [other_rules(core_of(flock, n)) for n in range(4)] == [{}] * 4


def test_two_choices_at_the_same_instant_end_as_one() -> None:
    flock = Flock(5)
    for number, name in enumerate(("EC", "FCFS", "BFC")):
        choose(flock, name, number)
    after(flock)
    assert len(set(rules_of(flock))) == 1


def test_a_choice_outlives_the_agent_and_reaches_who_was_away() -> None:
    flock = Flock(3)
    away, stays, _ = flock.simulation.machines
    away.die()
    after(flock, 8.0)
    choose(flock, "BFC", 1)
    after(flock)
    stays.die()
    after(flock, 8.0)
    stays.boot()
    assert core_of(flock, 1).rule.name == "BFC"
    away.boot()
    assert core_of(flock, 0).rule.name == DEFAULT_RULE
    after(flock, 8.0)
    assert rules_of(flock) == ["BFC"] * 3


def test_rules_of_a_later_version_are_passed_on_and_not_gone_by() -> None:
    flock = Flock(3)
    choose(flock, "EC")
    after(flock)
    choose(flock, "of tomorrow", 2)
    after(flock)
    assert rules_of(flock) == [DEFAULT_RULE] * 3
    assert {core_of(flock, n).chosen.name for n in range(3)} == {"of tomorrow"}


def test_who_goes_by_other_rules_is_seen() -> None:
    flock = Flock(3)
    core = core_of(flock, 0)
    peer = core.peers["n02"]
    peer.status = structs.replace(peer.status, policy="EC")
    assert other_rules(core) == {"n02": "EC"}
    peer.status = structs.replace(peer.status, policy="")  # of a version that has no choice
    assert other_rules(core) == {}


@pytest.mark.parametrize(
    "told", [b"", msgpack.encode(7), msgpack.encode(["x" * 65, [1, 1]]), msgpack.encode(["EC", 3])]
)
def test_a_choice_that_cannot_be_read_is_none(told: bytes) -> None:
    assert choice_in({CHOICE: Raw(told)}) is None


def test_a_choice_from_far_in_the_future_is_not_believed() -> None:
    flock = Flock(2)
    core = core_of(flock, 0)
    machine = flock.simulation.machines[1]
    machine.node._core.clock.last = (core.wall_ms + 30 * 24 * 3_600_000, 0)  # type: ignore[union-attr]
    choose(flock, "EC", 1)
    after(flock)
    assert core_of(flock, 0).rule.name == DEFAULT_RULE
    assert core_of(flock, 0).counters["stamp too far ahead"]


def test_all_rules_that_can_be_chosen_are_told_of_everywhere() -> None:
    assert RULES == [*get_args(Rules)] == [*wording.RULES] == [*FOR_WHOM]


# -- what a rule is told of a host ---------------------------------------------------------


evidences = st.builds(
    Evidence,
    st.integers(1, 10**8),
    st.integers(1, 10**8),
    lasts_permille=st.integers(1, 999),
    broken_off=st.integers(0, 20),
)


@given(evidences)
def test_a_host_lasts_through_the_task_with_the_chance_that_the_evidence_gives(
    evidence: Evidence,
) -> None:
    task, past = waiting_of(evidence), past_of(evidence)
    chance = exp(-past.failure_rate * task.length_s / past.speed)
    assert chance == pytest.approx(evidence.lasts_permille / 1000, rel=1e-6)


@given(evidences, evidences, st.sampled_from([each for each in CHOSEN if each.placing]))
def test_scores_are_in_the_order_of_the_rule(one: Evidence, other: Evidence, rule: object) -> None:
    placing = rule.placing  # type: ignore[attr-defined]
    score = ByRule(placing).score
    values = [placing.score(waiting_of(each), past_of(each)) for each in (one, other)]
    scores = [score(each) for each in (one, other)]
    assert all(0 < each < SCORE_MAX for each in scores)
    if values[0] > values[1]:
        assert scores[0] >= scores[1]


@pytest.mark.parametrize(
    ("rule", "told", "score"),
    [
        ("FCFS", Evidence(60_000, 60_000), SCORE_MAX // 2),
        ("EC", Evidence(60_000, 60_000, lasts_permille=500), SCORE_MAX // 3),
        ("EC", Evidence(60_000, 30_000, lasts_permille=250), SCORE_MAX // 5),
        ("EC", Evidence(60_000, 60_000, lasts_permille=0), 999),
        ("BFC", Evidence(1_000, 1_000, lasts_permille=0), 169),
        ("late-claims", Evidence(60_000, 60_000), SCORE_MAX // 2),
    ],
)
def test_a_score_of_the_source_is_brought_between_nothing_and_the_most(
    rule: str, told: Evidence, score: int
) -> None:
    assert flock_rules[rule].score.score(told) == pytest.approx(score, abs=1)


def test_a_rule_is_told_how_long_a_task_takes_anywhere_and_how_fast_the_host_is() -> None:
    told = waiting_of(Evidence(5_000, 1, broken_off=2))
    assert (told.length_s, told.broken_off, waiting_of(Evidence(0, 0)).length_s) == (5.0, 2, 0.001)
    past = past_of(Evidence(60_000, 30_000, lasts_permille=500))
    assert (past.speed, past.foretold) == (2.0, True)
    assert past.spans_s == pytest.approx([30 / log(2)])
    sure = past_of(Evidence(60_000, 0))
    assert (sure.speed, sure.spans_s) == (60_000.0, [])


def test_a_task_that_was_broken_off_counts_as_longer_for_one_rule_only() -> None:
    once, never = Evidence(60_000, 60_000, 0, 0, 900, 2), Evidence(60_000, 60_000, 0, 0, 900)
    corrected, plain = flock_rules["BFGCE"].score.score, flock_rules["BFGC"].score.score
    assert corrected(once) != corrected(never)
    assert plain(once) == plain(never)
    assert broken_off(None) == 0


# -- who gets what -------------------------------------------------------------------------


def test_the_host_that_lasts_gets_the_task_where_hosts_compete() -> None:
    for name in ("EC", "EGC", "reaching"):
        flock = Flock(3)
        choose(flock, name)
        tell(flock, PASSING, PASSING, LASTING)
        after(flock)
        flock.submit("w", [Step(600.0)])
        assert flock.run()
        lasting = flock.simulation.machines[2].plan.name
        assert [host for _, host in flock.times["w/0"].started] == [lasting], name


def test_in_groups_each_host_takes_what_fits_the_time_that_it_lasts() -> None:
    """f2 gives a host that fails at the rate r a task of about 1 / r."""
    flock = Flock(2)
    choose(flock, "BFGC")
    tell(flock, fails_at(1 / 300), fails_at(1 / 3_000))
    after(flock)
    flock.submit("w", [Step(2_900.0), Step(290.0)])
    assert flock.run()
    passing, lasting = (each.plan.name for each in flock.simulation.machines)
    assert [flock.times[f"w/{n}"].started[0][1] for n in (0, 1)] == [lasting, passing]


def test_first_come_is_first_served() -> None:
    flock = Flock(1)
    choose(flock, "FCFS")
    after(flock)
    for number, length_s in enumerate((30.0, 5.0, 60.0, 2.0)):
        flock.submit(f"w{number}", [Step(length_s)], at=flock.world.now + 0.5 * number)
    assert flock.run()
    began = sorted((flock.times[f"w{n}/0"].started[0][0], n) for n in range(4))
    assert [number for _, number in began] == [0, 1, 2, 3]


def test_a_task_at_the_head_is_passed_over_so_often_and_no_more() -> None:
    """One host that is best for short tasks, one long task that was first."""
    flock = Flock(1)
    choose(flock, "BFGC")
    tell(flock, fails_at(1 / 20))
    after(flock)
    flock.submit("first", [Step(5.0)])
    flock.submit("long", [Step(5_000.0)], at=flock.world.now + 1.0)
    flock.submit("short", [Step(10.0)] * 40, at=flock.world.now + 2.0)
    assert flock.run()
    began_s = [flock.times[f"short/{n}"].started[0][0] for n in range(40)]
    long_s = flock.times["long/0"].started[0][0]
    assert sum(each < long_s for each in began_s) == 20


@pytest.mark.hunting
@pytest.mark.parametrize("name", RULES)
def test_all_work_ends_by_every_rule_when_hosts_are_lost(name: str) -> None:
    flock = Flock(9, policy=name)
    choose(flock, name, 4)
    tell(flock, *(fails_at(10 ** -(2 + n / 4)) for n in range(9)))
    after(flock)
    flock.submit("w", [Step(20.0 + 40.0 * (n % 7)) for n in range(30)])
    flock.kill(2, at=flock.world.now + 30.0)
    flock.kill(7, at=flock.world.now + 60.0, silent=True)
    assert flock.run()
    assert set(rules_of_living(flock)) == {name}
    ran = Counter(len(flock.times[f"w/{n}"].started) for n in range(30))
    assert sum(ran.values()) == 30
    copies = flock_rules[name].copies
    if copies.share:
        assert max(ran) <= 2 + copies.most
    else:
        assert max(ran) == 2  # only what was lost with its host


def rules_of_living(flock: Flock) -> list[str]:
    return [
        machine.node._core.rule.name
        for machine in flock.simulation.machines
        if machine.node is not None
    ]


def test_no_chance_is_no_host_that_has_failed_for_ever() -> None:
    past = past_of(Evidence(1_000, 1_000, lasts_permille=0))
    assert past.failure_rate == pytest.approx(-log(0.001))
    assert isinstance(past, HostPast)
    assert isinstance(waiting_of(Evidence(0, 0)), Waiting)
