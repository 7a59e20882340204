"""Removing Wingbeat from this computer by the window: the whole program, its agent and its home."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.gui.acts import WITHIN_MS, press
from tests.gui.machines import prepared
from tests.gui.whole import program
from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for
from tests.hosts.waiting import ended as ended_process
from tests.style.source import REPOSITORY


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


@pytest.mark.parametrize("hosts", [True, False])
def test_a_window_ends_where_the_command_removes_it(machine: Machine, hosts: bool) -> None:
    environment = {**machine.environment, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("PYTHONWARNINGS")
    with contextlib.ExitStack() as stack:
        if not hosts:
            stack.enter_context(machine.agent())
        words = [sys.executable, "-m", "gui", "--background"]
        tray = stack.enter_context(
            ended_process(subprocess.Popen(words, cwd=REPOSITORY, env=environment))
        )
        lock = machine.home.window_lock
        wait_for(lock.exists, EVENTUALLY_S_MAX, "the window is there")
        wait_for(lambda: machine.run("status").code == 0, EVENTUALLY_S_MAX, "and an agent")
        machine.said("uninstall", "--yes", "--data", "delete")
        assert tray.wait(EVENTUALLY_S_MAX) == 0
        assert not machine.home.data.exists()
