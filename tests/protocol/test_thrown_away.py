"""What owners threw away lately makes a machine worse for long tasks, on all nodes alike."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw, structs

from agent.protocol.news import News
from agent.protocol.reasons import EndCause, carried
from agent.protocol.records import (
    Claim,
    Dataset,
    Evicted,
    Life,
    Phase,
    PriorityWish,
    Run,
    TaskLife,
    Terminated,
    Workflow,
    WorkflowSpec,
    Yielded,
)
from agent.protocol.second_runs import FIRST_COPY
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.protocol.thrown_away import ThrownAway
from agent.protocol.times import HELD, Took, with_took
from tests.protocol.stage import at_work, task
from tests.protocol.stage_machines import NAMES, Course

HOUR_MS = 3_600_000
BACK: dict[str, Any] = dict(carried(EndCause("OwnerBack")))
HOUR_S, NOW_MS = 3600.0, 1_700_000_000_000


def run(phase: Phase, hours: float, at_ms: int = NOW_MS, **more: Any) -> Run:
    began_ms = at_ms - int(hours * HOUR_MS)
    told = with_took(more.pop("more", {}), Took(int(hours * HOUR_MS)))
    claim = Claim(1, (began_ms, 0), "acor")
    return Run(1, 1, "acor", 1, claim, 1, phase=phase, stamp=(at_ms, 0), more=told, **more)


def keeps(*runs: Run, seconds: float = HOUR_S) -> float:
    thrown = ThrownAway(Table(Settings()))
    thrown.on_news(News(ended=[("T", each) for each in runs]))
    return thrown.keeps("acor", seconds)


def test_what_its_owner_threw_away_counts_for_long_tasks() -> None:
    evicted = run(Evicted("x"), 4, more=BACK)
    assert keeps(evicted) == pytest.approx(0.5)
    assert keeps(evicted, seconds=360) == pytest.approx(0.95)
    assert keeps(evicted, seconds=9 * HOUR_S) == pytest.approx(0.5)
    assert keeps(evicted, run(Terminated(), 8)) == pytest.approx(0.75)
    assert keeps() == keeps(run(Terminated(), 8)) == 1.0


def test_it_fades() -> None:
    week_later = run(Terminated(), 0, NOW_MS + 7 * 24 * HOUR_MS)
    assert keeps(run(Evicted("x"), 4, more=BACK), week_later) == pytest.approx(1 - 2 / 6)


def test_what_is_told_late_takes_nothing_back() -> None:
    evicted, earlier = run(Evicted("x"), 4, more=BACK), NOW_MS - 7 * 24 * HOUR_MS
    assert keeps(evicted, run(Terminated(), 4, earlier)) == pytest.approx(1 - 4 / 12)
    assert keeps(evicted, seconds=-5.0) == 1.0


def test_of_who_did_not_measure_its_time_counts_from_its_start_less_what_it_was_held() -> None:
    untold = structs.replace(run(Evicted("x"), 4), more=BACK)
    assert keeps(untold) == pytest.approx(0.5)
    held = {HELD: Raw(msgspec.msgpack.encode(2 * HOUR_MS))}
    assert keeps(structs.replace(untold, more=BACK | held)) == pytest.approx(1 - 2 / 6)
    backwards = structs.replace(untold, stamp=(NOW_MS - 9 * HOUR_MS, 0))
    assert keeps(backwards) == 1.0


@pytest.mark.parametrize(
    "other",
    [
        run(Yielded("x"), 4),
        run(Evicted("x"), 4, more=dict(carried(EndCause("AgentStops")))),
        run(Evicted("x"), 4, more=BACK, checkpoint=Dataset("state", 1)),
        run(Evicted("x"), 4, more=BACK | FIRST_COPY),
        run(Yielded("x"), 4, more=dict(carried(EndCause("SupersededBy")))),
    ],
)
def test_what_is_no_owners_doing_does_not_count(other: Run) -> None:
    assert keeps(other) == 1.0


def test_what_was_held_for_long_and_taken_over_counts_and_records_tell_it_after_a_start() -> None:
    held = run(Yielded("x"), 4, more={HELD: Raw(msgspec.msgpack.encode(300_000))})
    assert keeps(held) == pytest.approx(0.5)
    spec = WorkflowSpec("w", "w", (1, 0), "ant", "ana", (task("T1"),))
    table = Table(Settings())
    life = Life(runs=(run(Evicted("x"), 4, more=BACK),))
    table.join([Workflow(spec, PriorityWish(1, "ant", 50))], [TaskLife("T1", life)])
    assert ThrownAway(table).keeps("acor", HOUR_S) == pytest.approx(0.5)


@pytest.mark.hunting
def test_a_long_task_goes_to_a_machine_whose_owner_threw_nothing_away() -> None:
    stage = at_work(*NAMES, length_s=1.2 * HOUR_S, for_s=HOUR_S, once=True)
    (first,) = stage.starters("T1")
    stage.owner(first, here=True).play(330)
    assert len(stage.starters("T1")) == 2, "it was offered, and taken over"
    stage.owner(first, here=False).play(10)
    learned = [node._core.thrown_away.keeps(first, HOUR_S) for node in stage.living().values()]
    assert learned == [learned[0]] * 3
    assert learned[0] == pytest.approx(0.8, abs=0.01)
    stage.curtain()
    short, long = task("S", expected_ms=1_000), task("L", expected_ms=HOUR_MS)
    stage.courses["L"] = Course(length_s=HOUR_S)
    stage.submit("pato", "second", long).play(1)
    assert first not in stage.starters("L")
    stage.submit("pato", "third", short).play(5)
    assert stage.starters("S") == [first]
