"""What two machines finished differently is noticed, by the one that has seen both results."""

from __future__ import annotations

from msgspec.structs import replace

from agent.protocol.doubts import differing
from agent.protocol.records import Claim, Dataset, Life, Run, TaskState, Terminated
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
