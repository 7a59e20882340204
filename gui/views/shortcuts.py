"""All shortcuts on one page, from the list that makes them known."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gui.theme.look import GRID
from gui.views.pieces import label, quiet, strong
from gui.words import tr


def shortcuts() -> tuple[tuple[str, str], ...]:
    """Return the keys with what they do."""
    return (
        ("Ctrl+1", tr("Workflows")),
        ("Ctrl+2", tr("Queue")),
        ("Ctrl+3", tr("Flock")),
        ("Ctrl+4", tr("This computer")),
        ("Ctrl+5", tr("Log")),
        ("Ctrl+O", tr("Submit a workflow")),
        ("Ctrl+V", tr("Submit the file whose path was copied")),
        ("Ctrl+F", tr("Filter")),
        ("Del", tr("Cancel what is chosen")),
        ("Ctrl+Z", tr("Undo, while the bar counts down")),
        ("F5", tr("Try again what failed")),
        ("Ctrl+L", tr("Log of the chosen task")),
        ("Ctrl+P", tr("Pause or resume this computer")),
        ("Ctrl+,", tr("Settings")),
        ("F1", tr("This list")),
        ("Esc", tr("Close what was opened last")),
        ("Ctrl+W", tr("Close the window; Wingbeat goes on")),
        ("Ctrl+Q", tr("Quit")),
    )


class ShortcutsList(QWidget):
    """The keys with what they do, in two columns."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shortcuts")
        grid = QGridLayout()
        grid.setHorizontalSpacing(3 * GRID)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        for place, (key, text) in enumerate(shortcuts()):
            shown = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
            grid.addWidget(strong(shown), place, 0)
            grid.addWidget(label(text), place, 1)
        lay = QVBoxLayout(self)
        lay.setContentsMargins(0, 2 * GRID, 0, 0)
        lay.addLayout(grid)
        lay.addWidget(quiet(tr("In a graph: arrows walk, + and - zoom, 0 shows all."), wrap=True))
        lay.addStretch(1)
