"""Beside the graph: what is chosen there, in words, and what one can do with it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QScrollArea, QWidget

from agent.api.permissions import ASK_OWNERS, AskOwners, OwnersAsked
from agent.api.programs import bare_name
from agent.api.reasons import TaskOffered, TaskReady, WaitsForAcceptance, reason_of
from agent.api.rpc import ErrorCode
from agent.api.values import ENDED, UNDER_WAY, NamedPriority, TaskState
from agent.api.work import GATE, WHY, Gate, Story, TaskView, Why, WorkflowView
from agent.client.fetching import last_results
from gui.model.flock import lacks_leave, may_run_here, waits_for_help
from gui.model.marks import Mark, mark_of_task, mark_of_workflow, mark_words, task_words
from gui.model.times import exact, moment
from gui.model.workflows import (
    has_log,
    is_over,
    length_text,
    may_cancel,
    may_retry,
    outlook,
    priority_text,
    progress_text,
    retry_from,
    shared_text,
    task_outlook,
    when_tip,
    whose,
)
from gui.theme.drawing import mark_pixmap
from gui.theme.look import GRID
from gui.views.flow import Flow
from gui.views.gate_dialog import GateDialog
from gui.views.outputs import Output, Outputs, outputs_of, worth_opening
from gui.views.pieces import (
    LEFT,
    SELECTABLE,
    TOP,
    button,
    column,
    grid,
    label,
    lead_to,
    line,
    quiet,
    row,
    set_up,
    strong,
    timer,
)
from gui.views.task_menu import list_priorities
from gui.views.view_context import ViewContext
from gui.wording import all_explained, explained, story_line
from gui.words import plain_tip, tr, tr_n

MOVES_SHOWN_MAX = 30
MACHINES_SHOWN_MAX = 8
WHY_PAUSE_MS = 400


class TaskDetails(QScrollArea):
    """A task, several, or the workflow itself when nothing is chosen."""

    cancel_wanted = Signal(str, object)

    def __init__(self, context: ViewContext, *, may_run_again: bool = True) -> None:
        super().__init__()
        self._context, self._may_run_again = context, may_run_again
        self._workflow: WorkflowView | None = None
        self._tasks: list[TaskView] = []
        self._more: list[tuple[str, str]] = []
        self._asked = ""
        self._fact_labels: list[tuple[QLabel, QLabel]] = []
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        set_up(
            self, "details", tr("Details"), widgetResizable=True, horizontalScrollBarPolicy=policy
        )
        self._mark, self.name = QLabel(), set_up(strong(name="detailsName"), wordWrap=True)
        self._facts = grid(2 * GRID, 6, stretched=1)
        self.now = label(name="whyNow")
        self.moves = set_up(quiet(name="whyMoves", wrap=True), textInteractionFlags=SELECTABLE)
        self.outputs = Outputs(context)
        self._make_buttons()
        self._why = (line(), strong(tr("Why")), self.now, self.moves)
        self._inner = QWidget()
        column(
            row(self._mark, (self.name, 1)),
            self._facts,
            Flow(*self._acts, spacing=GRID),
            self.outputs,
            GRID // 2,
            *self._why,
            (self.copy, LEFT),
            "stretch",
            on=self._inner,
            margins=2 * GRID,
        )
        self.setWidget(self._inner)
        self._why_timer = timer(self, WHY_PAUSE_MS, self._ask_why, once=True)

    def _make_buttons(self) -> None:
        self.done = button(tr("Mark done"), "markDone", self._mark_done, "check", primary=True)
        self.final = button(
            tr("Open result"), "openFinal", self._open_final, "folder", primary=True
        )
        self.log = button(tr("Log"), "taskLog", self._log, "log")
        self.again = button(tr("Run again …"), "runAgainDetails", self._run_again, "retry")
        self.retry = button(tr("Retry from here"), "retryFrom", self.try_again, "retry")
        self.here = button(tr("Run it here now"), "runHere", self._run_here, primary=True)
        self.cancel = button(tr("Cancel"), "cancelTask", self._cancel, "cancel")
        self.priority = button(tr("Priority"), "priorityButton", lambda: None, "priority")
        self.priority_menu = set_up(QMenu(self), "priorityMenu")
        list_priorities(self.priority_menu, self._set_priority)
        self.priority.setMenu(self.priority_menu)
        self.ask_them = button(tr("Ask them"), "askOwners", self._ask_owners)
        self.ask_them.setToolTip(
            plain_tip(tr("The question comes up on the machines whose owners it waits for."))
        )
        self.ask_them.hide()
        first = (self.done, self.final, self.here, self.ask_them, self.log)
        acts = (self.again, *first, self.retry, self.cancel, self.priority)
        self._acts: tuple[QPushButton, ...] = acts
        self.copy = button(tr("Copy id"), "copyId", self._copy, "copy", flat=True)

    def tell(
        self,
        workflow: WorkflowView | None,
        tasks: Sequence[TaskView],
        more: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Show one task, several together, or the workflow itself if there are none, with ``more``
        that is known of it; without a workflow, nothing."""
        self._workflow, self._tasks, self._more = workflow, list(tasks), list(more)
        self._inner.setVisible(workflow is not None)
        if workflow is None:
            return
        if len(self._tasks) == 1:
            self._tell_task(self._tasks[0])
        else:
            self._tell_many(workflow, self._tasks)
        self._tell_buttons()

    # -- words -------------------------------------------------------------------------------

    def _tell_task(self, task: TaskView) -> None:
        now_s, workflow = time.time(), self._workflow
        mark = mark_of_task(task)
        self._show_mark(mark, task.permille if mark is Mark.RUNNING else None)
        self.name.setText(task.name)
        facts = [
            (tr("State"), _state_text(task, now_s)),
            (tr("Workflow"), workflow.name if task.gate and workflow is not None else ""),
            (tr("To do"), task.asks if task.gate else ""),
            (tr("Program"), task.program),
            (tr("Machine"), task.host),
            (tr("Second run"), ", ".join(task.copies)),
            (tr("Took") if task.state in ENDED else tr("So far"), length_text(task, now_s)),
            (tr("Attempt"), str(task.attempt) if task.attempt > 1 else ""),
            (tr("Priority"), "" if task.priority is None else priority_text(task.priority)),
            (tr("Ended"), exact(task.ended_ms / 1000) if task.ended_ms else ""),
        ]
        if task.mixed_inputs:
            facts.append((tr("Note"), tr("Its inputs have changed since: mixed inputs")))
        self._show_facts(facts)
        self.outputs.tell(task)
        key = f"{task.task} {task.state} {task.changed_ms}"
        if key != self._asked:
            self._asked = key
            self.now.setText(explained(task.why, task.reason) or task_words(task))
            self.moves.setText("")
            self._why_timer.start()

    def _tell_many(self, workflow: WorkflowView, tasks: list[TaskView]) -> None:
        self._asked = ""
        now_s = time.time()
        if tasks:
            marks = [mark_of_task(each) for each in tasks]
            self._show_mark(marks[0] if len(set(marks)) == 1 else Mark.RUNNING, None)
            self.name.setText(f"{bare_name(tasks[0].program) or tasks[0].name} ×{len(tasks)}")
            facts = [(mark_words(mark), str(marks.count(mark))) for mark in Mark if mark in marks]
        else:
            mark = mark_of_workflow(workflow)
            self._show_mark(mark, workflow.permille if mark is Mark.RUNNING else None)
            self.name.setText(workflow.name)
            own = self._context.screen.tasks_of(workflow.workflow)
            failed, gate = self._failed_task(), self._waiting_gate()
            facts = [
                (tr("State"), self._outlook(workflow, own, now_s)),
                (tr("Why"), explained(failed.why, failed.reason) if failed else ""),
                (tr("To do"), gate.asks if gate else ""),
                (tr("Done"), progress_text(workflow)),
                (tr("Priority"), priority_text(workflow.priority)),
                (tr("Owner"), whose(workflow)),
                (tr("Shared with"), shared_text(workflow.shared_with) if self._in_flock else ""),
                (tr("Submitted"), moment(workflow.submitted_ms / 1000, now_s)),
                *self._more,
            ]
        self._show_facts(facts)
        self.name.setToolTip(plain_tip(when_tip(workflow)))
        if tasks or self._waiting_gate() is not None:
            self.outputs.tell(None if tasks else self._waiting_gate())
        else:
            self.outputs.tell_last(self._context.screen.tasks_of(workflow.workflow))

    @property
    def _in_flock(self) -> bool:
        node = self._context.screen.node
        return node is not None and bool(node.flock)

    def _outlook(self, workflow: WorkflowView, own: list[TaskView], now_s: float) -> str:
        """What comes next; with a sentence where nobody helps, or may run what comes with it."""
        screen = self._context.screen
        program, free = lacks_leave(screen, own)
        if program:
            return tr_n(
                "%n machine(s) are free but their owners have not allowed {program}.",
                "",
                free,
                program=program,
            )
        if not waits_for_help(screen, workflow):
            return outlook(workflow, own, now_s)
        if not may_run_here(screen, workflow):
            return tr("No machine helps at the moment; it starts as soon as one does.")
        return tr(
            "No machine helps at the moment; it starts as soon as one does. It can also run here "
            "now, while you use this computer."
        )

    def _tell_buttons(self) -> None:
        tasks, workflow = self._tasks, self._workflow
        single = tasks[0] if len(tasks) == 1 else None
        assert workflow is not None
        ended = all(task.state in ENDED for task in tasks) if tasks else not may_cancel(workflow)
        may_again = bool(self._retriable()) if tasks else may_retry(workflow)
        gate = self._waiting_gate()
        lead_to(self.done, primary=gate is None or not gate.attach)
        self._show_button(self.done, gate is not None)
        logged = single or self._failed_task()
        self._show_button(self.log, logged is not None and has_log(logged))
        final = self._finished_with()
        self._show_button(self.final, final is not None)
        if final is not None:
            self.final.setText(" " + tr("Open {name}", name=final.name))
            self.final.setAccessibleName(self.final.text().strip())
        self._show_button(self.cancel, not ended)
        screen = self._context.screen
        there = workflow.workflow in screen.workflows  # else the flock has forgotten it
        here = not tasks and may_run_here(screen, workflow)
        self._show_button(self.here, here and there)
        self._show_button(self.retry, there and may_again)
        over = self._may_run_again and not tasks and is_over(workflow)
        self._show_button(self.again, over)
        self._show_button(self.priority, not tasks and not ended)
        self.retry.setText(" " + (tr("Retry from here") if tasks else tr("Retry")))
        self.retry.setAccessibleName(self.retry.text().strip())
        for part in (*self._why, self.copy):
            part.setVisible(single is not None)
        if single is None or single.state not in (TaskState.READY, TaskState.SUSPENDED):
            own = screen.tasks_of(workflow.workflow) if not tasks else []
            self._show_button(self.ask_them, bool(lacks_leave(screen, own)[0]))

    def _show_button(self, button_: QPushButton, shown: bool) -> None:
        """Whoever pressed it stays here when it goes, and is not sent to the next place."""
        if not shown and button_.hasFocus():
            self.setFocus()
        button_.setVisible(shown)

    def _show_mark(self, mark: Mark, permille: int | None) -> None:
        ratio = self.devicePixelRatioF()
        self._mark.setPixmap(mark_pixmap(mark, 20, ratio, permille))
        self._mark.setAccessibleName(mark_words(mark))

    def _show_facts(self, facts: list[tuple[str, str]]) -> None:
        """Labels are kept and told anew, so that nothing flickers."""
        said = [(name, text) for name, text in facts if text]
        while len(self._fact_labels) < len(said):
            made, place = (quiet(), label()), len(self._fact_labels)
            self._facts.addWidget(made[0], place, 0, TOP)
            self._facts.addWidget(made[1], place, 1)
            self._fact_labels.append(made)
        for place, labels in enumerate(self._fact_labels):
            for across, each in enumerate(labels):
                each.setVisible(place < len(said))
                if place < len(said):
                    each.setText(said[place][across])

    def _waiting_gate(self) -> TaskView | None:
        """The step that waits: the chosen one, or the only one of the workflow."""
        if self._workflow is None or not (self._tasks or self._workflow.gates):
            return None
        tasks = self._tasks or self._context.screen.tasks_of(self._workflow.workflow)
        waiting = [task for task in tasks if task.state is TaskState.WAITING]
        one = len(waiting) == 1 and len(self._tasks) < 2
        return waiting[0] if one else None

    def _failed_task(self) -> TaskView | None:
        """The first step that failed, of a workflow that did."""
        if self._workflow is None or self._tasks or self._workflow.state != "failed":
            return None
        own = self._context.screen.tasks_of(self._workflow.workflow)
        return next((task for task in own if mark_of_task(task) is Mark.FAILED), None)

    # -- why ---------------------------------------------------------------------------------

    def _ask_why(self) -> None:
        if len(self._tasks) == 1:
            task = self._tasks[0].task
            self._context.bridge.ask(self, WHY, Why(task), self._told_why)

    def _told_why(self, story: Story) -> None:
        if len(self._tasks) != 1 or story.task.task != self._tasks[0].task:
            return
        told = all_explained(story.whys, story.machines)[:MACHINES_SHOWN_MAX]
        waits = _upper(explained(story.why, story.now), story.task.name)
        self.now.setText("\n".join([waits, *(f"– {each}" for each in told)]))
        why = reason_of(story.why, story.now)
        waiting = why.why if isinstance(why, TaskReady | TaskOffered) else None
        lacks = isinstance(waiting, WaitsForAcceptance)
        self._show_button(self.ask_them, lacks)
        now_s = time.time()
        lines = [
            f"{moment(move.at_ms / 1000, now_s)}  {story_line(move)}"
            for move in story.moves[-MOVES_SHOWN_MAX:]
        ]
        self.moves.setText("\n".join(reversed(lines)))

    # -- acts --------------------------------------------------------------------------------

    def _retriable(self) -> tuple[str, ...]:
        if self._workflow is None or not self._tasks:
            return ()
        every = self._context.screen.tasks_of(self._workflow.workflow)
        found: dict[str, None] = {}
        for task in self._tasks:
            if task.state in ENDED and task.state is not TaskState.TERMINATED:
                found.update(dict.fromkeys(retry_from(task, every)))
        return tuple(found)

    def try_again(self) -> None:
        """Have the chosen tasks and what depends on them tried again, or the whole workflow if none
        is chosen, as the context's ``retry`` does; do nothing without a workflow, or if none of the
        chosen can be retried."""
        if self._workflow is None:
            return
        if not self._tasks:
            self._context.retry(self._workflow.workflow)
        elif tasks := self._retriable():
            self._context.retry(self._workflow.workflow, tasks)

    def show_why(self) -> None:
        """Bring the reason into sight, for whoever asked for it."""
        self.ensureWidgetVisible(self.now)
        self.setFocus()

    def open_result(self, task: TaskView) -> None:
        """Fetch and open the first result that the flock keeps."""
        self.outputs.open_first([task])

    def _finished_with(self) -> Output | None:
        """What a workflow that is finished has come to, where nothing of it is chosen."""
        if self._workflow is None or self._tasks or self._workflow.state != "finished":
            return None
        own = self._context.screen.tasks_of(self._workflow.workflow)
        return worth_opening(outputs_of(last_results(own)))

    def _open_final(self) -> None:
        if self._workflow is not None:
            own = self._context.screen.tasks_of(self._workflow.workflow)
            self.outputs.open_first(last_results(own))

    def _set_priority(self, priority: NamedPriority) -> None:
        if self._workflow is not None:
            self._context.set_priority(self._workflow.workflow, priority)

    def _run_here(self) -> None:
        self._set_priority("interactive")

    def _ask_owners(self) -> None:
        """Bring the question up where it waits, and say where it is."""
        if self._workflow is not None:
            wanted = AskOwners(self._workflow.workflow)
            self._context.ask(self, ASK_OWNERS, wanted, self._owners_asked)

    def _owners_asked(self, told: OwnersAsked) -> None:
        said = []
        if told.asked:
            said.append(tr("The question is up on {machines}.", machines=", ".join(told.asked)))
        if told.silent:
            silent = ", ".join(told.silent)
            said.append(tr("No answer, or a no, on {machines}.", machines=silent))
        self._context.said.emit(" ".join(said) or tr("Nobody has to be asked any more."))

    def _cancel(self) -> None:
        if self._workflow is not None:
            self.cancel_wanted.emit(
                self._workflow.workflow, tuple(task.task for task in self._tasks)
            )

    def _mark_done(self) -> None:
        gate = self._waiting_gate()
        if gate is not None:
            self.mark_done(gate)

    def mark_done(self, task: TaskView) -> None:
        """Ask the agent to mark a step done, or the person first for the files that it is to give,
        also where the agent finds that some are missing; say why if it fails. Returns at once."""
        if task.attach:
            self.attach(task)
        else:
            self._context.bridge.ask(
                self,
                GATE,
                Gate(task.task),
                lambda wished: self._context.bridge.want(wished.workflow),
                self._context.failed.emit,
                # A gate without names may still be asked for something by the tasks behind it.
                refused={ErrorCode.ATTACH_FIRST: partial(self.attach, task)},
            )

    def attach(self, task: TaskView, refusal: str = "") -> GateDialog:
        """Open the dialog that asks for the files of a step, and return it without waiting;
        ``refusal`` is what it says first."""
        dialog = GateDialog(self._context, task, self.window(), refusal)
        dialog.open()
        return dialog

    def _log(self) -> None:
        """Open the log of the chosen task; of a workflow that failed, of the step at which it
        did."""
        task = self._tasks[0] if len(self._tasks) == 1 else self._failed_task()
        if task is not None:
            self._context.log_of.emit(task)

    def _run_again(self) -> None:
        if self._workflow is not None:
            self._context.run_again.emit(self._workflow.workflow)

    def _copy(self) -> None:
        if len(self._tasks) == 1:
            QGuiApplication.clipboard().setText(self._tasks[0].task)


def _state_text(task: TaskView, now_s: float) -> str:
    """With how long it takes; the reasons of the others stand below."""
    if task.state is TaskState.TERMINATED:
        return task_outlook(task, now_s) or task_words(task)
    said = task_outlook(task, now_s) if task.state in UNDER_WAY else ""
    return " · ".join(filter(None, (task_words(task), said)))


def _upper(text: str, name: str) -> str:
    """Return the text as a sentence begins, but for a name, which is as it was given."""
    return text if text.startswith(name) else text[:1].upper() + text[1:]
