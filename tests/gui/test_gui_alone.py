"""A script that is dropped by itself, when work may run, and the door where no machine helps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from agent.api.values import PRIORITY_NAMES
from agent.api.volunteering import (
    PAUSE,
    RESUME,
    SET_VOLUNTEERING,
    Pause,
    Resume,
    SetVolunteering,
    VolunteerMode,
    VolunteerRules,
)
from agent.api.work import WorkflowView
from agent.client import inspecting
from agent.paths import VARIABLE
from gui.views.columns import workflow_columns
from gui.views.inspect_sheet import InspectSheet
from gui.views.program_form import EACH, OFTEN, ONCE
from gui.views.submit_sheet import SubmitSheet
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tasks.line.cloud import Points, write
from tasks.line.tiles import Plan
from tests.certain import certain
from tests.gui.acts import fresh, press, until
from tests.gui.values import NOW_S
from tests.tasks.test_line_flight import mapped

SCRIPT = 'cat "$2" > all.txt; echo "$@" > told.txt; echo TERMINATED all.txt told.txt\n'


def named(context: ViewContext, name: str) -> WorkflowView | None:
    found = (each for each in context.screen.workflows.values() if each.name == name)
    return next(found, None)


def is_in(context: ViewContext, name: str, state: str) -> bool:
    view = named(context, name)
    return view is not None and view.state == state


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / f"count{fresh()}.sh"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def somebody_there(qtbot: QtBot, context: ViewContext) -> Iterator[None]:
    """This computer helps when nobody uses it, and cannot see that nobody does."""

    def rule(mode: VolunteerMode) -> None:
        context.ask(context, SET_VOLUNTEERING, SetVolunteering(VolunteerRules(mode=mode)))
        helps = mode == "always"
        until(qtbot, lambda: certain(context.screen.volunteering).volunteering is helps)

    until(qtbot, lambda: context.screen.volunteering is not None)
    rule("when idle")
    yield
    rule("always")


def opened(qtbot: QtBot, window: Window, *paths: Path) -> SubmitSheet:
    sheet = certain(window.submit([str(path) for path in paths]))
    until(qtbot, lambda: sheet.submit.isEnabled() or sheet.faults.count() > 0)
    return sheet


def test_the_example_can_be_submitted(
    qtbot: QtBot, context: ViewContext, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies among Wingbeat's own files, of which nothing else leaves this computer."""
    monkeypatch.setenv(VARIABLE, str(context.home.data.parent))
    certain(window.findChild(QPushButton, "tryExample")).click()
    sheet = certain(window.findChild(SubmitSheet))
    until(qtbot, lambda: sheet.submit.isEnabled() or sheet.faults.count() > 0)
    assert sheet.faults.count() == 0
    sheet.close()


def test_a_script_runs_with_the_files_that_were_dropped_with_it(
    qtbot: QtBot, context: ViewContext, window: Window, script: Path
) -> None:
    files = [script.with_name(f"page {number}.txt") for number in (1, 2)]
    for each in files:
        each.write_text(each.name)
    sheet = opened(qtbot, window, files[0], script)
    form = sheet.program
    assert (sheet.files.count(), form.isVisible()) == (1, True)
    assert form.files.text() == "page 1.txt"
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(files[1]))])
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    sheet.dropEvent(QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, data, left, none))
    assert form.files.text() == "page 1.txt, page 2.txt"
    form.parameters.setText("fast")
    assert form.told.text() == "It is told: -p page 1.txt -p page 2.txt -x fast"
    for often, count in ((OFTEN, 2), (ONCE, 1), (EACH, 2)):
        form.often.setCurrentIndex(often)
        assert form.times.isVisible() is (often == OFTEN)
        said = f"{count} task{'s' * (count > 1)}"
        until(qtbot, lambda said=said: sheet.summary.text().startswith(said))  # type: ignore[misc]
    press(sheet, "submitDo")
    until(qtbot, lambda: is_in(context, script.stem, "finished"))
    assert certain(named(context, script.stem)).tasks == 2


def test_what_is_neither_a_workflow_nor_a_program_is_said(
    qtbot: QtBot, window: Window, tmp_path: Path
) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0 no text")
    sheet = opened(qtbot, window, tmp_path / "photo.jpg")
    assert sheet.faults.item(0).text().startswith("photo.jpg is neither a workflow nor a program")
    assert not sheet.program.isVisible()
    assert not sheet.submit.isEnabled()
    sheet.close()


