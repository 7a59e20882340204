"""Controls and columns wherever they stand: each has a name for who does not see it, and its room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gui.theme.look import GRID
from gui.views.first_run import FirstRun
from gui.views.gate_dialog import GateDialog
from gui.views.pieces import FRAME_SIZE_MAX
from gui.views.rows import Column, Rows
from gui.views.settings_dialog import SettingsDialog
from gui.views.side_bar import Place
from gui.views.table import Table
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain, of_kind
from tests.gui.acts import submit, until, waiting
from tests.gui.conftest import NoLogin
from tests.gui.values import task

CONTROLS = (
    *(QAbstractButton, QComboBox, QAbstractSpinBox, QLineEdit, QAbstractItemView, QPlainTextEdit),
)
INSIDE = ("QAbstractSpinBox", "QComboBox", "QTableView", "QTabBar", "Table")
"""What these have in them is theirs."""
TOLD_LATER = ("qt_", "knownOffer")
"""Qt's own, and the name that is offered, once there is one."""


def nameless(shown: QWidget) -> list[str]:
    """Controls of which a screen reader could say only what kind they are."""
    return [
        each.objectName() or repr(each)
        for kind in CONTROLS
        for each in shown.findChildren(kind)
        if not (each.accessibleName() or getattr(each, "text", str)())
        and not each.objectName().startswith(TOLD_LATER)
        and not each.objectName().endswith("Help")
        and not _is_inside(each)
    ]


def _is_inside(control: QWidget) -> bool:
    parent = certain(control.parentWidget())
    kinds = [each.__name__ for each in type(parent).__mro__]
    return parent.metaObject().className().startswith("QComboBoxPrivate") or any(
        kind in kinds for kind in INSIDE
    )


def test_every_control_has_a_name(
    qtbot: QtBot, context: ViewContext, window: Window, login: NoLogin, tmp_path: Path
) -> None:
    """Also in the sheets, whatever they are about."""
    for place in Place:
        window.go(place)
    file = tmp_path / "line.wingbeat.yaml"
    file.write_text(
        "name: line\nvariables:\n  band: {type: text, default: x}\n  kind: {choices: [a, b], default: a}\n"
        "tasks:\n  import: {program: import, parameters: '${band} ${kind}'}\n"
    )
    sheet = certain(window.submit([str(file)]))
    until(qtbot, lambda: bool(sheet.findChildren(QWidget, "variable_kind")))
    first, dialog = FirstRun(context, login, window), SettingsDialog(context, login, window)
    found = {type(each).__name__: nameless(each) for each in (window, sheet, first, dialog)}
    for each in (first, dialog):
        each.close()
    assert found == {key: [] for key in found}


SMALL_HEIGHT = 640 - FRAME_SIZE_MAX.height()


def test_buttons_of_sheets_are_in_view_on_a_small_screen(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    """However many values and files are asked for, which are scrolled then."""
    names = [f"v{number}" for number in range(20)]
    file = tmp_path / "many.wingbeat.yaml"
    variables = "".join(f"  {name}: {{type: text, default: x}}\n" for name in names)
    used = " ".join(f"${{{name}}}" for name in names)
    tasks = f"tasks:\n  import: {{program: import, parameters: '{used}'}}\n"
    file.write_text(f"name: many\nvariables:\n{variables}{tasks}")
    sheet = certain(window.submit([str(file)]))
    until(qtbot, lambda: bool(sheet.findChildren(QWidget, "variable_v19")))
    gate = GateDialog(context, task("g", gate=True, asks="look", attach=tuple(names)), window)
    gate.show()
    for each, last in ((sheet, "submitDo"), (gate, "gateDone")):
        until(qtbot, lambda each=each: each.minimumSizeHint().height() <= SMALL_HEIGHT)  # type: ignore[misc]
        each.resize(each.width(), SMALL_HEIGHT)
        button = of_kind(QPushButton, each.findChild(QPushButton, last))
        until(qtbot, lambda each=each: each.height() == SMALL_HEIGHT)  # type: ignore[misc]
        assert each.rect().contains(button.mapTo(each, button.rect().bottomRight()))
    gate.close()


def test_a_column_takes_the_room_that_there_is_before_it_cuts_a_word(qtbot: QtBot) -> None:
    """But for one that a person has made so narrow; and it does not shrink again."""
    said = {"name": "acor", "state": "pronto para ajudar quem precisa"}

    def text_of(key: str) -> Callable[[Any, float], str]:
        return lambda row, _: str(row[key])

    columns = tuple(
        Column(key, key, text_of(key), width, stretch=key == "work")
        for key, width in (("name", 90), ("state", 70), ("work", 560))
    )
    table = Table(Rows(columns, lambda row: row["name"], lambda row: row["name"]), "roomy", "Roomy")
    qtbot.addWidget(table)
    table.resize(700, 200)
    table.show()
    table.rows.show([{**said, "work": "import"}])
    needed = table.fontMetrics().horizontalAdvance(said["state"])
    until(qtbot, lambda: table.columnWidth(1) > needed + GRID)
    width = table.columnWidth(1)
    assert (table.columnWidth(0), table.columnWidth(2) > 300) == (90, True)
    table.rows.show([{**said, "name": "b", "state": "in use", "work": ""}])
    table.resize(690, 200)
    assert table.columnWidth(1) == width
    table.setColumnWidth(1, 80)
    table.resize(700, 200)
    assert table.columnWidth(1) == 80
    table.setColumnWidth(1, 70)
    table.resize(200, 200)
    assert table.columnWidth(1) == 70


def test_a_narrow_table_leaves_out_what_can_be_spared(
    qtbot: QtBot, context: ViewContext, window: Window
) -> None:
    submit(qtbot, context, waiting())
    table = window.workflows.table
    keys = [column.key for column in table.rows.columns]
    window.resize(1500, 700)
    until(qtbot, lambda: not any(table.isColumnHidden(place) for place in range(len(keys))))
    widths = [table.columnWidth(place) for place in range(len(keys))]
    window.resize(860, 600)
    until(qtbot, lambda: table.isColumnHidden(keys.index("submitted")))
    assert not table.isColumnHidden(keys.index("name"))
    place = keys.index("next")
    assert table.columnWidth(place) >= table.rows.columns[place].width
    assert table.columnWidth(keys.index("name")) < widths[keys.index("name")]
    window.resize(1500, 700)
    until(qtbot, lambda: [table.columnWidth(place) for place in range(len(keys))] == widths)
