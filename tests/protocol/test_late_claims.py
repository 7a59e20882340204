"""Late claims: what has just begun moves to a better machine that becomes free, once, and never runs twice."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from agent.protocol.needs import with_needs
from agent.protocol.own_run import Stage
from agent.protocol.policy import flock_rules
from agent.protocol.policy.late_claims import STRATEGIES, ClaimOfSource
from agent.protocol.records import Claim, Evicted, Life, Run
from agent.protocol.takeovers import TakeOvers
from tests.protocol.stage import task
from tests.protocol.test_flock_policy import LASTING, PASSING, after, choose, core_of, tell
from tests.sim.lan import Flock, Step

ENOUGH = 3
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


def begun(
    name: str,
    stage: Stage = Stage.RUNNING,
    permille: int = 0,
    passed: int = 40,
    checkpoint: object = None,
    once: bool = False,
) -> SimpleNamespace:
    return SimpleNamespace(
        task=name,
        spec=task(name, more=with_needs((), (), once=once)),
        stage=stage,
        permille=permille,
        passed_ms=lambda _: passed,
        run=SimpleNamespace(more={}, checkpoint=checkpoint),
    )


def given_back(
    *names: str,
    ready: bool = False,
    urgent: bool = False,
    just_begun: float = 0.05,
    looks_at_s: tuple[float, ...] = (100.0,),
    **own: Any,
) -> list[str]:
    """What a host gives back that has these runs while two others are free, one of them as good as it
    and one better, with room for one task each."""
    free = [SimpleNamespace(node=node, open=True) for node in ("as good", "better")]
    for each in free:
        each.take = partial(setattr, each, "open", not own.get("taken", True))
    found: list[str] = []
    lost = own.pop("lost", 0)
    own.pop("taken", None)
    runs = {name: begun(name, **own) for name in names}
    broken = Run(1, 1, "acor", 1, Claim(1, (1, 0), "acor"), 1, phase=Evicted())
    core = SimpleNamespace(
        me="here",
        now_s=100.0,
        stopping=False,
        rule=SimpleNamespace(placing=SimpleNamespace(just_begun=just_begun)),
        lengths=SimpleNamespace(of=lambda *_: SimpleNamespace(q50_ms=1_000)),
        table=SimpleNamespace(
            ready=["waits"] * ready,
            specs={"waits": task("waits")},
            interactive=lambda _: urgent,
            lives={name: Life(runs=(broken,) * lost) for name in names},
        ),
    )
    plan = SimpleNamespace(
        has_place=lambda _: True, room=lambda _: [each for each in free if each.open]
    )
    scores = {"here": 1, "as good": 1, "better": 2}
    parts: list[Any] = [
        core,
        SimpleNamespace(mine=runs, give_back=lambda tasks, _: found.extend(tasks)),
        SimpleNamespace(seat_plan=lambda: plan),
        SimpleNamespace(score=scores.__getitem__, of=lambda _, node: node),
    ]
    part = TakeOvers(*parts)
    for core.now_s in looks_at_s:
        part.on_tick()
    return found


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        (True, {}),
        (False, {"ready": True}),
        (False, {"urgent": True}),
        (False, {"just_begun": 0.0, "checkpoint": object()}),
        (False, {"once": True}),
        (False, {"lost": 1}),
        (False, {"stage": Stage.STARTING}),
        (False, {"passed": 50}),
        (True, {"permille": 49}),
        (False, {"permille": 50}),
        (True, {"permille": 900, "checkpoint": object()}),
    ],
)
def test_what_may_be_taken_over(gives: bool, told: dict[str, Any]) -> None:
    assert given_back("T", **told) == ["T"] * gives


@pytest.mark.parametrize(("looks_at_s", "times"), [((9.0, 10.9), 1), ((9.0, 11.0), 2)])
def test_a_host_looks_every_two_seconds(looks_at_s: tuple[float, ...], times: int) -> None:
    """Of two free hosts one is better at first, and stays free as nobody has it yet."""
    assert given_back("T", looks_at_s=looks_at_s, taken=False) == ["T"] * times


def test_each_goes_to_another_better_host() -> None:
    assert given_back("T1", "T2") == ["T1"], "one that is only as good is not better"