def test_when_it_may_run_is_chosen_in_words(
    qtbot: QtBot, context: ViewContext, window: Window, script: Path
) -> None:
    sheet = opened(qtbot, window, script)
    words = [sheet.urgency.itemText(place) for place in range(sheet.urgency.count())]
    assert words == ["when machines are idle", "now, on this computer"]
    assert sheet.urgency.currentData() == "low"
    sheet.urgency.setCurrentIndex(1)
    sheet.urgency.activated.emit(1)
    until(qtbot, lambda: "Runs on this computer at once" in sheet.machines.text())
    press(sheet, "submitDo")
    until(qtbot, lambda: is_in(context, script.stem, "finished"))
    assert certain(named(context, script.stem)).priority == PRIORITY_NAMES["interactive"]
    numbered = script.with_name(f"{script.stem}.wingbeat.yaml")
    numbered.write_text(
        f"priority: 40\nprograms: {{a: {script.name}}}\ntasks: {{a: {{program: a}}}}"
    )
    sheet = opened(qtbot, window, numbered)
    assert sheet.urgency.currentText() == "with priority 40"
    sheet.close()


def test_where_nobody_helps_it_is_said_and_it_can_run_here_now(
    qtbot: QtBot, context: ViewContext, window: Window, script: Path, somebody_there: None
) -> None:
    sheet = opened(qtbot, window, script)
    until(qtbot, sheet.here.isVisible)
    assert "No machine helps at the moment" in sheet.machines.text()
    press(sheet, "submitHere")
    until(qtbot, lambda: is_in(context, script.stem, "finished"))


def test_a_computer_that_is_paused_offers_nothing(
    qtbot: QtBot, context: ViewContext, window: Window, script: Path
) -> None:
    until(qtbot, lambda: context.screen.volunteering is not None)
    context.ask(context, PAUSE, Pause())
    until(qtbot, lambda: certain(context.screen.node).own_work == "none")
    sheet = opened(qtbot, window, script)
    sheet.urgency.activated.emit(1)
    until(qtbot, lambda: "No machine helps at the moment" in sheet.machines.text())
    assert not sheet.here.isVisible()
    sheet.urgency.setCurrentIndex(1)
    sheet.urgency.activated.emit(1)
    until(qtbot, lambda: sheet._current().urgency == "interactive")
    press(sheet, "submitDo")
    until(qtbot, lambda: named(context, script.stem) is not None)
    window.workflows.choose(certain(named(context, script.stem)).workflow)
    until(qtbot, lambda: certain(window.workflows.chosen).name == script.stem)
    assert not window.workflows.details.here.isVisible()
    context.ask(context, RESUME, Resume())
    until(qtbot, lambda: is_in(context, script.stem, "finished"))


@pytest.mark.parametrize("by", ["button", "menu"])
def test_what_waits_because_nobody_helps_says_so_and_can_run_here_now(
    qtbot: QtBot, context: ViewContext, window: Window, script: Path, somebody_there: None, by: str
) -> None:
    sheet = opened(qtbot, window, script)
    press(sheet, "submitDo")
    until(qtbot, lambda: named(context, script.stem) is not None)
    view = certain(named(context, script.stem))
    window.workflows.choose(view.workflow)
    details = window.workflows.details
    until(qtbot, details.here.isVisible)
    state = next(each for each in workflow_columns(context.screen) if each.key == "next")
    assert state.text(view, NOW_S) == "waits: no machine helps now"
    if by == "button":
        details.here.click()
    else:
        menu = certain(window.workflows.menu_at(window.pos()))
        entry = next(each for each in menu.actions() if each.objectName() == "runHere")
        assert entry.isEnabled()
        entry.trigger()
        menu.close()
    until(qtbot, lambda: is_in(context, script.stem, "finished"))
    assert not details.here.isVisible()


