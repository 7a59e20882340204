"""Where the same name is there already, and where work runs again: ways on, in the real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from agent.api.work import WorkflowView
from gui.model.workflows import task_outlook
from gui.views.again_sheet import AgainSheet
from gui.views.known_name import free_name
from gui.views.submit_sheet import SubmitSheet
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import fresh, press, until

SHEET = """\
name: NAME
variables:
  seconds: {type: number, says: How long, default: 0.1}
tasks:
  import: {program: import, parameters: "${seconds}", expected: 1s}
"""


def test_a_known_name_has_three_ways_on(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    name = f"known {fresh()} of"
    path = tmp_path / "one.wingbeat.yaml"
    path.write_text(SHEET.replace("NAME", name), "utf-8")

    def called() -> list[str]:
        return [each.name for each in context.screen.workflows.values() if name in each.name]

    def opened() -> SubmitSheet:
        sheet = certain(window.submit([str(path)]))
        until(qtbot, sheet.submit.isEnabled)
        return sheet

    QTest.keyClick(opened(), Qt.Key.Key_Return)
    until(qtbot, lambda: called() == [name])
    sheet = opened()
    assert "The same was submitted" in sheet.known.said.text()
    QTest.keyClick(sheet, Qt.Key.Key_Return)
    until(qtbot, lambda: "is known already" in sheet.note.text())
    assert called() == [name]
    press(sheet, "knownAgain")
    until(qtbot, lambda: called() == [name] * 2)
    until(qtbot, lambda: window.findChild(SubmitSheet) is None)
    sheet = opened()
    press(sheet, "knownOffer")
    until(qtbot, lambda: sheet.name.text() == f"{name} 2")
    until(qtbot, sheet.submit.isEnabled)
    QTest.keyClick(sheet, Qt.Key.Key_Return)
    until(qtbot, lambda: f"{name} 2" in called())
    sheet = opened()
    newest = max(
        context.screen.workflows.values(), key=lambda each: (each.name == name, each.submitted_ms)
    )
    press(sheet, "knownShow")
    until(qtbot, lambda: certain(window.workflows.chosen).workflow == newest.workflow)
    until(qtbot, lambda: window.findChild(SubmitSheet) is None)


@pytest.mark.parametrize(
    ("name", "taken", "offered"),
    [
        ("words", (), "words 2"),
        ("words", ("words 2", "words 3"), "words 4"),
        ("words 2", ("words", "words 2"), "words 3"),
        ("line 42 north", (), "line 42 north 2"),
        ("7", (), "7 2"),
    ],
)
def test_the_name_that_is_offered_is_free(name: str, taken: tuple[str, ...], offered: str) -> None:
    assert free_name(name, taken) == offered


MENDED = """\
name: NAME
programs: {check: check.sh}
variables:
  of: {default: wires}
tasks:
  import: {program: import, parameters: "0.1", expected: 1s}
  other: {program: import, parameters: "0.1 ${of}", expected: 1s}
  check: {program: check, after: [import], retries: 0}
