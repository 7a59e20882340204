"""What lies over the window while a file is dragged over it, and what counts as a file there."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from agent.client.inspecting import is_flight
from gui.theme.drawing import paint_box, paint_text
from gui.theme.look import look, title_font
from gui.words import tr, tr_n

PATH_LENGTH_MAX = 4096


class Veil(QWidget):
    """Dims the window while a file is over it, and says what will happen."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._text = ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def begin(self, paths: list[str]) -> None:
        """Cover the whole window and say what dropping these files, of which there must be one at
        least, will do: submit the one, by its name, or so many, or inspect a flight's folder."""
        window = self.parentWidget()
        assert window is not None
        name = Path(paths[0]).name
        self._text = (
            tr("Drop to inspect the flight {name}", name=name)
            if len(paths) == 1 and is_flight(Path(paths[0]))
            else tr("Drop to submit {name}", name=name)
            if len(paths) == 1
            else tr_n("Drop to submit %n file(s)", "", len(paths))
        )
        self.setAccessibleName(self._text)
        self.setGeometry(window.rect())
        self.raise_()
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Dim the window below, with one sentence on it."""
        colours = look().colours
        painter = QPainter(self)
        shade = QColor(colours.surface)
        shade.setAlpha(225)
        painter.fillRect(self.rect(), shade)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_box(painter, self.rect().adjusted(24, 24, -24, -24), 12, edge=colours.accent)
        middle = Qt.AlignmentFlag.AlignCenter
        paint_text(painter, self.rect(), self._text, colours.text, title_font(), middle)


def paths_in(data: QMimeData) -> list[str]:
    """Return the files of this machine that were dropped or copied, whether they exist or not, or
    the one whose path the text is, if it exists; empty where there is none."""
    paths = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    if paths or not data.hasText():
        return paths
    typed = data.text().strip().strip("\"'")
    if typed.startswith("file://"):
        typed = QUrl(typed).toLocalFile()
    return (
        [typed]
        if typed and "\n" not in typed and len(typed) < PATH_LENGTH_MAX and Path(typed).exists()
        else []
    )
