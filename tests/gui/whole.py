"""The whole program in the process of a test: tray, window, bridge, and the agent that it finds or hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.application import Application
from tests.gui.acts import WITHIN_MS
from tests.gui.conftest import NoLogin
from tests.hosts.machine import Machine


@contextlib.contextmanager
def program(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], machine: Machine
) -> Iterator[Application]:
    """Started, and ended if the test did not."""
    whole = Application(qapp, machine.home, NoLogin())
    whole.start(background=False, paths=[])
    try:
        yield whole
    finally:
        whole.quit()
        qtbot.waitUntil(lambda: bool(ended), timeout=WITHIN_MS)
        whole.tray.deleteLater()
