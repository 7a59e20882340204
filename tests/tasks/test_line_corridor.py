"""What lies below and beside the wires is told as it is, and of a real scan too."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tasks.inspection.conversation import Work, WorkError
from tasks.line import aggregating, cloud, detecting, reporting, segmenting
from tasks.line.corridor import CELL_M, CORRIDOR, Corridor, corridor_of
from tasks.line.curve import Curve
from tasks.line.drawing import MM, Boxes, print_on, svg
from tasks.line.joining import spans_of_wires
from tasks.line.overview import COLOUR, OVERVIEW, doubts_of, overview_of
from tasks.line.plan import make_plan
from tasks.line.spans import Spans, Wire
from tasks.line.tiles import Plan
from tasks.line.towers import Tower
from tests.bench.inspection_scans import FOLDER, WIRES, scan
from tests.tasks.test_line_report import Parsed

LEVEL = Curve((0.0, 0.0), (1.0, 0.0), 0.0, 100.0, (0.0,), (10.0,), 0.05)
GROUND, TREE, ROOF = 2, 5, 6


def spans_with(*curves: Curve, seen: float = 1.0) -> Spans:
    wires = tuple(Wire(each, 100, seen, None, None) for each in curves)
    return Spans(wires, (), 10.0, False, {GROUND: 1})


def ground(low: float = 0.0) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    x, y = np.meshgrid(np.arange(-20.0, 121.0), np.arange(-30.0, 31.0))
    return np.column_stack([x.ravel(), y.ravel(), np.full(x.size, low)])


def told() -> Corridor:
    """Level ground, a tree 6 m beside the wire, leaves a metre below it, one alone, a roof."""
    dice = np.random.default_rng(1)
    tree = (30.0, 8.0, 10.0) + dice.uniform(-1, 1, (200, 3)) * (2.0, 2.0, 3.0)
    roof = (70.0, 24.0, 5.0) + dice.uniform(-1, 1, (200, 3)) * (3.0, 3.0, 0.1)
    near = np.add((60.0, 0.0, 9.0), dice.uniform(-0.2, 0.2, (5, 3)))
    leaf = np.concatenate([near, [[80.0, 5.5, 10.0]]])
    places = np.concatenate([ground(), tree, leaf, roof])
    kinds = np.repeat([GROUND, TREE, TREE, ROOF], [61 * 141, 200, 6, 200]).astype(np.uint8)
    return corridor_of(3, spans_with(LEVEL), places, kinds, 5.0)


def test_the_least_clearance_of_each_kind_is_from_the_curve() -> None:
    """What is nearer than detection looks, and a leaf that is alone, are not told."""
    near = {each.kind: each for each in told().clearances}
    assert near["ground"].distance_m == pytest.approx(10.0, abs=0.02)
    assert near["vegetation"].distance_m == pytest.approx(6.0, abs=0.3)
    assert near["vegetation"].place[0] == pytest.approx(30.0, abs=2.1)
    assert near["building"].distance_m == pytest.approx(np.hypot(21.0, 4.9), abs=0.3)
    for each in near.values():
        assert np.linalg.norm(np.subtract(each.place, each.wire_place)) == pytest.approx(
            each.distance_m, abs=0.01
        )


def test_cells_have_the_ground_and_the_tops_of_what_stands_there() -> None:
    cells = told().cells
    assert np.abs(cells[:, 1]).max() <= 20.0
    assert np.nanmax(np.abs(cells[:, 2])) == 0.0
    tall = cells[cells[:, 3] > 5.0]
    assert (np.abs(tall[:, 0] - 30.0) < 2.0 + CELL_M).sum() >= 4
    assert np.nanmax(cells[:, 3]) == pytest.approx(13.0, abs=0.1)
    assert np.isnan(cells[np.abs(cells[:, 0] - 10.0) < 5.0, 3]).all()


def test_a_corridor_is_read_as_it_was_written(tmp_path: Path) -> None:
    told().write(tmp_path / CORRIDOR)
    again = Corridor.read(tmp_path / CORRIDOR)
    np.testing.assert_array_equal(again.cells, told().cells)
    assert again.clearances == told().clearances
    assert (again.tile, again.points, again.counts) == (3, len(ground()) + 406, {GROUND: 1})
    (tmp_path / CORRIDOR).write_text('{"version": 1, "cells": 1}')
    with pytest.raises(WorkError, match="detect the tile anew"):
        Corridor.read(tmp_path / CORRIDOR)


def test_without_wires_there_is_no_corridor() -> None:
    found = corridor_of(None, spans_with(), ground(), np.full(61 * 141, GROUND, np.uint8), 5.0)
    assert (len(found.cells), found.clearances, found.points) == (0, (), 61 * 141)


def test_a_wire_of_two_tiles_hangs_between_the_towers_of_both() -> None:
    towers = [Tower(x, 0.0, 0.0, 12.0, (1.0, 0.0), 1.0) for x in (0.0, 200.0)]
    west, east = LEVEL, replace(LEVEL, start_m=80.0, end_m=200.0)
    assert spans_of_wires([west, east], [0, 0], towers) == {0: (1, 2)}
    assert spans_of_wires([west, east], [0, 1], towers) == {0: (1,), 1: (2,)}


def test_an_overview_says_which_wires_are_in_doubt() -> None:
    good, bad = spans_with(LEVEL), spans_with(LEVEL, LEVEL, seen=0.3)
    assert doubts_of(good) == "1 wire, 0 towers; none is in doubt."
    assert "in doubt are the wires 1, 2" in doubts_of(bad)
    assert "Too few points" in doubts_of(replace(good, too_sparse=True))
    words = [
        getattr(each, "words", "")
        for each in overview_of(ground(), np.full(61 * 141, 2), bad).items
    ]
    assert doubts_of(bad) in words
    assert overview_of(np.zeros((0, 3)), np.zeros(0, np.uint8), good).items


class Rectangles:
    """A canvas on which only areas are looked at."""

    def __init__(self) -> None:
        self.drawn: list[tuple[float, ...]] = []

    def rect(self, *place: float, stroke: int, fill: int) -> None:
        assert (stroke, fill) == (0, 1)
        self.drawn.append(place)

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: self


def test_an_overview_shows_what_lies_highest_in_each_cell_on_a_page_and_in_print() -> None:
    """A roof over two cells side by side is one area of its colour, whatever lies below it."""
    roof = np.array([[10.5, 5.5, 4.0], [11.5, 5.5, 4.0], [10.5, 5.5, 3.0]])
    kinds = np.repeat([GROUND, ROOF, TREE], [61 * 141, 2, 1]).astype(np.uint8)
    drawn = overview_of(np.concatenate([ground(), roof]), kinds, spans_with(LEVEL))
    areas = [each for each in drawn.items if isinstance(each, Boxes)]
    assert [each.fill for each in areas[:2]] == [COLOUR[GROUND], COLOUR[ROOF]]
    ((left, top, right, foot),) = areas[1].boxes
    assert right - left == pytest.approx(2.0 * (foot - top), rel=0.05)
    paths = re.findall(f'd="([^"]*)" fill="{COLOUR[ROOF]}"', svg(drawn))
    told = [float(each) for each in re.findall(r"[\d.]+", paths[0])]
    assert told == pytest.approx([left, top, right, foot, left], abs=1e-4)
    canvas = Rectangles()
    print_on(canvas, drawn)
    assert len(canvas.drawn) == sum(len(each.boxes) for each in areas)
    place = left, drawn.height_mm - foot, right - left, foot - top
    assert canvas.drawn[len(areas[0].boxes)] == pytest.approx([each * MM for each in place])


@pytest.mark.scans
@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"{FOLDER} is not there: scans of others")
def test_a_real_scan_comes_to_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sixth of the points of a real line, from segmentation on, as its programs leave it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flight").mkdir()
    cloud.write(tmp_path / "flight" / "points.laz", [scan(WIRES[0]).thinned(1 / 6).points])
    wanted = Plan("real", (), "", crs="EPSG:28992", heights="EPSG:5709")
    plan = make_plan(tmp_path / "flight", wanted)
    replace(plan, tile_m=1_000.0).write(tmp_path / "plan.json")
    segmenting.do(Work(inputs=[tmp_path / "flight" / "points.laz"]))
    assert "<svg xmlns" in (tmp_path / OVERVIEW).read_text("utf-8")
    inputs = [tmp_path / "segmented.laz", tmp_path / "spans.json"]
    detecting.do(Work(raw=[tmp_path / "plan.json"], inputs=inputs))
    aggregating.do(Work(inputs=[tmp_path / "interest.json"]))
    given = [tmp_path / name for name in ("plan.json", "line.json", CORRIDOR)]
    outputs = reporting.do(Work(inputs=given))
    page = (tmp_path / outputs[0]).read_text("utf-8")
    points = json.loads((tmp_path / "line.json").read_text("utf-8"))["points"]
    assert len(points) >= 8
    assert all(f'id="p-{each["id"]}"' in page for each in points)
    assert "beyond T1" in page
    clearance = re.search(
        r"Least clearance to ground ([\d.]+) m", page[page.index("Span beyond T1") :]
    )
    assert clearance is not None
    assert 12.0 < float(clearance[1]) < 14.0
    assert [each["class"] for each in Parsed(page).of("terrain")]
