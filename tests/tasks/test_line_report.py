"""The report tells what is true, to scale, to everybody, and nothing in it is done by whom it names."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import zlib
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio
import pyproj
import pytest
import shapely

from agent.workflow.program_folder import read_program
from gui.model.results import GUARD, guarded
from tasks.inspection.conversation import Work, WorkError, read_arguments
from tasks.line import reporting
from tasks.line.drawing import plain, printable
from tasks.line.exchange import MAP, PLACES, POINTS
from tasks.line.reporting import PAGE, SHEETS
from tasks.line.span_figures import Cells
from tests.tasks.flown import REPOSITORY
from tests.tasks.made_report import SPAN_M, SYSTEM, MadeReport, made_report

MM = 72 / 25.4
"""Points of print in a millimetre."""
HOSTILE = "\"><script>alert(1)</script><img src=http://evil/x onerror=a>'&amp;\u202e\x07é中=1+1"


class Parsed(HTMLParser):
    """Every element of a page with what it says of itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep it."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def of(self, name: str) -> list[dict[str, str]]:
        """What elements of this class, or with this tag, say of themselves."""
        return [said for tag, said in self.elements if name in (tag, said.get("class"))]


def written(folder: Path, made: MadeReport, **parameters: str) -> Path:
    """The report of these inputs, in a folder of its own."""
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        outputs = reporting.do(
            Work(raw=made.paths[:1], inputs=made.paths[1:], parameters=parameters)
        )
    assert tuple(outputs) == read_program(REPOSITORY / "tasks" / "line_report").outputs
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeReport:
    return made_report(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def report(made: MadeReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    return written(folder, made, operator="A._Person", notes="calm_day", gates="all")


def sheets(path: Path) -> str:
    """What is drawn and written on the sheets of a PDF, as reportlab writes it."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", path.read_bytes(), re.DOTALL)
    return b"\n".join(zlib.decompressobj().decompress(each) for each in streams).decode("cp1252")


def places_of(path: str) -> np.ndarray[Any, Any]:
    return np.array([[float(n) for n in each.split()] for each in path.strip("MZ").split("L")])


def the_map(page: Path) -> tuple[dict[str, float], Parsed]:
    """The facts of the map, and what is on it."""
    text = page.read_text("utf-8")
    begin = text.index("<svg")
    drawn = Parsed(text[begin : text.index("</svg>")])
    said = {name[5:]: float(v) for name, v in drawn.of("svg")[0].items() if name[:5] == "data-"}
    return said, drawn


def back(said: dict[str, float], places: Any, prefix: str = "") -> np.ndarray[Any, Any]:
    """Where places on paper lie in nature."""
    x, y = np.asarray(places, float).T
    scale = said[f"{prefix}scale"] / 1000.0
    east = said[f"{prefix}west"] + (x - said[f"{prefix}left"]) * scale
    north = said[f"{prefix}north"] - (y - said[f"{prefix}top"]) * scale
    return np.column_stack([east, north])


def test_the_map_is_to_scale_on_the_page(report: Path) -> None:
    said, drawn = the_map(report / PAGE)
    size = drawn.of("svg")[0]
    assert size["width"] == f"{size['viewbox'].split()[2]}mm"
    marks = [(float(e["data-x"]), float(e["data-y"])) for e in drawn.of("tower")]
    lengths = np.linalg.norm(np.diff(marks, axis=0), axis=1)
    assert lengths == pytest.approx(np.full(4, SPAN_M * 1000 / said["scale"]), rel=0.01)
    ends = places_of(drawn.of("scale-bar")[0]["d"])
    bar_m = float(re.search(r"<title>(\d+) m</title>", (report / PAGE).read_text()).group(1))  # type: ignore[union-attr]
    assert ends[1, 0] - ends[0, 0] == pytest.approx(bar_m * 1000 / said["scale"], rel=0.01)


def test_the_map_is_to_scale_on_the_sheets(report: Path) -> None:
    """The scale bar, which is the only line as thick, in points of print; nothing enlarges it."""
    _, drawn = the_map(report / PAGE)
    text = sheets(report / SHEETS)
    number = r"(-?[\d.]+)"
    found = re.findall(
        rf"{0.9 * MM:.3f}\d* w.*?{number} {number} m {number} {number} l\sS", text, re.DOTALL
    )
    wanted = places_of(drawn.of("scale-bar")[0]["d"])
    assert len(found) == 1
    assert (float(found[0][2]) - float(found[0][0])) / MM == pytest.approx(
        wanted[1, 0] - wanted[0, 0], rel=0.01
    )
    turns = [list(map(float, each.split())) for each in re.findall(r"((?:-?[\d.]+ ){6})cm", text)]
    assert turns
    assert all(np.hypot(a, b) == pytest.approx(1.0, abs=1e-3) for a, b, *_ in turns)


def test_what_is_on_the_map_lies_on_the_route(report: Path, made: MadeReport) -> None:
    said, drawn = the_map(report / PAGE)
    route = shapely.LineString(made.plan.route[0])
    for each in drawn.of("route"):
        for place in back(said, places_of(each["d"])):
            assert route.distance(shapely.Point(place)) < 1.0
    marks = back(said, [(float(e["data-x"]), float(e["data-y"])) for e in drawn.of("point")])
    true = np.array([each.place[:2] for each in made.line.points if each.distance_m])
    assert len(marks) == len(true)
    for place in true:
        assert np.linalg.norm(marks - place, axis=1).min() < 1.0


def test_what_is_on_the_plan_of_a_span_lies_where_it_is(report: Path, made: MadeReport) -> None:
    page = (report / PAGE).read_text("utf-8")
    drawn = [Parsed(each) for each in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    plans = [each for each in drawn if "data-start-x" in each.of("svg")[0]]
    assert len(plans) == 4
    true = np.array([each.place[:2] for each in made.line.points])
    for each in plans:
        said = {k[5:]: float(v) for k, v in each.of("svg")[0].items() if k.startswith("data-")}
        top = said["side-top"]
        marks = [(float(m["data-x"]), float(m["data-y"])) for m in each.of("point")]
        above = back(said, [at for at in marks if at[1] < top - 5], "plan-")
        way = np.array([said["way-x"], said["way-y"]])
        across = np.array([-way[1], way[0]])
        places = (said["start-x"], said["start-y"]) + above[:, :1] * way + above[:, 1:] * across
        assert len(places) == 5
        for place in places:
            assert np.linalg.norm(true - place, axis=1).min() < 1.0


def test_the_side_of_a_span_shows_heights_and_distances(report: Path, made: MadeReport) -> None:
    page = (report / PAGE).read_text("utf-8")
    drawn = Parsed(
        next(e for e in re.findall(r"<svg.*?</svg>", page, re.DOTALL) if "side-top" in e)
    )
    said = {k[5:]: float(v) for k, v in drawn.of("svg")[0].items() if k.startswith("data-")}

    def heights(name: str) -> np.ndarray[Any, Any]:
        y = np.concatenate([places_of(each["d"])[:, 1] for each in drawn.of(name)])
        y = y[y > said["side-top"] - 5]
        told: np.ndarray[Any, Any] = (
            said["side-north"] - (y - said["side-top"]) * said["side-scale-up"] / 1000
        )
        return told

    assert heights("terrain") == pytest.approx(50.0, abs=0.05)
    assert heights("curve").max() == pytest.approx(64.0, abs=0.05)
    assert heights("curve").min() == pytest.approx(64.0 - 150**2 / 2_400, abs=0.05)
    assert heights("vegetation").max() == pytest.approx(57.0, abs=0.05)


def test_every_id_is_in_all_that_is_written(report: Path, made: MadeReport) -> None:
    page, text = (report / PAGE).read_text("utf-8"), sheets(report / SHEETS)
    table = list(csv.DictReader((report / POINTS).read_text("utf-8").splitlines()))
    places = json.loads((report / PLACES).read_text("utf-8"))["features"]
    with closing(sqlite3.connect(report / MAP)) as held:
        layer = {row[0] for row in held.execute("select id from points")}
    ids = {each.id for each in made.line.points}
    assert len(ids) == 25
    assert {row["id"] for row in table} == layer == ids
    assert {f["properties"]["id"] for f in places if f["properties"]["layer"] == "point"} == ids
    assert all(f'id="p-{each}"' in page and f"({each})" in text for each in ids)


def test_degrees_come_back_to_the_metres(report: Path, made: MadeReport) -> None:
    places = json.loads((report / PLACES).read_text("utf-8"))["features"]
    way = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:32617", always_xy=True)
    by_id = {each.id: each.place for each in made.line.points}
    for each in places:
        if each["properties"]["layer"] == "point":
            x, y = way.transform(*each["geometry"]["coordinates"][:2])
            assert np.hypot(*np.subtract((x, y), by_id[each["properties"]["id"]][:2])) < 0.05
    info = pyogrio.read_info(report / MAP, layer="points")
    assert pyproj.CRS(info["crs"]).equals(pyproj.CRS(SYSTEM.wkt()), ignore_axis_order=True)
    layers = {name for name, _ in pyogrio.list_layers(report / MAP)}
    assert layers == {"points", "towers", "wires", "spans", "route", "quality"}


def test_nothing_is_fetched_and_nothing_runs(report: Path) -> None:
    page = (report / PAGE).read_text("utf-8")
    assert "http" not in page
    assert "url(" not in page
    parsed = Parsed(page)
    assert not {tag for tag, _ in parsed.elements} & {"script", "img", "link", "iframe", "object"}
    names = {said["id"] for _, said in parsed.elements if "id" in said}
    for said in parsed.of("a"):
        assert said["href"][0] == "#"
        assert said["href"][1:] in names
    shown = guarded(page.encode())
    assert shown is not None
    assert shown.replace(GUARD, b"") == page.encode()


def test_the_page_can_be_sorted_without_a_script(report: Path, made: MadeReport) -> None:
    """Each row has its rank in every order, and each order is of all rows."""
    page = (report / PAGE).read_text("utf-8")
    rows = [e["style"] for tag, e in Parsed(page).elements if e.get("id", "").startswith("p-")]
    ranks = [[int(each.partition(":")[2]) for each in row.split(";")] for row in rows]
    for order in zip(*ranks, strict=True):
        assert sorted(order) == list(range(1, len(made.line.points) + 1))
    asked = [e["id"] for e in Parsed(page).of("input")]
    assert all(
        f"#{each}:checked~table tbody tr{{order:var(--{each})}}" in page for each in asked[1:]
    )
    relevance = [
        int(each) for each in re.findall(r'<td class="r">(\d)</td><td>(?:cut|this|watch)', page)
    ]
    assert relevance == sorted(relevance, reverse=True)


def test_the_nearest_second_of_video_is_told(report: Path, made: MadeReport) -> None:
    indexes = [
        json.loads(each.read_text()) for each in made.paths if each.name.startswith("import")
    ]
    seconds = np.array([row[:3] for told in indexes for row in told["videos"][0]["seconds"]])
    rows = list(csv.DictReader((report / POINTS).read_text("utf-8").splitlines()))
    for row in rows:
        far = np.hypot(seconds[:, 1] - float(row["x"]), seconds[:, 2] - float(row["y"]))
        assert float(row["picture_m"]) == pytest.approx(far.min(), abs=0.06)
        assert float(row["picture_s"]) in seconds[far < far.min() + 0.01, 0]


def test_orders_are_what_they_say(report: Path) -> None:
    """The rank of a row in the orders is that of its chainage and of its distance."""
    page = (report / PAGE).read_text("utf-8")
    rows = [e for tag, e in Parsed(page).elements if e.get("id", "").startswith("p-")]
    table = {r["id"]: r for r in csv.DictReader((report / POINTS).read_text("utf-8").splitlines())}
    labels = re.findall(r'<label for="(o\d)">([^<]+)', page)
    for column, name in (("chainage_m", "along the line"), ("distance_m", "distance")):
        order = next(each for each, label in labels if label == name)
        rank = re.compile(rf"--{order}:(\d+)")
        ranked = sorted(rows, key=lambda row: int(rank.search(row["style"])[1]))  # type: ignore[index]
        told = [float(table[row["id"][2:]][column] or "inf") for row in ranked]
        assert told == sorted(told)


def test_words_without_end_find_their_place(tmp_path: Path) -> None:
    """A row may be longer than a sheet, and a word than a line."""
    made = made_report(tmp_path, points=3, spans=1)
    notes = [{"id": made.line.points[0].id, "note": f"{n}" + 3_990 * "Y"} for n in range(4)]
    (tmp_path / "notes.json").write_text(json.dumps(notes))
    made.paths.append(tmp_path / "notes.json")
    folder = written(tmp_path / "r", made, title=5_000 * "M", notes=3_000 * "long_words_")
    assert sheets(folder / SHEETS).count("Y") >= 4 * 3_990


def test_words_of_others_stay_words(tmp_path: Path) -> None:
    note = {"id": "none", "kind": HOSTILE, "note": HOSTILE, "author": HOSTILE}
    made = made_report(tmp_path, words=HOSTILE, points=6, spans=2, notes=[note])
    folder = written(tmp_path / "r", made, operator="<b>x</b>", title=HOSTILE.replace(" ", "_"))
    page = (folder / PAGE).read_text("utf-8")
    parsed = Parsed(page)
    assert not {tag for tag, _ in parsed.elements} & {"script", "img", "b"}
    assert not [name for _, said in parsed.elements for name in said if name.startswith("on")]
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page
    assert "alert" in sheets(folder / SHEETS)
    with (folder / POINTS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(cell[:1] not in ("=", "+", "@") for row in rows for cell in row.values())


def test_formulas_are_words_in_a_table(tmp_path: Path) -> None:
    made = made_report(tmp_path, words="=1+1", points=2, spans=1)
    with (written(tmp_path / "r", made) / POINTS).open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    assert {row[name] for name in ("kind", "maintenance")} == {"'=1+1"}


def test_it_says_what_it_is_of_and_who_has_looked(
    report: Path, made: MadeReport, tmp_path: Path
) -> None:
    page, text = (report / PAGE).read_text("utf-8"), sheets(report / SHEETS)
    for words in ("A. Person", "calm day", "2026-05-31", "110 kV", "film.mp4 at 0:00:", "marked"):
        assert words in page
    for words in ("examples, not regulation", "boxes that say what cannot be", "f0f0f0f0f0"):
        assert words in page
    assert "1 : " in text
    assert "Not validated" not in page + text
    assert "unsure by more than 0.1 m" in page
    partly = written(tmp_path / "r", made, gates="points")
    stamp = "Not validated: nobody has looked at features, annotations"
    assert stamp in (partly / PAGE).read_text("utf-8")
    assert stamp in sheets(partly / SHEETS)
    with pytest.raises(WorkError, match="there is no gate 'some'"):
        written(tmp_path / "s", made, gates="some")


def test_it_says_what_it_was_not_given(tmp_path: Path) -> None:
    made = made_report(tmp_path, points=1)
    bare = MadeReport(made.paths[:2], made.plan, made.line)
    page = (written(tmp_path / "r", bare) / PAGE).read_text("utf-8")
    for words in ("profiles have no terrain", "points have no picture", "marked nothing in flight"):
        assert words in page
    assert "not measured" in page


def test_the_same_input_is_the_same_report(report: Path, made: MadeReport, tmp_path: Path) -> None:
    other = MadeReport([made.paths[0], *reversed(made.paths[1:])], made.plan, made.line)
    again = written(tmp_path / "r", other, operator="A._Person", notes="calm_day", gates="all")
    for path in report.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", '{"cells": [], "version": 9}', "a.json cannot be read as corridor"),
        ("a.json", '{"what": 1}', "a.json is nothing that a report is made of"),
        ("a.csv", "second,records\n1,x\n", "a.csv cannot be read as quality of the way"),
        ("a.csv", "a,b\n1,2\n", "a.csv: its first line is 'a,b'"),
        ("a.json", '{"wire_of_curve": [1]}', "a.json cannot be read as line"),
    ],
)
def test_a_file_that_is_none_of_these_is_told(
    made: MadeReport, tmp_path: Path, name: str, text: str, says: str
) -> None:
    (tmp_path / name).write_text(text)
    made = MadeReport([*made.paths, tmp_path / name], made.plan, made.line)
    with pytest.raises(WorkError, match=re.escape(says)):
        written(tmp_path / "r", made)


def test_the_way_between_two_systems_is_looked_for_a_few_times(
    made: MadeReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To find one takes longer than all places of a span, so it is not done shape by shape."""
    found, find = [], pyproj.Transformer.from_crs

    def counted(*systems: Any, **told: Any) -> Any:
        found.append(systems)
        return find(*systems, **told)

    monkeypatch.setattr(pyproj.Transformer, "from_crs", counted)
    shapes = json.loads((written(tmp_path / "r", made) / PLACES).read_text())["features"]
    assert len(found) < 10 < len(shapes)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_span_finds_all_cells_about_it_in_their_order(axis: int) -> None:
    rows = np.random.default_rng(5).uniform(0.0, 100.0, (4_000, 5))
    rows[:, axis] *= 90.0
    place = (50.0, 4_000.0) if axis else (4_000.0, 50.0)
    told = Cells([rows[:1_500], rows[1_500:]]).about(place, 300.0)
    near = np.hypot(*(rows[:, :2] - place).T) <= 300.0
    assert told[np.hypot(*(told[:, :2] - place).T) <= 300.0].tolist() == rows[near].tolist()
    assert len(told) < len(rows) / 10


def test_the_plan_is_needed_once(made: MadeReport, tmp_path: Path) -> None:
    with pytest.raises(WorkError, match="the plan is wanted once, and was given 0 times"):
        written(tmp_path / "r", MadeReport(made.paths[1:], made.plan, made.line))


def test_a_preview_is_the_page_alone(
    made: MadeReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    described = read_program(REPOSITORY / "tasks" / "line_preview")
    work = Work()
    read_arguments(
        work, [*described.command[4:], "-i", str(made.paths[0]), "-i", str(made.paths[1])]
    )
    outputs = reporting.do(work)
    assert tuple(outputs) == described.outputs
    assert "Not validated" in (tmp_path / outputs[0]).read_text("utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["preview.html"]


@pytest.mark.parametrize(
    ("said", "shown"),
    [("a\nb\tc", "a b c"), ("\u202eevil\u202c", "evil"), ("e\u0301", "é"), ("\x00\x1b[1m", "[1m")],
)
def test_what_hides_or_turns_is_left_out(said: str, shown: str) -> None:
    assert plain(said) == shown


def test_letters_without_a_shape_are_told_by_the_next_best() -> None:
    assert printable("Łódź ção €") == "?ódz ção €"
