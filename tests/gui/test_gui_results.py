"""Results as people look at them: inside the window, by their own programs, or not opened at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QColor, QDesktopServices, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QGraphicsView, QPlainTextEdit, QTableView, QWidget
from pytestqt.qtbot import QtBot

from agent.api.values import Dataset, TaskState
from agent.api.work import TaskView
from agent.client.fetching import last_results
from gui.model import results
from gui.model.results import GUARD, Kind, guarded, kind_of, rows_of, shapes_of
from gui.views.outputs import looked_at_first, outputs_of, worth_opening
from gui.views.result_view import DRAWN_EDGE, GUARDED, ResultView, show_result
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain, of_kind
from tests.gui.acts import press, until, view_of
from tests.gui.values import task
from tests.hosts.machine import Machine

TIMES = "\u00d7"
LINE = {"type": "LineString", "coordinates": [[10.0, 60.0], [10.2, 60.0], [10.2, 60.1]]}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What the system was asked to open."""
    paths: list[Path] = []

    def open_(url: QUrl) -> bool:
        paths.append(Path(url.toLocalFile()))
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_)
    return paths


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def seen(qtbot: QtBot, path: Path) -> QWidget:
    view = certain(show_result(path))
    qtbot.addWidget(view)
    return view


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("words.txt", Kind.TEXT), ("Spans.CSV", Kind.TABLE), ("map.geojson", Kind.MAP)),
        *(("report.html", Kind.PAGE), ("tower.jpg", Kind.PICTURE), ("points.laz", Kind.DOCUMENT)),
        *((name, Kind.OTHER) for name in ("a", "run.sh", "x.exe", "x.desktop", "x.py", "html")),
    ],
)
def test_a_result_is_known_by_the_end_of_its_name(name: str, kind: Kind) -> None:
    assert kind_of(name) is kind


@pytest.mark.parametrize("name", ["setup.exe", "run.bat", "x.desktop", "program.py", "macro.xlsm"])
def test_what_a_system_might_run_is_shown_in_its_folder(
    opened: list[Path], tmp_path: Path, name: str
) -> None:
    assert show_result(written(tmp_path, name, "x")) is None
    assert opened == [tmp_path]


@pytest.mark.parametrize("before", ["", "<!DOCTYPE html>\n", "\ufeff<!-- a --> <!doctype HTML>"])
def test_a_page_is_opened_without_its_scripts(
    opened: list[Path], tmp_path: Path, before: str
) -> None:
    page = f"{before}<html><head><script>steal()</script></head></html>"
    path = written(tmp_path, "report.html", page)
    assert show_result(path) is None
    (shown,) = opened
    assert shown == tmp_path / f"{GUARDED}report.html"
    begin, guard, rest = shown.read_text("utf-8").partition(GUARD.decode())
    assert (begin.strip(), guard, begin + rest) == (before.strip(), GUARD.decode(), page)
    assert path.read_text("utf-8") == page


@pytest.mark.parametrize(
    "before",
    [
        b"<!--><script>steal()</script>--><!doctype html>",
        b"<!-- --!><script>steal()</script>--><!doctype html>",
        b"<!doctype html \x1b$B>",
    ],
)
def test_nothing_that_a_browser_would_run_comes_before_the_guard(before: bytes) -> None:
    assert certain(guarded(before)).startswith(GUARD)


def test_a_page_that_cannot_be_guarded_is_shown_as_text(
    qtbot: QtBot, opened: list[Path], tmp_path: Path
) -> None:
    page = "<html>x</html>".encode("utf-16")
    assert guarded(page) is None
    view = seen(qtbot, written(tmp_path, "report.html", page))
    assert opened == []
    assert view.findChild(QPlainTextEdit) is not None


def test_a_text_is_shown_and_cut_where_it_is_too_long(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "TEXT_BYTES_MAX", 4)
    for content, text, note in (
        *((b"ab\xff", "ab\ufffd", ""), (b"abcdef", "abcd", "Only its beginning is shown")),
        (b"", "", "There is nothing in it."),
    ):
        view = seen(qtbot, written(tmp_path, "a.txt", content))
        assert of_kind(QPlainTextEdit, view.findChild(QPlainTextEdit)).toPlainText() == text
        assert view.note.text() == note  # type: ignore[attr-defined]


@pytest.mark.parametrize("parted", [",", ";", "\t"])
def test_a_table_has_its_heading_and_all_cells(qtbot: QtBot, tmp_path: Path, parted: str) -> None:
    text = f'span{parted}"sag, m"\n1{parted}2.5\n2\n'
    view = seen(qtbot, written(tmp_path, "spans.csv", text))
    model = of_kind(QTableView, view.findChild(QTableView)).model()
    across = range(model.columnCount())
    assert [model.headerData(each, Qt.Orientation.Horizontal) for each in across] == [
        "span",
        "sag, m",
    ]
    cells = [[model.index(row, each).data() for each in across] for row in range(model.rowCount())]
    assert cells == [["1", "2.5"], ["2", ""]]


