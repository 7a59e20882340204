"""When runs and tasks ended, as every node tells it, whoever dies and comes back later."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw, msgpack
from msgspec.structs import replace

from agent.protocol.reading import read_off
from agent.protocol.reasons import Cancelled, EndCause, carried
from agent.protocol.records import (
    Claim,
    Evicted,
    Failed,
    Life,
    Lost,
    Phase,
    PriorityWish,
    Run,
    Running,
    Scheduled,
    Suspended,
    TaskLife,
    Terminated,
    Workflow,
    WorkflowSpec,
    Yielded,
)
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.protocol.times import (
    HELD,
    RAN,
    STARTED,
    Times,
    Took,
    end_of_run_ms,
    end_of_task_ms,
    following,
    held_ms,
    span_of_workflow_ms,
    started_ms,
    times_of_task,
    took,
    with_times,
    with_took,
)
from tests.certain import certain
from tests.protocol.stage import WALL_MS, Stage, at_work, task

NAMES = ("acor", "pato")
LENGTH_S = 20.0


def told(stage: Stage) -> dict[str, tuple[Any, ...]]:
    """By machine: the times of the task and of its workflow, and the ends of its runs."""
    found = {}
    for name, node in stage.living().items():
        table = node.table
        life, reading = table.life("T1"), table.reading("T1")
        ends = [end_of_run_ms(run, life, certain(reading)) for run in life.runs]
        (workflow,) = table.workflows.values()
        span = span_of_workflow_ms(workflow, table)
        found[name] = (times_of_task("T1", table), span, ends)
    return found


def came_back(stage: Stage, name: str, *peers: str) -> None:
    stage.boot(name)
    for peer in peers:
        stage.link(name, peer)


def test_a_machine_that_died_does_nothing_and_its_return_changes_no_end() -> None:
    """It is dead for an hour: another one has long taken the task and finished it."""
    stage = at_work(*NAMES, length_s=LENGTH_S, for_s=4)
    (began,) = stage.living()["acor"].table.life("T1").runs
    stage.crash("acor").play(LENGTH_S + 10)
    pato = stage.living()["pato"]
    assert pato.gone_since_ms(began) > 0
    before = told(stage)["pato"]
    dead_ms, ended_ms = before[2]
    assert began.claim.stamp[0] + 4_000 <= dead_ms <= began.claim.stamp[0] + 6_000
    assert before[0].ended_ms == before[1][1] == ended_ms
    stage.play(3_600)
    assert told(stage)["pato"] == before
    came_back(stage, "acor", "pato")
    stage.play(20)
    runs = stage.living()["pato"].table.life("T1").runs
    assert [type(run.phase) for run in runs] == [Lost, Terminated]
    assert runs[0].stamp[0] > ended_ms + 3_000_000
    assert told(stage) == dict.fromkeys(NAMES, before)


def test_where_nobody_else_can_run_it_a_dead_machine_does_nothing_either() -> None:
    stage = at_work(*NAMES, length_s=LENGTH_S, for_s=4).owner("pato", here=True)
    pato = stage.living()["pato"]
    run = pato.table.owned["T1"]
    assert (run.host, pato.gone_since_ms(run)) == ("acor", 0)
    died_ms = WALL_MS + round(stage.now_s * 1000)
    stage.crash("acor").play(2)
    gone_ms = pato.gone_since_ms(run)
    assert 0 <= gone_ms - died_ms <= 1_000
    stage.play(600)
    assert abs(pato.gone_since_ms(run) - gone_ms) <= 1
    stage.owner("pato", here=False).play(5)
    _, _, (ended_ms, going) = told(stage)["pato"]
    assert (abs(ended_ms - gone_ms) <= 1, going) == (True, 0)
    came_back(stage, "acor", "pato")
    stage.play(60)
    assert [told(stage)[name][2][0] for name in NAMES] == [ended_ms] * 2


def test_what_held_a_program_up_travels_with_its_run() -> None:
    """Held for a minute, it ran for as long as it needs all the same."""
    stage = at_work(*NAMES, length_s=LENGTH_S, for_s=4, once=True)
    stage.owner("acor", here=True).play(60)
    stage.owner("acor", here=False).play(LENGTH_S)
    acor, pato = (told(stage)[name][0] for name in NAMES)
    assert acor == pato
    assert abs(acor.held_ms - 60_000) < 100
    assert abs(acor.ran_ms - LENGTH_S * 1_000) < 500
    assert acor.waited_ms < 500


def run(attempt: int, phase: Phase, at_ms: int, claimed_ms: int | None = None, **more: Any) -> Run:
    """Claimed a second before its last word, if nothing else is told."""
    claimed_ms = at_ms - 1_000 if claimed_ms is None else claimed_ms
    claim = Claim(1, (claimed_ms, 0), f"host{attempt}")
    return Run(1, attempt, f"host{attempt}", 1, claim, 1, phase=phase, stamp=(at_ms, 0), **more)


OVERTAKEN: dict[str, Any] = {"more": carried(EndCause("SupersededBy", host="other"))}
STOPPED: dict[str, Any] = {"more": carried(Cancelled())}
DONE = run(2, Terminated(), 9_000, 6_000)


@pytest.mark.parametrize(
    ("runs", "cancel", "ends", "end"),
    [
        ((run(1, Running(), 5_000),), 0, [0], 0),
        ((run(1, Running(), 5_000), run(2, Running(), 7_000, 6_000)), 0, [6_000, 0], 0),
        ((run(1, Running(), 5_000), DONE), 0, [6_000, 9_000], 9_000),
        ((run(1, Terminated(), 9_000), run(2, Running(), 7_000, 6_000)), 0, [9_000, 9_000], 9_000),
        ((run(1, Lost(), 99_000, 5_000), DONE), 0, [6_000, 9_000], 9_000),
        ((run(1, Lost(), 5_500), DONE), 0, [5_500, 9_000], 9_000),
        ((run(1, Yielded(), 99_000, 5_000, **OVERTAKEN), DONE), 0, [99_000, 9_000], 9_000),
        ((run(1, Lost(), 5_000), run(2, Failed(), 8_000)), 0, [5_000, 8_000], 8_000),
        ((run(1, Failed(), 5_000), run(2, Lost(), 99_000)), 0, [5_000, 99_000], 5_000),
        ((run(1, Yielded(), 5_000, **STOPPED),), 1, [5_000], 5_000),
        (
            (run(1, Lost(), 99_000, 5_000), run(2, Yielded(), 8_000, 7_000, **STOPPED)),
            1,
            [7_000, 8_000],
            8_000,
        ),
        ((run(1, Evicted(), 5_000),), 1, [5_000], 0),
        ((run(1, Failed(), 5_000),), 1, [5_000], 0),
        (
            (
                run(1, Yielded(), 99_000, 5_000, **OVERTAKEN),
                run(2, Yielded(), 8_000, 7_000, **STOPPED),
            ),
            1,
            [99_000, 8_000],
            8_000,
        ),
        ((), 1, [], 0),
    ],
    ids=[
        *(
            "goes on",
            "overtaken",
            "overtaken, done",
            "done before",
            "lost late",
            "lost early",
            "left off late",
        ),
        *("failed after a loss", "loss after the failure", "cancelled", "cancelled, lost"),
        *("handed back, cancelled", "failed, cancelled", "cancelled, loser", "never ran"),
    ],
)
def test_the_ends_of_runs_and_of_their_task(
    runs: tuple[Run, ...], cancel: int, ends: list[int], end: int
) -> None:
    life = Life(1, 0, cancel, runs)
    reading = read_off(task("T1", failures_max=1), life, lambda _: None, 5)
    assert [end_of_run_ms(each, life, reading) for each in runs] == ends
    assert end_of_task_ms(life, reading) == end


@pytest.mark.parametrize(
    ("first", "second", "end"),
    [
        (run(1, Yielded(), 8_000, **STOPPED), (), 8_000),
        (run(1, Evicted(), 8_000), (run(2, Yielded(), 9_000, **STOPPED),), 9_000),
        (run(1, Evicted(), 8_000), (), 0),
        (None, (), 0),
    ],
    ids=["ran", "ran again", "handed back", "never ran"],
)
def test_what_was_cancelled_while_nothing_ran_did_not_end_before(
    first: Run | None, second: tuple[Run, ...], end: int
) -> None:
    """The end of the step before is none of it, and neither is that of a run that was handed back."""
    table = Table(Settings())
    spec = WorkflowSpec("W", "W", (1_000, 0), "host1", "ana", (task("T1"), task("T2", "T1")))
    table.join([Workflow(spec, PriorityWish(1, "host1", 50))], [])
    table.join([], [TaskLife("T1", Life(runs=(run(1, Terminated(), 4_000),)))])
    runs = () if first is None else (first, *second)
    table.join([], [TaskLife("T2", Life(1, 0, 1, runs))])
    assert span_of_workflow_ms(table.workflows["W"], table) == (3_000, end)


@pytest.mark.parametrize(
    ("phases", "started", "held"),
    [
        (((Running(), 1_500),), 1_000, 0),
        (((Running(), 9_000),), 9_000, 0),
        (((Running(), 1_000), (Suspended(), 3_000), (Running(), 8_000)), 1_000, 5_000),
        (
            (
                *((Running(), 4_000), (Suspended(), 5_000), (Suspended(offered=True), 6_000)),
                *((Running(), 8_000), (Suspended(), 9_000), (Terminated(), 9_500)),
            ),
            4_000,
            3_500,
        ),
        (((Suspended(), 5_000), (Running(), 4_000)), 1_000, 0),
    ],
    ids=["at once", "inputs first", "held once", "held twice", "a clock set back"],
)
def test_what_a_run_carries_of_its_times(
    phases: tuple[tuple[Phase, int], ...], started: int, held: int
) -> None:
    each = run(1, Scheduled(), 1_000, 1_000, more=carried(Cancelled()))
    for phase, at_ms in phases:
        more = with_times(each, phase, at_ms)
        each = Run(*(1, 1, each.host, 1, each.claim, 1), phase=phase, stamp=(at_ms, 0), more=more)
    assert (started_ms(each), held_ms(each)) == (started, held)
    assert each.more.items() >= carried(Cancelled()).items()


@pytest.mark.parametrize(("at_ms", "started"), [(1_999, 1_000), (2_000, 2_000)])
def test_what_starts_within_a_second_starts_with_its_claim(at_ms: int, started: int) -> None:
    each = run(1, Scheduled(), 1_000, 1_000)
    more = with_times(each, Running(), at_ms)
    assert started_ms(replace(each, phase=Running(), stamp=(at_ms, 0), more=more)) == started


@pytest.mark.parametrize(
    ("gone_ms", "end"), [(4_000, 4_000), (8_000, 8_000), (8_001, 9_000), (0, 9_000)]
)
def test_a_run_ends_when_its_machine_was_gone_where_who_goes_on_says_so(
    gone_ms: int, end: int
) -> None:
    first = run(1, Running(), 2_000)
    second = run(2, Running(), 9_500, 9_000, more=following(gone_ms, 9_000))
    life = Life(1, runs=(first, second))
    assert end_of_run_ms(first, life, read_off(task("T1"), life, lambda _: None, 5)) == end


@pytest.mark.parametrize(
    ("measured", "told"),
    [
        (Took(5, 3), Took(5, 3)),
        (Took(0, 0), Took(0, 0)),
        (Took(-5, -1), Took(0, 0)),
        (Took(2**60, 2**53), Took(2**53, 2**53)),
        (None, None),
    ],
)
def test_what_a_program_took_is_told_as_far_as_it_makes_sense(
    measured: Took | None, told: Took | None
) -> None:
    assert took(run(1, Terminated(), 9_000, more=with_took({}, measured))) == told


@pytest.mark.parametrize("told", [(-1, 0), (0, -1), (2**53 + 1, 0), (5,), "5"])
def test_what_no_program_can_have_taken_is_not_believed(told: object) -> None:
    assert took(run(1, Terminated(), 9_000, more={RAN: Raw(msgpack.encode(told))})) is None


def test_the_times_of_a_task_are_read_off_its_runs_and_those_it_needs() -> None:
    table = Table(Settings())
    steps = (task("T1"), task("T2", "T1"), task("T3"))
    spec = WorkflowSpec("W", "W", (1_000, 0), "host1", "ana", steps)
    table.join([Workflow(spec, PriorityWish(1, "host1", 50))])
    first = run(1, Terminated(), 4_000)
    told = {name: Raw(msgpack.encode(ms)) for name, ms in ((STARTED, 7_000), (HELD, 500))}
    second = run(1, Running(), 6_500, 6_000, more=told)
    table.join(lives=[TaskLife("T1", Life(runs=(first,))), TaskLife("T2", Life(runs=(second,)))])
    assert times_of_task("T1", table) == Times(1_000, 3_000, 4_000, 2_000, 1_000, 0)
    assert times_of_task("T2", table) == Times(4_000, 6_000, 0, 2_000, 0, 0)
    assert times_of_task("T3", table) == Times(1_000, 0, 0, 0, 0, 0)
    assert span_of_workflow_ms(table.workflows["W"], table) == (3_000, 0)
    done = replace(second, phase=Terminated(), revision=2, stamp=(9_000, 0))
    table.join(lives=[TaskLife("T2", Life(runs=(done,)))])
    assert times_of_task("T2", table) == Times(4_000, 7_000, 9_000, 2_000, 1_500, 500)


def test_of_a_task_that_nobody_knows_there_are_no_times() -> None:
    with pytest.raises(KeyError):
        times_of_task("unknown", Table(Settings()))
