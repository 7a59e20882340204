"""Rules that are questions to what was told, at their boundaries: what is accepted, what fits where."""

from __future__ import annotations

import random
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import msgspec
import pytest

from agent.api.phrases import worded
from agent.protocol.admission import WORKFLOW_BYTES_MAX, fault_of
from agent.protocol.clock import TimerKind, Timers
from agent.protocol.events import Submit
from agent.protocol.messages import Capabilities
from agent.protocol.own_run import newest_checkpoint
from agent.protocol.reasons import (
    LacksExtra,
    LacksProgram,
    LacksTag,
    NotAccepted,
    OtherArchitecture,
    OtherSystem,
    OwnerRefuses,
    Reason,
    TooFewCores,
    TooLittleDisk,
    TooLittleMemory,
)
from agent.protocol.records import (
    NO_LIFE,
    Claim,
    Dataset,
    Evicted,
    Failed,
    Life,
    Lost,
    Phase,
    PriorityWish,
    Pruning,
    Requirements,
    Run,
    Scheduled,
    TaskSpec,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.sanity import (
    circles,
    contradiction,
    producers_of,
    sane_incarnation,
    sane_life,
    sane_stamp,
    sane_workflow,
)
from agent.protocol.seats import evictions, failed_on, misfit
from agent.protocol.table import Table
from tests.certain import certain
from tests.protocol.stage import Stage, task

KNOWN = ("known", "K1")


@pytest.fixture
def table() -> Table:
    """With one workflow in it and one that was cleaned up."""
    stage = Stage("acor").flock()
    stage.owner("acor", here=True)
    stage.submit("acor", KNOWN[0], task(KNOWN[1])).play(0.1)
    node = stage.living()["acor"]
    node.table.prunings["gone"] = Pruning("gone", 1, (1, 0))
    return node.table


def submitted(*tasks: TaskSpec, name: str = "new", priority: int = 50) -> Submit:
    return Submit("r", name, name, "ana", priority, tasks)


@pytest.mark.parametrize("priority", [0, 1, 99, 100])
def test_what_can_be_done_is_accepted(table: Table, priority: int) -> None:
    assert fault_of(submitted(task("T1", "K1"), task("T2", "T1"), priority=priority), table) is None


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        (submitted(task("T1"), name="gone"), "workflow gone was finished and cleaned up"),
        (submitted(), "workflow new has no tasks; give it at least one"),
        (submitted(task("T1"), priority=-1), "priority -1 of new is not between 0 and 100"),
        (submitted(task("T1"), priority=101), "priority 101 of new is not between 0 and 100"),
        (submitted(task("T1"), task("T1")), 'two tasks are called "T1"'),
        (submitted(task("T1", "T2"), task("T2", "T1")), "in a circle: T1 → T2 → T1"),
        (submitted(task("K1")), 'task "K1" is already in known'),
        (submitted(task("T1", "nowhere")), 'task "T1" needs nowhere, which is not known here'),
        (submitted(task("T1", after=("nowhere",))), 'task "T1" needs nowhere'),
        (submitted(task("T1", failures_max=0)), "workflow new cannot be kept"),
        (submitted(task("T1", program="\ud800")), "has a character that cannot be seen (U+D800)"),
        (submitted(task("T1", expected_ms=2**70)), "workflow new cannot be kept"),
    ],
)
def test_what_cannot_is_refused_by_one_sentence(table: Table, event: Submit, fault: str) -> None:
    assert fault in worded(certain(fault_of(event, table)))


