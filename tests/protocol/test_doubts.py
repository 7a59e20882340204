"""What two machines finished differently is noticed, by the one that has seen both results."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from msgspec.structs import replace

from agent.protocol.doubts import Doubts, differing
from agent.protocol.news import News
from agent.protocol.records import Claim, Dataset, Life, Run, TaskLife, TaskState, Terminated
from agent.protocol.sharing_reasons import ResultsDiffer
from tests.protocol.stage import Stage, task
from tests.protocol.stage_machines import Course


def run(host: str, given: str, **more: object) -> Run:
    ended = Terminated((Dataset(given, 10),)) if given else Terminated()
    made = Run(0, 1, host, 1, Claim(0, (1, 0), host), 0, ("in",), phase=ended)
    return replace(made, **more)


def named(*runs: Run, floor: int = 0) -> list[tuple[str, str]]:
    found = differing(Life(runs=runs, floor=floor))
    return [(one.host, other.host) for one, other in found]


def test_only_what_began_alike_and_ended_otherwise_is_doubtful() -> None:
    ant = run("ant", "a" * 8)
    assert named(ant, run("bee", "b" * 8)) == [("ant", "bee")]
    assert named(ant, run("bee", "a" * 8)) == []
    assert named(ant, run("bee", "b" * 8, inputs=("other",))) == []
    assert named(ant, run("bee", "b" * 8, generation=1)) == []
    assert named(ant, run("ant", "b" * 8, attempt=2)) == []
    assert named(ant, run("bee", "b" * 8), floor=1) == []
    assert named(ant) == []


def test_both_sides_of_a_partition_are_named_in_the_story_and_by_all() -> None:
    stage = Stage("acor", "pato").flock()
    stage.courses["T1"] = Course(8.0, file=True)
    stage.submit("acor", "bread", task("T1", expected_ms=8_000)).play(1)
    (first,) = stage.starters("T1")
    other = "pato" if first == "acor" else "acor"
    stage.hold((first, other), (other, first))
    stage.play(25)
    assert len(stage.starters("T1")) == 2, "each side has run it"
    stage.deliver((first, other), (other, first))
    stage.link("acor", "pato").play(10)
    assert stage.state("T1") is TaskState.TERMINATED
    for node in stage.living().values():
        told = [each.what for each in node.story("T1") if isinstance(each.what, ResultsDiffer)]
        assert {*told} == {node.doubtful["T1"]}
        assert {told[0].host, told[0].other} == {"acor", "pato"}


class Remembered:
    """What one node is told of tasks T0, T1, ... that ant and others have finished."""

    def __init__(self, count: int) -> None:
        names = [f"T{number}" for number in range(count)]
        self.lives = dict.fromkeys(names, AGREED)
        self.noted: list[tuple[str, ResultsDiffer]] = []
        table = SimpleNamespace(specs=dict.fromkeys(names), life=self.lives.__getitem__)
        self.specs = table.specs
        self.core = cast("Any", SimpleNamespace(table=table, note=self._note))
        self.doubts = Doubts(self.core)

    def _note(self, name: str, fact: ResultsDiffer) -> None:
        self.noted.append((name, fact))

    def hears(self, name: str, life: Life) -> None:
        self.lives[name] = life
        self.doubts.on_news(News(lives=[TaskLife(name, life)]))


AGREED = Life(runs=(run("ant", "a" * 8), run("bee", "a" * 8)))
DIFFERS = Life(runs=(run("ant", "a" * 8), run("bee", "b" * 8)))
WITH_CAT = Life(runs=(run("ant", "a" * 8), run("cat", "b" * 8)))
BY_TWO, BY_CAT = ResultsDiffer("ant", "bee"), ResultsDiffer("ant", "cat")


def test_a_story_tells_once_who_differs_and_again_when_somebody_else_does() -> None:
    here = Remembered(2)
    here.hears("T0", AGREED)
    assert (here.noted, dict(here.doubts.found)) == ([], {})
    for life in (DIFFERS, DIFFERS, WITH_CAT):
        here.hears("T0", life)
    assert here.noted == [("T0", BY_TWO), ("T0", BY_CAT)]
    here.hears("T0", AGREED)
    assert (len(here.noted), dict(here.doubts.found)) == (2, {})


def test_what_the_disk_remembers_is_looked_through_and_not_told_again() -> None:
    here = Remembered(2)
    here.lives["T1"] = DIFFERS
    doubts = Doubts(here.core)
    assert dict(doubts.found) == {"T1": BY_TWO}
    doubts.on_news(News(lives=[TaskLife("T1", DIFFERS)]))
    assert here.noted == []


def test_what_was_removed_is_forgotten() -> None:
    here = Remembered(1)
    here.hears("T0", DIFFERS)
    del here.specs["T0"], here.lives["T0"]
    here.doubts.on_news(News(lives=[TaskLife("T0", DIFFERS)], forgotten_tasks=["T0"]))
    assert dict(here.doubts.found) == {}


def test_the_latest_thousand_are_kept() -> None:
    here = Remembered(1_002)
    for number in range(1_002):
        here.hears(f"T{number}", DIFFERS)
    assert [*here.doubts.found] == [f"T{number}" for number in range(2, 1_002)]
