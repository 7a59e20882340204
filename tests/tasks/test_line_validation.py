"""What people hand in at the gates of an inspection: patches of classes, decisions about points."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tasks.inspection.conversation import Work, WorkError
from tasks.line import aggregating, detecting, segmenting
from tasks.line.cloud import Points, read, write
from tasks.line.curve import Curve, Floats
from tasks.line.interest import Interest
from tasks.line.obstacles import told_once
from tasks.line.patching import patched
from tasks.line.spans import Spans
from tests.tasks.made_line import KINDS, made_line

LOW, HIGH, WIRE, TOWER = 3, 5, 14, 15


@pytest.fixture(scope="module")
def tile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A segmented tile: one line with a tree that comes near to it."""
    folder = tmp_path_factory.mktemp("tile")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = made_line(KINDS["flat"], trees=6, length_m=300.0)
        tree = np.random.default_rng(3).normal((20.0, 1.0, 6.5), (1.0, 1.0, 1.5), (400, 3))
        write(folder / "points.laz", [Points.of(*np.concatenate([made.places, tree]).T)])
        segmenting.do(Work(inputs=[folder / "points.laz"]))
        detecting.do(Work(inputs=[folder / "segmented.laz", folder / "spans.json"]))
    return folder


@pytest.fixture(scope="module")
def whole(tile: Path) -> tuple[Points, Spans]:
    return read(tile / "segmented.laz"), Spans.read(tile / "spans.json")


def told(tile: Path, patch: str | Path) -> tuple[Points, Points, Spans, Spans]:
    """The tile before and after a patch."""
    if isinstance(patch, str):
        (tile / "patch.csv").write_text(patch)
        patch = tile / "patch.csv"
    points, spans = read(tile / "segmented.laz"), Spans.read(tile / "spans.json")
    after, then = patched(points, spans, patch)
    return points, after, spans, then


def test_a_patch_changes_what_lies_within_it_and_nothing_else(tile: Path) -> None:
    text = "x,y,z,radius_m,of,class\n20,1,,4,5,3\n"
    before, after, spans, then = told(tile, text)
    near = np.hypot(before.x - 20, before.y - 1) <= 4
    changed = before.classification != after.classification
    assert changed.any()
    assert (near & (before.classification == HIGH))[changed].all()
    assert set(after.classification[changed]) == {LOW}
    assert (spans.wires, spans.towers) == (then.wires, then.towers)
    assert then.counts[LOW] == spans.counts.get(LOW, 0) + int(changed.sum())


def test_a_wire_that_is_none_and_one_that_is_are_taken_at_their_word(tile: Path) -> None:
    """The middle wire is called vegetation, and then a wire again."""
    points, spans = read(tile / "segmented.laz"), Spans.read(tile / "spans.json")
    middle = next(each for each in spans.wires if abs(each.curve.places(np.zeros(1))[0, 1]) < 2)
    curve = middle.curve
    along = np.arange(curve.start_m, curve.end_m, 2.0)
    rows = [f"{x:.2f},{y:.2f},{z:.2f},2" for x, y, z in curve.places(along)]
    kept = [
        row for row, place in zip(rows, curve.places(along), strict=True) if _has(points, place)
    ]
    text = "x,y,z,radius_m,of,class\n" + "".join(f"{row},14,5\n" for row in kept)
    after, fewer = told(tile, text)[1::2]
    assert isinstance(fewer, Spans)
    assert len(fewer.wires) == len(spans.wires) - 1
    write(tile / "edited.laz", [after])
    back = Spans.read(tile / "spans.json")
    again, whole = patched(after, fewer, tile / "segmented.laz")
    assert (again.classification == points.classification).all()
    assert len(whole.wires) == len(back.wires)
    away = [min(_off(each.curve, one.curve) for one in back.wires) for each in whole.wires]
    assert max(away) < 0.05


def _has(points: Points, place: Floats) -> bool:
    near = np.abs(points.x - place[0]) + np.abs(points.y - place[1]) + np.abs(points.z - place[2])
    return bool(((near < 2.0) & (points.classification == WIRE)).any())


def _off(one: Curve, other: Curve) -> float:
    places = one.places(np.linspace(one.start_m, one.end_m, 9))
    _, across = other.away(places)
    return float(np.abs(across).max())


def test_a_tower_is_where_somebody_says_so(tile: Path) -> None:
    _, _, spans, then = told(tile, "x,y,z,radius_m,class\n20,1,,4,15\n")
    (new,) = [each for each in then.towers if each not in spans.towers]
    assert np.hypot(new.x - 20, new.y - 1) < 2
    assert all(each in then.towers for each in spans.towers)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"x,y,z\n", "patch.csv has no column radius_m: it has to begin with x,y,z,radius_m,class"),
        (b"\xff\xfe", "patch.csv is no text in UTF-8: save it as CSV in UTF-8"),
        (b"x,y,z,radius_m,class\n1,2,3,4,horse\n", "class is 'horse' and has to be a number"),
        (b"x,y,z,radius_m,class\n\n1,2,3,4,999\n", "line 3 of patch.csv: class has to be a class"),
        (b"x,y,z,radius_m,class\n1,2,3,-4,5\n", "line 2 of patch.csv: radius_m has to be above 0"),
        (b"x,y,z,radius_m,class\n1,,3,4,5\n", "line 2 of patch.csv: y is missing"),
        (b"x,y,z,radius_m,class\n9e9,2,3,4,5\n", "x is '9e9' and has to be a number"),
        (b"x,y,z,radius_m,class\n9999,2,3,4,5\n", "no point of the tile lies there"),
        (b"LASF" + bytes(400), "patch.csv"),
        (b"x,y\n" * 30_000, "patch.csv has more than 20000 lines: hand in fewer"),
        (b"x" * (4 * 1024 * 1024 + 1), "patch.csv has more than 4194304 bytes"),
    ],
)
def test_what_is_no_patch_is_said(
    whole: tuple[Points, Spans], tmp_path: Path, text: bytes, sentence: str
) -> None:
    (tmp_path / "patch.csv").write_bytes(text)
    with pytest.raises(WorkError, match=re.escape(sentence)) as error:
        patched(*whole, tmp_path / "patch.csv")
    assert "\n" not in str(error.value)


