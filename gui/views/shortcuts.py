"""All shortcuts on one page, from the list that makes them known."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from gui.theme.look import GRID
from gui.views.pieces import column, grid, label, quiet, set_up, strong
from gui.words import tr


def shortcuts() -> tuple[tuple[str, str], ...]:
    """Return all shortcuts of the window, each with what it does in the person's language, in the
    order in which the list of them shows them."""
    return (
        ("Ctrl+1", tr("Workflows")),
        ("Ctrl+2", tr("Queue")),
        ("Ctrl+3", tr("Flock")),
        ("Ctrl+4", tr("This computer")),
        ("Ctrl+5", tr("Log")),
        ("Ctrl+6", tr("History")),
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
        keys = grid(3 * GRID, 6, stretched=1)
        for place, (key, text) in enumerate(shortcuts()):
            shown = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
            keys.addWidget(strong(shown), place, 0)
            keys.addWidget(label(text), place, 1)
        note = quiet(tr("In a graph: arrows walk, + and - zoom, 0 shows all."), wrap=True)
        set_up(self, "shortcuts")
        column(keys, note, "stretch", on=self, margins=(0, 2 * GRID, 0, 0))
