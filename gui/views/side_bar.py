"""The side bar: six places with counts that mean something, and this computer, always visible."""

from __future__ import annotations

import gc
from enum import Enum
from functools import cache
from importlib import import_module

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QLabel, QMenu, QWidget

from gui.model.tray import Act, Entry
from gui.theme.drawing import icon, paint_box, paint_text
from gui.theme.look import GRID, look, small_font, strong_font
from gui.theme.wing import plain_wing
from gui.views.menus import fill
from gui.views.pieces import CENTRED, LEFT, PLAIN, button, column, line, row, set_up, strong
from gui.words import plain_tip, tr

WIDTH = 25 * GRID
PLACE_HEIGHT = 34
LOADED_LATER = (
    "fast_sugiyama",
    *(f"gui.views.{place}_page" for place in ("queue", "flock", "computer", "log", "history")),
)


class Place(Enum):
    """The six places of the window, in their order."""

    WORKFLOWS = "workflows"
    QUEUE = "queue"
    FLOCK = "flock"
    COMPUTER = "computer"
    LOG = "log"
    HISTORY = "history"


def place_words(place: Place) -> str:
    """Return the name of a place of the window in the person's language."""
    return {
        Place.WORKFLOWS: tr("Workflows"),
        Place.QUEUE: tr("Queue"),
        Place.FLOCK: tr("Flock"),
        Place.COMPUTER: tr("This computer"),
        Place.LOG: tr("Log"),
        Place.HISTORY: tr("History"),
    }[place]


