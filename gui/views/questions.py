"""The few questions that are asked before something that cannot be taken back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from gui.views.pieces import PLAIN, set_up
from gui.words import tr, tr_n

Answer = tuple[str, str, QMessageBox.ButtonRole, Callable[[], object]]
"""A name for tests, what the button says, how it is meant, and what is done when it is pressed."""
AWAY, ACCEPT = QMessageBox.ButtonRole.DestructiveRole, QMessageBox.ButtonRole.AcceptRole


def ask(
    parent: QWidget | None, name: str, question: str, more: str, no: str, *answers: Answer
) -> QMessageBox:
    """Ask a question with these answers; what is done by each is called when its button is pressed,
    and ``no`` is on the button by which nothing is done. Returns at once, with the open box."""
    box = set_up(
        QMessageBox(parent),
        name,
        windowTitle="Wingbeat",
        icon=QMessageBox.Icon.NoIcon,
        textFormat=PLAIN,
        text=question,
        informativeText=more,
        attribute=Qt.WidgetAttribute.WA_DeleteOnClose,
    )
    for each, text, role, act in answers:
        made: QPushButton = box.addButton(text, role)
        set_up(made, each, clicked=lambda _=False, act=act: act())
    box.addButton(no, QMessageBox.ButtonRole.RejectRole)
    box.open()
    return box


def ask_to_leave(parent: QWidget, leave: Callable[[], object]) -> QMessageBox:
    """Ask whether to leave the flock; ``leave`` is called on a yes. Returns at once, with the open
    box."""
    more = tr("This computer forgets its key and works alone. To come back it has to be invited.")
    answer = ("leave", tr("Leave"), AWAY, leave)
    return ask(parent, "leaveBox", tr("Leave the flock?"), more, tr("Stay"), answer)


def ask_to_expel(parent: QWidget, name: str, expel: Callable[[], object]) -> QMessageBox:
    """Ask whether a machine is to be expelled from the flock; ``expel`` is called on a yes. Returns
    at once, with the open box."""
    question = tr("Expel {name} from the flock?", name=name)
    more = tr("Its certificate is void on all machines at once. To come back it has to be "
              "invited anew.")  # fmt: skip
    answer = ("expel", tr("Expel"), AWAY, expel)
    return ask(parent, "expelBox", question, more, tr("Keep it"), answer)


def ask_to_quit(
    parent: QWidget | None,
    running: int,
    hosted: bool,
    quit_now: Callable[[], object],
    after: Callable[[], object],
) -> QMessageBox:
    """Ask whether to quit: ``quit_now``, ``after`` (to finish first) or nothing is called by the
    answer. ``after`` is offered only where the agent ends with us (``hosted``) and tasks run.
    Returns at once, with the open box."""
    now, more = tr("Quit"), tr("This computer then does not help the flock any more.")
    later: tuple[Answer, ...] = ()
    if not hosted:
        more = tr("The agent runs as a service of its own and goes on; only the window and the "
                  "tray icon end.")  # fmt: skip
    elif running:
        now, later = tr("Hand back and quit"), (
            ("quitAfter", tr("Finish, then quit"), ACCEPT, after),
        )  # fmt: skip
        more = tr_n(
            "%n task(s) run here for the flock. Handed back, they begin anew on another "
            "machine, or from where they last saved.",
            "",
            running,
        )
    answers = (("quitNow", now, AWAY, quit_now), *later)
    return ask(parent, "quitBox", tr("Quit Wingbeat?"), more, tr("Stay"), *answers)
