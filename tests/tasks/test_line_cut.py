"""Where a line is cut changes nothing of what is told: the course of a wire, what is near, its ids."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tasks.line.bundle import Bundle
from tasks.line.course import course_of
from tasks.line.curve import Curve
from tasks.line.ground import anchor
from tasks.line.interest import Interest
from tasks.line.joining import Point, joined_line, with_earlier_ids
from tasks.line.obstacles import Obstacle, close_places, told_once
from tasks.line.spans import Spans, Wire, spans_of
from tasks.line.tables import read_tables
from tests.tasks.made_line import KINDS, Floats, made_line
from tests.tasks.test_line_scene import seen

HALO_M = 50.0
STRAIGHT = Curve((0.0, 0.0), (1.0, 0.0), -120.0, 120.0, (0.0, 0.0), (1 / 3_000.0, 0.0, 20.0), 0.1)


def hung(count: int = 1_500) -> Floats:
    dice = np.random.default_rng(4)
    along = dice.uniform(-120.0, 120.0, count)
    wire = np.column_stack([along, np.zeros(count), 20.0 + along**2 / 3_000.0])
    return np.asarray(wire + dice.normal(0.0, 0.04, wire.shape), np.float64)


def test_two_curves_of_one_wire_have_one_course() -> None:
    """The other is turned, lower, bent another way, and begins elsewhere."""
    points = hung()
    turned = np.array([np.cos(0.0005), np.sin(0.0005)])
    other = replace(
        STRAIGHT,
        way=(float(turned[0]), float(turned[1])),
        start_m=-90.0,
        aside=(0.000004, 0.0, -0.03),
        height=(1 / 3_000.0 + 0.000006, 0.0002, 19.96),
    )
    one, two = (course_of(each, points) for each in (STRAIGHT, other))
    along = np.linspace(-60.0, 90.0, 301)
    told = two.places(along)
    assert STRAIGHT.away(other.places(along))[1].max() > 0.05
    assert one.away(told)[1].max() < 0.0005


@pytest.mark.parametrize(
    ("bundle", "off", "far_m"),
    [
        ([(0.0, 0.0)], (2.0, 0.0), 2.0),
        ([(-0.22, 0.0), (0.22, 0.0)], (2.0, 0.0), 1.78),
        ([(-0.22, 0.0), (0.22, 0.0)], (-1.0, 0.5), math.hypot(0.78, 0.5)),
        ([(-0.22, 0.0), (0.22, 0.0)], (0.0, -0.3), math.hypot(0.22, 0.3)),
        ([(0.0, -0.2), (0.0, 0.2)], (0.0, -1.0), 0.8),
    ],
)
@pytest.mark.parametrize("count", [1_500, 120])
def test_what_is_near_a_bundle_is_measured_from_its_nearest_conductor(
    bundle: list[tuple[float, float]], off: tuple[float, float], far_m: float, count: int
) -> None:
    points = hung(count)
    points[:, 1:] += np.array(bundle)[np.arange(count) % len(bundle)]
    course = course_of(STRAIGHT, points)
    stray = np.array([[0.0, 0.25, 20.3]])  # a leaf that was taken for a piece of the wire
    wire = Bundle.of(course, np.concatenate([points, stray]))
    there = course.places(np.zeros(1))[0]
    point = STRAIGHT.places(np.zeros(1))[0] + np.array([0.0, *off])
    assert wire.distance_m(point, there) == pytest.approx(far_m, abs=0.05)


def test_where_too_few_points_tell_the_middle_of_a_wire_counts() -> None:
    few = hung(1_500)[:4]
    wire = Bundle.of(course_of(STRAIGHT, few), few)
    there = STRAIGHT.places(few[:1, 0])[0]
    assert wire.distance_m(there + np.array([0.0, 3.0, 4.0]), there) == pytest.approx(5.0)


def test_a_course_follows_its_points_and_no_tree_beside_them() -> None:
    points = hung()
    aside = points + np.array([0.0, 0.15, -0.1])
    tree = np.random.default_rng(5).uniform((-3.0, 1.0, 17.0), (3.0, 4.0, 22.0), (2_000, 3))
    course = course_of(STRAIGHT, np.concatenate([aside, tree]))
    there = course.places(np.linspace(-80.0, 80.0, 81))
    assert np.abs(there[:, 1] - 0.15).max() < 0.04
    assert course.scatter(np.zeros(1))[0] == pytest.approx(0.055, abs=0.02)


def test_a_wire_of_which_too_little_was_seen_is_where_its_curve_is() -> None:
    course = course_of(STRAIGHT, hung(8))
    along = np.linspace(-50.0, 50.0, 11)
    assert np.array_equal(course.places(along), STRAIGHT.places(along))


def test_grids_of_neighbours_lie_alike() -> None:
    places = np.array([[229_911.0, 569_995.0, -3.0]])
    for size_m in (0.5, 0.7, 1.0, 1.6, 2.0, 5.0):
        moved = (anchor(places + 700.0) - anchor(places)) / size_m
        assert np.abs(moved - moved.round()).max() < 1e-6


def test_what_hangs_together_is_told_once_and_again_far_on() -> None:
    hedge = [
        Obstacle("vegetation", (float(x), 0.0, 0.0), 0, (float(x), 0.0, 3.0), 3.0 + 0.01 * x, 2)
        for x in range(0, 24, 2)
    ]
    told = told_once(hedge[::-1])
    assert [each.place[0] for each in told] == [0.0, 6.0, 12.0, 18.0]
    assert {each.points for each in told} == {24}
    assert told_once([replace(hedge[0], points=2)]) == []


def test_one_tile_and_two_tell_the_same_ids() -> None:
    """The border runs through a tree that touches nothing and comes near to three wires."""
    made = made_line(KINDS["flat"], trees=0, density=12.0)
    dice = np.random.default_rng(2)
    tree = dice.uniform((-9.0, -6.0, 5.0), (9.0, 6.0, 9.0), (3_000, 3)) - np.array([30.0, 0.0, 0.0])
    places = np.concatenate([made.places, tree]).round(3)
    border_m = -30.0
    whole = {each.id for each in _line(places, (-np.inf, np.inf))}
    cut = {each.id for each in _line(places, (-np.inf, border_m), (border_m, np.inf))}
    assert len(whole) >= 5
    assert cut == whole


def test_a_line_twice_as_long_is_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hedge below two wires that go on from tile to tile; counted is what is compared."""
    compared = Counter[Callable[..., Any]]()

    def counted(of: Callable[..., Any]) -> Callable[..., Any]:
        def call(*told: Any) -> Any:
            compared[of] += 1
            return of(*told)

        return call

    monkeypatch.setattr(Curve, "away", counted(Curve.away))
    monkeypatch.setattr(math, "dist", counted(math.dist))
    work = []
    for count in (4, 8):
        compared.clear()
        line = joined_line("made", [_hedged(n) for n in range(count)], 110.0, read_tables([]))
        told, orphans = with_earlier_ids(line.points, line.points[::-1])
        work.append([*compared.values()])
        assert (told, orphans) == (line.points, ())
        assert line.wire_of_curve == (0, 1) * count
        along = sorted(each.place[0] for each in told)
        assert np.diff(along).tolist() == [6.0] * ((400 * count - 1) // 6)
    of_wires, of_places = (two / one for one, two in zip(*work, strict=True))
    assert max(of_wires, of_places) < 2.5


def _hedged(number: int) -> Interest:
    first_m = 400.0 * number
    curve = replace(STRAIGHT, origin=(first_m, 0.0), start_m=-HALO_M, end_m=400.0 + HALO_M)
    curves = (replace(curve, height=(0.0, 0.0, up_m)) for up_m in (20.0, 24.0))
    wires = tuple(Wire(each, 900, 1.0, None, None) for each in curves)
    leaves = tuple(
        Obstacle("vegetation", (x, 0.0, 17.0), 0, (x, 0.0, 20.0), 3.0, 3)
        for x in (first_m + np.arange(0.0, 400.0, 2.0)).tolist()
    )
    return Interest(number, leaves, Spans(wires, (), 12.0, too_sparse=False, counts={}))


def _line(places: Floats, *tiles: tuple[float, float]) -> tuple[Point, ...]:
    return joined_line(
        "made", [_tile(n, places, *each) for n, each in enumerate(tiles)], 110.0, read_tables([])
    ).points


def _tile(number: int, places: Floats, first_m: float, last_m: float) -> Interest:
    inside = (places[:, 0] >= first_m - HALO_M) & (places[:, 0] <= last_m + HALO_M)
    here = places[inside]
    scene = seen(here)
    spans = spans_of(scene)
    near = close_places(scene.wires.curves, scene.towers, here, scene.classes, 5.0)
    kept = tuple(each for each in near if first_m <= each.place[0] < last_m)
    towers = tuple(each for each in spans.towers if first_m <= each.x < last_m)
    return Interest(number, kept, replace(spans, towers=towers))
