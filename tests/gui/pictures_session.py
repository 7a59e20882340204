"""The pictures of one scale: a window on a home whose agent runs, walked through and grabbed."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSettings
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from agent.api.values import TaskState
from agent.paths import Home
from gui.__main__ import make_application
from gui.bridge.bridge import Bridge
from gui.model.folding import is_open
from gui.model.screen import Screen
from gui.model.tray import TrayState, tray_of
from gui.theme.look import look
from gui.theme.wing import FILL_STEPS, wing_pixmap
from gui.translations import available, speak
from gui.tray_icon import TrayIcon
from gui.views.audit_sheet import AuditSheet
from gui.views.first_run import FirstRun
from gui.views.flock_page import FlockPage, InviteDialog
from gui.views.roles import RolesDialog
from gui.views.settings_dialog import SettingsDialog
from gui.views.side_bar import Place
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain, of_kind
from tests.gui.machines import line_file

WAIT_S = 30.0
SIZES = {"": (1280, 800), "small": (880, 600)}
SHEET = (
    line_file("Line 77", 30)
    .replace(
        "tasks:",
        "variables:\n  band: {type: text, default: '3', says: Band of the scanner}\ntasks:",
    )
    .replace('parameters: "30",', 'parameters: "30 ${band}",', 1)
)
BROKEN = "name: Line 78\ntasks:\n  import: {program: inport}\n  segment: {program: segment, inputs: imprt}\n"


class NoLogin:
    """Nothing of this machine is touched for a picture."""

    def enabled(self) -> bool:
        return True

    def enable(self) -> None:
        """Not here."""

    def disable(self) -> None:
        """Not here."""


class Session:
    """One process's pictures."""

    def __init__(self, target: Path, scale: int) -> None:
        self._target, self._scale = target, scale
        self._folder = Path(tempfile.mkdtemp())
        QSettings.setDefaultFormat(QSettings.Format.IniFormat)
        QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(self._folder))
        self.application = make_application()
        look().follow(self.application)
        self.bridge = Bridge(Home.of())
        self.context = ViewContext(Home.of(), Screen(), self.bridge)
        self.bridge.start()
        self.until(
            lambda: bool(self.context.screen.workflows) and self.context.screen.peers is not None
        )
        self.until(
            lambda: all(
                name in self.context.screen.tasks or not is_open(view)
                for name, view in self.context.screen.workflows.items()
            )
        )

    def until(self, true: Callable[[], bool], within_s: float = WAIT_S) -> None:
        """Let Qt work until it is so."""
        end_s = time.monotonic() + within_s
        while not true() and time.monotonic() < end_s:
            self.application.processEvents()
            QTest.qWait(10)

    def settle(self, for_s: float = 0.6) -> None:
        """Answers that are under way arrive."""
        end_s = time.monotonic() + for_s
        self.until(lambda: time.monotonic() >= end_s)

    def keep(self, widget: QWidget, *words: str) -> None:
        """One picture."""
        name = "-".join(word for word in words if word)
        widget.grab().save(str(self._target / f"{name}.png"))

    def all(self) -> None:
        """Languages, schemes, sizes, places."""
        for code, _ in available():
            speak(code)
            for dark in (False, True):
                look().show(dark)
                for size in SIZES if self._scale == 1 else [""]:
                    self._window(code, dark, size)
        self._tray_states()
        self.bridge.stop()

    def _window(self, code: str, dark: bool, size: str) -> None:
        words = (code, "dark" if dark else "light", f"{self._scale}00", size)
        window = Window(self.context, NoLogin())
        window.resize(*SIZES[size])
        window.show()
        window.workflows.choose(self._workflow("Line 17"))
        self.settle()
        self.keep(window, "workflows-fan-out", *words)
        window.workflows.choose(self._workflow("Line 42 north"))
        gates = [
            each.task
            for each in self.context.screen.tasks_of(self._workflow("Line 42 north"))
            if each.state is TaskState.WAITING
        ]
        window.workflows.choose(self._workflow("Line 42 north"), gates[0] if gates else "")
        self.settle(1.2)
        self.keep(window, "workflows", *words)
        for tab, name in ((1, "tasks"), (2, "timeline")):
            window.workflows.tabs.setCurrentIndex(tab)
            self.settle(1.0)
            self.keep(window, f"workflows-{name}", *words)
        for place in list(Place)[1:]:
            window.go(place)
            self.settle(1.0)
            self.keep(window, place.value, *words)
        self._flock_tabs(window, words)
        self._sheets(window, words)
        window.close()
        window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def _flock_tabs(self, window: Window, words: tuple[str, ...]) -> None:
        window.go(Place.FLOCK)
        page = of_kind(FlockPage, window.places[Place.FLOCK])
        for tab, name in ((1, "timeline"), (2, "week")):
            page.tabs.setCurrentIndex(tab)
            self.settle(1.2)
            self.keep(window, f"flock-{name}", *words)

    def _sheets(self, window: Window, words: tuple[str, ...]) -> None:
        path = self._folder / "line-77.wingbeat.yaml"
        path.write_text(SHEET, "utf-8")
        broken = self._folder / "line-78.wingbeat.yaml"
        broken.write_text(BROKEN, "utf-8")
        for file, name in ((path, "submit"), (broken, "submit-faults")):
            sheet = certain(window.submit([str(file)]))
            self.settle(1.2)
            self.keep(sheet, name, *words)
            sheet.close()
        self._gate(window, words)
        self._flock_sheets(window, words)
        first = FirstRun(self.context, NoLogin(), window)
        first.show()
        for step in range(3):
            first.pages.setCurrentIndex(step)
            first._tell()
            self.settle(0.1)
            self.keep(first, f"first-run-{step + 1}", *words)
        first.close()
        dialog = SettingsDialog(self.context, NoLogin(), window)
        dialog.show()
        for tab in range(dialog.tabs.count()):
            dialog.tabs.setCurrentIndex(tab)
            self.settle(0.1)
            self.keep(dialog, f"settings-{tab + 1}", *words)
        dialog.close()
        tray = TrayIcon(self.context)
        tray.shown = None
        tray.refresh()
        tray.menu.popup(QPoint(0, 0))
        self.settle(0.2)
        self.keep(tray.menu, "tray-menu", *words)
        tray.menu.hide()
        tray.hide()
        assert tray_of(self.context.screen, time.time()).sentence

    def _flock_sheets(self, window: Window, words: tuple[str, ...]) -> None:
        """Who did what, who may do what, and an invitation."""
        audit = AuditSheet(self.context, window)
        roles = RolesDialog(self.context, window)
        for sheet, name in (
            (audit, "audit"),
            (roles, "roles"),
            (InviteDialog(self.context, window), "invite"),
        ):
            sheet.show()
            self.settle(0.6)
            if sheet is audit:
                audit.check.click()
            elif sheet is roles:
                roles.table.choose_place(0)
            self.settle(0.4)
            self.keep(sheet, name, *words)
            sheet.close()

    def _gate(self, window: Window, words: tuple[str, ...]) -> None:
        """A step that asks for files, one of them chosen."""
        tasks = self.context.screen.tasks_of(self._workflow("Line 90"))
        gate = next((each for each in tasks if each.state is TaskState.WAITING), None)
        if gate is None:
            return
        corrected = self._folder / "corrected.csv"
        corrected.write_text("wire,x,y,z\n" * 900, "utf-8")
        dialog = window.workflows.details.attach(gate)
        dialog.offer([corrected])
        self.settle(0.4)
        self.keep(dialog, "gate", *words)
        dialog.close()

    def _tray_states(self) -> None:
        """All shapes at the sizes of panels, on light and on dark ones."""
        sizes = (16, 24, 32, 64)
        width = sum(size + 16 for size in sizes)
        pixels = QPixmap(width * len(TrayState), 2 * 88)
        painter = QPainter(pixels)
        for row, back in enumerate(("#f3f3f3", "#202124")):
            painter.fillRect(0, row * 88, pixels.width(), 88, back)
            left = 8
            for state in TrayState:
                for size in sizes:
                    icon = wing_pixmap(size, state, FILL_STEPS * 5 // 8, row == 1)
                    painter.drawPixmap(left, row * 88 + (88 - size) // 2, icon)
                    left += size + 16
        painter.end()
        pixels.save(str(self._target / f"tray-{self._scale}00.png"))

    def _workflow(self, name: str) -> str:
        return next(
            each.workflow for each in self.context.screen.workflows.values() if each.name == name
        )


if __name__ == "__main__":
    Session(Path(sys.argv[1]), int(sys.argv[2])).all()
    sys.exit(0)
