"""Notes find their point again, whatever changed, and those that do not are told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tasks.inspection.conversation import WorkError
from tasks.line.annotations import (
    ANNOTATIONS,
    Annotation,
    Middles,
    attached,
    read_annotations,
    write_annotations,
)
from tasks.line.exchange import POINTS
from tasks.line.joining import Line, write_points
from tasks.line.reporting import PAGE, SHEETS
from tests.tasks.made_report import NAME, MadeReport, made_report, moved
from tests.tasks.test_line_report import sheets, written


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeReport:
    return made_report(tmp_path_factory.mktemp("made"), spans=2, points=6)


def told_to(line: Line, *notes: Annotation, spans: Middles | None = None) -> dict[str, list[str]]:
    """The notes that each point got, and what is told of the others."""
    found = attached(notes, NAME, line.points, spans or {})
    told = {each: [n.note for n in of] for each, of in found.of_points.items()}
    told |= {each: [n.note for n in of] for each, of in found.of_spans.items()}
    told["line"] = [each.note for each in found.of_line]
    told["orphans"] = [why for _, why in found.orphans]
    return {name: each for name, each in told.items() if each}


def test_a_note_belongs_to_its_id_whatever_else_it_says(made: MadeReport) -> None:
    point = made.line.points[0]
    note = Annotation("look", id=point.id, kind="other", place=(0.0, 0.0, 0.0))
    assert told_to(made.line, note) == {point.id: ["look"]}


@pytest.mark.parametrize(("by_m", "found"), [(1.5, True), (2.9, True), (3.1, False)])
def test_other_parameters_keep_a_note_within_three_metres(
    made: MadeReport, by_m: float, found: bool
) -> None:
    point = made.line.points[2]
    note = Annotation("look", id=point.id, line=NAME, kind=point.kind, place=point.place)
    anew = moved(made.line, (0.0, 0.0, by_m))
    assert told_to(anew, note) == (
        {anew.points[2].id: ["look"]}
        if found
        else {"orphans": [f"no {point.kind} lies within 3 m of its place"]}
    )


def test_a_note_goes_to_no_other_class_and_to_no_other_line(made: MadeReport) -> None:
    point = made.line.points[0]
    assert point.kind == "vegetation"
    other = Annotation("a", kind="building", place=point.place)
    strange = Annotation("b", id=point.id, line="line 8")
    assert told_to(made.line, other, strange) == {
        "orphans": ["no building lies within 3 m of its place", "it is of the line line 8"]
    }


def test_notes_of_a_span_and_of_the_line_have_their_place(made: MadeReport) -> None:
    notes = (
        Annotation("a", kind="span", span="T1-T2"),
        Annotation("f", kind="span", span="T8-T9", place=(102.0, 1.0, float("nan"))),
        Annotation("g", kind="span", span="T1-T2", place=(104.0, 0.0, 0.0)),
        Annotation("b", kind="span", span="T8-T9"),
        Annotation("c", kind="line"),
        Annotation("d"),
        Annotation("e", id="unknown"),
    )
    assert told_to(made.line, *notes, spans={"T1-T2": (100.0, 0.0)}) == {
        "T1-T2": ["a", "f"],
        "line": ["c", "d"],
        "orphans": [
            "no span lies within 3 m of its place",
            "there is no span T8-T9",
            "its id is not among the points, and it has no place",
        ],
    }


def test_the_table_with_a_column_more_is_what_people_attach(
    made: MadeReport, tmp_path: Path
) -> None:
    """As a spreadsheet of many countries saves it: semicolons, commas, letters of its own."""
    first, second = made.line.points[:2]
    x, y, z = (f"{each:.3f}".replace(".", ",") for each in second.place)
    path = tmp_path / "points.csv"
    text = f"ID;Class;x;y;z;Note;Author\n{first.id};;;;;Baum fällen;Jürgen\n;{second.kind};{x};{y};{z};b;\n"
    path.write_bytes((text + f"{first.id};;;;;;\n").encode("cp1252"))
    notes = read_annotations(path)
    assert [(each.note, each.author) for each in notes] == [("Baum fällen", "Jürgen"), ("b", "")]
    assert told_to(made.line, *notes) == {first.id: ["Baum fällen"], second.id: ["b"]}


def test_the_reports_own_table_takes_notes(made: MadeReport, tmp_path: Path) -> None:
    lines = (written(tmp_path / "r", made) / POINTS).read_text("utf-8").splitlines()
    note = tmp_path / "notes.csv"
    note.write_text("\n".join([lines[0], lines[1].removesuffix(",,") + ",cut the oak,me"]))
    given = MadeReport([*made.paths, note], made.plan, made.line)
    page = (written(tmp_path / "s", given) / PAGE).read_text("utf-8")
    assert "cut the oak (me)" in page


def test_notes_survive_a_run_with_other_parameters(made: MadeReport, tmp_path: Path) -> None:
    """What one report leaves, the next begins with; its orphans are in all that people read."""
    point, gone = made.line.points[0], made.line.points[1]
    notes = [{"id": point.id, "note": "oak of the chapel"}, {"id": gone.id, "note": "new roof"}]
    notes.append({"note": "storm in May", "kind": "line"})
    notes.append({"note": "long span", "kind": "span", "span": "T1-T2"})
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "notes.json").write_text(json.dumps(notes))
    paths = [*made.paths, tmp_path / "a" / "notes.json"]
    first = written(tmp_path / "r", MadeReport(paths, made.plan, made.line))
    anew = moved(made.line, (1.0, -1.0, 0.5))
    left = Line(
        anew.curves, anew.wire_of_curve, anew.towers, (anew.points[0], *anew.points[2:]), ()
    )
    write_points(tmp_path / "line.json", NAME, left, [], True, 110.0, {})
    paths = [made.paths[0], tmp_path / "line.json", first / ANNOTATIONS]
    second = written(tmp_path / "s", MadeReport(paths, made.plan, left))
    page, text = (second / PAGE).read_text("utf-8"), sheets(second / SHEETS)
    row = page[page.index(f'id="p-{anew.points[0].id}"') :].partition("</tr>")[0]
    assert "oak of the chapel" in row
    assert page.index("None is dropped") < page.index("new roof")
    assert "new roof" in text
    assert "storm in May" in page
    third = json.loads((second / ANNOTATIONS).read_text("utf-8"))["annotations"]
    assert {each["note"] for each in third} == {each["note"] for each in notes}
    assert "long span" in page[page.index('id="s-0"') :]
    assert {each["id"] for each in third} >= {anew.points[0].id, gone.id}


def test_what_is_written_is_read_again(made: MadeReport, tmp_path: Path) -> None:
    point = made.line.points[0]
    notes = (
        Annotation("a", "me", point.id, NAME, point.kind, point.span, point.place),
        Annotation("b", id="gone", kind="building", place=(1.0, 2.0, float("nan"))),
    )
    found = attached(notes, NAME, made.line.points, {})
    write_annotations(tmp_path / "a.json", NAME, found, made.line.points, {}, {})
    assert repr(read_annotations(tmp_path / "a.json")) == repr(notes)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.csv", b"id,words\n1,2\n", "its first line is 'id,words'"),
        ("a.csv", b"id,note\n\0,2\n", "it is no text"),
        ("a.csv", b"id,x,y,note\na,far,2,b\n", "x of line 2 is 'far'"),
        ("a.csv", b"id,x,y,note\na,inf,2,b\n", "x of line 2 is 'inf'"),
        ("a.csv", b"id,note\na," + b"b" * 4_001 + b"\n", "line 2 is 4001 letters long"),
        ("a.csv", b"note\n" + b"a\n" * 100_001, "it has 100002 rows"),
        ("a.json", b'{"annotations": [1]}', "it holds no notes"),
        ("a.json", b'{"annotations": ' + b"[" * 100_000, "it holds no notes"),
        ("a.json", b'[{"note": "a", "x": true, "y": 1}]', "x of note 1 is 'True'"),
    ],
)
def test_what_is_no_note_is_one_sentence(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(WorkError, match=re.escape(f"{name}: {says}")) as told:
        read_annotations(path)
    assert "\n" not in str(told.value)


def test_a_file_of_notes_has_a_size(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    with pytest.raises(WorkError, match="it is large"):
        read_annotations(tmp_path / "a.csv")
