"""Every act in the window, with a real agent: what a person does, and what becomes of it there."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QGraphicsItem,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from agent.api.values import TaskState
from agent.api.work import GATE, Gate, Task
from gui import settings
from gui.model.news import NewsKind
from gui.model.tray import Act, Entry, pause_entries
from gui.views.computer_page import ComputerPage
from gui.views.log_page import LogPage
from gui.views.pieces import row
from gui.views.settings_dialog import SettingsDialog
from gui.views.side_bar import Place, SideBar
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import fresh, gone_to, press, submit, task_of, until, view_of, waiting
from tests.gui.conftest import NoLogin
from tests.gui.values import NOW_S

# -- workflows -----------------------------------------------------------------------------


def test_what_has_ended_is_not_cancelled(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    name = submit(qtbot, context, waiting(), waiting("compare"))
    window.workflows.choose(name, task_of(context, name, "look").task)
    gate = task_of(context, name, "look").task
    window.workflows.cancel(name, (gate,))
    assert not window.workflows.undo.isHidden()
    context.ask(context, GATE, Gate(gate))
    until(qtbot, lambda: task_of(context, name, "look").state is TaskState.TERMINATED)
    window.workflows.undo.do_now()
    window.workflows.cancel(name, (gate,))
    assert window.workflows.undo.isHidden()
    assert window.fault.isHidden()
    assert view_of(context, name).state == "waiting"


def test_a_cancel_can_be_undone_and_is_done_otherwise(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    name = submit(qtbot, context, waiting())
    window.workflows.choose(name)
    window.workflows.cancel_chosen()
    assert window.workflows.undo.isVisible()
    press(window, "undoBarHelp")
    assert window.workflows.undo.isHidden()
    assert view_of(context, name).state == "waiting"
    window.workflows.cancel_chosen()
    window.workflows.undo.do_now()
    until(qtbot, lambda: view_of(context, name).state == "cancelled")


def test_what_failed_is_tried_again_from_there(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    failing = Task("segment", "segment", parameters="0.1 fails", expected_s=1, failures_max=1)
    name = submit(qtbot, context, failing)
    until(qtbot, lambda: view_of(context, name).state == "failed")
    window.workflows.choose(name, task_of(context, name, "segment").task)
    until(qtbot, window.workflows.details.retry.isVisible)
    generation = task_of(context, name, "segment").generation
    press(window, "retryFrom")
    until(qtbot, lambda: task_of(context, name, "segment").generation > generation)


def test_selection_stays_while_rows_come(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    first = submit(qtbot, context, waiting())
    window.workflows.choose(first)
    second = submit(qtbot, context, waiting())
    until(qtbot, lambda: window.workflows.rows.place_of(second) >= 0)
    chosen = certain(window.workflows.table.current())
    assert chosen.workflow == first


# -- submitting ----------------------------------------------------------------------------

SHEET = """\
name: NAME
variables:
  seconds: {type: number, says: How long}
tasks:
  import: {program: import, parameters: "${seconds}", expected: 1s}
