"""The parts of the model that are about one thing each: graph, week, times, time line, colours."""

from __future__ import annotations

import dataclasses
import itertools
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

import gui.translations
from agent.api.history import PhaseSpan, RunView, TaskRuns
from agent.api.methods import METHODS
from agent.api.reasons import AcceptanceNeeded, NotAccepted, as_why
from agent.api.values import TaskState
from agent.api.volunteering import Hours
from agent.api.work import Misfit, PlanReply, TaskPlan
from agent.control.auditing import READS, TOLD_OF
from gui import words
from gui.model.audit import ACTS
from gui.model.graph import BOX_HEIGHT, draw
from gui.model.marks import Mark
from gui.model.planning import fits_text
from gui.model.timeline import timeline_of
from gui.model.week import cells_of, ranges_of, with_block
from gui.theme.colours import (
    DARK,
    LIGHT,
    STRONG_DARK,
    STRONG_LIGHT,
    TEXT_CONTRAST_MIN,
    WORKFLOW_HUES,
    Colours,
    contrast,
    readable_accent,
    text_on,
)
from gui.theme.look import look
from gui.views.rows import Rows
from gui.wording import sentences
from gui.words import tr_n
from tests.gui.values import task

STRONG_CONTRAST_MIN, SHAPE_CONTRAST_MIN = 7.0, 3.0
TEXT_ROLES = (
    *("text", "quiet", "accent", "waiting", "ready", "running", "suspended"),
    *("person_edge", "done", "failed", "cancelled"),
)


# -- graph ---------------------------------------------------------------------------------


def test_boxes_never_lie_on_each_other() -> None:
    tasks = [task("s"), *(task(f"m{n}", needs=("s",), program=f"p{n}") for n in range(8))]
    tasks.append(task("e", needs=tuple(f"m{n}" for n in range(8))))
    boxes = draw(tasks).boxes
    columns: dict[float, list[float]] = {}
    for box in boxes:
        columns.setdefault(box.x, []).append(box.y)
    for heights in columns.values():
        ordered = sorted(heights)
        gaps = [low - high for high, low in itertools.pairwise(ordered)]
        assert all(gap >= BOX_HEIGHT for gap in gaps)


def test_a_fan_out_folds_with_the_chains_inside_it() -> None:
    tasks = [task("split")]
    for number in range(240):
        tasks.append(task(f"a{number}", needs=("split",), program="tile"))
        tasks.append(task(f"b{number}", needs=(f"a{number}",), program="filter"))
    tasks.append(task("merge", needs=tuple(f"b{number}" for number in range(240))))
    picture = draw(tasks)
    assert [len(box.tasks) for box in picture.boxes] == [1, 240, 240, 1]
    assert picture.box_of["b17"] == "b0"


def test_tasks_that_stand_elsewhere_do_not_fold() -> None:
    same = [task(f"t{number}", program="p") for number in range(6)]
    needy = task("t0", program="p", needs=("x",))
    picture = draw([task("x", program="q"), needy, *same[1:]])
    assert sorted(len(box.tasks) for box in picture.boxes) == [1, 1, 5]


# -- week, times ---------------------------------------------------------------------------


def test_cells_come_back_as_the_same_hours() -> None:
    cells = with_block(frozenset(), (0, 18), (4, 23), on=True)
    ranges = ranges_of(cells)
    assert ranges[0] == Hours("monday", "18:00", "24:00")
    assert len(ranges) == 5
    assert cells_of(ranges) == cells
    whole = with_block(frozenset(), (0, 0), (6, 23), on=True)
    assert len(with_block(whole, (6, 23), (5, 0), on=False)) == 5 * 24


def test_filtering_takes_words_in_any_order(qapp: object) -> None:
    rows = Rows((), str, str)
    rows.show(["Line 42 north", "Line 17", "north gate"])
    rows.type("NORTH line")
    assert rows.rows == ["Line 42 north"]
    rows.type(" ")
    assert len(rows.rows) == 3


# -- time line -----------------------------------------------------------------------------


