"""The small pieces that all places are built of, so that they look and read alike.

A view says what stands in it and in which order; how a widget is given its properties and a layout
its parts is said here once, by ``set_up``, ``row`` and ``column``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from PySide6.QtCore import QEvent, QObject, QSettings, QSize, Qt, QTimer, SignalInstance
from PySide6.QtGui import QAction, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QBoxLayout,
    QComboBox,
    QDialog,
    QFormLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QSplitter,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gui.theme.drawing import icon
from gui.theme.look import GRID, look, strong_font, title_font
from gui.words import plain_tip, tr

ICON_SIZE = QSize(2 * GRID, 2 * GRID)
EMPTY_ICON_SIZE = QSize(6 * GRID, 6 * GRID)
EMPTY_TEXT_WIDTH = 46 * GRID
HEAD_MARGINS = (2 * GRID, GRID + 4, 2 * GRID, GRID)
CARD_MARGINS = (2 * GRID, GRID + 4, 2 * GRID, 2 * GRID)
PLAIN = Qt.TextFormat.PlainText
SELECTABLE = Qt.TextInteractionFlag.TextSelectableByMouse
CENTRED = Qt.AlignmentFlag.AlignCenter
LEFT, TOP = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignTop
STYLED = frozenset(("primary", "flat", "quiet", "card", "bar", "framed", "line"))
"""Properties that only the style sheet reads."""

Widget = TypeVar("Widget", bound=QWidget)
Box = TypeVar("Box", bound=QBoxLayout)
Part = QWidget | QLayout | int | Literal["stretch"]
"""Of a row or a column: a number is a gap of so many pixels."""
Placed = Part | tuple[QWidget | QLayout, int | Qt.AlignmentFlag]
"""Or a part that takes so great a share of the room that is left, or stands at one side of it."""
Margins = int | tuple[int, int, int, int]


class WheelPassesBy(QObject):
    """Leaves the wheel to the page while the widget has not the keyboard: whoever scrolls by means
    no value of what comes under the pointer. All fields with a value have it, by ``set_up``."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the wheel from a widget without the keyboard, so that it goes to what is around, and
        return true; false for every other event."""
        wheel = event.type() is QEvent.Type.Wheel
        if not wheel or (isinstance(watched, QWidget) and watched.hasFocus()):
            return False
        event.ignore()
        return True


def set_up(widget: Widget, /, name: str = "", says: str = "", **more: Any) -> Widget:
    """Return the widget with a name (for tests), what screen readers say of it where that is not
    its text, neither where empty, and more: a value for each setter, ``wordWrap`` for
    ``setWordWrap``, a slot for each signal, and what the style sheet tells apart. The wheel over a
    page changes no value of it. Raises ``AttributeError`` for what it has not, with what came
    before it set."""
    if isinstance(widget, QAbstractSpinBox | QComboBox | QAbstractSlider):
        widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # else the wheel gives it the keyboard
        widget.installEventFilter(WheelPassesBy(widget))
    if name:
        widget.setObjectName(name)
    if says:
        widget.setAccessibleName(says)
    for key, value in more.items():
        if key in STYLED:
            widget.setProperty(key, value)
        elif isinstance(signal := getattr(widget, key, None), SignalInstance):
            signal.connect(value)
        else:
            told = plain_tip(value) if key == "toolTip" else value
            getattr(widget, f"set{key[0].upper()}{key[1:]}")(told)
    return widget


def timer(owner: QObject, wait_ms: int, act: Callable[[], object], *, once: bool = False) -> QTimer:
    """Return a timer that was not started yet; once started, it calls ``act`` each time when the
    wait is over, or only ``once`` for each start."""
    made = QTimer(owner)
    made.setInterval(wait_ms)
    made.setSingleShot(once)
    made.timeout.connect(act)
    return made


def button(
    text: str,
    name: str,
    act: Callable[[], object],
    icon_name: str = "",
    *,
    primary: bool = False,
    flat: bool = False,
) -> QPushButton:
    """Return a push button that calls ``act``, without an icon where ``icon_name`` is empty;
    ``name`` is for tests, ``text`` for people and screen readers. ``primary`` is in the accent's
    colour, ``flat`` has no frame."""
    made = set_up(QPushButton(text), name, text, primary=primary, flat=flat, autoDefault=False)
    if icon_name:
        made.setText(f" {text}")  # the style puts icon and text too close together
        made.setIcon(icon(icon_name, "on_accent" if primary else "text"))
        made.setIconSize(ICON_SIZE)
        made.setProperty("icon_name", icon_name)
    made.clicked.connect(lambda: act())
    return made


def lead_to(made: QPushButton, *, primary: bool) -> None:
    """Give a button with an icon the accent's colour, or make it an ordinary one; nothing is painted
    where it is so already."""
    if made.property("primary") == primary:
        return
    set_up(made, primary=primary)
    made.style().unpolish(made)
    made.style().polish(made)
    made.setIcon(icon(made.property("icon_name"), "on_accent" if primary else "text"))


def tool(text: str, name: str, act: Callable[[], object], icon_name: str) -> QToolButton:
    """Return a button that is an icon and calls ``act``; ``text`` is its tool tip and what screen
    readers say."""
    made = set_up(QToolButton(), name, text, toolTip=text, icon=icon(icon_name), iconSize=ICON_SIZE)
    made.clicked.connect(lambda: act())
    return made


def title(text: str, name: str = "") -> QLabel:
    """Return a label for the name of a place."""
    return set_up(QLabel(text), name, font=title_font(), textFormat=PLAIN)


def strong(text: str = "", name: str = "") -> QLabel:
    """Return a label for a heading within a place."""
    return set_up(QLabel(text), name, font=strong_font(), textFormat=PLAIN)


def quiet(text: str = "", name: str = "", *, wrap: bool = False) -> QLabel:
    """Return a label for what is beside the point, in paler letters."""
    return set_up(QLabel(text), name, quiet=True, textFormat=PLAIN, wordWrap=wrap)


def label(text: str = "", name: str = "") -> QLabel:
    """Return a label with plain text that is wrapped, and can be selected and copied."""
    return set_up(
        QLabel(text), name, textFormat=PLAIN, wordWrap=True, textInteractionFlags=SELECTABLE
    )


def line() -> QFrame:
    """Return a thin line across."""
    return set_up(QFrame(), line=True)


def filter_field(name: str, act: Callable[[str], object], hint: str = "") -> QLineEdit:
    """Return a field for typed words that calls ``act`` with all of its text at each change;
    ``hint``, or "Filter …" where it is empty, stands in it while nothing is typed."""
    field = set_up(
        QLineEdit(),
        name,
        tr("Filter"),
        placeholderText=hint or tr("Filter …"),
        clearButtonEnabled=True,
        minimumWidth=18 * GRID,
        maximumWidth=32 * GRID,
    )
    sign = field.addAction(icon("search", "quiet"), QLineEdit.ActionPosition.LeadingPosition)
    for each in field.findChildren(QToolButton):
        each.setAccessibleName(tr("Filter") if sign in each.actions() else tr("Clear"))
    field.textChanged.connect(lambda text: act(text))
    return field


def tab_widget(name: str, text: str, *pages: tuple[str, QWidget]) -> QTabWidget:
    """Return tabs with these pages, each with its heading; ``text`` is what screen readers call
    them, ``name`` is for tests."""
    made = set_up(QTabWidget(), name, text, documentMode=True)
    made.tabBar().setAccessibleName(text)
    for heading, page in pages:
        made.addTab(page, heading)
    return made


def number_field(name: str, least: int, most: int) -> QSpinBox:
    """Return a field for a whole number between these bounds."""
    made = set_up(QSpinBox(), name, minimum=least, maximum=most)
    pad(made)
    return made


def pad(field: QAbstractSpinBox) -> None:
    """Give a field the margins inside that the style sheet's padding does not reach."""
    field.lineEdit().setTextMargins(GRID - 2, 0, GRID - 2, 0)


