"""What leaves this computer with a workflow, in the sheet before a submission.

All of it is named with its size. What lies beyond the folder of the workflow's file is asked for, each by
itself: whoever wrote the file may be somebody else, and nothing of it is sent before its person has
confirmed it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from agent.workflow.leaving import Leaving
from gui.model.times import size
from gui.theme.look import GRID
from gui.views.pieces import column, quiet, set_up, strong
from gui.words import plain_tip, tr, tr_n

SHOWN_MAX = 40
ROWS_HIGH = 4


class TakenAlong(QWidget):
    """``allowed`` is told what is confirmed now, whenever that changes."""

    def __init__(self, allowed: Callable[[tuple[Path, ...]], object]) -> None:
        super().__init__()
        self._allowed = allowed
        self._shown: tuple[tuple[Path, ...], tuple[Path, ...]] = ((), ())
        self.question = strong(name="takenQuestion")
        self.question.setWordWrap(True)
        self.outside = set_up(QListWidget(), "takenOutside", tr("From outside of its folder"))
        self.outside.setMaximumHeight(ROWS_HIGH * 4 * GRID)
        self.outside.itemChanged.connect(lambda _: self._changed())
        self.leaves = quiet(name="takenLeaves", wrap=True)
        column(self.question, self.outside, self.leaves, on=self, margins=0)
        self.tell((), (), ())

    def tell(
        self, asked: Sequence[Path], confirmed: Sequence[Path], leaves: Sequence[Leaving]
    ) -> None:
        """Show what lies outside and is ``asked`` for, what of it is confirmed already, and sum up
        all that leaves this computer, with the first ``SHOWN_MAX`` by name in the tool tip. With
        nothing of either nothing is shown."""
        self.setVisible(bool(asked or leaves))
        for each in (self.question, self.outside):
            each.setVisible(bool(asked))
        self.question.setText(
            tr_n("%n thing(s) from outside of its folder would be sent. May they?", "", len(asked))
        )
        if self._shown != (shown := (tuple(asked), tuple(confirmed))):
            self._shown = shown
            self._fill(asked, confirmed)
        files = sum(each.files for each in leaves)
        total = size(sum(each.size_bytes for each in leaves))
        said = tr_n("%n file(s), {size}, leave this computer", "", files, size=total)
        self.leaves.setText(said if leaves else "")
        lines = [f"{each.path} · {size(each.size_bytes)}" for each in leaves[:SHOWN_MAX]]
        self.leaves.setToolTip(plain_tip("\n".join(lines)))

    def _fill(self, asked: Sequence[Path], confirmed: Sequence[Path]) -> None:
        self.outside.blockSignals(True)
        self.outside.clear()
        for path in asked:
            item = QListWidgetItem(str(path))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            checked = Qt.CheckState.Checked if path in confirmed else Qt.CheckState.Unchecked
            item.setCheckState(checked)
            self.outside.addItem(item)
        self.outside.blockSignals(False)

    def _changed(self) -> None:
        items = [self.outside.item(row) for row in range(self.outside.count())]
        chosen = [each for each in items if each.checkState() is Qt.CheckState.Checked]
        confirmed = tuple(Path(each.text()) for each in chosen)
        self._shown = (self._shown[0], confirmed)
        self._allowed(confirmed)
