"""Where the same name is there already, and where work runs again: ways on, in the real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

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
