"""The sheet before work runs again: what has changed since, what is kept, and what will run.

A past workflow runs as another one, with its scripts and files as they are now or as they were, and
with other values or another name where its person wants them. After a failure the same sheet stands
between the two meanings of *Retry*, and only where they differ.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from agent.api.again import AgainReply
from agent.client.own_agent import own_name
from agent.workflow.again import Changes, Looked, look_again, run_again
from agent.workflow.faults import FaultsError
from agent.workflow.submission import ProgressStep
from gui.bridge.bridge import Task
from gui.model.again import again_text, differing_text, steps_as_tasks
from gui.theme.look import GRID
from gui.views.graph_view import GraphView
from gui.views.pieces import (
    Sheet,
    button,
    column,
    form,
    form_row,
    held,
    label,
    quiet,
    row,
    said_of,
    set_up,
    strong,
    timer,
)
from gui.views.variable_fields import variable_field
from gui.views.view_context import ViewContext
from gui.wording import step_text
from gui.words import tr

TYPING_PAUSE_MS = 350


class AgainSheet(Sheet):
    """``submitted`` with the workflow that runs. ``tasks``: those of it that are to be retried, none
    for all; None where it is not a retry. ``looked``: what is known already. ``steps``: what is done
    once more although it is as it was."""

    submitted = Signal(str)

    def __init__(
        self,
        context: ViewContext,
        workflow: str,
        looked: Looked | None = None,
        tasks: tuple[str, ...] | None = None,
        parent: QWidget | None = None,
        steps: tuple[str, ...] = (),
    ) -> None:
        super().__init__(parent, "againSheet", tr("Run again"))
        self._context, self._workflow, self._tasks = context, workflow, tasks
        self._found, self._steps = looked, steps
        self._values: dict[str, str] = {}
        self._shape: tuple[str, ...] | None = None
        self._looking = self._running = False
        self._look_task: Task | None = None
        self.resize(100 * GRID, 68 * GRID)
        self._make_parts()
        self._lay()
        self._typing = timer(self, TYPING_PAUSE_MS, self._look, once=True)

    def _make_parts(self) -> None:
        name = self._context.screen.called(self._workflow)
        self.name, self.summary = strong(name, "againName"), label(name="againSummary")
        self.summary.setWordWrap(True)
        self.version = set_up(QComboBox(), "againVersion")
        self.version.addItem(tr("with its scripts and files as they are now"), True)
        self.version.addItem(tr("as it was"), False)
        self.version.activated.connect(lambda _: self._show())
        self.version_line = held(row(said_of(self.version, tr("It runs")), self.version, "stretch"))
        self.new_name = set_up(QLineEdit(name), "againNewName", textEdited=self._typed)
        self.form = form()
        self.form_holder = held(self.form)
        form_row(self.form, tr("Name"), self.new_name)
        self.whole = set_up(QCheckBox(tr("Run the unchanged steps too")), "againWhole")
        self.whole.toggled.connect(lambda _: self._show())
        self.graph = set_up(GraphView(), "againGraph")
        self.note = quiet(name="againNote", wrap=True)
        self.away = button(tr("Close"), "againClose", self.close)
        said = tr("Run again") if self._tasks is None else tr("Retry")
        self.run = button(said, "againRun", self._run, "retry", primary=True)
        self.run.setDefault(True)

    def _lay(self) -> None:
        head = (self.name, self.summary, self.version_line, self.form_holder, self.whole)
        foot = row((self.note, 1), self.away, self.run)
        column(*head, (self.graph, 1), foot, on=self, margins=2 * GRID)

    def showEvent(self, event: QShowEvent) -> None:
        """Read the workflow again, or show what was found where that is known, and give the button
        that starts the focus."""
        super().showEvent(event)
        if self._found is None:
            self._look()
        else:
            self._looked(self._found)
        self.run.setFocus()

    # -- looking ---------------------------------------------------------------------------

    @property
    def _changes(self) -> Changes:
        name = self.new_name.text().strip()
        same = name == self._context.screen.called(self._workflow)
        values = {key: text for key, text in self._values.items() if text.strip()}
        return Changes(values, "" if same else name, own_name(), self._steps)

    def _typed(self) -> None:
        self.run.setEnabled(False)
        self._typing.start()

    def _look(self) -> None:
        self._looking = True
        self._show()
        changes, workflow, bridge = self._changes, self._workflow, self._context.bridge

        def told(step: ProgressStep) -> None:
            bridge.tell(self, self.note.setText, step_text(step))

        if self._look_task is not None:  # what is typed since makes it vain
            self._look_task.cancel()
        self._look_task = bridge.client_work(
            self,
            lambda client: look_again(client, workflow, changes, told),
            self._looked,
            self._failed,
        )

    def _looked(self, found: Looked) -> None:
        self._found, self._looking = found, False
        if self._shape is None:  # as it is now, unless somebody retries who has mended nothing
            now = self._tasks is None or found.mended
            self.version.setCurrentIndex(0 if now and found.now is not None else 1)
        self._show_form(found)
        self._show()

    def _failed(self, sentence: str) -> None:
        self._looking = self._running = False
        self._show()
        self.note.setText(sentence)

    # -- showing ---------------------------------------------------------------------------

    def _show_form(self, found: Looked) -> None:
        shape = tuple(each.name for each in found.variables)
        if shape == self._shape or found.trouble is not None:
            return
        self._shape = shape
        origin = found.was.origin
        self._values = dict(origin.variables) if origin is not None else {}
        while self.form.rowCount() > 1:
            self.form.removeRow(1)
        for each in found.variables:
            field = variable_field(each, self._values, self._typed)
            form_row(self.form, each.says or each.name, field)

    def _show(self) -> None:
        found = self._found
        self.run.setEnabled(found is not None and not self._looking and not self._running)
        self.away.setText(tr("Cancel") if self._looking else tr("Close"))
        if found is None:
            self.summary.setText(tr("Reading …"))
            return
        now = self._now
        reply = self._meant(found)
        retried = self._tasks is not None and not now
        self.version_line.setVisible(found.now is not None)
        self.form_holder.setVisible(now)
        self.whole.setVisible(any(step.kept for step in reply.steps) and not retried)
        self.summary.setText(again_text(reply, anew=self.whole.isChecked(), retried=retried))
        self.graph.tell(steps_as_tasks(reply, anew=self.whole.isChecked(), retried=retried))
        said = differing_text(found.differing) if found.now is not None else ""
        if found.trouble is not None:
            error = found.trouble
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            if isinstance(error, FaultsError):
                why = "\n".join(each.sentence(tr) for each in error.faults)
            said = tr("It cannot be read as it is now ({why}), and runs as it was.", why=why)
        self.note.setText(said)

    @property
    def _now(self) -> bool:
        found = self._found
        return found is not None and found.now is not None and bool(self.version.currentData())

    def _meant(self, found: Looked) -> AgainReply:
        return found.now if self._now and found.now is not None else found.was

    # -- running ---------------------------------------------------------------------------

    def _run(self) -> None:
        found = self._found
        if found is None or self._looking or self._running:
            return
        now = self._now
        if self._tasks is not None and not now:
            self._context.retry_as_it_was(self._workflow, self._tasks)
            self.accept()
            return
        self._running = True
        self._show()
        again = partial(run_again, looked=found, changes=self._changes)
        anew = self.whole.isChecked()
        self._context.bridge.client_work(
            self,
            lambda client: again(client, now=now, anew=anew),
            self._runs,
            self._failed,
            act=True,
        )

    def _runs(self, reply: AgainReply) -> None:
        self._context.bridge.want(reply.workflow)
        self.submitted.emit(reply.workflow)
        self.accept()
