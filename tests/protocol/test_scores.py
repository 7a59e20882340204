"""A host's score for a task: what it is made of, what is believed of it, and who takes what."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.protocol import messages
from agent.protocol.events import InputsFetched, RunsRemembered
from agent.protocol.evidence import (
    Knowledge,
    contradicted,
    number_in,
    standing_on,
    stands_on,
    with_number,
)
from agent.protocol.host_speeds import OnHost, fitted
from agent.protocol.likeness import Kind, PastRun
from agent.protocol.node import Node, NodeSetup
from agent.protocol.policy import (
    SCORE_MAX,
    Evidence,
    FlockView,
    Places,
    Stage,
    TaskView,
    WorkflowView,
)
from agent.protocol.policy.default import LookAhead
from agent.protocol.policy.forecast import (
    UnequalPlaces,
    forecast_listed,
    forecast_unequal,
    lay_out,
)
from agent.protocol.policy.view import EarliestFinish
from agent.protocol.records import Claim, Dataset, Life, TaskSpec
from agent.protocol.settings import Settings
from agent.protocol.sketch import Sketch
from tests.bench import list_schedule
from tests.bench.list_schedule import Listed
from tests.sim.children import Child, Children
from tests.sim.lan import Flock, Step
from tests.sim.run import run_seed
from tests.sim.scores import RandomScores
from tests.sim.work import PROGRAMS

MINUTE_MS = 60_000
SLOWNESS = (2.0, 0.5, 1.0) * 3
LIKE_ANY = 500_000
SCORE = EarliestFinish().score
SPAN = st.integers(0, 2**53)
EVIDENCE = st.builds(Evidence, SPAN, SPAN, SPAN, SPAN, st.integers(0, 1000))


def test_a_host_like_any_other_has_half_of_the_most() -> None:
    assert SCORE(Evidence(MINUTE_MS, MINUTE_MS)) == LIKE_ANY
    assert Evidence(5, 4) == Evidence(5, 4, 0, 0, 1000, 0)
    assert SCORE(Evidence(60_000, 60_000, 6_000, 12_000, 900)) == SCORE_MAX * 60 // 144
    assert SCORE(Evidence(0, 0)) == SCORE_MAX - 1
    assert SCORE(Evidence(1, 2**53)) == 1
    assert SCORE(Evidence(MINUTE_MS, MINUTE_MS // 2)) == pytest.approx(SCORE_MAX * 2 / 3, rel=1e-5)


@given(EVIDENCE)
def test_scores_fit_a_claim_and_never_reach_that_of_work_at_home(evidence: Evidence) -> None:
    assert 0 < SCORE(evidence) < SCORE_MAX
    assert SCORE(evidence) == SCORE(structs.replace(evidence))


@given(EVIDENCE, st.integers(1, 10**9))
def test_whatever_takes_longer_makes_no_score_better(evidence: Evidence, more_ms: int) -> None:
    for field in ("length_ms", "fetch_ms", "wait_ms"):
        worse = structs.replace(evidence, **{field: getattr(evidence, field) + more_ms})
        assert SCORE(worse) <= SCORE(evidence)


@given(EVIDENCE, st.integers(0, 1000))
def test_an_owner_who_comes_back_makes_no_score_better(evidence: Evidence, lasts: int) -> None:
    private = structs.replace(evidence, lasts_permille=min(lasts, evidence.lasts_permille))
    assert SCORE(private) <= SCORE(evidence)
    assert not contradicted(private, evidence)


@given(EVIDENCE, st.floats(0.51, 1.0))
def test_half_as_long_is_believed(known: Evidence, share: float) -> None:
    told = structs.replace(known, length_ms=int(known.length_ms * share) + 1)
    assert not contradicted(told, known)


@given(st.integers(10_000, 2**40))
def test_a_third_as_long_is_not(length_ms: int) -> None:
    known = Evidence(length_ms, length_ms)
    assert contradicted(structs.replace(known, length_ms=length_ms // 3), known)


def test_what_a_claim_stands_on_travels_and_older_words_have_none() -> None:
    claim, stands = Claim(7, (1, 0), "n01"), Evidence(5, 4, 3, 2, 1)
    for told in (None, stands):
        word = messages.TryDequeue((messages.ClaimOffer("t", claim, Life(), told),))
        assert messages.decode(messages.encode(word)) == word
    assert stands_on(standing_on(stands)) == stands
    assert stands_on({}) is None
    assert number_in(with_number("fetch", 7), "fetch") == 7
    assert number_in({}, "fetch") == 0


# Speeds of hosts


def test_speeds_are_told_apart_whoever_ran_most() -> None:
    runs = {"fast": OnHost(9, 5.0, 0.0), "usual": OnHost(3, 6.0, 0.0), "slow": OnHost(3, 7.0, 0.0)}
    factors = fitted([runs, {"slow": OnHost(3, 10.0, 0.0), "usual": OnHost(3, 9.0, 0.0)}])
    assert factors["fast"] == pytest.approx(0.5, rel=0.15)
    assert factors["usual"] == pytest.approx(1.0, rel=0.15)
    assert factors["slow"] == pytest.approx(2.0, rel=0.15)


def test_one_run_that_took_long_makes_no_slow_host() -> None:
    once = fitted([{"a": OnHost(1, 8.0, 0.0), "b": OnHost(1, 6.0, 0.0)}])
    assert once["a"] <= 2.0
    assert fitted([{"a": OnHost(9, 6.03, 0.0), "b": OnHost(9, 6.0, 0.0)}]) == {"a": 1.0, "b": 1.0}
    assert fitted([{"a": OnHost(9, 6.0, 0.0)}]) == {}


@pytest.mark.parametrize(
    ("runs", "octaves", "varies", "factor"),
    [
        (16, 9.0, 0.0, 8.0),
        (16, -9.0, 0.0, 1 / 8),
        (1, 9.0, 0.0, 2.0),
        (4, 1.0, 0.5, 1.0),
        (4, 1.5, 0.5, 2.378),
        (16, 0.1, 0.0, 1.0),
        (16, 0.16, 0.0, 1.114),
        (900, 2.0, 0.5, 3.744),
    ],
)
def test_what_may_be_chance_tells_nothing_and_nobody_is_beyond_all_measure(
    runs: int, octaves: float, varies: float, factor: float
) -> None:
    kind = {host: OnHost(runs, 6.0 + octaves * (host == "c"), varies) for host in "abc"}
    assert fitted([kind])["c"] == pytest.approx(factor, rel=0.02)


@pytest.mark.parametrize(
    ("kinds", "runs", "octaves", "counts"),
    [
        (1, 1, 3.5, False),
        (1, 1, 4.0, True),  # one run may always be chance
        (8, 16, 0.06, False),  # however certain
        (8, 16, 0.07, True),
    ],
)
def test_what_may_be_chance_and_what_is_next_to_nothing_tells_of_no_host(
    kinds: int, runs: int, octaves: float, counts: bool
) -> None:
    kind = {host: OnHost(runs, 6.0 + octaves * (host == "c"), 0.0) for host in "abc"}
    assert (fitted([kind] * kinds)["c"] > 1.0) is counts


def test_fast_mirrors_slow_and_of_two_hosts_the_faster_is_the_usual_one() -> None:
    by = [
        fitted([{"a": OnHost(16, 6.0, 0.0), "b": OnHost(16, 6.0, 0.0), "c": OnHost(2, at, 0.0)}])
        for at in (5.0, 7.0)
    ]
    assert by[0]["c"] * by[1]["c"] == pytest.approx(1.0, rel=1e-6)
    assert by[0]["c"] < 0.6
    two = fitted([{"fast": OnHost(9, 6.0, 0.0), "slow": OnHost(9, 8.0, 0.0)}])
    assert two == {"fast": 1.0, "slow": pytest.approx(4.0, rel=0.05)}


def _of_drawn(draw: Random, slowness: dict[str, float], runs: int) -> dict[str, float]:
    """What is thought of hosts that ran a program which takes about as long, and one that does not."""
    kinds = []
    for low_ms, high_ms in ((4_000, 7_000), (100, 2_000)):
        sketch = Sketch()
        for host in [*slowness] * runs:
            sketch.note(round(draw.uniform(low_ms, high_ms) * slowness[host]), host)
        kinds.append(sketch.on_hosts())
    return fitted(kinds)


def test_lengths_that_vary_by_themselves_make_no_host_fast_or_slow() -> None:
    draw, equal = Random("varies"), dict.fromkeys("abcdefghi", 1.0)
    wrong = [_of_drawn(draw, equal, runs=4) != equal for _ in range(100)]
    assert sum(wrong) <= 10


def test_a_slow_host_is_found_though_lengths_vary() -> None:
    draw, slowness = Random("slow"), {**dict.fromkeys("abcdefgh", 1.0), "slow": 2.0}
    found = [_of_drawn(draw, slowness, runs=4)["slow"] for _ in range(100)]
    assert sum(1.5 < each < 2.5 for each in found) >= 90


# The order, and who takes what


def _chains(workflows: int) -> list[WorkflowView]:
    def task(number: int, at: int) -> TaskView:
        needs = (f"{number}/{at - 1}",) if at else ()
        return TaskView(f"{number}/{at}", 120.0, needs, Stage.WAITING if at else Stage.READY)

    return [
        WorkflowView(f"w{n:02}", 50, (1, n), 0.0, tuple(task(n, at) for at in range(4)))
        for n in range(workflows)
    ]


@pytest.mark.parametrize("workflows", [3, 5, 7, 8, 9, 10, 12, 15])
def test_a_forecast_is_as_good_as_a_list_schedule_that_knows(workflows: int) -> None:
    listed = [
        Listed(workflow, 120.0, (4 * workflow + at - 1,) if at else ())
        for workflow in range(workflows)
        for at in range(4)
    ]
    best = list_schedule.best(listed, SLOWNESS)
    views = _chains(workflows)
    places = UnequalPlaces(Places(f"n{at}", 1, slow) for at, slow in enumerate(SLOWNESS))
    work = lay_out(views)
    order = [task for m in range(workflows) for task in range(4 * m, 4 * m + 4)]
    found = [forecast_listed(work, order, places), forecast_unequal(work, order, places)]
    ends_s = min(each.ends_sum_s for each in found if each is not None)
    assert ends_s / workflows <= 1.03 * best.average_s


def test_every_ready_task_is_named_once_and_others_only_where_places_differ() -> None:
    ready = [f"{number}/0" for number in range(10)]
    places = tuple(Places(f"n{at}", 1, slow) for at, slow in enumerate(SLOWNESS))
    named = LookAhead().order(FlockView(9, tuple(_chains(10)), places))
    assert len(named) == len(set(named)) > len(ready)
    assert set(ready) < set(named)
    assert sorted(LookAhead().order(FlockView(9, tuple(_chains(10))))) == ready
    running, *others = _chains(10)
    first = structs.replace(running.tasks[0], state=Stage.RUNNING, host="n1")
    begun = structs.replace(running, tasks=(first, *running.tasks[1:]))
    assert "0/0" not in LookAhead().order(FlockView(9, (begun, *others), places))
    assert LookAhead().order(FlockView(2, tuple(_chains(1)), places)) == ready[:1]


def test_a_list_schedule_waits_for_a_fast_host_only_where_that_ends_sooner() -> None:
    tasks = [Listed(0, 60.0), Listed(1, 60.0)]
    assert list_schedule.best(tasks, (1.0, 3.0)).last_s == 120.0
    assert list_schedule.best(tasks, (1.0, 1.5)).last_s == 90.0


def _learned(slowness: tuple[float, ...]) -> Flock:
    flock = Flock(len(slowness), slowness=slowness)
    for number in range(3):
        nodes = [machine.node_id for machine in flock.simulation.machines]
        flock.submit(f"learn {number}", [Step(20.0, told_s=0, node=node) for node in nodes])
    assert flock.run()
    return flock


def test_a_slow_host_stays_empty_for_what_a_fast_one_ends_sooner() -> None:
    flock = _learned((4.0, 1.0))
    flock.submit("w", [Step(20.0, told_s=0), Step(20.0, told_s=0)])
    assert flock.run()
    assert {flock.times[f"w/{n}"].started[0][1] for n in range(2)} == {"andorinha"}


def test_whoever_leaves_a_task_knows_for_which_host() -> None:
    flock = _learned((4.0, 1.0))
    slow, fast = flock.simulation.machines
    assert slow.node is not None
    first, second = flock.submit("w", [Step(20.0, told_s=0), Step(20.0, told_s=0)])
    flock.run_until(flock.world.now + 5.0)
    assert [slow.node.left_for(each) for each in (first, second)] == ["", fast.node_id]
    assert flock.run()
    assert slow.node.left_for(second) == ""


def test_it_takes_what_it_ends_sooner_itself() -> None:
    flock = _learned((2.0, 1.0))
    flock.submit("w", [Step(20.0, told_s=0) for _ in range(4)])
    assert flock.run()
    hosts = [flock.times[f"w/{n}"].started[0][1] for n in range(4)]
    assert hosts.count("acor") == 1


LONG_S = 1_200.0
SOON, LATE = (500, 200, 10), (1000, 1000, 1000)


@pytest.mark.parametrize(
    ("curves", "slowness", "host"),
    [
        (((), ()), (1.0, 1.0, 3.0), "acor"),
        ((SOON, LATE), (1.0, 1.0, 3.0), "andorinha"),
        ((LATE, SOON), (1.0, 1.0, 3.0), "acor"),
        ((SOON, ()), (1.0, 1.0, 3.0), "andorinha"),
        (((), LATE), (1.0, 1.0, 3.0), "acor"),
        ((SOON, LATE), (1.0, 1.3, 3.0), "andorinha"),
        ((SOON, LATE), (1.0, 3.0, 3.0), "acor"),
    ],
)
def test_of_hosts_that_are_as_fast_the_one_that_lasts_takes_what_is_long(
    curves: tuple[tuple[int, ...], ...], slowness: tuple[float, ...], host: str
) -> None:
    """None is better for telling that it lasts; one that is much faster is better all the same."""
    flock = Flock(len(slowness), slowness=slowness)
    machines = flock.simulation.machines
    kind = Kind(PROGRAMS[0], PROGRAMS[0], 0, 0, 0)
    took_ms = [round(LONG_S * 1000 * slow) for slow in slowness]
    known = tuple(
        PastRun(f"before {number}", kind, machine.node_id, ms)
        for number in range(3)
        for machine, ms in zip(machines, took_ms, strict=True)
    )
    for machine, curve in zip(machines, (*curves, ()), strict=True):
        machine.hand(RunsRemembered(known))
        machine.lasts = curve
        machine.tell_presence()
    flock.run_until(flock.world.now + 5.0)
    flock.submit("w", [Step(LONG_S, told_s=0)])
    flock.run_until(flock.world.now + 5.0)
    assert flock.times["w/0"].started[0][1] == host


def test_the_record_of_a_run_says_what_its_claim_stood_on() -> None:
    flock = _learned((1.0, 1.0, 0.4))
    [task] = flock.submit("w", [Step(20.0, told_s=0)])
    assert flock.run()
    node = flock.simulation.machines[0].node
    assert node is not None
    [run] = node.table.life(task).runs
    told = stands_on(run.more)
    assert told is not None
    assert told.length_ms < told.usual_ms
    assert run.claim.score == SCORE(told) > LIKE_ANY


def test_work_goes_to_its_data_where_bringing_them_costs_more_than_a_fast_host_gains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def large(child: Child, number: int) -> Dataset:
        return Dataset(f"{child.spec.task}.{number}", 400_000_000)

    monkeypatch.setattr(Children, "_output", lambda _, child, number: large(child, number))
    flock = Flock(2, slowness=(2.0, 1.0), settings=Settings(copies=1))
    nodes = [machine.node_id for machine in flock.simulation.machines]
    for number in range(3):
        flock.submit(f"learn {number}", [Step(20.0, told_s=0, node=node) for node in nodes])
    assert flock.run()
    steps = [Step(20.0, told_s=0, node=nodes[0]), Step(20.0, (0,), told_s=0)]
    flock.submit("before", steps)
    assert flock.run()
    assert flock.times["before/1"].started[0][1] == "andorinha"
    for machine in flock.simulation.machines:
        machine.hand(InputsFetched("", (1, 1, "", 0), came_bytes=8_000_000, took_ms=800))
    flock.submit("behind", steps)
    assert flock.run()
    assert flock.times["behind/1"].started[0][1] == "acor"


class Boasting(Knowledge):
    """Bids as if everything took a thousandth."""

    def bid(self, spec: TaskSpec) -> tuple[int, Evidence | None]:
        known = self.of(spec, self._core.me)
        told = structs.replace(known, length_ms=known.length_ms // 1_000)
        return self.score(told), told


class Boaster(Node):
    def __init__(self, setup: NodeSetup) -> None:
        super().__init__(setup)
        self.claims._knowledge = Boasting(self._core)


def test_what_was_doubted_is_not_told_again_so_the_task_runs() -> None:
    flock = Flock(2, node_class=Boaster)
    [task] = flock.submit("w", [Step(60.0)])
    assert flock.run(300.0)
    node = flock.simulation.machines[0].node
    assert node is not None
    [run] = node.table.life(task).runs
    assert (run.claim.score, stands_on(run.more)) == (LIKE_ANY, None)


@pytest.mark.hunting
@pytest.mark.parametrize("seed", range(9_001, 9_009))
def test_whatever_the_scores_every_promise_holds(seed: int) -> None:
    run_seed(seed, RandomScores)
