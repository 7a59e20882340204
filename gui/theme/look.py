"""The look of this process: the colours of now, and the palette and style made from them.

Light or dark is what the system says; when it changes, everything that paints asks for ``colours``
again and so follows without being told. One style (Fusion) everywhere, in our colours: what was
looked at and tested on one system then holds on the others.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette, QStyleHints
from PySide6.QtWidgets import QApplication

from gui.theme.colours import (
    DARK,
    LIGHT,
    STRONG_DARK,
    STRONG_LIGHT,
    Colours,
    readable_accent,
    text_on,
)
from gui.theme.style import style_sheet

GRID = 8
TITLE_SCALE = 1.35
SMALL_SCALE = 0.9


class Look(QObject):
    """``changed`` after the palette of the application was set."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.colours: Colours = LIGHT
        self._followed = self._strong = False

    def follow(self, application: QApplication) -> None:
        """Give the application our style and colours, light or dark as the system is now and
        whenever that changes; the accent is the system's where a person has chosen one and it can
        be read, else ours."""
        application.setStyle("Fusion")
        self._system_accent = application.palette().color(QPalette.ColorRole.Accent).name()
        self._own_accent = self._system_accent.lower() in ("#308cc6", "#0078d4", "#000000")
        hints = application.styleHints()
        if not self._followed:
            hints.colorSchemeChanged.connect(self._scheme_changed)
            self._follow_contrast(hints)
            self._followed = True
        self.show(hints.colorScheme() == Qt.ColorScheme.Dark)

    def _follow_contrast(self, hints: QStyleHints) -> None:
        """Qt tells of it from 6.10 on."""
        if hasattr(hints, "accessibility"):
            told = hints.accessibility()
            self._strong = told.contrastPreference() == Qt.ContrastPreference.HighContrast
            told.contrastPreferenceChanged.connect(self.contrast_changed)

    def contrast_changed(self, wanted: Qt.ContrastPreference) -> None:
        """Take colours with more contrast where the system asks for it, or the usual ones."""
        self._strong = wanted == Qt.ContrastPreference.HighContrast
        self.show(self.colours.dark)

    def show(self, dark: bool) -> None:
        """Set ``colours``, light or dark, with strong contrasts where the system wants them and its
        accent where that can be read, then the palette and style sheet of the application if there
        is one, and emit ``changed``."""
        plain, strong = (DARK, STRONG_DARK) if dark else (LIGHT, STRONG_LIGHT)
        base = strong if self._strong else plain
        accent = base.accent if self._own_accent else readable_accent(self._system_accent, base)
        self.colours = replace(base, accent=accent, on_accent=text_on(accent))
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.setPalette(palette_of(self.colours))
            application.setStyleSheet("")  # to replace one takes three times as long as this
            application.setStyleSheet(style_sheet(self.colours))
        self.changed.emit()

    def _scheme_changed(self, scheme: Qt.ColorScheme) -> None:
        self.show(scheme == Qt.ColorScheme.Dark)

    _system_accent = "#308cc6"
    _own_accent = True


_LOOK: list[Look] = []


def look() -> Look:
    """Return the one look of this process, made at the first call."""
    if not _LOOK:
        _LOOK.append(Look())
    return _LOOK[0]


def title_font() -> QFont:
    """Return the font for the name of a place; there are three sizes and no more."""
    return _scaled(TITLE_SCALE, QFont.Weight.DemiBold)


def small_font() -> QFont:
    """Return the font for what is beside the point."""
    return _scaled(SMALL_SCALE, QFont.Weight.Normal)


def strong_font() -> QFont:
    """Return the system's font, heavier."""
    return _scaled(1.0, QFont.Weight.DemiBold)


def _scaled(scale: float, weight: QFont.Weight) -> QFont:
    font = QFont(QGuiApplication.font())
    if font.pointSizeF() > 0:
        font.setPointSizeF(font.pointSizeF() * scale)
    else:
        font.setPixelSize(round(font.pixelSize() * scale))
    font.setWeight(weight)
    return font


def palette_of(colours: Colours) -> QPalette:
    """Return Qt's palette filled with these colours."""
    role = QPalette.ColorRole
    values = {
        role.Window: colours.surface,
        role.Base: colours.surface,
        role.AlternateBase: colours.backdrop,
        role.Button: colours.backdrop,
        role.WindowText: colours.text,
        role.Text: colours.text,
        role.ButtonText: colours.text,
        role.BrightText: colours.failed,
        role.PlaceholderText: colours.quiet,
        role.ToolTipBase: colours.raised,
        role.ToolTipText: colours.text,
        role.Highlight: colours.selected,
        role.HighlightedText: colours.text,
        role.Accent: colours.accent,
        role.Link: colours.accent,
        role.LinkVisited: colours.accent,
        role.Light: colours.raised,
        role.Midlight: colours.raised,
        role.Mid: colours.line,
        role.Dark: colours.line,
        role.Shadow: colours.line,
    }
    palette = QPalette()
    for each, colour in values.items():
        palette.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(colours.quiet))
    return palette
