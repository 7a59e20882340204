"""One workflow of the past, opened as it was: graph, tasks, time line, logs, and results while they are
kept. The flock may have forgotten it; the same questions are answered from the history then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from agent.api.past import PastWorkflow
from agent.api.work import ShowReply, TaskView, WorkflowView
from agent.client.connected import whole_workflow
from gui.bridge.bridge import Task
from gui.model.past import past_facts
from gui.model.workflows import in_order
from gui.theme.look import GRID
from gui.views.columns import task_columns
from gui.views.graph_view import GraphView
from gui.views.pieces import CENTRED, button, column, quiet, set_up, splitter, tab_widget
from gui.views.rows import Rows
from gui.views.table import Table
from gui.views.task_details import TaskDetails
from gui.views.timeline_view import WorkflowTimeline
from gui.views.view_context import ViewContext
from gui.words import tr

DETAILS_WIDTH = 36 * GRID


class PastDetail(QWidget):
    """Below the list, as workflows of today stand below theirs."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        self._client = context.bridge.client(self)
        self._workflow = ""
        self._line: PastWorkflow | None = None
        self._view: WorkflowView | None = None
        self._own: dict[str, TaskView] = {}
        self._chosen: tuple[str, ...] = ()
        self._asking: Task | None = None
        self.note = set_up(quiet("", "pastNote", wrap=True), alignment=CENTRED, visible=False)
        self._make_views()
        self.details = TaskDetails(context, may_run_again=False)
        across = Qt.Orientation.Horizontal
        sizes = [700, DETAILS_WIDTH]
        self.split = splitter("historyLower", across, sizes, self.tabs, self.details)
        self.split.setStretchFactor(0, 1)
        column(self.note, (self.split, 1), on=self, spacing=0)

    def _make_views(self) -> None:
        self.graph = GraphView()
        self.graph.chosen.connect(self._choose)
        self.graph.opened.connect(self._box_opened)
        self.rows = Rows(
            task_columns(),
            lambda task: str(task.task),
            lambda task: f"{task.name} {task.program} {task.host}",
            self,
        )
        self.tasks = Table(self.rows, "pastTasks", tr("Tasks"))
        self.tasks.chosen.connect(lambda _: self._choose(t.task for t in self.tasks.selected()))
        self.tasks.opened.connect(self._context.log_of.emit)
        self.timeline = WorkflowTimeline(self._context)
        self.tabs = tab_widget(
            "pastTabs",
            tr("Views of the workflow"),
            (tr("Graph"), self.graph),
            (tr("Tasks"), self.tasks),
            (tr("Timeline"), self.timeline),
        )
        self.tabs.currentChanged.connect(lambda _: self._tell())
        self.again = button(
            tr("Run again …"), "runAgainButton", self._run_again, "retry", flat=True
        )
        self.tabs.setCornerWidget(self.again)

    def open(self, workflow: PastWorkflow) -> None:
        """Have a workflow read and show it when it is here, instead of the one before; returns at
        once. What is shown stays until then, and where it cannot be read, below a note that says
        why."""
        if workflow.workflow != self._workflow:
            self._chosen = ()
        self._workflow, self._line = workflow.workflow, workflow
        self.timeline.choose(workflow.workflow)
        if self._asking is not None:
            self._asking.cancel()
        self._asking = self._context.bridge.work(
            self,
            lambda: whole_workflow(self._client, workflow.workflow),
            self._opened,
            self._failed,
        )

    def _run_again(self) -> None:
        if self._view is not None:
            self._context.run_again.emit(self._view.workflow)

    def _opened(self, reply: ShowReply) -> None:
        self._asking = None
        self.note.hide()
        self._view = reply.workflow
        self._own = {task.task: task for task in reply.tasks}
        screen, workflow = self._context.screen, reply.workflow
        screen.past = {workflow.workflow: self._own}
        screen.past_names = {workflow.workflow: workflow.name}
        self._tell()

    def _failed(self, sentence: str) -> None:
        self._asking = None
        self.note.setText(sentence)
        self.note.show()

    def _tell(self) -> None:
        showing = self.tabs.currentWidget()
        if showing is self.graph:
            self.graph.tell(self._own)
        elif showing is self.tasks:
            self.rows.show(in_order(list(self._own.values())))
        tasks = [self._own[task] for task in self._chosen if task in self._own]
        more = past_facts(self._line) if self._line is not None else ()
        self.details.tell(self._view, tasks, more)

    def _choose(self, tasks: Iterable[str]) -> None:
        self._chosen = tuple(tasks)
        self._tell()

    def _box_opened(self, tasks: Sequence[str]) -> None:
        if len(tasks) == 1 and tasks[0] in self._own:
            self._context.log_of.emit(self._own[tasks[0]])