def words_in(text: str) -> tuple[str, ...]:
    """Return what stands between the commas of a text, each once and without blanks."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def clear(lay: QLayout) -> None:
    """Take all parts out of the layout, and hide and delete the widgets among them; what stands in
    a layout within it is not deleted."""
    while (item := lay.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.setParent(None)
            widget.deleteLater()


def has_keyboard(widget: QWidget) -> bool:
    """Tell whether something inside the widget has the keyboard."""
    focus = QApplication.focusWidget()
    return focus is not None and widget.isAncestorOf(focus)


def action(
    owner: QWidget, text: str, key: str, act: Callable[[], object], name: str = ""
) -> QAction:
    """Add an action to its owner and return it: ``act`` is called by this key, wherever in the
    window the keyboard is while the owner is shown. ``text`` is what it is called, ``name`` is for
    tests."""
    made = QAction(text, owner)
    made.setObjectName(name)
    made.setShortcut(QKeySequence(key))
    made.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    made.triggered.connect(lambda: act())
    owner.addAction(made)
    return made


# -- how parts stand -------------------------------------------------------------------------


def row(*parts: Placed, spacing: int = GRID, margins: Margins = 0) -> QHBoxLayout:
    """Return a layout with the parts side by side."""
    return _laid(QHBoxLayout(), parts, spacing, margins)


def column(
    *parts: Placed, on: QWidget | None = None, spacing: int = GRID, margins: Margins = 0
) -> QVBoxLayout:
    """Return a layout with the parts one below the other; it becomes that of the widget ``on``, if
    one is given."""
    return _laid(QVBoxLayout() if on is None else QVBoxLayout(on), parts, spacing, margins)


def _laid(lay: Box, parts: Sequence[Placed], spacing: int, margins: Margins) -> Box:
    lay.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    lay.setSpacing(spacing)
    for part in parts:
        inner, at = part if isinstance(part, tuple) else (part, 0)
        match inner:
            case "stretch":  # in a row a field that can grow shares the room with it
                lay.addStretch(int(isinstance(lay, QVBoxLayout)))
            case int():
                lay.addSpacing(inner)
            case QLayout():
                lay.addLayout(inner, at)
            case QWidget() if isinstance(at, Qt.AlignmentFlag):
                lay.addWidget(inner, 0, at)
            case QWidget():
                lay.addWidget(inner, at)
    return lay


def held(lay: QLayout) -> QWidget:
    """Return a widget that holds the layout, for what can be shown, hidden or replaced as one."""
    made = QWidget()
    made.setLayout(lay)
    return made


def grid(across: int, down: int, stretched: int | None = None) -> QGridLayout:
    """Return an empty grid with gaps of so many pixels between its cells; the column ``stretched``
    takes what room is left, none does for None."""
    lay = QGridLayout()
    lay.setContentsMargins(0, 0, 0, 0)
    lay.setHorizontalSpacing(across)
    lay.setVerticalSpacing(down)
    if stretched is not None:
        lay.setColumnStretch(stretched, 1)
    return lay


def form(*lines: tuple[str, QWidget]) -> QFormLayout:
    """Return a form with a line for each text and its control."""
    lay = QFormLayout()
    lay.setContentsMargins(0, 0, 0, 0)
    lay.setHorizontalSpacing(2 * GRID)
    lay.setVerticalSpacing(GRID)
    for text, control in lines:
        form_row(lay, text, control)
    return lay


def form_row(lay: QFormLayout, text: str, control: QWidget) -> None:
    """Add a line to a form, its label level with its control."""
    lay.addRow(said_of(control, text, minimumHeight=control.sizeHint().height()), control)


def said_of(control: QWidget, text: str, **more: Any) -> QLabel:
    """Return the label of a control, which screen readers then say of it too."""
    control.setAccessibleName(text)
    return set_up(QLabel(text), buddy=control, textFormat=PLAIN, **more)


def splitter(
    name: str, direction: Qt.Orientation, sizes: Sequence[int], *parts: QWidget
) -> QSplitter:
    """Return the parts with a border between them that a person can move, at first of these sizes;
    where it stands is remembered in the settings by the name, if there is one."""
    made = set_up(QSplitter(direction), name, childrenCollapsible=False)
    for part in parts:
        made.addWidget(part)
    made.setSizes(sizes)
    if name:
        key = f"splitters/{name}"
        if (stored := QSettings().value(key)) is not None:
            made.restoreState(stored)
        made.splitterMoved.connect(lambda *_: QSettings().setValue(key, made.saveState()))
    return made


def card(heading: str, *parts: Placed) -> QFrame:
    """Return a frame with a heading and the parts below it."""
    made = set_up(QFrame(), card=True)
    column(strong(heading), *parts, on=made, margins=CARD_MARGINS)
    return made


FRAME_SIZE_MAX = QSize(16, 48)
"""What desktops put around a window."""


class Sheet(QDialog):
    """A dialog that is deleted when it is closed, as all of this window are, and no larger than its
    screen: its buttons are at its lower edge."""

    def showEvent(self, event: QShowEvent) -> None:
        """Take no more room than there is."""
        room = self.screen().availableSize() - FRAME_SIZE_MAX
        self.resize(self.size().boundedTo(room))
        super().showEvent(event)

    def __init__(self, parent: QWidget | None, name: str, heading: str, **more: Any) -> None:
        super().__init__(parent)
        away = Qt.WidgetAttribute.WA_DeleteOnClose
        set_up(self, name, windowTitle=heading, attribute=away, **more)


class Empty(QWidget):
    """What a place says while there is nothing: what it is for, and how to begin."""

    def __init__(self, icon_name: str, headline: str, text: str, *buttons: QPushButton) -> None:
        super().__init__()
        self._icon_name = icon_name
        self._image = set_up(QLabel(), alignment=CENTRED)
        self.headline = set_up(strong(headline), alignment=CENTRED)
        self.text = set_up(quiet(text, wrap=True), alignment=CENTRED, fixedWidth=EMPTY_TEXT_WIDTH)
        # Aligned by itself the text would be given the height of one line, however many it needs.
        lines = (
            row("stretch", each, "stretch") for each in (self._image, self.headline, self.text)
        )
        lay = column(*lines, GRID, row("stretch", *buttons, "stretch"), on=self, margins=GRID)
        lay.insertStretch(0, 2)
        lay.addStretch(3)
        look().changed.connect(self._paint_icon)
        self._paint_icon()

    def _paint_icon(self) -> None:
        image = icon(self._icon_name, "quiet")
        self._image.setPixmap(image.pixmap(EMPTY_ICON_SIZE, self.devicePixelRatioF()))
