"""The icon in the tray. All that it shows comes from ``gui.model.tray``; here it meets the system."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication, QIcon, QPalette
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from gui import settings
from gui.desktop import FullScreen, native_full_screen, tray_host_there
from gui.model.news import News, NewsKind
from gui.model.screen import Changes
from gui.model.tray import Act, Entry, Tray, TrayState, tray_of
from gui.theme.wing import FILL_STEPS, wing_icon
from gui.views.menus import fill
from gui.views.pieces import set_up, timer
from gui.views.view_context import ViewContext
from gui.words import plain_tip

TICK_MS = 1000
LOOK_FOR_TRAY_MS = 2_000
TOLD_MS = 10_000
NEWS_AT_ONCE_MAX = 3
JOIN_AGAIN_S = 60.0
"""Any stranger can ask to join: messages of it come this far apart; the icon tells of all."""
TOOLTIP_MAX = 120


class TrayIcon(QObject):
    """``pressed`` with an entry; ``opened`` when the icon itself or a message was clicked."""

    pressed = Signal(object)
    opened = Signal(object)
    """The news that was clicked, or none."""

    def __init__(
        self,
        context: ViewContext,
        full_screen: FullScreen | None = None,
        available: Callable[[], bool] = tray_host_there,
    ) -> None:
        super().__init__()
        self._context, self._available = context, available
        self._full_screen = full_screen or native_full_screen()
        self.icon: QSystemTrayIcon | None = None
        """Made when there is a place for it: made before, it would never come there."""
        self.menu = set_up(QMenu(), "trayMenu")
        self.shown: Tray | None = None
        self._drawn: tuple[TrayState, int, bool] | None = None
        self._news: News | None = None
        self._join_told_s = -math.inf
        self._picture = QIcon()
        context.changed.connect(self._changed)
        self._timer = timer(self, TICK_MS, self.refresh)
        self._timer.start()
        self._looking = timer(self, LOOK_FOR_TRAY_MS, self._look_for_tray)
        self.refresh()
        self._look_for_tray()

    @property
    def there(self) -> bool:
        """Whether this desktop shows the icon now."""
        return self.icon is not None and self.icon.isVisible() and self._available()

    def refresh(self) -> None:
        """Show what the model says now in icon, tool tip and menu; nothing is painted that looks
        the same."""
        tray = tray_of(self._context.screen, time.time())
        if tray == self.shown:
            return
        self.shown = tray
        step = FILL_STEPS if tray.permille is None else round(tray.permille * FILL_STEPS / 1000)
        drawn = (tray.state, step, _dark_panel())
        if drawn != self._drawn:
            self._drawn = drawn
            self._picture = wing_icon(tray.state, tray.permille, drawn[2])
            if self.icon is not None:
                self.icon.setIcon(self._picture)
        if self.icon is not None:
            self.icon.setToolTip(plain_tip(_tool_tip(tray)))
        fill(self.menu, tray.entries, self._press)

    def tell(self, news: News) -> None:
        """Show news as a message, with other signs for what would be markup. It is dropped if there
        is no icon, its kind is muted, a program fills the screen, or it is of a machine that asks
        to join within ``JOIN_AGAIN_S`` of the last such message."""
        if self.icon is None or not settings.news_wanted(news.kind):
            return
        if not self._full_screen.now() and not self._again(news):
            self._news = news
            said = (_unmarked(news.title), _unmarked(news.sentence))
            self.icon.showMessage(*said, self.icon.icon(), TOLD_MS)

    def _again(self, news: News) -> bool:
        """Whether it is of a kind that was told a moment ago, and that strangers can cause."""
        now_s = time.monotonic()
        if news.kind is not NewsKind.JOIN:
            return False
        if now_s - self._join_told_s < JOIN_AGAIN_S:
            return True
        self._join_told_s = now_s
        return False

    def hide(self) -> None:
        """Take the icon away for good: nothing is shown anew, and no place for it is looked for."""
        self._timer.stop()
        self._looking.stop()
        if self.icon is not None:
            self.icon.hide()

    def _changed(self, changes: Changes) -> None:
        self.refresh()
        for news in changes.news[-NEWS_AT_ONCE_MAX:]:
            self.tell(news)

    def _press(self, entry: Entry) -> None:
        if entry.act is Act.OPEN:
            self.opened.emit(News(entry.leads_to, "", "") if entry.leads_to is not None else None)
        elif not self._context.press(entry):
            self.pressed.emit(entry)

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        known = QSystemTrayIcon.ActivationReason
        if reason in (known.Trigger, known.DoubleClick, known.MiddleClick):
            self.opened.emit(None)

    def _made(self) -> QSystemTrayIcon:
        made = QSystemTrayIcon(self._picture, self)
        if self.shown is not None:
            made.setToolTip(plain_tip(_tool_tip(self.shown)))
        made.setContextMenu(self.menu)
        made.activated.connect(self._activated)
        made.messageClicked.connect(lambda: self.opened.emit(self._news))
        return made

    def _look_for_tray(self) -> None:
        """Panels may come later than we do, or never."""
        if self._available():
            self._looking.stop()
            self.icon = self._made()
            self.icon.show()
        elif not self._looking.isActive():
            self._looking.start()


def _tool_tip(tray: Tray) -> str:
    return f"Wingbeat: {tray.sentence}"[:TOOLTIP_MAX]


def _dark_panel() -> bool:
    """What the desktop's own windows are is the best guess of what its panel is."""
    window = QGuiApplication.palette().color(QPalette.ColorRole.Window)
    return window.lightness() < 128


def _unmarked(text: str) -> str:
    """Desktops read markup in messages; names are the words of strangers, who may write some."""
    return text.replace("<", "‹").replace(">", "›")
