"""The wheel over a page scrolls it, and never changes a value that comes under the pointer."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QScrollBar,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from agent.api.values import TaskState
from gui.views.again_sheet import AgainSheet
from gui.views.audit_sheet import AuditSheet
from gui.views.first_run import FirstRun
from gui.views.flock_page import InviteDialog
from gui.views.gate_dialog import GateDialog
from gui.views.inspect_sheet import InspectSheet
from gui.views.log_window import LogWindow
from gui.views.permission_sheet import PermissionSheet
from gui.views.pieces import Sheet, set_up
from gui.views.roles import RolesDialog
from gui.views.secret_sheet import SecretSheet
from gui.views.settings_dialog import SettingsDialog
from gui.views.side_bar import Place
from gui.views.submit_sheet import SubmitSheet
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.gui.acts import submit, task_of, until, waiting
from tests.gui.conftest import NoLogin

CHOICES = """
variables: {mode: {choices: [fast, exact, slow], default: exact}}
gates: {look: {asks: "look at {mode}"}}
"""
Field = QAbstractSpinBox | QComboBox | QAbstractSlider


def fields(shown: QWidget) -> list[Field]:
    found: list[Field] = [
        *shown.findChildren(QAbstractSpinBox),
        *shown.findChildren(QComboBox),
        *shown.findChildren(QAbstractSlider),
    ]
    return [each for each in found if not isinstance(each, QScrollBar)]


def value(field: Field) -> object:
    if isinstance(field, QComboBox):
        return field.currentIndex()
    return field.text() if isinstance(field, QAbstractSpinBox) else field.value()


def wheel(field: QWidget, by: int) -> None:
    at, there = QPointF(5, 5), QPointF(field.mapToGlobal(QPoint(5, 5)))
    none, plain = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    still = Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, there, QPoint(), QPoint(0, by), none, plain, still, False)
    QApplication.sendEvent(field, event)


def test_the_wheel_over_any_page_or_sheet_changes_no_value(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin, tmp_path: Path
) -> None:
    file = tmp_path / "choices.wingbeat.yaml"
    file.write_text(CHOICES)
    task = task_of(context, submit(qtbot, context, waiting()), "look")
    assert task.state is TaskState.WAITING
    until(qtbot, lambda: context.screen.settings is not None)
    sheet = SubmitSheet(context, [file], window)
    sheets = [
        *(sheet, FirstRun(context, login, window), SettingsDialog(context, login, window)),
        *(GateDialog(context, task, window), InviteDialog(context, window)),
        *(RolesDialog(context, window), AuditSheet(context, window)),
        *(PermissionSheet(context, window), AgainSheet(context, task.workflow, parent=window)),
        *(LogWindow(context, task), SecretSheet(context, "survey-db", window)),
    ]
    flight = InspectSheet(context, tmp_path, window)
    for asked in ("crs", "heights"):
        flight._ask(asked)
    flight._ask_more()
    sheets.append(flight)
    assert set(Sheet.__subclasses__()) <= {type(each) for each in sheets}, (
        "another sheet is to be looked at"
    )
    until(qtbot, lambda: bool(sheet.findChildren(QComboBox, "variable_mode")))
    for place in Place:
        window.go(place)
    seen = []
    for shown in (window, *sheets):
        for field in fields(shown):
            field.setEnabled(True)
            before = value(field)
            for by in (120, -120):
                wheel(field, by)
                assert value(field) == before, field.objectName()
            assert field.focusPolicy() is not Qt.FocusPolicy.WheelFocus, field.objectName()
            seen.append(field)
    assert {QSpinBox, QDoubleSpinBox, QComboBox} <= {type(each) for each in seen}
    for each in sheets:
        each.close()


def test_who_has_chosen_a_field_may_turn_its_value(qtbot: QtBot) -> None:
    field = set_up(QSpinBox(), "a number", value=5)
    qtbot.addWidget(field)
    field.show()
    wheel(field, 120)
    assert field.value() == 5
    field.setFocus()
    until(qtbot, field.hasFocus)
    wheel(field, 120)
    assert field.value() == 6