def test_a_table_is_cut_where_it_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "ROWS_MAX", 3)
    assert rows_of(written(tmp_path, "a.csv", "a\n1\n2\n3\n")) == ([["a"], ["1"], ["2"]], False)
    assert rows_of(written(tmp_path, "a.csv", "a\n1\n2\n")) == ([["a"], ["1"], ["2"]], True)


def test_a_table_ends_before_a_cell_that_is_too_long(tmp_path: Path) -> None:
    text = "a,b\n1,2\n3," + "x" * 131_073 + "\n5,6\n"
    assert rows_of(written(tmp_path, "a.csv", text)) == ([["a", "b"], ["1", "2"]], False)


def test_a_picture_is_shown_or_why_not(qtbot: QtBot, tmp_path: Path) -> None:
    image = QImage(30, 20, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    path = tmp_path / "a.png"
    image.save(str(path))
    assert seen(qtbot, path).note.text() == f"30 {TIMES} 20"  # type: ignore[attr-defined]
    broken = seen(qtbot, written(tmp_path, "b.png", b"\x89PNG"))
    assert "cannot be read" in broken.note.text()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("wide", "high"), [("18mm", "9mm"), ("90000", "45000")])
def test_a_drawing_is_as_large_as_one_can_look_at(
    qtbot: QtBot, tmp_path: Path, wide: str, high: str
) -> None:
    space = 'xmlns="http://www.w3.org/2000/svg"'
    text = (
        f'<svg {space} width="{wide}" height="{high}" viewBox="0 0 2 1"><path d="M0 0h1v1"/></svg>'
    )
    view = seen(qtbot, written(tmp_path, "a.svg", text))
    assert view.note.text() == ""  # type: ignore[attr-defined]
    shown = view.body.scene().items()[0]  # type: ignore[attr-defined]
    assert shown.boundingRect().width() == DRAWN_EDGE


def test_what_a_gate_is_about_is_looked_at_first() -> None:
    names = ("segmented.laz", "spans.json", "points.csv", "overview.svg", "b.bin", "preview.html")
    told = [each.name for each in looked_at_first(outputs_of([made(*names)]))]
    assert told[:3] == ["preview.html", "overview.svg", "points.csv"]
    assert told[3:] == ["spans.json", "segmented.laz", "b.bin"]


def test_a_map_of_a_small_place_fills_the_window(qtbot: QtBot, tmp_path: Path) -> None:
    """Two points 300 m apart, in degrees, beside dots that are eight pixels wide."""
    points = [{"type": "Point", "coordinates": [x, 53.11]} for x in (6.5000, 6.5045)]
    told = {"type": "GeometryCollection", "geometries": points}
    view = seen(qtbot, written(tmp_path, "a.geojson", json.dumps(told)))
    plane = view.body  # type: ignore[attr-defined]
    shown = [plane.mapFromScene(each.pos()).x() for each in plane.scene().items()]
    assert max(shown) - min(shown) > 0.8 * plane.viewport().width()


def test_a_map_shows_everything_with_what_it_says(qtbot: QtBot, tmp_path: Path) -> None:
    square = [[[10.0, 60.0], [10.1, 60.0], [10.1, 60.1], [10.0, 60.0]]]
    told = {
        "type": "FeatureCollection",
        "features": [
            {"type": "Feature", "geometry": LINE, "properties": {"span": 7}},
            {"type": "Feature", "geometry": {"type": "Point", "coordinates": [10.0, 60.0, 5]}},
            {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": square}},
            {"type": "Feature", "geometry": None},
        ],
    }
    path = written(tmp_path, "a.geojson", json.dumps(told))
    shapes, whole = shapes_of(path)
    assert ([len(each.lines) for each in shapes], whole) == ([1, 1, 1], True)
    assert [each.closed for each in shapes] == [False, False, True]
    (x0, y0), (x1, _), (_, y2) = shapes[0].lines[0]
    assert (x1 - x0) == pytest.approx(0.1, rel=0.01), "a degree of longitude is half as wide there"
    assert (y2 - y0) == pytest.approx(-0.1), "north is up"
    view = seen(qtbot, path)
    items = of_kind(QGraphicsView, view.findChild(QGraphicsView)).scene().items()
    assert sorted(each.toolTip() for each in items) == ["", "", "span: 7"]
    assert view.note.text() == "3 things"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        *("{}", "[", '{"type": "Point", "coordinates": ["a", 1]}', '{"type": "Point"}'),
        *('{"type": "Cube", "coordinates": []}', '{"type": "LineString", "coordinates": [[1]]}'),
        '{"type": "Point", "coordinates": [1e999, 1]}',
    ],
)
def test_what_is_no_map_is_shown_as_its_text(qtbot: QtBot, tmp_path: Path, text: str) -> None:
    view = seen(qtbot, written(tmp_path, "a.geojson", text))
    assert of_kind(QPlainTextEdit, view.findChild(QPlainTextEdit)).toPlainText() == text


