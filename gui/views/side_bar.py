"""The side bar: five places with counts that mean something, and this computer, always visible."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QFrame,
    QLabel,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gui.model.tray import Act, Entry
from gui.theme.drawing import icon
from gui.theme.look import GRID, look, small_font, strong_font
from gui.theme.wing import plain_wing
from gui.views.menus import fill
from gui.views.pieces import line, row, strong
from gui.words import tr

WIDTH = 25 * GRID
PLACE_HEIGHT = 34


class Place(Enum):
    """The five places of the window, in their order."""

    WORKFLOWS = "workflows"
    QUEUE = "queue"
    FLOCK = "flock"
    COMPUTER = "computer"
    LOG = "log"


def place_words(place: Place) -> str:
    """Return the name of a place."""
    return {
        Place.WORKFLOWS: tr("Workflows"),
        Place.QUEUE: tr("Queue"),
        Place.FLOCK: tr("Flock"),
        Place.COMPUTER: tr("This computer"),
        Place.LOG: tr("Log"),
    }[place]


class PlaceButton(QAbstractButton):
    """Icon, name, and a count at the right."""

    def __init__(self, place: Place, number: int) -> None:
        super().__init__()
        self.place = place
        self._told = "", False, ""
        self.setAccessibleName(place_words(place))
        self.setCheckable(True)
        self.setObjectName(f"place_{place.value}")
        self.setText(place_words(place))
        self.setToolTip(tr("{place} (Ctrl+{number})", place=self.text(), number=number))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

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
        """Paint icon, name and count, because no style has such a button."""
        colours = look().colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self.rect().adjusted(0, 1, 0, -1)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.isChecked():
            painter.setBrush(QColor(colours.selected))
            painter.drawRoundedRect(rect, 6, 6)
        elif self.underMouse():
            painter.setBrush(QColor(colours.raised))
            painter.drawRoundedRect(rect, 6, 6)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.accent), 1))
            painter.drawRoundedRect(rect.adjusted(0, 0, -1, -1), 6, 6)
        size = 2 * GRID
        top = (self.height() - size) // 2
        icon(self.place.value, "accent" if self.isChecked() else "text").paint(
            painter, QRect(GRID + 2, top, size, size)
        )
        painter.setPen(QColor(colours.text))
        painter.setFont(strong_font() if self.isChecked() else self.font())
        text = QRect(GRID + 2 + size + GRID, 0, self.width(), self.height())
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, self.text())
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
            painter.setPen(QPen(QColor(colours.person_edge), 1))
            painter.setBrush(QColor(colours.person))
            painter.drawRoundedRect(rect, 9, 9)
            painter.setPen(QColor("#1b1f24"))
        else:
            painter.setPen(QColor(colours.quiet))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, count)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next place by up and down, round the end."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        group = self.group()
        if step is None or group is None:
            super().keyPressEvent(event)
            return
        buttons = group.buttons()
        at = (buttons.index(self) + step) % len(buttons)
        buttons[at].setFocus()
        buttons[at].click()


class SideBar(QFrame):
    """``went`` with a place, ``pressed`` with an entry of the pause menu."""

    went = Signal(object)
    pressed = Signal(object)
    menu_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sideBar")
        self.setFixedWidth(WIDTH)
        self._group = QButtonGroup(self)
        self.buttons: dict[Place, PlaceButton] = {}
        self._wing, self._name = QLabel(), strong("Wingbeat")
        self.sentence = QLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setObjectName("presenceSentence")
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.pause_menu = QMenu(self)
        self.pause = QPushButton(" " + tr("Pause"))
        self.pause.setObjectName("pauseButton")
        self.pause.setIcon(icon("pause"))
        self.pause.setAutoDefault(False)
        self.settings = QPushButton(" " + tr("Settings"))
        self.settings.setObjectName("settingsButton")
        self.settings.setIcon(icon("settings"))
        self.settings.setProperty("flat", True)
        self.settings.setAccessibleName(tr("Settings"))
        self.settings.setAutoDefault(False)
        self._resume: Entry | None = None
        self.pause.clicked.connect(self._pause_clicked)
        self._lay()
        look().changed.connect(self._paint_wing)
        self._paint_wing()

    def _lay(self) -> None:
        lay = QVBoxLayout(self)
        lay.setContentsMargins(GRID, 2 * GRID, GRID, GRID + 4)
        lay.setSpacing(2)
        head = row(self._wing, self._name)
        head.setContentsMargins(GRID, 0, 0, GRID)
        head.addStretch()
        lay.addLayout(head)
        for number, place in enumerate(Place, 1):
            each = PlaceButton(place, number)
            self._group.addButton(each)
            self.buttons[place] = each
            each.clicked.connect(lambda _=False, place=place: self.went.emit(place))
            lay.addWidget(each)
        lay.addStretch(1)
        lay.addWidget(self.settings, 0, Qt.AlignmentFlag.AlignLeft)
        lay.addSpacing(GRID // 2)
        lay.addWidget(line())
        lay.addSpacing(GRID)
        lay.addWidget(self.sentence)
        lay.addSpacing(GRID)
        lay.addWidget(self.pause)

    def go(self, place: Place) -> None:
        """Show which place it is, without telling."""
        self.buttons[place].setChecked(True)

    def tell(self, sentence: str, entries: tuple[Entry, ...]) -> None:
        """Show what this computer does, and the menu that pauses it or the button that resumes
        it."""
        if self.sentence.text() != sentence:
            self.sentence.setText(sentence)
            self.sentence.setAccessibleName(sentence)
        resume = next((each for each in entries if each.act is Act.RESUME), None)
        if resume is not None:
            self._resume = resume
            self.pause.setMenu(None)  # type: ignore[arg-type]
            self.pause.setText(" " + tr("Resume"))
            self.pause.setIcon(icon("resume"))
        else:
            self._resume = None
            if not self.pause_menu.isVisible():
                fill(self.pause_menu, entries, self.pressed.emit)
            if self.pause.menu() is None:
                self.pause.setMenu(self.pause_menu)
                self.pause.setText(" " + tr("Pause"))
                self.pause.setIcon(icon("pause"))
        self.pause.setEnabled(any(each.enabled for each in entries))
        self.pause.setAccessibleName(self.pause.text().strip())

    def _pause_clicked(self) -> None:
        if self._resume is not None:
            self.pressed.emit(self._resume)

    def _paint_wing(self) -> None:
        ratio = self.devicePixelRatioF()
        pixels = plain_wing(round(22 * ratio), look().colours.accent)
        pixels.setDevicePixelRatio(ratio)
        self._wing.setPixmap(pixels)
