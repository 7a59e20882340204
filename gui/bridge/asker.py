"""Whether somebody who asked is still there to be told.

Destroyed is gone, and so is a window that was closed and is destroyed with the next turn of Qt's
loop: what it would do with a reply (close itself, disconnect) it has done. What is only hidden, such
as a page behind another one or the window while it is in the tray, is there.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import Shiboken


def is_gone(asker: QObject) -> bool:
    """Whether nothing may be told to it any more; asked in Qt's thread."""
    if not Shiboken.isValid(asker):
        return True
    return isinstance(asker, QWidget) and _is_closed(asker.window())


def _is_closed(window: QWidget) -> bool:
    """For good; one that was not shown yet is not."""
    known = Qt.WidgetAttribute
    return (
        window.isHidden()
        and window.testAttribute(known.WA_DeleteOnClose)
        and window.testAttribute(known.WA_WState_ExplicitShowHide)
    )
