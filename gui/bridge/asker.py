"""Whether somebody who asked is still there to be told.

Destroyed is gone, and so is what was closed and is destroyed with the next turn of Qt's loop: what
it would do with a reply (close itself, copy it to the clipboard) its person does not want any more.
What is only hidden, such as a page behind another one or the window while it is in the tray, is there.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import Shiboken

_MARK = Qt.WidgetAttribute.WA_DeleteOnClose


def is_gone(asker: QObject) -> bool:
    """Tell whether Qt has destroyed it; to be asked in Qt's thread, as all here."""
    return not Shiboken.isValid(asker)


def passing_window(asker: QObject) -> QWidget | None:
    """Return the window of a widget if that is deleted when it is closed; else None."""
    window = asker.window() if isinstance(asker, QWidget) else None
    return window if window is not None and window.testAttribute(_MARK) else None


def is_closed(passing: QWidget | None) -> bool:
    """Tell whether a passing window was closed: Qt takes the mark away as it does that."""
    return passing is not None and (is_gone(passing) or not passing.testAttribute(_MARK))