def run(
    host: str, begin: int, end: int, *spans: tuple[str, int], phase: str = "Terminated"
) -> RunView:
    told = tuple(PhaseSpan(name, at * 1000) for name, at in spans)  # type: ignore[arg-type]
    return RunView("r", 1, 1, host, phase, begin * 1000, end * 1000, end * 1000, spans=told)  # type: ignore[arg-type]


def runs(name: str, *each: RunView) -> TaskRuns:
    return TaskRuns(name, name, "line-42", TaskState.TERMINATED, 0, each)


def test_suspensions_are_spans_and_told() -> None:
    held = run("acor", 10, 40, ("Running", 10), ("Suspended", 20), ("Running", 25), phase="Lost")
    bar = timeline_of([runs("a", held)], 50).bars[0]
    assert bar.suspended == ((20.0, 25.0),)
    assert bar.mark is Mark.FAILED
    assert "suspended for 5 s" in bar.story
    assert "lost with its machine" in bar.story


# -- plans ---------------------------------------------------------------------------------


def test_who_has_to_accept_programs_is_said_once() -> None:
    misfits = (Misfit("n", "acor", "no", as_why(NotAccepted("a@1"))),)
    waits, whys = ("acor runs a …",), (as_why(AcceptanceNeeded(("acor",), ("a",))),)
    tasks = (TaskPlan("a", (), misfits, 0, 0),)
    plan = PlanReply(False, (), tasks, 1, 0, waits=waits, whys=whys)
    assert fits_text(plan) == ""
    assert sentences(plan.whys, plan.waits) == "Somebody on acor has to allow a first."


# -- words and colours ---------------------------------------------------------------------


def test_plurals_without_a_catalogue() -> None:
    assert (tr_n("%n task(s)", "", 1), tr_n("%n task(s)", "", 2)) == ("1 task", "2 tasks")


@pytest.mark.parametrize("code", ["en", "pt"])
def test_every_sentence_is_translated(code: str) -> None:
    folder = Path(next(iter(gui.translations.__path__)))
    tree = ET.parse(folder / f"wingbeat_{code}.ts")
    unfinished = [
        message.findtext("source")
        for message in tree.iter("message")
        if message.find("translation") is None
        or message.find("translation").get("type") == "unfinished"  # type: ignore[union-attr]
    ]
    assert unfinished == []


def test_translations_keep_the_places_of_values() -> None:
    import re

    folder = Path(next(iter(gui.translations.__path__)))
    wrong = []
    for message in ET.parse(folder / "wingbeat_pt.ts").iter("message"):
        source = message.findtext("source") or ""
        said = "".join(message.find("translation").itertext())  # type: ignore[union-attr]
        if set(re.findall(r"\{\w+\}", source)) != set(re.findall(r"\{\w+\}", said)):
            wrong.append(source)
    assert wrong == []


PALETTES = [LIGHT, DARK, STRONG_LIGHT, STRONG_DARK]


@pytest.mark.parametrize("colours", PALETTES[2:], ids=["light", "dark"])
def test_where_more_contrast_is_asked_for_nothing_is_faint(colours: Colours) -> None:
    """Text of every kind, and the lines around it."""
    words = (
        "text",
        "quiet",
        "accent",
        "failed",
        "done",
        "suspended",
        "waiting",
        "running",
        "ready",
    )
    pairs = [(getattr(colours, word), colours.surface) for word in words]
    assert [pair for pair in pairs if contrast(*pair) < STRONG_CONTRAST_MIN] == []
    assert contrast(colours.line, colours.surface) >= SHAPE_CONTRAST_MIN


@pytest.mark.skipif(not hasattr(Qt, "ContrastPreference"), reason="Qt tells of it from 6.10 on")
def test_high_contrast_follows_the_system(qapp: QApplication) -> None:
    """And goes when the system does not ask for it any more."""
    strong, usual = Qt.ContrastPreference.HighContrast, Qt.ContrastPreference.NoPreference
    seen = []
    for dark in (False, True):
        look().show(dark)
        for wanted in (strong, usual):
            look().contrast_changed(wanted)
            seen.append((look().colours.surface, look().colours.quiet))
            window = qapp.palette().color(QPalette.ColorRole.Window).name()
            assert window == look().colours.surface
    look().show(dark=False)
    each = (STRONG_LIGHT, LIGHT, STRONG_DARK, DARK)
    assert seen == [(colours.surface, colours.quiet) for colours in each]


