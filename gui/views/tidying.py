"""Finished work out of sight, or gone: hidden here, where one looks, or removed with what it takes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from agent.api.past import Removed
from agent.api.programs import Forgotten, bare_name
from agent.api.work import WorkflowView
from gui import settings
from gui.bridge.bridge import is_gone
from gui.model.folding import is_open
from gui.model.times import size
from gui.views.pieces import set_up
from gui.views.questions import AWAY, ask
from gui.views.view_context import ViewContext
from gui.words import tr, tr_n

NAMES_SHOWN_MAX = 5


class HiddenWorkflows(QPushButton):
    """Says how many are out of sight, and shows them while it is pressed; what is tried again is seen
    again by itself."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        tip = tr("Show what was hidden, or leave it out again")
        set_up(self, "hiddenWorkflows", flat=True, checkable=True, toolTip=tip, visible=False)
        self._hidden = settings.hidden_workflows()
        self.toggled.connect(lambda _: self.changed.emit())

    def is_hidden(self, view: WorkflowView) -> bool:
        """Tell whether a person has put the end of this workflow out of sight."""
        return self._hidden.get(view.workflow) == view.ended_ms and not is_open(view)

    def seen(self, views: Sequence[WorkflowView]) -> list[WorkflowView]:
        """Return those that are to be shown, all of them where this button is checked, and say on
        it how many are hidden; it is shown only where there are any."""
        hidden = sum(map(self.is_hidden, views)) if self._hidden else 0
        said = tr_n("%n hidden", "workflows", hidden)
        set_up(self, says=said, text=said, visible=hidden > 0)
        if not hidden or self.isChecked():
            return list(views)
        return [each for each in views if not self.is_hidden(each)]

    def hide_all(self, views: Sequence[WorkflowView]) -> None:
        """Put those that have ended out of sight from now on."""
        self._hidden |= {each.workflow: each.ended_ms for each in views if not is_open(each)}
        self._keep()

    def show_again(self, views: Sequence[WorkflowView]) -> None:
        """Have these in sight again."""
        for each in views:
            self._hidden.pop(each.workflow, None)
        self._keep()

    def _keep(self) -> None:
        settings.hide_workflows(self._hidden)
        self.changed.emit()


def ask_to_remove(
    parent: QWidget, context: ViewContext, workflows: Sequence[str], *, past: bool
) -> None:
    """Ask the agent what the removal of workflows would free, then the person, unless ``parent`` is
    gone, whether to remove them, with ``past`` from the history, too; returns at once. Why they
    cannot be is told by the context."""

    def told(trial: Removed) -> None:
        if is_gone(parent):
            return
        names = list(trial.names.values())
        named = ", ".join(names[:NAMES_SHOWN_MAX]) + (" …" if len(names) > NAMES_SHOWN_MAX else "")
        frees = tr("That frees {size} on this computer now; copies on other machines go when room is "
                   "wanted there.", size=size(trial.all_bytes))  # fmt: skip
        goes = (
            tr("This computer forgets what became of it, and the flock what it still has of it.")
            if past
            else tr("Its results and logs are deleted. The history keeps what became of it.")
        )
        act = ("remove", tr("Remove"), AWAY, lambda: context.remove(workflows, past))
        question = tr("Remove {names}?", names=named)
        said = f"{goes} {frees}"
        ask(parent, "removeBox", question, said, tr("Keep it"), act, careful=True)

    context.would_free(workflows, past, told)


def ask_to_forget(parent: QWidget, context: ViewContext, program: str) -> None:
    """Ask the agent what would be free without a published program, then the person, unless
    ``parent`` is gone, whether to forget it; returns at once. Why it cannot be is told by the
    context."""
    name = bare_name(program)

    def gone(forgotten: Forgotten) -> None:
        context.bridge.want_flock()
        freed = size(forgotten.frees_bytes)
        context.said.emit(tr("{names} removed; that freed {size} here.", names=name, size=freed))

    def told(trial: Forgotten) -> None:
        if is_gone(parent):
            return
        more = tr(
            "It is deleted here, with what was decided about it. Work that brings it asks anew."
        )
        frees = tr("That frees {size} on this computer.", size=size(trial.frees_bytes))
        forget = (
            "forget",
            tr("Forget"),
            AWAY,
            lambda: context.forget_program(program, False, gone),
        )
        question = tr("Forget the program {program}?", program=name)
        said = f"{more} {frees}"
        ask(parent, "forgetBox", question, said, tr("Keep it"), forget, careful=True)

    context.forget_program(program, True, told)