def test_a_folder_is_opened_as_one(opened: list[Path], tmp_path: Path) -> None:
    assert show_result(tmp_path) is None
    assert opened == [tmp_path]


def made(*names: str, external: bool = False, **more: object) -> TaskView:
    outputs = tuple(Dataset(f"sha256:{name}", 4, external=external) for name in names)
    return task("tile", TaskState.TERMINATED, outputs=outputs, output_names=names, **more)


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (("a.bin", "spans.csv", "report.html", "b.pdf"), "report.html"),
        (("a.bin", "b.txt"), "b.txt"),
        (("a.bin",), "a.bin"),
    ],
)
def test_what_is_worth_opening_comes_first(names: tuple[str, ...], first: str) -> None:
    assert certain(worth_opening(outputs_of([made(*names)]))).name == first


def test_nothing_is_opened_where_there_is_nothing() -> None:
    assert worth_opening(outputs_of([made("db-7", external=True), task("a")])) is None


def test_results_have_names_and_never_digests() -> None:
    old = task("old", TaskState.TERMINATED, outputs=(Dataset("sha256:abc", 0),))
    assert [each.says for each in outputs_of([old])] == ["result 1"]
    several = [each.says for each in outputs_of([old, made("points.las")])]
    assert several == ["old: result 1", "tile: points.las · 4 B"]


def test_of_a_workflow_the_last_results_count() -> None:
    first, last = task("a", TaskState.TERMINATED), task("b", TaskState.TERMINATED, needs=("a",))
    assert last_results([first, last, task("c", needs=("b",))]) == []
    assert last_results([first, last, task("c")]) == [last]


def test_what_a_finished_workflow_has_come_to_is_one_press_away(
    qtbot: QtBot, machine: Machine, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    written(tmp_path, "say.py", 'open("words.txt", "w").write("three words here\\n")\n')
    lines = "programs: {say: say.py}\ntasks: {first: {program: say}}\n"
    name = machine.answer("submit", str(written(tmp_path, "said.yaml", lines)))["workflow"]
    until(
        qtbot,
        lambda: name in context.screen.workflows and view_of(context, name).state == "finished",
    )
    window.workflows.choose(name)
    details = window.workflows.details
    until(qtbot, details.final.isVisible)
    assert details.final.text().strip() == "Open words.txt"
    press(window, "openFinal")
    until(qtbot, lambda: window.findChild(ResultView) is not None)
    view = of_kind(ResultView, window.findChild(ResultView))
    assert of_kind(QPlainTextEdit, view.body).toPlainText() == "three words here\n"
    QTest.keyClick(view, Qt.Key.Key_Escape)
    until(qtbot, lambda: window.findChild(ResultView) is None)


def test_what_nothing_here_opens_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _: False)
    with pytest.raises(OSError, match="no program of this computer opens it"):
        show_result(written(tmp_path, "report.pdf", "x"))


@pytest.mark.parametrize(
    "order",
    [
        b'<meta http-equiv="refresh" content="0;url=https://example.org">',
        b"<META HTTP-EQUIV=refresh content=0;url=x>",
        b'<meta content="0;url=x" http-equiv = "&#114;efresh">',
        b'<meta http-\x1b(Bequiv="refresh" content="0;url=x">',
        b'<meta http-equiv="content-typerefresh" http-equiv=refresh>',
        b"<meta http-equiv=content-type/ http-equiv=set-cookie>",
    ],
)
def test_a_page_leads_nowhere_by_itself(order: bytes) -> None:
    """Whoever made it cannot send its reader elsewhere, where somebody then knows that it was read."""
    found = certain(guarded(b"<!doctype html><head>" + order + b"</head>report"))
    _, _, page = found.partition(GUARD)
    assert b"http-equiv" not in page.lower()
    assert page.endswith(b"report")


def test_a_page_may_say_what_letters_it_is_written_in() -> None:
    told = b"<meta http-equiv='Content-Type' content='text/html; charset=iso-8859-1'>Azul"
    assert certain(guarded(told)) == GUARD + told
