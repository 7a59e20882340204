"""Side by side as far as there is room, then on the next line, as words in a text.

Buttons come and go with what is chosen, and are as wide as the language makes them, so no fixed
rows suit them all.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class Flow(QLayout):
    """Qt has no such layout of its own."""

    def __init__(self, *parts: QWidget, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        for part in parts:
            self.addWidget(part)

    def addItem(self, item: QLayoutItem) -> None:
        """Take a part in, behind the others, as Qt hands it over."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of parts, hidden ones too."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return the part at a place; None behind the last, by which Qt knows the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Take the part at a place out, and return it; None behind the last."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        """Return true: what is less wide is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines that this width needs."""
        lines = self._lines(width)
        heights = [max(each.sizeHint().height() for each in line) for line in lines]
        return sum(heights) + self.spacing() * max(0, len(lines) - 1)

    def sizeHint(self) -> QSize:
        """Return the least size that is possible; the height comes from the width."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Return the greatest width and the greatest height of the parts that are shown, without
        margins: each has to fit into a line."""
        size = QSize()
        for each in self._items:
            if each.isEmpty():
                continue
            size = size.expandedTo(each.minimumSize())
        return size

    def setGeometry(self, rect: QRect) -> None:
        """Place the parts that are shown from the left, line by line, each as large as it asks
        for."""
        super().setGeometry(rect)
        top = rect.top()
        for line in self._lines(rect.width()):
            left = rect.left()
            for each in line:
                size = each.sizeHint()
                each.setGeometry(QRect(QPoint(left, top), size))
                left += size.width() + self.spacing()
            top += max(each.sizeHint().height() for each in line) + self.spacing()

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        left = width
        for each in self._items:
            if each.isEmpty():
                continue
            needed = each.sizeHint().width()
            if not lines or needed > left:
                lines.append([])
                left = width
            lines[-1].append(each)
            left -= needed + self.spacing()
        return lines