@pytest.mark.parametrize("colours", PALETTES, ids=["light", "dark", "strong light", "strong dark"])
@pytest.mark.parametrize("back", ["surface", "backdrop"])
@pytest.mark.parametrize("role", TEXT_ROLES)
def test_text_can_be_read(colours: Colours, back: str, role: str) -> None:
    assert contrast(getattr(colours, role), getattr(colours, back)) >= TEXT_CONTRAST_MIN


@pytest.mark.parametrize("colours", PALETTES, ids=["light", "dark", "strong light", "strong dark"])
def test_text_on_other_grounds_can_be_read(colours: Colours) -> None:
    pairs = [
        *((colours.text, each) for each in (colours.selected, colours.raised)),
        (colours.quiet, colours.selected),
        (colours.on_accent, colours.accent),
        (colours.warning_text, colours.warning_back),
        ("#1b1f24", colours.person),
    ]
    assert [pair for pair in pairs if contrast(*pair) < TEXT_CONTRAST_MIN] == []


@pytest.mark.parametrize("colours", PALETTES, ids=["light", "dark", "strong light", "strong dark"])
def test_bars_of_the_time_line_are_seen_and_their_names_read(colours: Colours) -> None:
    for pair in WORKFLOW_HUES:
        hue = pair[1 if colours.dark else 0]
        assert contrast(hue, colours.surface) >= SHAPE_CONTRAST_MIN
        assert contrast(text_on(hue), hue) >= TEXT_CONTRAST_MIN


class QBalloonTip(QWidget):
    """Called as Qt calls what it shows beside a tray without notifications, always on this paper."""

    PAPER = "#ffffe1"


@pytest.mark.parametrize("dark", [False, True])
def test_balloons_can_be_read(qtbot: QtBot, dark: bool) -> None:
    look().show(dark)
    balloon = QBalloonTip()
    label = QLabel("Line 42 waits for you", balloon)
    qtbot.addWidget(balloon)
    balloon.show()
    ink = label.palette().color(QPalette.ColorRole.WindowText).name()
    look().show(dark=False)
    assert contrast(ink, QBalloonTip.PAPER) >= TEXT_CONTRAST_MIN


def test_an_accent_that_cannot_be_read_is_not_taken() -> None:
    assert readable_accent("#ffee00", LIGHT) == LIGHT.accent
    assert readable_accent("#004a80", LIGHT) == "#004a80"
    assert dataclasses.is_dataclass(LIGHT)


@pytest.mark.parametrize(
    ("count", "said"), [(1, "1 step waits for you"), (3, "3 steps wait for you")]
)
def test_a_sentence_with_a_note_is_found(qapp: object, count: int, said: str) -> None:
    from gui.translations import speak

    speak("en")
    assert words.tr_n("%n step(s) wait for you", "gates", count) == said
    speak("pt")
    assert words.tr_n("%n step(s) wait for you", "gates", count) != said
    words.install(None)


def test_sentences_stand_where_the_translators_tool_finds_them() -> None:
    """It does not look into the braces of a formatted string."""
    folder = Path(next(iter(gui.translations.__path__))).parent
    hidden = [
        f"{path.relative_to(folder)}: {line.strip()}"
        for path in sorted(folder.rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if "{tr(" in line or "{tr_n(" in line
    ]
    assert hidden == []


def test_a_sentence_begins_large_unless_with_the_name_of_a_machine() -> None:
    texts = ["acor is away", "the disk is full."]
    assert sentences((), texts, " ", {"acor", ""}) == "acor is away. The disk is full."


@pytest.mark.parametrize("code", ["en", "pt"])
def test_a_count_beyond_what_qt_counts_to_is_said_all_the_same(qapp: object, code: str) -> None:
    """Another machine may tell any number."""
    from gui.translations import speak

    speak(code)
    assert "2147483647" in words.tr_n("waits for %n task(s)", "", 2**40)
    words.install(None)


def test_every_act_that_the_audit_notes_has_words() -> None:
    assert {*METHODS} - READS | TOLD_OF <= set(ACTS)