class PlaceButton(QAbstractButton):
    """Icon, name, and a count at the right."""

    def __init__(self, place: Place, number: int) -> None:
        super().__init__()
        self.place = place
        self._told = "", False, ""
        text = place_words(place)
        set_up(
            self,
            f"place_{place.value}",
            text,
            text=text,
            checkable=True,
            toolTip=tr("{place} (Ctrl+{number})", place=text, number=number),
            focusPolicy=Qt.FocusPolicy.TabFocus,
            cursor=Qt.CursorShape.PointingHandCursor,
        )

    def tell(self, count: str, marked: bool, meaning: str) -> None:
        """Show this count, and tell screen readers what it means; ``marked``: it asks for the
        person."""
        told = count, marked, meaning
        if told == self._told:
            return
        self._told = told
        self.setAccessibleName(f"{self.text()}, {meaning}" if meaning else self.text())
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size as wide as the side bar."""
        return QSize(WIDTH - 2 * GRID, PLACE_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint icon, name and count, on a ground if the place is shown or under the mouse, in a
        ring while the keyboard is here; no style of Qt has such a button."""
        colours = look().colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self.rect().adjusted(0, 1, 0, -1)
        if self.isChecked() or self.underMouse():
            paint_box(painter, rect, 6, colours.selected if self.isChecked() else colours.raised)
        if self.hasFocus():
            paint_box(painter, rect.adjusted(0, 0, -1, -1), 6, edge=colours.accent)
        size = 2 * GRID
        top = (self.height() - size) // 2
        icon(self.place.value, "accent" if self.isChecked() else "text").paint(
            painter, QRect(GRID + 2, top, size, size)
        )
        font = strong_font() if self.isChecked() else self.font()
        text = QRect(GRID + 2 + size + GRID, 0, self.width(), self.height())
        paint_text(painter, text, self.text(), colours.text, font)
        self._paint_count(painter)

    def _paint_count(self, painter: QPainter) -> None:
        count, marked, _ = self._told
        if not count:
            return
        colours = look().colours
        painter.setFont(small_font())
        width = max(20, painter.fontMetrics().horizontalAdvance(count) + 12)
        rect = QRect(self.width() - width - GRID, (self.height() - 18) // 2, width, 18)
        if marked:
            paint_box(painter, rect, 9, colours.person, colours.person_edge)
        ink = "#1b1f24" if marked else colours.quiet
        paint_text(painter, rect, count, ink, small_font(), CENTRED)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next place by up and down, round the end; leave other keys to Qt."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        group = self.group()
        if step is None or group is None:
            super().keyPressEvent(event)
            return
        buttons = group.buttons()
        at = (buttons.index(self) + step) % len(buttons)
        buttons[at].setFocus()
        buttons[at].click()


AT_ONCE = (Act.RESUME, Act.NOT_NOW)


class SideBar(QFrame):
    """``went`` with a place, ``pressed`` with an entry of the pause menu."""

    went = Signal(object)
    pressed = Signal(object)
    settings_wanted = Signal()
    answer_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up(self, "sideBar", fixedWidth=WIDTH)
        self._group = QButtonGroup(self)
        self.buttons: dict[Place, PlaceButton] = {}
        self._wing = QLabel()
        self.sentence = set_up(QLabel(), "presenceSentence", wordWrap=True, textFormat=PLAIN)
        self.pause_menu = QMenu(self)
        self.pause = button(tr("Pause"), "pauseButton", self._pause_clicked, "pause")
        self.pause.setMenu(self.pause_menu)
        self.settings = button(
            tr("Settings"), "settingsButton", self.settings_wanted.emit, "settings", flat=True
        )
        self.answer = button(tr("Say when …"), "answerButton", self.answer_wanted.emit)
        self._at_once: Entry | None = None
        """What the button asks for without a menu."""
        for number, place in enumerate(Place, 1):
            each = self.buttons[place] = PlaceButton(place, number)
            self._group.addButton(each)
            each.clicked.connect(lambda _=False, place=place: self.went.emit(place))
        column(
            row(self._wing, strong("Wingbeat"), "stretch", margins=(GRID, 0, 0, GRID)),
            *self.buttons.values(),
            *("stretch", (self.settings, LEFT), GRID // 2, line()),
            *(GRID, self.sentence, GRID, self.answer, GRID // 2, self.pause),
            on=self,
            spacing=2,
            margins=(GRID, 2 * GRID, GRID, GRID + 4),
        )
        look().changed.connect(self._paint_wing)
        self._paint_wing()

    def go(self, place: Place) -> None:
        """Show which place it is, without telling."""
        self.buttons[place].setChecked(True)

    def tell(
        self, sentence: str, entries: tuple[Entry, ...], tip: str = "", *, answered: bool = True
    ) -> None:
        """Show what this computer does, with a tip to it, empty for none, and the menu that pauses
        it or the button that resumes it, or says not now while it warns; the button is disabled
        while no entry is enabled. An open menu is left as it is. Unless somebody has ``answered``
        when it may help, a button leads there."""
        self.answer.setVisible(not answered)
        if self.sentence.text() != sentence:
            self.sentence.setText(sentence)
            self.sentence.setAccessibleName(sentence)
        self.sentence.setToolTip(plain_tip(tip))
        before, at_once = (
            self._at_once,
            next((each for each in entries if each.act in AT_ONCE), None),
        )
        self._at_once = at_once
        if at_once is None and not self.pause_menu.isVisible():
            fill(self.pause_menu, entries, self.pressed.emit)
        if (before and before.act) is not (at_once and at_once.act):
            text, name = _button_words(at_once)
            self.pause.setMenu(self.pause_menu if at_once is None else None)  # type: ignore[arg-type]
            set_up(self.pause, says=text, text=f" {text}", icon=icon(name))
        self.pause.setEnabled(any(each.enabled for each in entries))

    def _pause_clicked(self) -> None:
        if self._at_once is not None:
            self.pressed.emit(self._at_once)

    def _paint_wing(self) -> None:
        ratio = self.devicePixelRatioF()
        pixels = plain_wing(round(22 * ratio), look().colours.accent)
        pixels.setDevicePixelRatio(ratio)
        self._wing.setPixmap(pixels)


def _button_words(at_once: Entry | None) -> tuple[str, str]:
    """What the button says, and the name of its icon."""
    if at_once is None:
        return tr("Pause"), "pause"
    return (tr("Resume"), "resume") if at_once.act is Act.RESUME else (tr("Not now"), "pause")


@cache
def load_the_rest() -> None:
    """Load what is needed at the first look at a graph or a place, and would hold that look up; do
    nothing at a second call. What is there then stays, so the collector of garbage need not go
    through it again and again."""
    for name in LOADED_LATER:
        import_module(name)
    gc.freeze()
