"""What was found in scans of real lines, held against what people have labelled there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from tasks.line.scene import GROUND, TOWER, WIRE, scene_of
from tasks.line.shapes import Echoes
from tests.bench.inspection_changed import made_above_quebec
from tests.bench.inspection_scans import FOLDER, NEGATIVES, WIRES, scan
from tests.tasks.test_line_scene import f1, seen

if not FOLDER.is_dir():
    pytest.skip("the labelled scans are not beside this repository", allow_module_level=True)


@pytest.mark.parametrize("name", WIRES)
def test_wires_of_a_labelled_scan_are_found(name: str) -> None:
    real = scan(name)
    truth, places = real.points.classification, real.places
    classes = scene_of(places, Echoes(real.points.return_number, real.points.returns)).classes
    wire = truth == WIRE
    others = np.flatnonzero(truth == 1)
    near = cKDTree(places[wire]).query(places[others], distance_upper_bound=1.5)[0]
    judged = np.ones(len(truth), bool)
    judged[others[np.isfinite(near)]] = False
    assert f1((classes == WIRE) & judged, wire) >= 0.96
    assert f1((classes == TOWER) & (truth != 1), truth == TOWER) >= 0.92
    known = truth != 1
    assert f1((classes == GROUND) & known, truth == GROUND) >= 0.93


@pytest.mark.parametrize("name", NEGATIVES)
def test_no_wire_is_found_where_none_hangs(name: str) -> None:
    real = scan(name)
    scene = scene_of(real.places, Echoes(real.points.return_number, real.points.returns))
    assert not (scene.classes == WIRE).any()
    assert not (scene.classes == TOWER).any()


def test_two_spans_that_are_one_curve_on_a_slope_are_two_wires_and_a_tower() -> None:
    made = made_above_quebec("towers", 128.0)
    scene = seen(made.places)
    assert f1(scene.classes == WIRE, made.truth == WIRE) >= 0.97
    assert len(scene.towers) == len(made.towers) == 1
