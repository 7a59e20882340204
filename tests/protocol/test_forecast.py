"""Orders played through: when all workflows end, on places that are equal or not, and what is chosen by that."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from msgspec.structs import replace

from agent.protocol.policy.default import LookAhead
from agent.protocol.policy.forecast import (
    Outlook,
    UnequalPlaces,
    Work,
    forecast,
    forecast_listed,
    forecast_unequal,
    lay_out,
)
from agent.protocol.policy.view import Places, Stage, TaskView, WorkflowView
from tests.protocol.test_policy import chain, flock, task, workflow

FAST, SLOW = Places("fast", 1), Places("slow", 1, 4.0)
Play = Callable[..., Outlook | None]


def work(*workflows: tuple[TaskView, ...]) -> Work:
    return lay_out([workflow(*tasks, number=number) for number, tasks in enumerate(workflows)])


def running(name: str, left_s: float, host: str = "") -> TaskView:
    return replace(task(name, left_s, stage=Stage.RUNNING), host=host)


def equal(slots: int) -> list[Play]:
    """The three ways to play an order through on places that are equal."""
    places = UnequalPlaces([Places("n0", slots)])
    return [
        partial(forecast, slots=slots),
        partial(forecast_unequal, places=places),
        partial(forecast_listed, places=places),
    ]


CHAIN_AND_ONE = work((task("a", 10), task("b", 10, "a")), (task("c", 30),))


@pytest.mark.parametrize(
    ("slots", "order", "outlook"),
    [
        (1, [0, 1, 2], Outlook(70.0, 50.0, 2)),
        (1, [2, 0, 1], Outlook(80.0, 50.0, 2)),
        (2, [0, 1, 2], Outlook(50.0, 30.0, 2)),
        (9, [2, 1, 0], Outlook(50.0, 30.0, 2)),
    ],
)
def test_ends_are_added_up_and_the_last_is_told(
    slots: int, order: list[int], outlook: Outlook
) -> None:
    unlisted = (
        slice(2) if order == [2, 1, 0] else slice(3)
    )  # a list takes needs as they stand in it
    for play in equal(slots)[unlisted]:
        assert play(CHAIN_AND_ONE, order) == outlook
        assert play(CHAIN_AND_ONE, order) == outlook, "what is played through stays as it is"


@pytest.mark.parametrize(
    ("ending", "give_up_s", "gives_up"),
    [(0, 1e9, False), (2, 80.0, False), (2, 79.9, True), (1, 30.0, False), (1, 29.9, True)],
)
def test_an_order_is_given_up_once_it_must_be_worse(
    ending: int, give_up_s: float, gives_up: bool
) -> None:
    for play in equal(1):
        outlook = play(CHAIN_AND_ONE, [2, 0, 1], ending=ending, give_up_s=give_up_s)
        assert outlook == (None if gives_up else Outlook(80.0, 50.0, 2))


def test_what_runs_has_its_place_until_it_ends_and_what_waits_for_nothing_known_never_ends() -> (
    None
):
    known = work(
        (running("r", 5, "n0"), task("s", 10, "r")),
        (task("t", 20),),
        (task("w", 10, stage=Stage.WAITING),),
    )
    for play in equal(1):
        assert play(known, [0, 1, 2, 3]) == Outlook(15.0 + 35.0, 35.0, 2)
    for play in equal(2):
        assert play(known, [0, 1, 2, 3]) == Outlook(15.0 + 20.0, 20.0, 2)
    full = work((running("r", 5, "n0"),), (running("q", 9, "n0"),), (task("t", 20),))
    assert [play(full, [0, 1, 2]) for play in equal(1)[:2]] == [
        Outlook(5.0 + 9.0 + 29.0, 29.0, 3),
        Outlook(5.0 + 9.0 + 25.0, 25.0, 3),
    ], "of more than there are places those count that came first"


def test_places_are_alike_within_a_quarter_octave_the_fastest_first_and_none_beyond_belief() -> (
    None
):
    told = {"a": 4.0, "b": 1.0, "c": 1.05, "d": 1.2, "e": 1e9, "f": 1e-9}
    places = UnequalPlaces(Places(node, 2, slowness) for node, slowness in told.items())
    assert places.slowness == pytest.approx([1 / 64, 1.0, 2**0.25, 4.0, 64.0])
    assert places.slots == [2, 4, 2, 2, 2]
    assert places.kind_of == {"f": 0, "b": 1, "c": 1, "d": 2, "a": 3, "e": 4}


@pytest.mark.parametrize(
    ("lengths_s", "outlook"),
    [
        ((10, 10, 10), Outlook(60.0, 30.0, 3)),
        ((10, 10, 10, 10, 10), Outlook(140.0, 40.0, 5)),
        ((10, 40, 5), Outlook(10.0 + 50.0 + 20.0, 50.0, 3)),
    ],
)
def test_a_task_waits_for_a_fast_place_only_where_it_ends_sooner_there(
    lengths_s: tuple[float, ...], outlook: Outlook
) -> None:
    each = work(*((task(f"t{n}", length_s),) for n, length_s in enumerate(lengths_s)))
    order, places = list(range(len(lengths_s))), UnequalPlaces([SLOW, FAST])
    for play in (forecast_unequal, forecast_listed):
        assert play(each, order, places) == outlook
        assert play(each, order, places, len(order), outlook.ends_sum_s) == outlook
        assert play(each, order, places, len(order), outlook.ends_sum_s - 0.1) is None


def test_what_runs_keeps_its_own_place_and_on_machines_that_are_not_counted_none() -> None:
    places = UnequalPlaces([Places("fast", 2), Places("slow", 1, 4.0)])
    each = work(
        (running("r", 5, "fast"),), (running("q", 3, "slow"),), (running("away", 7, "away"),)
    )
    assert places.free_s(each) == [[0.0, 5.0], [3.0]]
    more = work(*((running(f"r{n}", n, "slow"),) for n in (4, 2)))
    assert places.free_s(more) == [[0.0, 0.0], [4.0]]


def test_in_a_list_a_place_that_is_free_earlier_is_left_for_what_can_begin_earlier() -> None:
    places = UnequalPlaces([Places("fast", 2)])
    each = work(
        (running("r", 5, "fast"),),
        (running("away", 7, "away"), task("late", 10, "away")),
        (task("soon", 6),),
    )
    assert forecast_listed(each, [0, 1, 2, 3], places) == Outlook(5.0 + 17.0 + 6.0, 17.0, 3)


def fan_and_chain() -> tuple[WorkflowView, WorkflowView]:
    """Both end soonest where the chain goes first, though it came second."""
    branches = [task(f"b{i}", 10.0 * i) for i in range(1, 6)]
    tails = [task(f"t{i}", 100.0 - 20 * i, f"b{i}") for i in range(1, 6)]
    return workflow(*branches, *tails, task("end", 5, *(each.task for each in tails))), chain(1, 4)


@pytest.mark.parametrize(("tasks", "first"), [(400, "1.0"), (401, "b1")])
def test_four_hundred_tasks_are_looked_ahead(tasks: int, first: str) -> None:
    fan, other = fan_and_chain()
    left = tasks - len(fan.tasks) - len(other.tasks)
    waiting = workflow(*(task(f"u{n}", 10, "nobody knows") for n in range(left)), number=9)
    assert LookAhead().order(flock(2, fan, other, waiting))[0] == first


@pytest.mark.parametrize(("slots", "first"), [(8, "1.0"), (9, "b1")])
def test_there_is_a_choice_where_more_is_ready_than_places_are_free(slots: int, first: str) -> None:
    busy = [task(f"r{n}", 1e4, stage=Stage.RUNNING) for n in range(3)]
    order = LookAhead().order(flock(slots, *fan_and_chain(), workflow(*busy, number=9)))
    assert order[0] == first


@pytest.mark.parametrize(("length_s", "first"), [(60.0, "1.0"), (98.0, "1.0"), (99.0, "0.0")])
def test_the_rank_is_left_for_half_a_percent_of_the_average(length_s: float, first: str) -> None:
    views = chain(0, 1, length_s=100.0), chain(1, 1, length_s=length_s)
    assert LookAhead().order(flock(1, *views))[0] == first
