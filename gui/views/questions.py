"""The few questions that are asked before something that cannot be taken back."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from agent.client.fetching import is_there
from gui.views.pieces import PLAIN, set_up
from gui.words import tr, tr_n

Answer = tuple[str, str, QMessageBox.ButtonRole, Callable[[], object]]
"""A name for tests, what the button says, how it is meant, and what is done when it is pressed."""
AWAY, ACCEPT = QMessageBox.ButtonRole.DestructiveRole, QMessageBox.ButtonRole.AcceptRole


def ask(
    parent: QWidget | None,
    name: str,
    question: str,
    more: str,
    no: str,
    *answers: Answer,
    careful: bool = False,
) -> QMessageBox:
    """Ask a question with these answers; what is done by each is called when its button is pressed,
    and ``no`` is on the button by which nothing is done, which Enter presses where one has to be
    ``careful``. Returns at once, with the open box."""
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
    stay = box.addButton(no, QMessageBox.ButtonRole.RejectRole)
    if careful:
        box.setDefaultButton(stay)
    box.open()
    return box


def ask_to_leave(parent: QWidget, leave: Callable[[], object]) -> QMessageBox:
    """Ask whether to leave the flock; ``leave`` is called on a yes. Returns at once, with the open
    box."""
    more = tr("This computer forgets its key and works alone. To come back it has to be invited.")
    answer = ("leave", tr("Leave"), AWAY, leave)
    return ask(parent, "leaveBox", tr("Leave the flock?"), more, tr("Stay"), answer, careful=True)


def ask_to_remove(parent: QWidget, remove: Callable[[bool], object]) -> QMessageBox:
    """Ask whether Wingbeat is to be removed from this computer; ``remove`` is called with whether
    its data is to be deleted too. Returns at once, with the open box."""
    more = tr("What only this computer keeps is given to other machines, what runs here is handed "
              "back, and it leaves the flock. Wingbeat then ends and starts at login no more; the "
              "program itself is removed by whatever has installed it.")  # fmt: skip
    keep = ("removeKeep", tr("Remove, and keep its data"), AWAY, lambda: remove(False))
    delete = ("removeDelete", tr("Remove, and delete its data"), AWAY, lambda: remove(True))
    question = tr("Remove Wingbeat from this computer?")
    return ask(parent, "removeBox", question, more, tr("Stay"), keep, delete, careful=True)


def ask_to_remove_all_the_same(
    parent: QWidget, why: str, remove: Callable[[], object]
) -> QMessageBox:
    """Ask whether Wingbeat is to be removed from this computer although something is lost by that
    (``why`` says what); ``remove`` is called on a yes. Returns at once, with the open box."""
    answer = ("removeEvenSo", tr("Remove all the same"), AWAY, remove)
    question = tr("It cannot go yet")
    return ask(parent, "removeEvenSoBox", question, why, tr("Stay"), answer, careful=True)


def ask_to_expel(parent: QWidget, name: str, expel: Callable[[], object]) -> QMessageBox:
    """Ask whether a machine is to be expelled from the flock; ``expel`` is called on a yes. Returns
    at once, with the open box."""
    question = tr("Expel {name} from the flock?", name=name)
    more = tr("Its certificate is void on all machines at once. To come back it has to be "
              "invited anew.")  # fmt: skip
    answer = ("expel", tr("Expel"), AWAY, expel)
    return ask(parent, "expelBox", question, more, tr("Keep it"), answer, careful=True)


def tell_phrase(parent: QWidget, phrase: str) -> QMessageBox:
    """Show the recovery phrase of a flock that was made just now. Returns at once, with the open
    box."""
    more = tr("Write it down and keep it apart from this computer: it is shown only now. It is the "
              "missing voice where there are not two administrators, and the way back when they are "
              "lost; whoever has it can take the flock.")  # fmt: skip
    question = tr("The recovery phrase of your flock: {phrase}", phrase=phrase)
    box = ask(parent, "phraseBox", question, more, tr("I have written it down"))
    box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return box


class Keep(Protocol):
    """Begins to keep something at a path, ``over`` what is there or not."""

    def __call__(self, path: Path, *, over: bool) -> object: ...


def ask_to_replace(parent: QWidget, path: Path, keep: Keep) -> QMessageBox:
    """Ask what is to become of a file or folder that is where another one is to be kept; ``keep``
    is called with its path to replace it, or with a free one beside it. Returns at once, with the
    open box."""
    beside = free_beside(path)
    more = tr("Both can be kept: the new one is then called {name}.", name=beside.name)
    if path.is_dir():
        more = tr("Of the folder that is there, files of the same name are replaced and others "
                  "stay. Both can be kept: the new one is then called {name}.",
                  name=beside.name)  # fmt: skip
    return ask(
        parent,
        "replaceBox",
        tr("{name} is there already.", name=path.name),
        more,
        tr("Cancel"),
        ("keepBoth", tr("Keep both"), ACCEPT, lambda: keep(beside, over=False)),
        ("replace", tr("Replace"), AWAY, lambda: keep(path, over=True)),
    )


def free_beside(path: Path) -> Path:
    """Return the first of ``name (2)``, ``name (3)`` and so on that is not there, with the path's
    ending."""
    numbers = itertools.count(2)
    tried = (path.with_name(f"{path.stem} ({number}){path.suffix}") for number in numbers)
    return next(each for each in tried if not is_there(each))


def ask_to_quit(
    parent: QWidget | None,
    running: int,
    hosted: bool,
    quit_now: Callable[[], object],
    after: Callable[[], object],
) -> QMessageBox:
    """Ask whether to quit: ``quit_now``, ``after`` (to finish first) or nothing is called by the
    answer. ``running`` tasks are here; ``after`` is offered only where the agent ends with us
    (``hosted``) and that is not 0. Returns at once, with the open box."""
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
