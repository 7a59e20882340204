"""The port of this computer, in the settings of the window."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QLabel, QSpinBox
from pytestqt.qtbot import QtBot

from gui.views.settings_dialog import SettingsDialog
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import until
from tests.gui.conftest import NoLogin


@pytest.mark.parametrize(
    ("port", "listening", "says"),
    [
        (29464, 29465, "29465 now, for it is used"),
        (29464, 29464, ""),
        (0, 40_001, ""),
        (29464, 0, ""),
    ],
)
def test_the_port_is_set_there_and_another_one_in_use_is_said(
    qtbot: QtBot,
    context: ViewContext,
    window: Window,
    login: NoLogin,
    port: int,
    listening: int,
    says: str,
) -> None:
    until(qtbot, lambda: context.screen.settings is not None)
    before = certain(context.screen.settings)
    context.screen.settings = replace(before, port=port, listening=listening, restart=())
    dialog = SettingsDialog(context, login, window)
    field = certain(dialog.findChild(QSpinBox, "machinePort"))
    beside = certain(field.parentWidget()).findChildren(QLabel)
    assert (field.value(), "".join(each.text() for each in beside)) == (port, says)
    field.setValue(29_500)
    field.editingFinished.emit()
    until(qtbot, lambda: certain(context.screen.settings).port == 29_500)
    assert "port" in certain(context.screen.settings).restart
    dialog.close()
