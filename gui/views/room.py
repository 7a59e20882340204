"""Windows that fit the screen: at 200 % a usual screen has a quarter of the room that it has at 100 %.

A window larger than its screen hides what is at its edges, and on some desktops cannot be moved to
show it; so what a window would like yields to what there is.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from gui.views.pieces import set_up

FRAME_SIZE_MAX = QSize(16, 48)
"""What desktops put around a window."""


class Scrolled(QScrollArea):
    """A page that asks for its whole height, and is scrolled where there is less."""

    def __init__(self, page: QWidget) -> None:
        super().__init__()
        self._page = page
        set_up(
            self,
            widget=page,
            widgetResizable=True,
            frameShape=QFrame.Shape.NoFrame,
            focusPolicy=Qt.FocusPolicy.NoFocus,
            horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
        )

    def sizeHint(self) -> QSize:
        """Return the size that the page wants without a scroll bar."""
        return self._page.sizeHint()


def keep_on_screen(window: QWidget, least: tuple[int, int]) -> None:
    """Make the window no larger than its screen, and let it get no smaller than ``least``, width
    and height, or than the screen where that is smaller."""
    room = window.screen().availableSize() - FRAME_SIZE_MAX
    window.setMinimumSize(QSize(*least).boundedTo(room))
    window.resize(window.size().boundedTo(room))