"""


def test_a_sheet_asks_for_what_is_missing_and_enter_submits(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    name = f"sheet {fresh()}"
    path = tmp_path / "one.wingbeat.yaml"
    path.write_text(SHEET.replace("NAME", name), "utf-8")
    sheet = certain(window.submit([str(path)]))
    until(qtbot, lambda: sheet.faults.count() > 0)
    assert not sheet.submit.isEnabled()
    field = certain(sheet.findChild(QLineEdit, "variable_seconds"))
    QTest.keyClicks(field, "0.1")
    until(qtbot, sheet.submit.isEnabled)
    assert "1 task" in sheet.summary.text()
    assert "acor" in sheet.machines.text()
    QTest.keyClick(sheet, Qt.Key.Key_Return)
    views = context.screen
    until(qtbot, lambda: name in [each.name for each in views.workflows.values()])


def test_faults_are_told_with_their_lines(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.wingbeat.yaml"
    path.write_text("name: w\ntasks:\n  a: {program: imprt}\n", "utf-8")
    sheet = certain(window.submit([str(path)]))
    until(qtbot, lambda: sheet.faults.count() == 1)
    said = sheet.faults.item(0).text()
    assert said.startswith("Line 3: ")
    assert "import" in said
    sheet.close()


def test_a_dropped_file_opens_the_sheet(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    path = tmp_path / "a file.wingbeat.yaml"
    path.write_text("name: dropped\ntasks: {a: {program: import}}\n", "utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(10, 10),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)
    until(qtbot, lambda: window.findChild(QPushButton, "submitDo") is not None)


@pytest.mark.filterwarnings("ignore:.*QDragEnterEvent:DeprecationWarning")  # all that 6.11 has
def test_a_file_may_be_dropped_on_every_part_of_the_window(window: Window) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/data/a file.wingbeat.yaml")])
    window._veil.hide()
    missed = []
    for part in window.findChildren(QWidget):
        event = QDragEnterEvent(
            QPoint(1, 1),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(part, event)
        if part.window() is window and part.isEnabled() and window._veil.isHidden():
            missed.append((type(part).__name__, part.objectName()))
        window._veil.hide()
    assert missed == []


def test_a_folder_is_all_its_workflows_and_a_path_can_be_pasted(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    for each in ("a", "b"):
        (tmp_path / f"{each}.wingbeat.yaml").write_text(
            f"name: folder {each}\ntasks: {{a: {{program: import}}}}\n", "utf-8"
        )
    QGuiApplication.clipboard().setText(str(tmp_path))
    window._paste()
    until(qtbot, lambda: window.findChild(QPushButton, "submitDo") is not None)
    button = certain(window.findChild(QPushButton, "submitDo"))
    until(qtbot, button.isEnabled)
    until(qtbot, lambda: button.text().strip() == "Submit 2 workflows")


def test_an_empty_folder_is_said(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    assert window.submit([str(tmp_path)]) is None
    assert window.fault.isVisible()
    assert tmp_path.name in window.fault.sentence.text()


# -- this computer -------------------------------------------------------------------------


def test_pausing_and_resuming(qtbot: QtBot, context: ViewContext, window: Window) -> None:
    until(qtbot, lambda: context.screen.volunteering is not None)
    quarter = pause_entries(context.screen, NOW_S)[0]
    assert quarter.act is Act.PAUSE
    assert context.press(quarter)
    until(qtbot, lambda: bool(context.screen.volunteering and context.screen.volunteering.paused))
    until(qtbot, lambda: window.side.sentence.text().startswith("Paused, 1"))
    window.side.pause.click()
    until(qtbot, lambda: not (context.screen.volunteering and context.screen.volunteering.paused))


def test_a_window_that_opens_while_its_machine_pauses_says_resume(qtbot: QtBot) -> None:
    side = SideBar()
    qtbot.addWidget(side)
    resume = Entry(Act.RESUME, "Resume", True)
    side.tell("Paused", (resume,))
    assert side.pause.text().strip() == "Resume"
    with qtbot.waitSignal(side.pressed) as pressed:
        side.pause.click()
    assert pressed.args == [resume]
    side.tell("Works for others in 20 s", (Entry(Act.NOT_NOW, "Not now", True, 3600),))
    assert side.pause.text().strip() == "Not now"
    assert side.pause.menu() is None
    with qtbot.waitSignal(side.pressed) as pressed:
        side.pause.click()
    assert pressed.args == [Entry(Act.NOT_NOW, "Not now", True, 3600)]
    side.tell("Ready to help", (Entry(Act.PAUSE, "For 15 minutes", True),))
    assert side.pause.text().strip() == "Pause"
    assert side.pause.menu() is side.pause_menu


def test_a_field_that_can_grow_shares_a_row_with_the_room_that_is_left(qtbot: QtBot) -> None:
    whole = QWidget()
    qtbot.addWidget(whole)
    field = QLineEdit()
    field.setMaximumWidth(256)
    whole.setLayout(row(field, "stretch"))
    whole.resize(900, 60)
    whole.show()
    assert field.width() == 256


def test_rules_are_kept_by_the_agent(qtbot: QtBot, context: ViewContext, window: Window) -> None:
    page = gone_to(window, Place.COMPUTER, ComputerPage)
    until(qtbot, lambda: context.screen.volunteering is not None and page.cpu.value() == 10)
    page.cpu.setValue(25)
    page.mains.setChecked(False)
    page.warn.setValue(30)
    page.people.setText("ana, João")

    def kept() -> bool:
        view = context.screen.volunteering
        return view is not None and view.rules.others_cpu_percent == 25

    until(qtbot, kept)
    rules = certain(context.screen.volunteering).rules
    assert (rules.on_mains_only, rules.warn_s, rules.people) == (False, 30, ("ana", "João"))


EVERY_MODE = {"exclusive_programs"}
IDLE = {"idle_s", "others_cpu_percent", "free_memory_mb", "lets_end_s", "on_mains_only"}
IDLE |= {"full_screen_counts", "calls_count", "own_only", "people", "bans", "warn_s"}


def test_conditions_without_an_effect_look_so(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    page = gone_to(window, Place.COMPUTER, ComputerPage)
    until(qtbot, page.modes["always"].isChecked)
    page._timer.setInterval(3_600_000)  # nothing of it is sent
    for mode, effective in (
        ("when idle", IDLE),
        ("by schedule", IDLE | {"hours"}),
        ("not now", set()),
        ("always", {"own_only", "people", "bans"}),
    ):
        page.modes[mode].setChecked(True)
        enabled = {
            rule
            for rule, controls in page._controls.items()
            if all(each.isEnabled() for each in controls)
        }
        assert enabled == effective | EVERY_MODE, mode
    page._timer.stop()


def test_the_week_is_painted_by_mouse_and_keyboard(qtbot: QtBot, window: Window) -> None:
    page = gone_to(window, Place.COMPUTER, ComputerPage)
    until(qtbot, page.modes["always"].isChecked)
    page._timer.setInterval(3_600_000)  # nothing of it is sent
    page.modes["by schedule"].setChecked(True)
    page.week.resize(page.week.sizeHint())
    first = page.week._rect(0, 8).center().toPoint()
    last = page.week._rect(1, 9).center().toPoint()
    QTest.mousePress(page.week, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, first)
    QTest.mouseMove(page.week, last)
    QTest.mouseRelease(page.week, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, last)
    assert (0, 8) in page.week.cells
    before = len(page.week.cells)
    QTest.keyClick(page.week, Qt.Key.Key_Space)
    assert len(page.week.cells) == before - 1


# -- flock, queue, log ---------------------------------------------------------------------


def test_the_log_is_read_filtered_and_copied(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    page = gone_to(window, Place.LOG, LogPage)
    until(qtbot, lambda: "survey office" in page.text.toPlainText())
    page.filter.setText("no such word anywhere")
    until(qtbot, lambda: page.note.text() != "" and page.text.toPlainText() == "")
    page.filter.clear()
    until(qtbot, lambda: "survey office" in page.text.toPlainText())
    press(page, "logCopy")
    assert "survey office" in QGuiApplication.clipboard().text()


# -- keyboard, settings --------------------------------------------------------------------


def test_escape_puts_away_what_is_said(qtbot: QtBot, context: ViewContext, window: Window) -> None:
    context.failed.emit("It did not work.")
    assert window.fault.isVisible()
    window._close_last()
    assert not window.fault.isVisible()


def test_settings_hold_at_once(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin
) -> None:
    until(qtbot, lambda: context.screen.settings is not None)
    dialog = SettingsDialog(context, login, window)
    dialog.show()
    dialog.at_login.setChecked(True)
    assert login.on
    dialog.news[NewsKind.GATE].setChecked(False)
    assert not settings.news_wanted(NewsKind.GATE)
    tags = certain(dialog.findChild(QLineEdit, "machineTags"))
    tags.setText("gpu, fast")
    tags.editingFinished.emit()
    until(
        qtbot,
        lambda: bool(context.screen.settings and context.screen.settings.tags == ("gpu", "fast")),
    )
    memory = dialog.findChild(QDoubleSpinBox, "programMemory")
    processor = certain(dialog.findChild(QComboBox, "processorShare"))
    assert memory is not None
    memory.setValue(2.5)
    memory.editingFinished.emit()
    processor.setCurrentIndex(processor.findData("share"))

    def limited() -> bool:
        view = context.screen.settings
        return view is not None and (view.memory_gb, view.processor) == (2.5, "share")

    until(qtbot, limited)
    asked = certain(dialog.findChild(QComboBox, "joinRequests"))
    asked.setCurrentIndex(asked.findData(False))
    until(
        qtbot, lambda: bool(context.screen.settings and not context.screen.settings.join_requests)
    )
    awake = certain(dialog.findChild(QComboBox, "keepAwake"))
    assert awake.currentData() is True
    awake.setCurrentIndex(awake.findData(False))
    until(qtbot, lambda: bool(context.screen.settings and not context.screen.settings.keep_awake))
    sleeps = certain(dialog.findChild(QComboBox, "wakeable"))
    assert sleeps.currentData() is False
    sleeps.setCurrentIndex(sleeps.findData(True))
    until(qtbot, lambda: bool(context.screen.settings and context.screen.settings.wakeable))
    dialog.close()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("  ", "Name has to be a text, like 'workshop 3'."),
        ("a/b", "Name is 'a/b': / and \\ have no place in the name of a machine."),
    ],
)
def test_a_name_that_is_none_is_refused_and_the_field_has_the_one_before(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin, typed: str, said: str
) -> None:
    until(qtbot, lambda: context.screen.settings is not None)
    dialog = SettingsDialog(context, login, window)
    dialog.show()
    name = certain(dialog.findChild(QLineEdit, "machineName"))
    before = name.text()
    for _ in range(2):
        name.setText(typed)
        name.editingFinished.emit()
        until(qtbot, dialog.fault.isVisible)
        until(qtbot, lambda: name.text() == before)
        assert dialog.fault.sentence.text() == said
        dialog.fault.hide()
    name.setText("workshop 3")
    name.editingFinished.emit()
    until(qtbot, lambda: certain(context.screen.settings).name == "workshop 3")


def test_how_much_of_a_log_lies_elsewhere_is_set_where_what_others_take_here_is_told(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin
) -> None:
    until(qtbot, lambda: context.screen.settings is not None)
    dialog = SettingsDialog(context, login, window)
    dialog.show()
    part, taken = (
        certain(dialog.findChild(QDoubleSpinBox, "logsPart")),
        certain(dialog.findChild(QLabel, "logsSize")),
    )
    assert (part.text(), part.maximum()) == ("1.0 MB", 16.0)
    until(qtbot, lambda: taken.text() == "those of others take 0 B here now")
    waits = "End of each log, kept on another machine"
    assert waits not in dialog.restart_note.text()
    part.setValue(0)
    part.editingFinished.emit()
    until(qtbot, lambda: bool(context.screen.settings and context.screen.settings.logs_mb == 0))
    assert part.text() == "nothing"
    assert waits in dialog.restart_note.text()
    assert not dialog.anew.isHidden()
    dialog.close()


def test_what_the_agent_refuses_is_said(qtbot: QtBot, context: ViewContext, window: Window) -> None:
    until(qtbot, lambda: context.screen.node is not None)
    context.cancel("no such workflow")
    until(qtbot, window.fault.isVisible)
    assert "no such workflow" in window.fault.sentence.text()


@pytest.mark.parametrize("dark", [False, True])
def test_the_window_is_painted_in_both_schemes(window: Window, dark: bool) -> None:
    from gui.theme.look import look

    look().show(dark)
    background = window.grab().toImage().pixelColor(window.width() - 30, window.height() - 30)
    look().show(dark=False)
    assert (background.lightness() < 128) is dark


@pytest.mark.parametrize("width", [900, 1280])
def test_a_graph_is_seen_at_first_as_far_as_it_can_be_read(
    qtbot: QtBot, context: ViewContext, window: Window, width: int
) -> None:
    window.resize(width, 700)
    names = ["import", "georeference", "segment", "detect", "compare", "report"]
    tasks = [waiting(names[0])]
    tasks += [Task(name, gate=True, after=(before,)) for before, name in pairwise(names)]
    workflow = submit(qtbot, context, *tasks)
    window.workflows.choose(workflow)
    graph = window.workflows.graph
    until(qtbot, lambda: len(graph.boxes) == len(names))
    first = graph.boxes[graph.picture.boxes[0].key]

    def sees(*boxes: QGraphicsItem) -> bool:
        """Once it is laid out, which the boxes do not wait for."""
        seen = graph.mapToScene(graph.viewport().rect()).boundingRect()
        return all(seen.contains(box.sceneBoundingRect()) for box in boxes)

    until(qtbot, lambda: sees(first))
    if width < 1000:
        assert not graph.map.isHidden()
        press(window, "graphFit")
    until(qtbot, lambda: sees(*graph.boxes.values()))
