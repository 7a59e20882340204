"""Late claims: what has just begun moves to a better machine that becomes free, once, and never runs twice."""

import pytest

from agent.protocol.policy import flock_rules
from agent.protocol.policy.late_claims import ENOUGH, STRATEGIES, ClaimOfSource
from tests.protocol.test_flock_policy import LASTING, PASSING, after, choose, core_of, tell
from tests.sim.lan import Flock, Step

RULES = ("late-claims", "late-claims-among-3", "late-claims-unasked")


def starts_of(
    length_s: float, comes_s: float, rules: str = "late-claims", tasks: int = 1
) -> list[list[str]]:
    """Where each task was started: on a machine that is soon needed, and perhaps again on one that lasts
    and comes later."""
    flock = Flock(2)
    choose(flock, rules)
    tell(flock, PASSING, LASTING)
    after(flock)
    lasting = flock.simulation.machines[1]
    lasting.die()
    after(flock, 12.0)
    names = flock.submit("w", [Step(length_s)] * tasks)
    after(flock, comes_s)
    lasting.boot()
    assert flock.run()
    return [[host for _, host in flock.times[name].started] for name in names]


@pytest.mark.parametrize("rules", RULES)
def test_what_has_just_begun_goes_to_a_better_machine_that_comes(rules: str) -> None:
    ((first, second),) = starts_of(2_000.0, 5.0, rules)
    assert first != second


def test_what_has_come_further_stays_where_it_is() -> None:
    assert [len(each) for each in starts_of(2_000.0, 150.0)] == [1]


def test_by_other_rules_nothing_moves() -> None:
    assert [len(each) for each in starts_of(2_000.0, 5.0, "EC")] == [1]


def test_a_machine_that_comes_takes_what_waits_before_what_runs() -> None:
    assert [len(each) for each in starts_of(2_000.0, 5.0, tasks=2)] == [1, 1]


def test_claims_of_the_source_are_in_its_order() -> None:
    claims = [
        ClaimOfSource(1, 0, 0, 0, "a"),
        ClaimOfSource(0, 9, 0, 0, "a"),
        ClaimOfSource(0, 2, 5, 9, "b"),
        ClaimOfSource(0, 2, 5, 9, "a"),
        ClaimOfSource(0, 2, 5, 3, "z"),
    ]
    assert [claims.index(each) for each in sorted(claims)] == [4, 3, 2, 1, 0]


def test_who_asks_for_a_task_that_it_does_not_know() -> None:
    asked = {name: [asks(n) for n in (1, ENOUGH - 1, ENOUGH)] for name, asks in STRATEGIES.items()}
    assert asked == {
        "Always": [True, True, True],
        "DependsOnDevicesNum": [False, False, True],
        "Never": [False, False, False],
    }


@pytest.mark.parametrize(("rules", "asked"), [*zip(RULES, (1, 1, 0), strict=True)])
def test_rules_say_whether_an_unknown_task_is_asked_for(rules: str, asked: int) -> None:
    flock = Flock(ENOUGH)
    choose(flock, rules)
    after(flock)
    node = flock.simulation.machines[0].node
    assert node is not None
    node._unknown.ask(["nobody/0"])
    assert core_of(flock, 0).counters.get("unknown task", 0) == asked
    assert flock_rules[rules].placing is not None