def test_the_file_of_another_tile_is_refused(tile: Path, tmp_path: Path) -> None:
    points = read(tile / "segmented.laz")
    write(tmp_path / "segmented.laz", [replace(points, x=points.x + 400)])
    with pytest.raises(WorkError, match="does not lie where the tile is"):
        patched(points, Spans.read(tile / "spans.json"), tmp_path / "segmented.laz")


class Line:
    """Detection and aggregation of the tile in a folder."""

    def __init__(self, tile: Path) -> None:
        self.inputs = [tile / "segmented.laz", tile / "spans.json"]
        self.found = [tile / "interest.json"]

    def detect(self, patch: Path) -> Interest:
        detecting.do(Work(inputs=[*self.inputs, patch]))
        self.found = [Path("interest.json").absolute()]
        return Interest.read(self.found[0])

    def aggregate(self, *decisions: Path) -> list[dict[str, str]]:
        aggregating.do(Work(inputs=[*self.found, *decisions], parameters={"line": "made"}))
        with Path("points_of_interest.csv").open(encoding="utf-8") as file:
            return list(csv.DictReader(file))


@pytest.fixture
def line(tile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Line:
    monkeypatch.chdir(tmp_path)
    return Line(tile)


def test_what_is_called_otherwise_is_found_otherwise(line: Line, tmp_path: Path) -> None:
    before = Interest.read(line.found[0])
    assert [each.kind for each in told_once(before.obstacles)] == ["vegetation"]
    patch = tmp_path / "patch.csv"
    patch.write_text("x;y;z;radius_m;of;class\n20;1;;6;5;6\n")
    after = line.detect(patch)
    assert (before.patched, after.patched) == (False, True)
    assert [each.kind for each in told_once(after.obstacles)] == ["building"]
    line.aggregate()
    assert json.loads(Path("line.json").read_text())["validation"]["patched_tiles"] == [None]


def test_points_are_accepted_rejected_and_added(line: Line, tmp_path: Path) -> None:
    table = line.aggregate()
    tree = next(each for each in table if each["kind"] == "vegetation")
    tower = next(each for each in table if each["kind"] == "tower")
    assert {each["decision"] for each in table} == {""}
    handed = tmp_path / "decisions.csv"
    handed.write_text(
        "decision,id,kind,x,y,z\n"
        f"reject,{tree['id']},,,,\n"
        f"accept,,tower,{float(tower['x']) + 1},{tower['y']},{tower['z']}\n"
        "add,,vegetation,60,0,10\n"
        "reject,0123456789,,,,\n"
        ",whatever,,,,\n"
    )
    after = line.aggregate(handed)
    assert tree["id"] not in {each["id"] for each in after}
    decisions = {each["id"]: each["decision"] for each in after if each["decision"]}
    added = next(each for each in after if each["decision"] == "add")
    assert decisions == {tower["id"]: "accept", added["id"]: "add"}
    assert 0 < float(added["distance_m"]) < 10
    validation = json.loads(Path("line.json").read_text())["validation"]
    assert [each["id"] for each in validation["rejected"]] == [tree["id"]]
    assert validation["unmatched"] == 1


def test_the_table_itself_is_what_is_handed_in(line: Line) -> None:
    table = line.aggregate()
    text = Path("points_of_interest.csv").read_text()
    Path("mine.csv").write_text(text.replace(",\n", ",accept\n").replace(",\r\n", ",accept\r\n"))
    after = line.aggregate(Path("mine.csv"))
    assert {each["decision"] for each in after} == {"accept"}
    assert [each["id"] for each in after] == [each["id"] for each in table]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("perhaps,1,,,,", "line 2 of mine.csv: 'perhaps' is no decision: accept, reject or add"),
        ("reject,,,,,", "line 2 of mine.csv: it names no point: give its id, or kind, x, y and z"),
        ("add,,tree,1,2,", "line 2 of mine.csv: z is missing"),
        ("add,,,1,2,3", "line 2 of mine.csv: kind has to be a word, such as vegetation"),
        ("add,,tree,nan,2,3", "line 2 of mine.csv: x is 'nan' and has to be a number"),
    ],
)
def test_what_is_no_decision_is_said(line: Line, row: str, sentence: str) -> None:
    Path("mine.csv").write_text(f"decision,id,kind,x,y,z\n{row}\n")
    with pytest.raises(WorkError, match=f"^{re.escape(sentence)}$"):
        line.aggregate(Path("mine.csv"))