"""


@pytest.fixture
def failed(qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path) -> WorkflowView:
    """A workflow whose last step failed, submitted in the window; its script is mended since."""
    name, script = f"mended {fresh()}", tmp_path / "check.sh"
    path = tmp_path / "one.wingbeat.yaml"
    path.write_text(MENDED.replace("NAME", name), "utf-8")
    script.write_text("echo ERROR no film; exit 1\n", "utf-8")
    sheet = certain(window.submit([str(path)]))
    until(qtbot, sheet.submit.isEnabled)
    QTest.keyClick(sheet, Qt.Key.Key_Return)
    until(qtbot, lambda: [each.state for each in of_name(context, name)] == ["failed"])
    script.write_text("echo all is well\n", "utf-8")
    (found,) = of_name(context, name)
    window.workflows.choose(found.workflow)
    until(qtbot, lambda: len(context.screen.tasks_of(found.workflow)) == 3)
    return found


def of_name(context: ViewContext, name: str) -> list[WorkflowView]:
    """The workflows of this name, the newest first."""
    found = [each for each in context.screen.workflows.values() if each.name == name]
    return sorted(found, key=lambda each: -each.submitted_ms)


def again_sheet(qtbot: QtBot, window: Window) -> AgainSheet:
    """The sheet that opens, once it has read what there is."""
    until(qtbot, lambda: window.findChild(AgainSheet) is not None)
    sheet = certain(window.findChild(AgainSheet))
    until(qtbot, sheet.run.isEnabled)
    return sheet


def test_what_was_mended_is_offered_and_enter_runs_it(
    qtbot: QtBot, context: ViewContext, window: Window, failed: WorkflowView
) -> None:
    window.workflows.details.try_again()
    sheet = again_sheet(qtbot, window)
    assert sheet.version.currentData() is True
    assert sheet.summary.text().startswith("1 step will run, 2 unchanged and kept")
    assert sheet.note.text() == "check: another script"
    QTest.keyClick(sheet, Qt.Key.Key_Return)
    until(qtbot, lambda: [e.state for e in of_name(context, failed.name)] == ["finished", "failed"])
    newest = of_name(context, failed.name)[0]
    tasks = context.screen.tasks_of(newest.workflow)
    until(qtbot, lambda: certain(window.workflows.chosen).workflow == newest.workflow)
    until(qtbot, lambda: len(context.screen.tasks_of(newest.workflow)) == 3)
    tasks = context.screen.tasks_of(newest.workflow)
    told = {each.name: task_outlook(each, 0.0) for each in tasks}
    assert (told.pop("import"), told.pop("other")) == ("kept from before",) * 2
    assert told["check"].startswith("done ")


def test_the_old_one_is_tried_where_that_is_wanted(
    qtbot: QtBot, context: ViewContext, window: Window, failed: WorkflowView
) -> None:
    def generation() -> int:
        tasks = context.screen.tasks_of(failed.workflow)
        return next(each.generation for each in tasks if each.name == "check")

    before = generation()
    window.workflows.details.try_again()
    sheet = again_sheet(qtbot, window)
    sheet.version.setCurrentIndex(1)
    sheet.version.activated.emit(1)
    assert sheet.summary.text().startswith("1 step will run, 2 unchanged and kept")
    press(sheet, "againRun")
    until(qtbot, lambda: generation() > before)
    assert len(of_name(context, failed.name)) == 1


def test_past_work_runs_again_with_another_value_and_name(
    qtbot: QtBot, context: ViewContext, window: Window, failed: WorkflowView
) -> None:
    context.run_again.emit(failed.workflow)
    sheet = again_sheet(qtbot, window)
    field = certain(sheet.findChild(QLineEdit, "variable_of"))
    field.clear()
    QTest.keyClicks(field, "poles")
    until(qtbot, lambda: "other: other parameters" in sheet.note.text())
    until(qtbot, sheet.run.isEnabled)
    assert sheet.summary.text().startswith("2 steps will run, 1 unchanged and kept")
    sheet.whole.setChecked(True)
    assert sheet.summary.text().startswith("3 steps will run")
    sheet.new_name.clear()
    QTest.keyClicks(sheet.new_name, f"{failed.name} of poles")
    until(qtbot, lambda: not sheet.run.isEnabled())
    until(qtbot, sheet.run.isEnabled)
    press(sheet, "againRun")
    until(
        qtbot,
        lambda: [e.state for e in of_name(context, f"{failed.name} of poles")] == ["finished"],
    )


def test_what_cannot_be_read_runs_as_it_was_and_says_why(
    qtbot: QtBot, context: ViewContext, window: Window, failed: WorkflowView, tmp_path: Path
) -> None:
    (tmp_path / "one.wingbeat.yaml").unlink()
    context.run_again.emit(failed.workflow)
    sheet = again_sheet(qtbot, window)
    assert sheet.note.text().startswith("It cannot be read as it is now (")
    assert sheet.form_holder.isHidden()
    press(sheet, "againRun")
    until(qtbot, lambda: len(of_name(context, failed.name)) == 2)