def test_a_workflow_has_to_fit_into_one_message(table: Table) -> None:
    def of_bytes(size: int) -> Submit:
        return submitted(*(task(f"{n}", parameters="x" * length) for n, length in parts(size)))

    def parts(size: int) -> list[tuple[int, int]]:
        return [(n, min(60_000, size - n * 60_000)) for n in range(-(-size // 60_000))]

    fits = WORKFLOW_BYTES_MAX - 60_000
    assert WORKFLOW_BYTES_MAX == 16 * 1024 * 1024, "all versions in a flock take the same"
    assert fault_of(of_bytes(fits), table) is None
    assert "split it" in str(fault_of(of_bytes(WORKFLOW_BYTES_MAX + 1), table))


def test_tasks_that_need_each_other_are_named_without_those_that_wait_for_them() -> None:
    circle = [task("A", "C"), task("B", "A"), task("C", after=("B",))]
    around = [task("start"), task("waits", "A"), task("enters", "start")]
    found = contradiction([*around, *circle])
    assert found is not None
    assert found.values == {"way": "A → C → B → A"}
    found = contradiction([task("A", "A")])
    assert certain(found).values == {"way": "A → A"}
    assert contradiction(around) is contradiction([]) is None
    assert contradiction([task("join", "x", "y"), task("x"), task("y", "x")]) is None


@pytest.mark.parametrize("seed", range(200))
def test_circles_are_found_where_there_are_any(seed: int) -> None:
    draw = random.Random(seed)
    names = "abcdefg"[: draw.randint(1, 7)]
    needs = {name: [each for each in f"{names}z" if draw.random() < 0.25] for name in names}
    found = list(circles(needs))
    for way in found:
        assert way[0] == way[-1]
        assert all(each in needs[name] for name, each in pairwise(way))
    try:
        TopologicalSorter(needs).prepare()
    except CycleError:
        assert found, needs
    else:
        assert found == [], needs


def test_what_a_task_waits_for_is_named_once() -> None:
    assert producers_of(task("T", "a", "b", "a", after=("b", "c"))) == ["a", "b", "c"]
    assert producers_of(task("T")) == []


ABLE = Capabilities("linux", "x86_64", 8_000, 500, 4, ("mill",), ("gpu", "fast"))


@pytest.mark.parametrize(
    "needs",
    [
        Requirements(),
        Requirements("linux", "x86_64", 8_000, 500, 4, ("fast", "gpu")),
        Requirements(memory_mb=7_999, disk_mb=499, cores=3, tags=("gpu",)),
    ],
)
def test_a_node_that_has_what_is_needed_fits(needs: Requirements) -> None:
    assert misfit(task("T", requirements=needs), ABLE) is None


@pytest.mark.parametrize(
    ("needs", "able", "why"),
    [
        (Requirements(system="windows"), ABLE, OtherSystem("linux", "windows")),
        (Requirements(architecture="arm"), ABLE, OtherArchitecture("x86_64", "arm")),
        (Requirements(memory_mb=8_001), ABLE, TooLittleMemory(8000, 8001)),
        (Requirements(disk_mb=501), ABLE, TooLittleDisk(500, 501)),
        (Requirements(cores=5), ABLE, TooFewCores(4, 5)),
        (Requirements(cores=2), Capabilities(programs=("mill",)), TooFewCores(1, 2)),
        (Requirements(tags=("gpu", "oven")), ABLE, LacksTag("oven")),
        (Requirements(tags=("wingbeat[x]",)), ABLE, LacksExtra("wingbeat[x]")),
        (
            Requirements(system="linux"),
            Capabilities(programs=("mill",)),
            OtherSystem("", "linux"),
        ),
        (
            Requirements(architecture="arm"),
            Capabilities(programs=("mill",)),
            OtherArchitecture("", "arm"),
        ),
    ],
)
def test_a_node_that_lacks_something_is_told_what(
    needs: Requirements, able: Capabilities, why: Reason
) -> None:
    assert misfit(task("T", requirements=needs), able) == why


def test_a_program_is_there_or_comes_along_where_that_is_let() -> None:
    takes = Capabilities(takes_published=True)
    published = task("T", published=Dataset("tree:1"))
    assert (misfit(task("T"), takes), misfit(published, takes)) == (LacksProgram("mill"), None)
    assert misfit(published, Capabilities()) == NotAccepted("mill")
    assert misfit(published, ABLE) is None
    refuses = Capabilities(refused=("mill",), takes_published=True)
    assert misfit(published, refuses) == OwnerRefuses("mill")
    assert misfit(published, msgspec.structs.replace(ABLE, refused=("mill",))) is None


def run(host: str, phase: Phase, generation: int = 2, **more: object) -> Run:
    made = Run(generation, 1, host, 7, Claim(1, (1, 0), host), 1_000, phase=phase)
    return msgspec.structs.replace(made, **more)


def test_what_went_wrong_counts_in_the_present_generation() -> None:
    runs = (
        run("ant", Failed(), 1),
        run("bee", Failed()),
        run("cat", Evicted()),
        run("cat", Evicted()),
        run("cat", Evicted(), 1),
        run("bee", Evicted()),
        run("cat", Lost()),
        run("dog", Failed()),
    )
    life = Life(generation=2, runs=runs)
    assert failed_on(life) == ["bee", "dog"]
    assert (evictions(life, "cat"), evictions(life, "bee"), evictions(life, "ant")) == (2, 1, 0)
    again = Life(generation=1, floor=3, runs=runs)
    assert failed_on(again) == []
    assert evictions(again, "cat") == 0


def test_a_run_begins_with_the_newest_state_that_counts_for_it() -> None:
    def saved(name: str, phase: Phase | None = None, generation: int = 2, **more: object) -> Run:
        state = Dataset(name) if name else None
        return run("ant", phase or Lost(), generation, checkpoint=state, inputs=("in",), **more)

    def begins(*earlier: Run, reachable: str = "abc") -> str:
        life = Life(generation=2, runs=earlier)
        return newest_checkpoint(life, saved("", Scheduled()), lambda each: each in reachable)

    assert (begins(), begins(saved("a"), saved("b"), saved(""))) == ("", "b")
    assert begins(saved("a"), saved("b"), reachable="a") == "a"
    assert begins(saved("a"), saved("b", Failed())) == "a"
    assert begins(saved("a"), saved("b", generation=1)) == "a"
    other = msgspec.structs.replace(saved("b"), inputs=("other",))
    assert (begins(saved("a"), other), begins(other)) == ("a", "")


COUNTER_MAX, INCARNATION_MAX, STAMP_MAX, TIME_MS_MAX = 500_000, 2**52, 2**61, 2**53


def test_numbers_that_no_honest_node_reaches_are_seen() -> None:
    sound = run("ant", Scheduled(), incarnation=INCARNATION_MAX)
    assert sane_incarnation(INCARNATION_MAX)
    assert not sane_incarnation(INCARNATION_MAX + 1)
    assert sane_stamp((STAMP_MAX, STAMP_MAX))
    assert not sane_stamp((STAMP_MAX + 1, 0))
    assert not sane_stamp((0, STAMP_MAX + 1))
    assert sane_life(Life(runs=(sound,)))
    for name in ("generation", "floor", "cancel"):
        assert sane_life(msgspec.structs.replace(NO_LIFE, **{name: COUNTER_MAX}))
        assert not sane_life(msgspec.structs.replace(NO_LIFE, **{name: COUNTER_MAX + 1}))
    for name in ("generation", "attempt", "revision"):
        most = msgspec.structs.replace(sound, **{name: COUNTER_MAX})
        assert sane_life(Life(runs=(sound, most)))
        more = msgspec.structs.replace(sound, **{name: COUNTER_MAX + 1})
        assert not sane_life(Life(runs=(more, sound)))
    late = msgspec.structs.replace(sound, incarnation=INCARNATION_MAX + 1)
    assert not sane_life(Life(runs=(sound, late)))
    for time_ms, sane in ((TIME_MS_MAX, True), (TIME_MS_MAX + 1, False)):
        ended = msgspec.structs.replace(sound, stamp=(time_ms, 0))
        claimed = msgspec.structs.replace(sound, claim=Claim(0, (time_ms, 0), "ant"))
        assert (sane_life(Life(runs=(ended,))), sane_life(Life(runs=(claimed,)))) == (sane, sane)


def test_wishes_beyond_all_measure_are_seen() -> None:
    spec = WorkflowSpec("w", "w", (1, 0), "ant", "ana", (task("T"),))
    most = Workflow(spec, PriorityWish(COUNTER_MAX, "ant", 50), COUNTER_MAX)
    assert sane_workflow(most)
    wish = PriorityWish(COUNTER_MAX + 1, "ant", 50)
    assert not sane_workflow(msgspec.structs.replace(most, priority=wish))
    assert not sane_workflow(msgspec.structs.replace(most, generation=COUNTER_MAX + 1))
    late = msgspec.structs.replace(spec, submitted=(TIME_MS_MAX + 1, 0))
    assert not sane_workflow(msgspec.structs.replace(most, spec=late))


def test_timers_are_due_in_their_order_and_the_next_one_is_known() -> None:
    assert (Timers().next, Timers().take_due(99.0)) == (None, [])
    timers = Timers()
    timers.arm(TimerKind.TICK, 5.0)
    timers.arm(TimerKind.ROW, 3.0, "b")
    timers.arm(TimerKind.ROW, 3.0, "a")
    timers.arm(TimerKind.AHEAD, 9.0, "a")
    assert (timers.next, timers.take_due(2.9)) == (3.0, [])
    assert timers.armed(TimerKind.ROW, "a")
    assert not timers.armed(TimerKind.ROW)
    assert timers.take_due(5.0) == [
        (TimerKind.ROW, "a"),
        (TimerKind.ROW, "b"),
        (TimerKind.TICK, ""),
    ]
    assert timers.next == 9.0
    assert not timers.armed(TimerKind.TICK)
    timers.arm(TimerKind.TICK, 8.0)
    timers.arm(TimerKind.TICK, 12.0)
    assert timers.next == 9.0
    timers.arm(TimerKind.AHEAD, 7.0, "a")
    assert timers.next == 7.0
    timers.disarm(TimerKind.AHEAD, "a")
    timers.disarm(TimerKind.AHEAD, "a")
    assert timers.next == 12.0
    timers.disarm(TimerKind.TICK)
    assert timers.next is None
