"""What stands where is told from points alone: whichever way a line runs, and nothing where none hangs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from agent.workflow.program_folder import read_program
from tasks.inspection.conversation import Work, WorkError
from tasks.line import cloud, segmenting, wire_seeds
from tasks.line.cloud import Points
from tasks.line.parameters import CROWD_M
from tasks.line.scene import BUILDING, GROUND, HIGH, TOWER, WATER, WIRE, Scene, scene_of
from tasks.line.shapes import Echoes
from tasks.line.spans import Spans, spans_of
from tasks.line.wire_seeds import thinned
from tests.style.source import REPOSITORY
from tests.tasks.made_line import KINDS, Floats, Made, made_line
from tests.tasks.made_objects import OBJECTS, made_objects

Classes = NDArray[np.uint8]

FAR = np.array([600_000.0, 5_000_000.0, 0.0])
THREADS = """
import json, runpy, sys
from threadpoolctl import threadpool_info
sys.argv[1:] = [sys.argv[1], "plan", "--help"]
try:
    runpy.run_path(sys.argv.pop(1), run_name="__main__")
except SystemExit:
    print(json.dumps([each["num_threads"] for each in threadpool_info()]))
"""
TURNS = {"towers": 203.0, "flat": 61.0, "one": 305.0}


def rolling(x: Floats, y: Floats) -> Floats:
    """Hills of 200 m, 6 m high."""
    return np.asarray(100.0 + 6.0 * np.sin(x / 90.0) * np.cos(y / 70.0), np.float64)


def seen(places: Floats) -> Scene:
    """The scene of points of which nobody told how often a pulse came back."""
    nothing = np.zeros(len(places), np.uint8)
    return scene_of(places, Echoes(nothing, nothing))


def f1(found: NDArray[np.bool_], true: NDArray[np.bool_]) -> float:
    return 2.0 * int((found & true).sum()) / max(1, int(found.sum() + true.sum()))


@pytest.mark.parametrize("kind", TURNS)
def test_a_line_is_found_whichever_way_it_runs(kind: str) -> None:
    made = made_line(KINDS[kind], turned_deg=TURNS[kind], ground=rolling, seed=3)
    scene = seen(made.places + FAR)
    assert f1(scene.classes == WIRE, made.truth == WIRE) >= 0.97
    assert f1(scene.classes == GROUND, made.truth == GROUND) >= 0.97
    assert f1(scene.classes == TOWER, made.truth == TOWER) >= 0.9
    assert len(scene.towers) == len(made.towers)
    assert not scene.too_sparse


def test_the_wires_of_a_street_are_found_though_they_hang_side_by_side() -> None:
    made = made_line(
        KINDS["street"], turned_deg=83.0, ground=rolling, density=8.0, seed=1, length_m=240.0
    )
    assert f1(seen(made.places).classes == WIRE, made.truth == WIRE) >= 0.9


def test_where_the_scan_ends_below_trees_no_tower_stands() -> None:
    made = made_line(KINDS["flat"], trees=0, density=14.0)
    near = made.places[:, 0] < made.towers[0, 0] - 20.0
    edge = float(made.places[near, 0].max())
    wire = made.places[near & (made.truth == WIRE)]
    tops = wire[(wire[:, 0] > edge - 4.0)]
    dice = np.random.default_rng(3)
    trees = [
        np.column_stack(
            [*(x[:2, None] + dice.normal(0.0, 0.7, (2, 250))), dice.uniform(0.0, x[2] + 2.0, 250)]
        )
        for x in tops[:: max(1, len(tops) // 6)]
    ]
    places = np.concatenate([made.places[near], *trees])
    assert not seen(places[places[:, 0] <= edge]).towers


@pytest.mark.parametrize("kind", OBJECTS)
def test_what_is_long_and_straight_is_no_wire(kind: str) -> None:
    scene = seen(made_objects(kind, rolling, density=6.0, seed=3))
    assert not (scene.classes == WIRE).any()
    assert not scene.towers


def test_a_curve_lies_where_the_wire_was_hung() -> None:
    made = made_line(KINDS["flat"], turned_deg=61.0, trees=0)
    curves = seen(made.places).wires.curves
    off = []
    for start, end, tension in made.wires:
        way = np.linspace(0.1, 0.9, 30)[:, None]
        half = np.hypot(*(end - start)[:2]) / 2
        chain = np.cosh(half * (2 * way[:, 0] - 1) / tension) - np.cosh(half / tension)
        hung = start + way * (end - start) + np.column_stack([np.zeros((30, 2)), tension * chain])
        hung = hung[np.hypot(hung[:, 0], hung[:, 1]) < 190.0]
        along = [each.places(np.arange(each.start_m, each.end_m, 0.5)) for each in curves]
        off.append(np.min([cKDTree(each).query(hung)[0] for each in along], axis=0).max())
    assert max(off) < 0.25


def wood(seed: int, density: float = 12.0) -> Floats:
    """Hills with nothing but trees."""
    none = made_line(KINDS["one"], ground=rolling, trees=260, seed=seed, density=density)
    kept: Floats = none.places[(none.truth == GROUND) | (none.truth == HIGH)]
    return kept


@pytest.mark.parametrize("density", [12.0, 3.0])
def test_a_wood_and_houses_hold_no_wire(density: float) -> None:
    scene = seen(wood(5, density))
    assert not scene.wires.curves
    assert not scene.towers
    village = made_line(KINDS["street"], seed=2, density=density)
    scene = seen(village.places[(village.truth != WIRE) & (village.truth != TOWER)])
    assert not scene.wires.curves
    assert not (scene.classes == WIRE).any()


def test_leaves_that_touch_a_wire_are_contact_and_not_wire() -> None:
    made = made_line(KINDS["flat"], trees=0, density=14.0)
    hung = made.places[made.truth == WIRE]
    middle = hung[np.argmin(np.abs(hung[:, 0] - 40.0) + np.abs(hung[:, 1] - 7.0))]
    dice = np.random.default_rng(4)
    leaves = middle + dice.normal(0.0, 1.0, (1_500, 3)) * (1.5, 1.5, 1.2)
    scene = seen(np.concatenate([made.places, leaves]))
    taken = scene.classes[len(made.places) :] == WIRE
    assert taken.mean() < 0.05
    assert f1(scene.classes[: len(made.places)] == WIRE, made.truth == WIRE) > 0.97


def test_too_few_points_are_said_to_be_too_few() -> None:
    made = made_line(KINDS["one"], density=0.6, seed=1)
    assert seen(made.places).too_sparse
    assert not seen(made_line(KINDS["one"], density=8.0, seed=1).places).too_sparse


def test_water_is_level_and_lower_than_its_banks() -> None:
    dice = np.random.default_rng(8)
    places = np.column_stack(
        [dice.uniform(0, 120, 40_000), dice.uniform(0, 60, 40_000), np.zeros(40_000)]
    )
    places[:, 2] = 2.0 + 0.02 * places[:, 0] + dice.normal(0, 0.03, 40_000)
    lake = np.hypot(places[:, 0] - 60, places[:, 1] - 30) < 20
    places[lake, 2] = 1.0 + dice.normal(0, 0.01, lake.sum())
    classes = seen(places).classes
    assert f1(classes == WATER, lake) > 0.9
    assert f1(classes == GROUND, ~lake) > 0.95


def test_roofs_are_buildings_and_crowns_are_not() -> None:
    made = made_line(KINDS["street"], turned_deg=33.0, density=15.0)
    classes = seen(made.places).classes
    assert f1(classes == BUILDING, made.truth == BUILDING) > 0.9


def test_neighbours_are_counted_alike_slab_by_slab_and_all_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = np.random.default_rng(2).uniform(0, (40.0, 12.0, 6.0), (6_000, 3))
    monkeypatch.setattr(wire_seeds, "PAIRED_AT_ONCE", 700)
    slabs = thinned(places)
    each = slabs.tree.query_ball_point(slabs.places, CROWD_M, return_length=True)
    assert slabs.crowd.tolist() == each.tolist()
    assert len(slabs.places) > 3 * 700


def test_a_program_leaves_the_other_cores_alone() -> None:
    """A task has one: more threads would take from tasks beside it. Whoever asks for more gets it."""
    others = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name}
    for told, threads in ({}, 1), ({"OMP_NUM_THREADS": "2"}, min(2, os.cpu_count() or 1)):
        done = subprocess.run(
            [sys.executable, "-c", THREADS, str(REPOSITORY / "tasks" / "line" / "__main__.py")],
            env={**others, **told},
            capture_output=True,
            check=True,
            text=True,
        )
        assert set(json.loads(done.stdout.splitlines()[-1])) == {threads}


def test_nothing_and_next_to_nothing_are_a_scene_too() -> None:
    for count in (0, 1, 49):
        scene = seen(np.random.default_rng(0).uniform(0, 9, (count, 3)))
        assert scene.classes.tolist() == [1] * count
        assert scene.too_sparse
    same = seen(np.full((60, 3), 7.0))
    assert not same.wires.curves


def test_spans_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = made_line(KINDS["towers"], seed=3)
    spans = spans_of(seen(made.places))
    spans.write(tmp_path / "spans.json")
    assert Spans.read(tmp_path / "spans.json") == spans
    ends = [end for wire in spans.wires for end in (wire.from_tower, wire.to_tower)]
    assert len(spans.wires) == 16
    assert ends.count(0) >= 14
    (tmp_path / "spans.json").write_text('{"version": 1}')
    with pytest.raises(WorkError, match="segment the tile anew"):
        Spans.read(tmp_path / "spans.json")


def test_the_program_keeps_points_and_gives_them_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = made_line(KINDS["flat"], density=6.0)
    times = np.arange(len(made.places), dtype=float)
    points = Points.of(*(np.round(made.places, 3).T), gps_time=times)
    cloud.write(tmp_path / "points.laz", [points])
    outputs = segmenting.do(Work(inputs=[tmp_path / "points.laz"]))
    assert tuple(outputs) == read_program(REPOSITORY / "tasks/line_segment").outputs
    told = cloud.read(tmp_path / "segmented.laz")
    assert (told.gps_time == times).all()
    assert np.allclose(told.x, points.x, atol=0.0006)
    assert f1(told.classification == WIRE, made.truth == WIRE) > 0.95
    assert Spans.read(tmp_path / "spans.json").counts[WIRE] == (told.classification == WIRE).sum()
    (tmp_path / "points.laz").write_bytes(b"no scan")
    with pytest.raises(WorkError, match=r"points\.laz"):
        segmenting.do(Work(inputs=[tmp_path / "points.laz"]))


def test_the_same_points_are_the_same_scene() -> None:
    made: Made = made_line(KINDS["one"], seed=6)
    one, other = seen(made.places), seen(made.places)
    assert (one.classes == other.classes).all()
    assert one.wires.curves == other.wires.curves
