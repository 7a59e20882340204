"""Windows that fit the screen: at 200 % a usual screen has a quarter of the room that it has at 100 %.

A window larger than its screen hides what is at its edges, and on some desktops cannot be moved to
show it; so what a window would like yields to what there is.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from gui.theme.look import GRID
from gui.views.pieces import FRAME_SIZE_MAX, set_up

LEAST = 9 * GRID


class Scrolled(QScrollArea):
    """A page that asks for its whole size, and is scrolled where there is less. As a ``part`` of
    something larger it never takes more than that, and as little height as there is."""

    def __init__(self, page: QWidget, *, part: bool = False) -> None:
        super().__init__()
        self._page = page
        if part:
            self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        set_up(
            self,
            widget=page,
            widgetResizable=True,
            frameShape=QFrame.Shape.NoFrame,
            focusPolicy=Qt.FocusPolicy.NoFocus,
        )
        if part:
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def sizeHint(self) -> QSize:
        """Return the size that the page wants without a scroll bar."""
        return self._page.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return a size in which a part of the page can be seen, and none of it where it is empty."""
        return QSize(LEAST, LEAST).boundedTo(self._page.sizeHint())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for another size when the page does; leave everything else to Qt."""
        if watched is self._page and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


def keep_on_screen(window: QWidget, least: tuple[int, int]) -> None:
    """Make the window no larger than its screen, and let it get no smaller than ``least``, width
    and height, or than the screen where that is smaller."""
    room = window.screen().availableSize() - FRAME_SIZE_MAX
    window.setMinimumSize(QSize(*least).boundedTo(room))
    window.resize(window.size().boundedTo(room))
