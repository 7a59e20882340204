"""What comes near to a wire is told once, with its distance, and keeps its id."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tasks.inspection.conversation import Work, WorkError
from tasks.line import aggregating, cloud, detecting, segmenting
from tasks.line.cloud import Points
from tasks.line.curve import Curve
from tasks.line.interest import Interest
from tasks.line.joining import id_of, read_points, wires_joined
from tasks.line.obstacles import close_places, told_once
from tasks.line.scene import HIGH, WIRE
from tasks.line.tables import read_tables
from tests.tasks.made_line import KINDS, Floats, made_line
from tests.tasks.test_line_scene import seen

NEAR_M = 2.5


def with_tree() -> tuple[Floats, Floats]:
    """A flat line and the top of a tree below its middle wire, and the nearest of its leaves."""
    made = made_line(KINDS["flat"], trees=0, density=12.0)
    hung = made.places[(made.truth == WIRE) & (np.abs(made.places[:, 1]) < 1.0)]
    wire = hung[np.argmin(np.abs(hung[:, 0] + 20.0))]
    dice = np.random.default_rng(2)
    tree = wire + dice.uniform(-2, 2, (900, 3)) - (0.0, 0.0, NEAR_M + 2.0)
    return np.concatenate([made.places, tree]), wire - (0.0, 0.0, NEAR_M)


def test_a_tree_below_a_wire_is_told_with_its_distance() -> None:
    places, nearest = with_tree()
    scene = seen(places)
    found = told_once(close_places(scene.wires.curves, scene.towers, places, scene.classes, 5.0))
    assert [each.kind for each in found][:1] == ["vegetation"]
    assert found[0].distance_m == pytest.approx(NEAR_M, abs=0.25)
    assert all(np.linalg.norm(np.subtract(each.place, nearest)) < 6.0 for each in found)


def test_a_distance_is_that_from_the_edge_of_a_bundle() -> None:
    dice = np.random.default_rng(6)
    along = dice.uniform(-100.0, 100.0, 4_000)
    aside = dice.choice([-0.2, 0.2], 4_000)
    wire = np.column_stack([along, aside, 20.0 + along**2 / 3_000.0]) + dice.normal(
        0.0, 0.03, (4_000, 3)
    )
    curve = Curve((0.0, 0.0), (1.0, 0.0), -100.0, 100.0, (0.0, 0.0), (1 / 3_000.0, 0.0, 20.0), 0.2)
    beside = dice.uniform((-1.0, 2.2, 19.0), (1.0, 4.0, 21.0), (200, 3))
    beside[0] = 0.0, 2.2, 20.0
    below = dice.uniform((49.0, -1.0, 14.0), (51.0, 1.0, 18.83), (200, 3))
    below[0] = 50.0, 0.2, 18.83
    places = np.concatenate([wire, beside, below])
    classes = np.repeat(np.array([WIRE, HIGH, HIGH], np.uint8), [4_000, 200, 200])
    found = told_once(close_places([curve], [], places, classes, 5.0))
    assert [each.distance_m for each in found[:2]] == pytest.approx([2.0, 2.0], abs=0.06)


def test_a_line_with_nothing_near_has_nothing_near() -> None:
    made = made_line(KINDS["towers"], seed=3)
    scene = seen(made.places)
    assert (
        told_once(close_places(scene.wires.curves, scene.towers, made.places, scene.classes, 5.0))
        == []
    )


@pytest.fixture(scope="module")
def interest(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the programs detect there."""
    folder = tmp_path_factory.mktemp("detected")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        places, _ = with_tree()
        cloud.write(folder / "points.laz", [Points.of(*places.T)])
        segmenting.do(Work(inputs=[folder / "points.laz"]))
        detecting.do(Work(inputs=[folder / "segmented.laz", folder / "spans.json"]))
    return (folder / "interest.json").read_bytes()


@pytest.fixture
def detected(interest: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "interest.json"
    path.write_bytes(interest)
    return path


def test_a_line_keeps_its_ids_and_its_orphans(tmp_path: Path, detected: Path) -> None:
    work = Work(inputs=[detected], parameters={"line": "made", "voltage_kv": "110"})
    assert aggregating.do(work) == ("line.json", "points_of_interest.csv")
    first = read_points(tmp_path / "line.json")
    assert {each.kind for each in first} == {"vegetation", "tower"}
    tree = next(each for each in first if each.kind == "vegetation")
    assert (tree.relevance, tree.maintenance) == (2, "this season")
    assert tree.span == "T1-T2"
    told = Interest.read(detected)
    near = replace(told.obstacles[0], place=(*np.add(told.obstacles[0].place, (1.5, 1.0, 0.5)),))
    assert id_of("made", near.kind, near.place) != tree.id
    replace(told, obstacles=(near,)).write(detected)
    (tmp_path / "earlier").mkdir()
    (tmp_path / "line.json").rename(tmp_path / "earlier" / "line.json")
    work.raw = [tmp_path / "earlier" / "line.json"]
    aggregating.do(work)
    assert tree.id in {each.id for each in read_points(tmp_path / "line.json")}
    replace(told, obstacles=()).write(detected)
    aggregating.do(work)
    assert tree.id in (tmp_path / "line.json").read_text().split('"orphans"')[1]
    with (tmp_path / "points_of_interest.csv").open() as file:
        assert {row["kind"] for row in csv.DictReader(file)} == {"tower"}


def test_an_earlier_point_that_lies_nowhere_is_told(tmp_path: Path, detected: Path) -> None:
    work = Work(inputs=[detected], raw=[tmp_path / "earlier" / "line.json"])
    aggregating.do(Work(inputs=[detected]))
    told = json.loads((tmp_path / "line.json").read_text())
    (tmp_path / "earlier").mkdir()
    for place in (None, [1.0, 2.0], [1.0, 2.0, float("inf")], [1.0, 2.0, "3"]):
        told["orphans"] = [{**told["points"][0], "place": place}]
        work.raw[0].write_text(json.dumps(told))
        with pytest.raises(WorkError, match=r"line\.json is no earlier list of points"):
            aggregating.do(work)


def test_the_same_tile_twice_tells_nothing_twice(tmp_path: Path, detected: Path) -> None:
    aggregating.do(Work(inputs=[detected]))
    once = read_points(tmp_path / "line.json")
    aggregating.do(Work(inputs=[detected, detected]))
    assert read_points(tmp_path / "line.json") == once


def test_a_wire_over_a_border_is_one() -> None:
    made = made_line(KINDS["flat"], trees=0)
    west, east = (
        seen(made.places[side]) for side in (made.places[:, 0] < 30, made.places[:, 0] > -30)
    )
    curves = [*west.wires.curves, *east.wires.curves]
    assert len(curves) == 12
    assert len(set(wires_joined(curves))) == 9


def test_tables_of_ones_own_are_read_and_their_faults_are_told(tmp_path: Path) -> None:
    path = tmp_path / "relevance.csv"
    path.write_text("kind,kv_min,nearer_m,relevance\nvegetation,0,4,3\n")
    tables = read_tables([path])
    assert tables.relevance_of("vegetation", 20.0, 3.9) == 3
    assert tables.relevance_of("vegetation", 20.0, 4.0) == 0
    assert tables.example
    path.write_text("# ours\nkind,kv_min,nearer_m,relevance\nvegetation,0,near,3\n")
    with pytest.raises(WorkError, match=r"line 3 of relevance\.csv"):
        read_tables([path])