def test_what_comes_from_outside_of_its_folder_is_confirmed_by_itself(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    name = f"takes{fresh()}"
    folder = tmp_path / "work"
    folder.mkdir()
    secrets = [tmp_path / f"secret {number}" for number in (1, 2)]
    for each in secrets:
        each.write_text("of the bank")
    (folder / "run.sh").write_text("echo TERMINATED\n")
    file = folder / f"{name}.wingbeat.yaml"
    data = ", ".join(f"../{each.name}" for each in secrets)
    file.write_text(f"programs: {{run: run.sh}}\ntasks:\n  a: {{program: run, data: [{data}]}}\n")
    sheet = certain(window.submit([str(file)]))
    until(qtbot, lambda: sheet.taken.outside.count() == 2)
    assert sheet.taken.leaves.text().startswith("3 files, ")
    assert sheet.taken.question.text().startswith("2 things from outside of its folder")
    assert not sheet.submit.isEnabled()
    sheet.taken.outside.item(0).setCheckState(Qt.CheckState.Checked)
    until(qtbot, lambda: "1 thing to confirm" in sheet.files.item(0).text())
    assert not sheet.submit.isEnabled()
    left = next(
        item
        for row in range(2)
        if (item := sheet.taken.outside.item(row)).checkState() is Qt.CheckState.Unchecked
    )
    left.setCheckState(Qt.CheckState.Checked)
    until(qtbot, sheet.submit.isEnabled)
    press(sheet, "submitDo")
    until(qtbot, lambda: is_in(context, name, "finished"))


def test_the_folder_of_a_flight_is_asked_about_planned_and_submitted(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    """The plan is made by the real program; what no file says is asked for, a field each."""
    flight = tmp_path / f"line {fresh()}"
    flight.mkdir()
    write(flight / "a.laz", [Points.of(*np.random.default_rng(3).uniform(0, 500, (3, 1_000)))])
    assert window.submit([str(flight)]) is None
    sheet = certain(window.findChild(InspectSheet))
    for name, value in (("crs", "EPSG:28992"), ("heights", "metres")):
        until(qtbot, lambda name=name: sheet.findChild(QWidget, f"inspect_{name}") is not None)  # type: ignore[misc]
        assert not sheet.go_on.isEnabled()
        box = sheet.findChild(QComboBox, f"inspect_{name}")
        field = box.lineEdit() if box is not None else sheet.findChild(QLineEdit, f"inspect_{name}")
        QTest.keyClicks(certain(field), value)
    until(qtbot, sheet.go_on.isEnabled)
    assert sheet.plan.text().startswith("2 tiles along")
    press(sheet, "inspectGo")
    until(qtbot, lambda: window.findChild(SubmitSheet) is not None)
    submitting = certain(window.findChild(SubmitSheet))
    until(qtbot, submitting.submit.isEnabled)
    assert (tmp_path / f"{flight.name}-inspection" / "line.wingbeat.yaml").is_file()
    assert submitting.summary.text().startswith("13 tasks, 4 steps for a person")
    submitting.close()


def test_what_a_person_knows_of_a_flight_beyond_that_is_said_in_the_sheet(
    qtbot: QtBot, window: Window, tmp_path: Path
) -> None:
    """Nobody is asked for it; what cannot be meant is told, and nothing is planned with it."""
    flight = tmp_path / f"line {fresh()}"
    flight.mkdir()
    write(flight / "a.laz", [Points.of(*np.random.default_rng(3).uniform(0, 500, (3, 1_000)))])
    mapped(flight / "route.gpkg", [(0.0, 0.0), (500.0, 500.0)], crs="EPSG:28992")
    sheet = window.inspect(flight)
    until(qtbot, lambda: "crs" in sheet.fields)
    press(sheet, "inspectMore")
    assert not sheet.more.isVisible()
    assert sheet.fields["name"].hasFocus()

    def say(name: str, value: str) -> None:
        field = certain(sheet.findChild(QLineEdit, f"inspect_{name}"))
        field.clear()
        QTest.keyClicks(field, value)

    say("lever-m", "0.1 up")
    until(qtbot, sheet.fault.isVisible)
    assert "“0.1 up”" in sheet.fault.sentence.text()
    say("lever-m", "0.1 -0.2 0.35")
    say("date", "tomorrow")
    until(qtbot, lambda: "'tomorrow' is no day" in sheet.plan.text())
    assert not sheet.go_on.isEnabled()
    say("date", "2026-05-04")
    say("boresight-deg", "0.01 0 -0.02")
    say("tile-m", "200")
    certain(sheet.findChild(QComboBox, "inspect_frame")).setCurrentIndex(1)
    until(qtbot, lambda: "target" in sheet.fields)
    say("target", "EPSG:28992")
    until(qtbot, sheet.go_on.isEnabled)
    press(sheet, "inspectGo")
    until(qtbot, lambda: window.findChild(SubmitSheet) is not None)
    certain(window.findChild(SubmitSheet)).close()
    told = Plan.read(tmp_path / f"{flight.name}-inspection" / "plan.json")
    assert (told.date, told.frame, told.tile_m) == ("2026-05-04", "scanner", 200.0)
    assert told.lever_m == (0.1, -0.2, 0.35)
    assert told.boresight_deg == (0.01, 0.0, -0.02)


def test_what_cannot_be_looked_at_is_said_in_the_sheet(
    qtbot: QtBot, window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.las").touch()
    monkeypatch.setattr(inspecting, "PLACES", (tmp_path,))
    sheet = window.inspect(tmp_path)
    until(qtbot, sheet.fault.isVisible)
    assert not sheet.go_on.isEnabled()
    sheet.close()
