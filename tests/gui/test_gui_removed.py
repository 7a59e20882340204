"""Removing Wingbeat from this computer by the window: the whole program, its agent and its home."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.gui.acts import press
from tests.gui.machines import prepared
from tests.gui.whole import WITHIN_MS, program
from tests.hosts.machine import Machine


@pytest.fixture
def ended(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Qt's own loop belongs to the tests: it is only noted that it was to end."""
    asked: list[bool] = []
    monkeypatch.setattr(qapp, "quit", lambda: asked.append(True))
    return asked


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = prepared(tmp_path, "acor")
    made.settle(listen=["127.0.0.1"], port=0)
    return made


@pytest.mark.parametrize("delete", [True, False])
def test_a_computer_from_which_it_is_removed_keeps_nothing_running(
    qtbot: QtBot,
    qapp: QApplication,
    ended: list[bool],
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    delete: bool,
) -> None:
    monkeypatch.delenv("WINGBEAT_HOME", raising=False)
    with program(qtbot, qapp, ended, machine) as whole:
        qtbot.waitUntil(lambda: whole.screen.settings is not None, timeout=WITHIN_MS)
        qtbot.waitUntil(lambda: whole.hosting.hosts, timeout=WITHIN_MS)
        whole._login.enable()
        whole.window.open_settings()
        press(whole.window, "removeWingbeat")
        press(whole.window, "removeDelete" if delete else "removeKeep")
        qtbot.waitUntil(lambda: bool(ended), timeout=WITHIN_MS)
        assert not whole.hosting.hosts
        assert not whole._login.enabled()
        assert machine.home.data.exists() is not delete
        assert machine.home.settings_file.exists() is not delete
