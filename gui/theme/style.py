"""The style sheet: only what the palette cannot say, such as rounding, spacing and thin lines."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from string import Template

from gui.theme.colours import Colours

_SHEET = Template(
    """
QToolTip { color: $text; background: $raised; border: 1px solid $line; padding: 4px 6px; }
QPushButton { color: $text; background: $surface; border: 1px solid $line; border-radius: 5px;
    padding: 5px 12px; min-height: 18px; }
QPushButton:hover { background: $raised; }
QPushButton:pressed { background: $line; }
QPushButton:disabled { color: $quiet; background: $backdrop; border-color: $raised; }
QPushButton:focus { border: 1px solid $accent; }
QPushButton[primary="true"] { color: $on_accent; background: $accent; border-color: $accent;
    font-weight: 600; }
QPushButton[primary="true"]:disabled { color: $quiet; background: $raised; border-color: $raised; }
QPushButton[primary="true"]:focus { border: 1px solid $text; }
QPushButton[flat="true"] { background: transparent; border: 1px solid transparent; }
QPushButton[flat="true"]:hover { background: $raised; }
QPushButton[flat="true"]:focus { border: 1px solid $accent; }
QPushButton::menu-indicator { subcontrol-position: right center; subcontrol-origin: padding;
    right: 8px; }
QToolButton { color: $text; background: transparent; border: 1px solid transparent;
    border-radius: 5px; padding: 4px; }
QToolButton:hover { background: $raised; }
QToolButton:pressed, QToolButton:checked { background: $selected; }
QToolButton:focus { border: 1px solid $accent; }
QBalloonTip QLabel { color: #1b1f24; background: transparent; }
QBalloonTip QPushButton { background: transparent; border: 0; padding: 0; min-height: 0; }
QLineEdit, QSpinBox, QDoubleSpinBox, QTimeEdit, QComboBox, QPlainTextEdit, QTextEdit {
    color: $text; background: $surface; border: 1px solid $line; border-radius: 5px;
    padding: 4px 8px; selection-background-color: $selected; selection-color: $text; }
QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox, QTimeEdit { min-height: 20px; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QTimeEdit:focus, QComboBox:focus,
QPlainTextEdit:focus, QTextEdit:focus { border: 1px solid $accent; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QTimeEdit:disabled,
QComboBox:disabled, QCheckBox:disabled, QRadioButton:disabled { color: $quiet; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QTimeEdit:disabled,
QComboBox:disabled { background: $backdrop; }
QComboBox::drop-down { border: 0; width: 24px; }
QComboBox::down-arrow { image: url($arrow); width: 14px; height: 14px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0; height: 0; border: 0; }
QAbstractSpinBox QLineEdit { border: 0; padding: 0 6px; min-height: 0; background: transparent; }
QComboBox QAbstractItemView { background: $surface; border: 1px solid $line; outline: 0; }
QTableView, QTreeView, QListView { background: $surface; border: 0; outline: 0;
    gridline-color: $line; selection-background-color: $selected; selection-color: $text; }
QListView[framed="true"] { border: 1px solid $line; border-radius: 5px; padding: 4px; }
QListView[framed="true"]:focus { border: 1px solid $accent; }
QHeaderView { background: $surface; border: 0; }
QHeaderView::section { color: $quiet; background: $surface; border: 0;
    border-bottom: 1px solid $line; padding: 6px 8px; font-weight: 400; }
QHeaderView::section:hover { color: $text; background: $backdrop; }
QTableCornerButton::section { background: $surface; border: 0; }
QMenu { background: $surface; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $selected; }
QMenu::item:disabled { color: $quiet; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QMenu::icon { padding-left: 8px; }
QScrollArea { border: 0; background: transparent; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: $line; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: $quiet; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { color: $quiet; background: transparent; border: 0;
    border-bottom: 2px solid transparent; padding: 7px 12px; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:focus { color: $accent; }
QTabWidget::pane { border: 0; }
QPlainTextEdit#agentLog, QPlainTextEdit#taskLogText { border: 0; border-radius: 0; }
QCheckBox, QRadioButton { spacing: 8px; padding: 2px; border: 1px solid transparent; }
QCheckBox::indicator, QRadioButton::indicator { width: 14px; height: 14px;
    border: 1px solid $quiet; background: $surface; }
QCheckBox::indicator { border-radius: 4px; }
QRadioButton::indicator { border-radius: 8px; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url($tick); }
QRadioButton::indicator:checked { width: 6px; height: 6px; border: 5px solid $accent;
    background: $on_accent; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: $line;
    background: $backdrop; }
QRadioButton::indicator:checked:disabled { width: 6px; height: 6px; border: 5px solid $line; }
QCheckBox::indicator:checked:disabled { background: $line; }
QCheckBox:focus, QRadioButton:focus { border: 1px solid $accent; border-radius: 4px; }
QProgressBar { background: $track; border: 0; border-radius: 3px; max-height: 6px; }
QProgressBar::chunk { background: $running; border-radius: 3px; }
QLabel[quiet="true"] { color: $quiet; }
QFrame#sideBar { background: $backdrop; border: 0; border-right: 1px solid $line; }
QFrame[card="true"] { background: $surface; border: 1px solid $line; border-radius: 8px; }
QFrame[bar="warning"] { background: $warning_back; border: 0; border-radius: 6px; }
QFrame[bar="warning"] QLabel { color: $warning_text; }
QFrame[bar="notice"] { background: $raised; border: 0; border-radius: 6px; }
QFrame[line="true"] { background: $line; border: 0; max-height: 1px; min-height: 1px; }
"""
)


def style_sheet(colours: Colours) -> str:
    """Return the text of Qt's style sheet in these colours."""
    names = {name: str(getattr(colours, name)) for name in colours.__slots__ if name != "dark"}
    kind = "dark" if colours.dark else "light"
    pictures = {name: _picture(f"{name}_{kind}.svg") for name in ("tick", "arrow")}
    return _SHEET.substitute(names, **pictures)


def _picture(file: str) -> str:
    """Style sheets name files, with slashes on every system."""
    return Path(str(resources.files("gui.theme") / "icons" / file)).as_posix()
