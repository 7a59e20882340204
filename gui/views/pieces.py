"""The small pieces that all places are built of, so that they look and read alike."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeySequence, QPixmap
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gui.theme.drawing import icon
from gui.theme.look import GRID, look, small_font, strong_font, title_font
from gui.words import tr

ICON_SIZE = 2 * GRID
EMPTY_ICON_SIZE = 6 * GRID
EMPTY_TEXT_WIDTH = 46 * GRID


def button(
    text: str,
    name: str,
    act: Callable[[], object],
    icon_name: str = "",
    *,
    primary: bool = False,
    flat: bool = False,
) -> QPushButton:
    """Return a push button that calls ``act``; ``name`` is for tests, ``text`` for people."""
    made = QPushButton(text)
    made.setObjectName(name)
    made.setAccessibleName(text)
    if icon_name:
        made.setText(f" {text}")  # the style puts icon and text too close together
        made.setIcon(icon(icon_name, "on_accent" if primary else "text"))
        made.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
    made.setProperty("primary", primary)
    made.setProperty("flat", flat)
    made.setAutoDefault(False)
    made.clicked.connect(lambda: act())
    return made


def tool(text: str, name: str, act: Callable[[], object], icon_name: str) -> QToolButton:
    """Return a button that is an icon and calls ``act``; ``text`` is its tool tip and what screen
    readers say."""
    made = QToolButton()
    made.setObjectName(name)
    made.setAccessibleName(text)
    made.setToolTip(text)
    made.setIcon(icon(icon_name))
    made.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
    made.clicked.connect(lambda: act())
    return made


def title(text: str) -> QLabel:
    """Return a label for the name of a place."""
    made = QLabel(text)
    made.setFont(title_font())
    made.setTextFormat(Qt.TextFormat.PlainText)
    return made


def strong(text: str = "") -> QLabel:
    """Return a label for a heading within a place."""
    made = QLabel(text)
    made.setFont(strong_font())
    made.setTextFormat(Qt.TextFormat.PlainText)
    return made


def quiet(text: str = "", *, small: bool = False, wrap: bool = False) -> QLabel:
    """Return a label for what is beside the point, in paler letters."""
    made = QLabel(text)
    made.setProperty("quiet", True)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if small:
        made.setFont(small_font())
    return made


def label(text: str = "", *, wrap: bool = True) -> QLabel:
    """Return a label with plain text that can be selected and copied."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def line() -> QFrame:
    """Return a thin line across."""
    made = QFrame()
    made.setProperty("line", True)
    return made


def spring() -> QWidget:
    """Return a widget that is empty and pushes what follows to the end."""
    made = QWidget()
    made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return made


def filter_field(name: str, act: Callable[[str], object]) -> QLineEdit:
    """Return a field for typed words that calls ``act`` with them at each change."""
    field = QLineEdit()
    field.setObjectName(name)
    field.setPlaceholderText(tr("Filter …"))
    field.setAccessibleName(tr("Filter"))
    field.setClearButtonEnabled(True)
    field.setMinimumWidth(18 * GRID)
    field.setMaximumWidth(32 * GRID)
    field.addAction(icon("search", "quiet"), QLineEdit.ActionPosition.LeadingPosition)
    field.textChanged.connect(lambda text: act(text))
    return field


def tab_widget(name: str, text: str) -> QTabWidget:
    """Return tabs without pages yet, that a screen reader can name."""
    made = QTabWidget()
    made.setObjectName(name)
    made.setDocumentMode(True)
    made.setAccessibleName(text)
    made.tabBar().setAccessibleName(text)
    return made


def number_field(name: str, least: int, most: int) -> QSpinBox:
    """Return a field for a whole number between these bounds."""
    made = QSpinBox()
    made.setObjectName(name)
    made.setRange(least, most)
    pad(made)
    return made


def pad(field: QAbstractSpinBox) -> None:
    """Give a field the margins inside that the style sheet's padding does not reach."""
    field.lineEdit().setTextMargins(GRID - 2, 0, GRID - 2, 0)


def clear(lay: QLayout) -> None:
    """Take all widgets out of the layout, out of sight at once, and delete them."""
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
    """Add a shortcut to its owner and return it; it works while the owner is shown, wherever in the
    window the keyboard is."""
    made = QAction(text, owner)
    made.setObjectName(name)
    made.setShortcut(QKeySequence(key))
    made.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    made.triggered.connect(lambda: act())
    owner.addAction(made)
    return made


def row(*parts: QWidget, spacing: int = GRID) -> QHBoxLayout:
    """Return a layout with the parts side by side."""
    lay = QHBoxLayout()
    lay.setContentsMargins(0, 0, 0, 0)
    lay.setSpacing(spacing)
    for part in parts:
        lay.addWidget(part)
    return lay


def form_row(form: QFormLayout, text: str, control: QWidget) -> None:
    """Add a line to a form, its label level with its control."""
    said = QLabel(text)
    said.setBuddy(control)
    said.setMinimumHeight(control.sizeHint().height())
    control.setAccessibleName(text)
    form.addRow(said, control)


def column(*parts: QWidget, spacing: int = GRID, margin: int = 0) -> QVBoxLayout:
    """Return a layout with the parts one below the other."""
    lay = QVBoxLayout()
    lay.setContentsMargins(margin, margin, margin, margin)
    lay.setSpacing(spacing)
    for part in parts:
        lay.addWidget(part)
    return lay


class Empty(QWidget):
    """What a place says while there is nothing: what it is for, and how to begin."""

    def __init__(self, icon_name: str, headline: str, text: str, *buttons: QPushButton) -> None:
        super().__init__()
        self._icon_name = icon_name
        self._image = QLabel()
        self._image.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.headline, self.text = strong(headline), quiet(text, wrap=True)
        for each in (self.headline, self.text):
            each.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text.setFixedWidth(EMPTY_TEXT_WIDTH)
        lay = QVBoxLayout(self)
        lay.setSpacing(GRID)
        lay.addStretch(2)
        for each in (self._image, self.headline):
            lay.addWidget(each, 0, Qt.AlignmentFlag.AlignHCenter)
        # Aligned by itself it would be given the height of one line, however many it needs.
        around = row(self.text)
        around.insertStretch(0)
        around.addStretch()
        lay.addLayout(around)
        lay.addSpacing(GRID)
        across = row(*buttons)
        across.insertStretch(0)
        across.addStretch()
        lay.addLayout(across)
        lay.addStretch(3)
        look().changed.connect(self._paint_icon)
        self._paint_icon()

    def _paint_icon(self) -> None:
        ratio = self.devicePixelRatioF()
        pixels: QPixmap = icon(self._icon_name, "quiet").pixmap(
            QSize(EMPTY_ICON_SIZE, EMPTY_ICON_SIZE), ratio
        )
        self._image.setPixmap(pixels)
