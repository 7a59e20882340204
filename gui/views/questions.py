"""The few questions that are asked before something that cannot be taken back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from gui.words import tr, tr_n


def ask_to_leave(parent: QWidget, leave: Callable[[], object]) -> QMessageBox:
    """Ask whether to leave the flock; ``leave`` is called on a yes. Returns at once, with the open
    box."""
    box = _box(parent, "leaveBox", tr("Leave the flock?"))
    box.setInformativeText(
        tr("This computer forgets its key and works alone. To come back it has to be invited.")
    )
    yes = box.addButton(tr("Leave"), QMessageBox.ButtonRole.DestructiveRole)
    box.addButton(tr("Stay"), QMessageBox.ButtonRole.RejectRole)
    box.buttonClicked.connect(lambda pressed: leave() if pressed is yes else None)
    box.open()
    return box


def ask_to_quit(
    parent: QWidget | None,
    running: int,
    hosted: bool,
    quit_now: Callable[[], object],
    after: Callable[[], object],
) -> QMessageBox:
    """Ask what becomes of what runs here: ``quit_now`` or ``after`` is called by the answer, or
    neither. Returns at once, with the open box."""
    box = _box(parent, "quitBox", tr("Quit Wingbeat?"))
    if not hosted:
        box.setInformativeText(
            tr("The agent runs as a service of its own and goes on; only the window and the tray "
               "icon end.")
        )  # fmt: skip
    elif running:
        box.setInformativeText(
            tr_n(
                "%n task(s) run here for the flock. Handed back, they begin anew on another "
                "machine, or from where they last saved.",
                "",
                running,
            )
        )
    else:
        box.setInformativeText(tr("This computer then does not help the flock any more."))
    now: QPushButton = box.addButton(
        tr("Hand back and quit") if hosted and running else tr("Quit"),
        QMessageBox.ButtonRole.DestructiveRole,
    )
    now.setObjectName("quitNow")
    later: QPushButton | None = None
    if hosted and running:
        later = box.addButton(tr("Finish, then quit"), QMessageBox.ButtonRole.AcceptRole)
        later.setObjectName("quitAfter")
    box.addButton(tr("Stay"), QMessageBox.ButtonRole.RejectRole)

    def pressed(which: object) -> None:
        if which is now:
            quit_now()
        elif later is not None and which is later:
            after()

    box.buttonClicked.connect(pressed)
    box.open()
    return box


def _box(parent: QWidget | None, name: str, text: str) -> QMessageBox:
    box = QMessageBox(parent)
    box.setObjectName(name)
    box.setWindowTitle("Wingbeat")
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return box
