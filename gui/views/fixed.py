"""What an administrator has fixed: controls that show their value, say by whom, and take no other.

A control that is only grey looks broken; the mark and its tip say that it is meant so, and who can
change it.
"""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel, QWidget

from gui.theme.drawing import icon
from gui.views.pieces import set_up
from gui.words import plain_tip, tr

MARK_SIZE = QSize(16, 16)


def fixed_words(file: str) -> str:
    """Return who has fixed something, and who can change it."""
    return tr("Fixed for this computer by {file}; only an administrator can change it.", file=file)


class FixedMark(QLabel):
    """A small lock beside what is fixed, with the file that does so as its tip; hidden until then."""

    def __init__(self, name: str) -> None:
        super().__init__()
        set_up(self, name, visible=False)

    def tell(self, file: str) -> None:
        """Show the mark with this file as who has fixed it; hide it for an empty one."""
        self.setVisible(bool(file))
        if file:
            self.setPixmap(icon("lock", "quiet").pixmap(MARK_SIZE, self.devicePixelRatioF()))
            self.setToolTip(plain_tip(fixed_words(file)))
            self.setAccessibleName(fixed_words(file))


def tell_fixed(control: QWidget, file: str) -> None:
    """Say of the control who has fixed what it shows, as its tip and to screen readers, and disable
    it; for an empty file take tip and words back, but leave it to the caller to enable the
    control."""
    words = fixed_words(file) if file else ""
    if control.accessibleDescription() != words:
        control.setToolTip(plain_tip(words))
        control.setAccessibleDescription(words)
    if file:
        control.setEnabled(False)
