"""Bars above a list: what is wrong with it and the button that helps, or what can be undone."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from gui.model.trouble import Remedy, Trouble
from gui.theme.drawing import icon
from gui.theme.look import GRID, look
from gui.views.pieces import PLAIN, button, column, row, set_up, timer, tool
from gui.words import tr

UNDO_S = 10


class Bar(QWidget):
    """One sentence, at most one button, and a way to put it away; takes no room while hidden."""

    def __init__(self, name: str, kind: str = "warning", *, margin: int = 2 * GRID) -> None:
        super().__init__()
        self._icon_name = "warning" if kind == "warning" else "info"
        self._act: Callable[[], object] = _nothing
        self._image = QLabel()
        self.sentence = set_up(QLabel(), f"{name}Sentence", textFormat=PLAIN, wordWrap=True)
        self.help = button("", f"{name}Help", lambda: self._act())
        self.away = tool(tr("Put away"), f"{name}Away", self.hide, "close")
        inside = set_up(QFrame(), bar=kind)
        parts = (self._image, (self.sentence, 1), self.help, self.away)
        inside.setLayout(row(*parts, margins=(GRID + 4, 6, GRID, 6)))
        around = (margin, GRID if margin else 0, margin, 0)
        column(inside, on=set_up(self, name), margins=around)
        look().changed.connect(self._paint)
        self._paint()
        self.hide()

    def say(
        self, sentence: str, help_text: str = "", act: Callable[[], object] | None = None
    ) -> None:
        """Show a sentence; with ``help_text`` also a button with this text, which calls ``act``."""
        self.sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self._act = act or _nothing
        set_up(self.help, text=help_text, accessibleName=help_text, visible=bool(help_text))
        self.show()

    def _paint(self) -> None:
        role = "warning_text" if self._icon_name == "warning" else "text"
        self._image.setPixmap(icon(self._icon_name, role).pixmap(QSize(16, 16)))


class TroubleBar(Bar):
    """Shown while the trouble lasts; put away, it stays so until it is another one."""

    def __init__(self, name: str, act: Callable[[Remedy], object], kind: str = "warning") -> None:
        super().__init__(name, kind)
        self._remedy_act = act
        self._trouble: Trouble | None = None
        self._put_away: Trouble | None = None
        self.away.clicked.connect(self._away)

    def tell(self, trouble: Trouble | None) -> None:
        """Show this trouble, unless the person has put the same one away; None hides the bar and
        forgets what was put away."""
        self._trouble = trouble
        if trouble is None:
            self._put_away = None
            self.hide()
        elif trouble != self._put_away:
            remedy = trouble.remedy
            self.say(trouble.sentence, trouble.button, lambda: self._remedy_act(remedy))

    def _away(self) -> None:
        self._put_away = self._trouble


class UndoBar(Bar):
    """Something is about to be done; until the bar ends it can be taken back."""

    def __init__(self, name: str = "undoBar") -> None:
        super().__init__(name, "notice")
        self._do: Callable[[], object] = _nothing
        self._undo: Callable[[], object] = _nothing
        self._sentence = ""
        self._left_s = 0
        self._timer = timer(self, 1000, self._tick)
        self.away.clicked.connect(self.do_now)

    def begin(self, sentence: str, do: Callable[[], object], undo: Callable[[], object]) -> None:
        """Show the sentence and call ``do`` in ten seconds, or ``undo`` instead if the person takes
        it back; putting the bar away does it at once. What waited from before is done first."""
        self.do_now()
        self._do, self._undo, self._left_s, self._sentence = do, undo, UNDO_S, sentence
        self.say(self._text(), tr("Undo"), self.take_back)
        self._timer.start()

    def take_back(self) -> None:
        """Call ``undo`` instead of what waits, and hide; does nothing if nothing waits."""
        self._end(self._undo)

    def do_now(self) -> None:
        """Do what waits without waiting longer, and hide; does nothing if nothing waits."""
        self._end(self._do)

    def _end(self, act: Callable[[], object]) -> None:
        if self._timer.isActive():
            self._timer.stop()
            self.hide()
            act()

    def _tick(self) -> None:
        self._left_s -= 1
        if self._left_s <= 0:
            self.do_now()
        else:
            self.sentence.setText(self._text())

    def _text(self) -> str:
        return tr("{sentence} ({seconds} s)", sentence=self._sentence, seconds=self._left_s)


def _nothing() -> None:
    """Nothing is to be done."""
