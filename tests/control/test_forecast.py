"""When tasks begin and end that are laid out over places: by hand, where each number can be seen."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agent.api.work import Basis
from agent.control.forecast import NEVER, NOW, Layout, Length, Step, in_order, joint, later
from agent.protocol.needs import Seat, with_needs
from agent.protocol.records import EXPECTED_MS, TaskSpec
from tests.protocol.stage import task

RAN, TOLD, BY_ITSELF = (
    Basis(runs=4, low_ms=800, high_ms=1_500),
    Basis(told=True),
    Basis(progress=True),
)


def laid(
    steps: list[Step], free: dict[str, list[float]], slow: dict[str, float] | None = None
) -> dict[str, tuple[float, float]]:
    """In how many seconds each begins and ends. A task called ``x@a`` fits machine a alone."""

    def fitting(spec: TaskSpec) -> SimpleNamespace:
        wanted = spec.task.partition("@")[2]
        machines = [SimpleNamespace(node=each) for each in free if wanted in ("", each)]
        return SimpleNamespace(machines=machines)

    slower = slow or {}
    lengths = SimpleNamespace(
        speeds_differ=lambda: bool(slower),
        kind=lambda _: SimpleNamespace(content="mill"),
        host_factor=lambda _, node: slower.get(node, 1.0),
    )
    places = {node: [Length(each) for each in slots] for node, slots in free.items()}
    layout = Layout(places, cast("Any", SimpleNamespace(of=fitting)), cast("Any", lengths))
    found = {name: (begins.s, ends.s) for name, (begins, ends) in layout.lay(steps).items()}
    assert [[each.s for each in slots] for slots in places.values()] == [*free.values()]
    return found


def step(name: str, *needs: str, s: float = 10.0, in_hand: bool = False, **more: Any) -> Step:
    return Step(task(name, *needs, **more), Length(s), in_hand)


def test_each_begins_where_it_ends_first_and_after_what_it_needs() -> None:
    steps = [step("a"), step("b"), step("c", s=5.0), step("d", "a", "c", s=1.0)]
    assert laid(steps, {"ant": [0.0], "bee": [3.0]}) == {
        "a": (0.0, 10.0),
        "b": (3.0, 13.0),
        "c": (10.0, 15.0),
        "d": (15.0, 16.0),
    }


@pytest.mark.parametrize(("slower", "where"), [(1.5, (0.0, 15.0)), (3.0, (15.0, 25.0))])
def test_a_fast_machine_is_waited_for_only_where_it_ends_sooner(
    slower: float, where: tuple[float, float]
) -> None:
    free = {"slow": [0.0], "fast": [15.0]}
    assert laid([step("a")], free, {"slow": slower})["a"] == where


def test_of_places_on_which_it_ends_together_the_one_that_is_free_first_is_taken() -> None:
    steps = [step("need", s=9.0, in_hand=True), step("a", "need"), step("b@early")]
    found = laid(steps, {"late": [9.0], "early": [4.0]})
    assert found["need"] == (0.0, 9.0)
    assert found["a"] == (9.0, 19.0)
    assert found["b@early"] == (19.0, 29.0)


def test_people_take_no_time_and_what_nobody_can_run_never_begins() -> None:
    steps = [step("a"), step("gate", "a", gate=True), step("b", "gate"), step("no@where")]
    steps += [step("after", "no@where"), step("x", "y"), step("y", "x")]
    assert laid(steps, {"ant": [0.0]}) == {
        "a": (0.0, 10.0),
        "gate": (10.0, 10.0),
        "b": (10.0, 20.0),
        "no@where": (inf, inf),
        "after": (inf, inf),
    }


@pytest.mark.parametrize(("seats", "begin"), [(1, [0.0, 10.0, 20.0]), (2, [0.0, 0.0, 10.0])])
def test_no_more_begin_together_than_have_a_seat_of_the_flock(
    seats: int, begin: list[float]
) -> None:
    more = with_needs((), (Seat("licence", seats),))
    spec = TaskSpec("a", "a", "mill", more=more)
    steps = [Step(replace(spec, task=each), Length(10.0)) for each in "abc"]
    found = laid([*steps, step("free")], {"ant": [0.0] * 4})
    assert [found[each][0] for each in "abc"] == begin
    assert found["free"] == (0.0, 10.0)


def test_the_longest_path_goes_first_and_unknown_lengths_count_as_usual() -> None:
    steps = [step("short", s=1.0), step("long", s=6.0), step("head", s=2.0), step("tail", "head")]
    assert [each.spec.task for each in in_order(steps)] == ["head", "tail", "long", "short"]
    both = [step("d", "b", "c"), step("b", "a"), step("c", "a", s=19.0), step("a", "elsewhere")]
    assert [each.spec.task for each in in_order(both)] == ["a", "c", "b", "d"]
    assert Step(task("a"), NEVER).usual_ms == EXPECTED_MS
    assert Step(task("a"), Length(0.5)).usual_ms == 500


def test_a_length_that_nobody_knows_is_told_as_none() -> None:
    known = Length(1.2345, RAN)
    assert (known.known, known.ms, known.told) == (True, 1_234, RAN)
    assert (NEVER.known, NEVER.ms, NEVER.told) == (False, 0, None)
    assert known.times(2.0) == Length(2.469, Basis(runs=4, low_ms=1_600, high_ms=3_000))
    assert (known.times(1.0), NEVER.times(2.0)) == (known, NEVER)
    assert known.shared(2) == Length(1.2345 / 2, RAN)


def test_what_is_made_of_two_lengths_stands_on_the_weaker_of_both() -> None:
    assert joint(RAN, NOW.basis) == joint(NOW.basis, RAN) == RAN
    assert joint(RAN, TOLD) == Basis(told=True, runs=4)
    assert joint(RAN, Basis(runs=2)) == joint(Basis(runs=2), RAN) == Basis(runs=2)
    assert joint(BY_ITSELF, TOLD) == Basis(told=True, progress=True)
    assert Length(1.0, RAN).plus(Length(2.0, TOLD)) == Length(3.0, Basis(told=True, runs=4))
    assert later([Length(2.0, TOLD), Length(1.0, RAN)]) == Length(2.0, Basis(told=True, runs=4))
    assert later([]) == NOW
