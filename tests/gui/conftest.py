"""A context, a window and a tray on the home of a real agent; without a screen.

Where Qt cannot be loaded because a library of the system is missing, these tests are skipped and say
which. What the window remembers goes into the test's own folder.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

os.environ["QT_QPA_PLATFORM"] = "offscreen"
try:
    import PySide6.QtWidgets  # noqa: F401
except ImportError as error:
    pytest.skip(f"the window needs a library of the system: {error}", allow_module_level=True)

from PySide6.QtCore import QLocale, QSettings
from PySide6.QtWidgets import QApplication
from shiboken6 import Shiboken

from gui import words
from gui.__main__ import make_application
from gui.bridge.bridge import Bridge
from gui.model.screen import Screen
from gui.theme.look import look
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.gui.machines import prepared
from tests.hosts.machine import Machine

OLD_S = 3_600.0


class NoLogin:
    """A system whose login nobody touches."""

    def __init__(self) -> None:
        self.on = False

    def enabled(self) -> bool:
        return self.on

    def enable(self) -> None:
        self.on = True

    def disable(self) -> None:
        self.on = False


@pytest.fixture(scope="session", autouse=True)
def _no_old_sockets() -> None:
    """A window that was killed, with its tests as a rule, leaves the socket that it listened at."""
    for path in Path(tempfile.gettempdir()).glob(f"wingbeat-{16 * '[0-9a-f]'}"):
        with suppress(OSError):
            if path.is_socket() and time.time() - path.stat().st_mtime > OLD_S:
                _remove_unless_heard(path)


def _remove_unless_heard(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as asking:
        try:
            asking.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()


@pytest.fixture(scope="session")
def qapp() -> QApplication:
    """Ours, with our look."""
    application = make_application()
    look().follow(application)
    return application


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, qapp: QApplication) -> Iterator[None]:
    """Nothing of the person who runs the tests is read or written."""
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(tmp_path / "qt"))
    words.install(None)
    QLocale.setDefault(QLocale("en"))
    yield
    QSettings().sync()


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine whose agent runs for all tests of a module, in a flock of its own."""
    made = prepared(tmp_path_factory.mktemp("machine"), "acor")
    with made.agent("--name", "acor", "--port", "0"):
        made.said("flock", "create", "survey office")
        yield made


@pytest.fixture
def context(machine: Machine, qapp: QApplication) -> Iterator[ViewContext]:
    """A bridge to that agent, and the model behind it."""
    with context_on(machine) as made:
        yield made


@contextmanager
def context_on(machine: Machine) -> Iterator[ViewContext]:
    bridge = Bridge(machine.home)
    made = ViewContext(machine.home, Screen(), bridge)
    bridge.attention.seen = True
    bridge.start()
    try:
        yield made
    finally:
        bridge.stop()
        ended(made)


def ended(context: ViewContext) -> None:
    """End it here and now. Left to the collector of garbage, which runs in whatever thread comes to
    it, its timer would be gone while Qt still has it among those of this thread."""
    Shiboken.delete(context)


@pytest.fixture
def login() -> NoLogin:
    return NoLogin()


@pytest.fixture
def window(context: ViewContext, login: NoLogin) -> Iterator[Window]:
    """The window, shown."""
    made = Window(context, login)
    made.show()
    yield made
    made.close()
    made.deleteLater()
