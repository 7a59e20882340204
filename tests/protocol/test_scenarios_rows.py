"""Scenes about short tasks that are claimed in a row: nothing waits long behind what takes long.

They are played without transcripts, for dozens of tasks tell nothing that can be read.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from agent.protocol import effects as fx
from agent.protocol import messages as msg
from agent.protocol.clock import Instant
from agent.protocol.own_run import Stage as RunStage
from agent.protocol.pending_news import KEPT_BACK_S
from agent.protocol.records import TaskState
from agent.protocol.rows import ShortTaskBatches
from agent.protocol.settings import Settings
from tests.certain import certain
from tests.protocol.stage import Stage, task
from tests.protocol.stage_machines import Course

LONG_S = 600.0
FIRST_ENDS_S = 2.02
"""A task of two seconds that was submitted at 0."""
QUICK = Settings(tell_within_s=0.01)


def flock_with_long_task() -> Stage:
    """acor is at something that takes long."""
    stage = Stage("acor", "pato", settings=QUICK).flock()
    stage.courses["long"] = Course(length_s=LONG_S)
    stage.submit("pato", "long", task("long", expected_ms=int(LONG_S * 1_000))).play(1)
    assert stage.starters("long") == ["acor"]
    return stage


def submit_short(stage: Stage, count: int, length_s: float = 0.05, priority: int = 50) -> list[str]:
    names = [f"short {priority} {number}" for number in range(count)]
    for name in names:
        stage.courses[name] = Course(length_s=length_s)
    tasks = [task(name, expected_ms=50) for name in names]
    stage.submit("pato", f"short {priority}", *tasks, priority=priority)
    return names


def ended(stage: Stage, names: list[str]) -> int:
    return sum(stage.state(name) is TaskState.TERMINATED for name in names)


def test_no_short_task_waits_behind_a_long_one() -> None:
    for count in (2, 4, 40):
        stage = flock_with_long_task()
        names = submit_short(stage, count)
        stage.play(2 + count * 0.1)
        assert ended(stage, names) == count
        assert all(stage.starters(name) == ["pato"] for name in names)


def test_a_row_that_stands_still_is_given_back() -> None:
    stage = Stage("acor", "pato", settings=QUICK).flock()
    names = submit_short(stage, 24)
    for name in names[::2]:
        stage.courses[name] = Course(length_s=LONG_S)
    stage.owner("pato", here=True).play(10)
    assert ended(stage, names) < 12, "acor is stuck, and alone"
    stage.owner("pato", here=False).play(30)
    begun = [start.task for start in stage.effects(fx.StartChild)]
    assert len(set(begun)) == len(begun), "what is given back was not begun"
    assert all(len(stage.starters(name)) <= 1 for name in names)
    waiting = [name for name in names if stage.state(name) is TaskState.SCHEDULED]
    assert waiting == [], "whoever comes free first takes the next one"


def test_behind_what_takes_far_longer_than_thought_a_row_waits_for_a_moment_only() -> None:
    stage = Stage("acor", settings=QUICK).flock()
    names = [f"short {number}" for number in range(24)]
    stage.courses = {name: Course(length_s=0.05) for name in names}
    stage.courses[names[5]] = Course(length_s=LONG_S)
    stage.submit("acor", "short", *(task(name, expected_ms=50) for name in names))
    here = stage.living()["acor"].table.owned
    stage.play(1.2)
    assert [*here] == names[5:12]
    stage.play(0.3)
    assert [*here] == [names[5]]


def test_what_is_urgent_is_left_to_a_node_at_work_for_moments_only() -> None:
    stage = flock_with_long_task()
    submit_short(stage, 400)
    stage.play(2)
    urgent = submit_short(stage, 10, priority=90)
    stage.play(8)
    assert ended(stage, urgent) == len(urgent)


def test_plenty_of_short_tasks_are_claimed_once_each() -> None:
    stage = Stage("acor", "pato", "grifo", settings=QUICK).flock()
    names = submit_short(stage, 300, length_s=0.01)
    stage.play(8)
    assert ended(stage, names) == len(names)
    claims = [entry.what for entry in stage.entries if isinstance(entry.what, msg.TryDequeue)]
    assert sum(len(each.claims) for each in claims) == len(names), "nobody reached for another's"


def test_an_end_is_not_kept_back_for_a_claim_that_is_not_answered() -> None:
    stage = Stage("acor", "pato", "grifo").flock()
    stage.submit("pato", "chain", task("first"), task("second", "first")).play(FIRST_ENDS_S - 0.5)
    assert stage.starters("first") == ["acor"]
    stage.curtain()
    stage.hold(("pato", "acor"))
    stage.play(0.5)
    assert any(isinstance(each.what, msg.TryDequeue) for each in stage.entries)
    stage.play(KEPT_BACK_S + 0.05)
    assert certain(stage.living()["grifo"].table.reading("first")).state is TaskState.TERMINATED
    assert stage.starters("second") == []
    stage.deliver(("pato", "acor"))


def test_of_a_row_peers_hear_the_ends_alone() -> None:
    stage = Stage("acor", "pato", "grifo").flock()
    names = submit_short(stage, 48, length_s=0.02)
    stage.play(4)
    assert ended(stage, names) == len(names)
    told = [e.what for e in stage.entries if isinstance(e.what, msg.State)]
    parts = [part for each in told for part in each.lives]
    assert {part.task for part in parts} == set(names)
    begun = {part.task for part in parts if any(run.live for run in part.life.runs)}
    assert len(begun) <= len(names) // 4, "no more than where a row begins or ends"
    assert not stage.sent(msg.Progress)
    assert stage.same_tables()


def test_what_lies_in_a_row_for_long_is_told() -> None:
    stage = Stage("acor", "pato").flock()
    names = submit_short(stage, 8, length_s=3.0)
    stage.play(0.5)
    seen = [stage.living()[each].table.owned for each in ("acor", "pato")]
    assert {task for owned in seen for task in owned} == set(names), "all of them are claimed"
    assert not stage.same_tables()
    stage.play(Settings().row_told_after_s + 0.2)
    assert stage.same_tables(), "who claimed what is known to both"


def test_of_what_fails_in_a_row_peers_hear_in_a_moment() -> None:
    stage = Stage("acor", "pato", settings=QUICK).flock()
    names = [f"broken {number}" for number in range(8)]
    for name in names:
        stage.courses[name] = Course(length_s=0.01, fails_on=("acor", "pato"))
    stage.submit("pato", "broken", *[task(name, expected_ms=50, failures_max=1) for name in names])
    stage.play(1)
    assert {stage.state(name) for name in names} == {TaskState.ABORTED}
    assert stage.same_tables()


class Batches:
    """The row of a node, with what is said to lie in it."""

    def __init__(self, *queued: str) -> None:
        self.core = Stage("acor").flock().living()["acor"]._core
        self.given_back: list[list[str]] = []
        self.mine = {
            name: SimpleNamespace(task=name, stage=RunStage.QUEUED, spec=task(name))
            for name in queued
        }
        runs = SimpleNamespace(mine=self.mine, give_back=self.given_back.append)
        self.batches = ShortTaskBatches(self.core, cast("Any", runs))

    def later(self, seconds: float) -> None:
        self.core.set_now(Instant(self.core.now_s + seconds, 0), "")

    def claimed(self, after_s: float, tasks: int = 9) -> int:
        self.later(after_s)
        self.batches.note_claimed(tasks)
        return self.batches.in_a_row_max


def test_a_row_grows_while_it_is_soon_done_and_shrinks_otherwise() -> None:
    row = Batches()
    assert row.claimed(5.0) == 16
    assert [row.claimed(1.0) for _ in range(3)] == [32, 64, 64]
    assert [row.claimed(1.01) for _ in range(3)] == [32, 16, 16]
    row.batches.in_a_row_max = 1
    assert row.claimed(5.0, tasks=1) == 1
    assert row.claimed(0.5) == 2


def test_a_row_is_given_back_when_its_first_is_not_begun_for_three_seconds() -> None:
    row = Batches("a", "b", "c")
    row.batches.on_tick()
    row.later(2.9)
    row.batches.on_tick()
    row.mine["a"].stage = RunStage.RUNNING
    row.batches.on_tick()
    row.later(2.9)
    row.batches.on_tick()
    assert (row.given_back, row.batches.in_a_row_max) == ([], 16)
    row.later(0.1)
    row.batches.on_tick()
    assert (row.given_back, row.batches.in_a_row_max) == ([["b", "c"]], 1)


def test_what_takes_too_long_gives_a_row_back_while_it_runs_and_one_waits() -> None:
    for stages, given_back in (
        ((RunStage.RUNNING, RunStage.QUEUED), [["b"]]),
        ((RunStage.SUSPENDED, RunStage.QUEUED), [["b"]]),
        ((RunStage.QUEUED, RunStage.QUEUED), []),
        ((RunStage.RUNNING, RunStage.RUNNING), []),
    ):
        row = Batches("a", "b")
        for own, stage in zip(row.mine.values(), stages, strict=True):
            own.stage = stage
        row.batches.overran("a")
        row.batches.overran("gone")
        assert row.given_back == given_back
        assert row.batches.in_a_row_max == (1 if given_back else 16)
