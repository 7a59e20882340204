"""Workflows: the list above, the chosen one below as a graph, as a list of tasks, or over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from agent.api.values import ENDED, NamedPriority
from agent.api.work import TaskView, WorkflowView
from gui.model.flock import may_run_here
from gui.model.folding import is_open
from gui.model.screen import Changes
from gui.model.trouble import Remedy, flock_trouble, programs_trouble
from gui.model.workflows import in_order, is_over, may_cancel, may_retry
from gui.theme.look import GRID
from gui.views.bars import TroubleBar, UndoBar
from gui.views.columns import task_columns, workflow_columns
from gui.views.graph_view import GraphView
from gui.views.menus import add_copy, add_entry, context_menu
from gui.views.pieces import (
    HEAD_MARGINS,
    Empty,
    action,
    button,
    column,
    filter_field,
    has_keyboard,
    row,
    splitter,
    tab_widget,
    title,
)
from gui.views.rows import Rows
from gui.views.table import Table
from gui.views.task_details import TaskDetails
from gui.views.task_menu import TaskActs, add_priorities, task_menu
from gui.views.tidying import HiddenWorkflows, ask_to_remove
from gui.views.timeline_view import WorkflowTimeline
from gui.views.view_context import ViewContext
from gui.views.whose import Whose
from gui.words import plain_tip, tr, tr_n

WIDE_PX = 1700
"""From this width on the list stands beside the chosen workflow instead of above it."""
DETAILS_WIDTH = 36 * GRID
FAILED_READ_MAX = 20


class WorkflowsPage(QWidget):
    """The place where most time is spent."""

    def __init__(
        self,
        context: ViewContext,
        remedy: Callable[[Remedy], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._chosen = ""
        self._tasks_chosen: tuple[str, ...] = ()
        self._failed_asked: set[str] = set()
        self.flock_trouble = TroubleBar("flockTrouble", remedy)
        self.undo = UndoBar()
        self._make_list()
        self._make_detail()
        self._lay()
        self.begins_at = self.table
        context.changed.connect(self.refresh)

    # -- parts -------------------------------------------------------------------------------

    def _make_list(self) -> None:
        self.rows = Rows(
            workflow_columns(self._context.screen),
            lambda view: str(view.workflow),
            lambda view: f"{view.name} {view.state} {view.submitter} {view.host}",
            self,
        )
        self.table = Table(self.rows, "workflows", tr("Workflows"))
        self.table.chosen.connect(self._workflow_chosen)
        self.filter = filter_field("workflowsFilter", self.rows.type)
        self.whose, self.hidden = Whose("workflows"), HiddenWorkflows()
        for choice in (self.whose, self.hidden):
            choice.changed.connect(self._show_workflows)
        self.submit = self._submit_button(tr("Submit"), "submit")
        self.submit.setToolTip(plain_tip(tr("Submit a workflow (Ctrl+O)")))
        self.empty = Empty(
            "drop",
            tr("No workflows yet"),
            tr("Drop a workflow file or a script here, or choose one. The flock then runs its "
               "tasks on the machines that nobody uses."),
            self._submit_button(tr("Submit a workflow …"), "submitFirst"),
            self._example_button("tryExample"),
        )  # fmt: skip
        self.others = Empty(
            "workflows",
            tr("Nothing of yours"),
            tr("What you submit from this computer stands here."),
            button(tr("Show everybody's"), "showEverybodys", lambda: self.whose.choose(True)),
            self._example_button("tryExampleHere"),
        )
        self._stack = QStackedWidget()
        for each in (self.empty, self.others, self.table):
            self._stack.addWidget(each)
        for key, act in (
            ("Del", self.cancel_chosen),
            ("F5", self.retry_chosen),
            ("Ctrl+Z", self.undo.take_back),
            ("Ctrl+F", self.filter.setFocus),
        ):
            action(self, key, key, act)

    def _example_button(self, name: str) -> QPushButton:
        return button(tr("Try the example"), name, self._try_example)

    def _submit_button(self, text: str, name: str) -> QPushButton:
        submit = self._context.submit
        return button(text, name, lambda: submit.emit(None), "submit", primary=True)

    def _make_detail(self) -> None:
        self.graph = GraphView()
        self.graph.chosen.connect(self._choose_tasks)
        self.graph.opened.connect(self._box_opened)
        self.task_rows = Rows(
            task_columns(), lambda task: str(task.task), lambda t: f"{t.name} {t.program} {t.host}",
            self,
        )  # fmt: skip
        self.task_table = Table(self.task_rows, "tasks", tr("Tasks"))
        self.task_table.chosen.connect(self._rows_chosen)
        self.task_table.opened.connect(self._context.log_of.emit)
        self.timeline = WorkflowTimeline(self._context)
        self.tabs = tab_widget(
            "workflowTabs",
            tr("Views of the workflow"),
            (tr("Graph"), self.graph),
            (tr("Tasks"), self.task_table),
            (tr("Timeline"), self.timeline),
        )
        self.tabs.currentChanged.connect(lambda _: self._tell_detail())
        self.details = TaskDetails(self._context)
        self.details.cancel_wanted.connect(self.cancel)

    def _lay(self) -> None:
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        sizes = [700, DETAILS_WIDTH]
        self.below = splitter("workflowLower", across, sizes, self.tabs, self.details)
        self.below.setStretchFactor(0, 1)
        self.split = splitter("workflowSplit", down, [260, 380], self._stack, self.below)
        heading = title(tr("Workflows"))
        acts = (self.hidden, self.whose, self.filter, self.submit)
        head = row(heading, "stretch", *acts, margins=HEAD_MARGINS)
        parts = (head, self.flock_trouble, self.undo, GRID // 2, (self.split, 1))
        column(*parts, on=self, spacing=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the chosen workflow beside the list in a wide window, below it in any other."""
        super().resizeEvent(event)
        wide = event.size().width() >= WIDE_PX
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.split.orientation() is not wanted:
            self.split.setOrientation(wanted)
            self.split.setSizes([event.size().width() // 2] * 2 if wide else [260, 380])

    # -- what is shown -----------------------------------------------------------------------

    def refresh(self, changes: Changes) -> None:
        """Show what the model says of workflows, of the chosen one and of the flock's trouble, as
        far as these changes touch them; choose the first if none is."""
        screen = self._context.screen
        self.flock_trouble.tell(programs_trouble(screen) or flock_trouble(screen))
        if changes.workflows or changes.everything:
            self._show_workflows()
        whether_helps = changes.node or changes.flock or changes.volunteering
        if whether_helps or self._chosen in changes.tasks or self._chosen in changes.workflows:
            self._tell_detail()

    def _show_workflows(self) -> None:
        """Mine alone, or all with mine at the top; the first is chosen if none is."""
        screen = self._context.screen
        shown = [each for each in screen.workflows.values() if screen.is_mine(each)]
        if self.whose.all:
            shown += [each for each in screen.workflows.values() if not screen.is_mine(each)]
        shown = self.hidden.seen(shown)
        self.rows.show(shown)
        self._show_list(self.table if shown else self.others if screen.workflows else self.empty)
        self._ask_what_failed(shown)
        self.below.setVisible(bool(shown))
        unchosen = not self.table.selectionModel().hasSelection() and self.rows.rows
        if unchosen and not self.table.choose(self._chosen):
            self.table.choose_place(0)

    def _ask_what_failed(self, shown: list[WorkflowView]) -> None:
        """The newest that failed say at which step; their tasks are not read otherwise."""
        screen = self._context.screen
        failed = [view.workflow for view in shown if view.state == "failed"]
        for name in failed[:FAILED_READ_MAX]:
            if name not in screen.tasks and name not in self._failed_asked:
                self._failed_asked.add(name)
                self._context.bridge.want(name)

    def _show_list(self, part: QWidget) -> None:
        """The table takes the keyboard when it comes, unless somebody types elsewhere by then."""
        comes = part is self.table and self._stack.currentWidget() is not self.table
        self._stack.setCurrentWidget(part)
        if comes and not isinstance(QApplication.focusWidget(), QLineEdit):
            self.table.setFocus()

    def tick(self) -> None:
        """Show texts and details anew, for time has passed."""
        self.rows.tick()
        self.task_rows.tick()
        self._tell_detail()

    def choose(self, workflow: str, task: str = "") -> None:
        """Choose a workflow by its id, and a task of it unless that is empty, and have its tasks
        read if need be; a filter that hides it is emptied, one that was put out of sight is shown
        again, and everybody's are shown for another's. Nothing is chosen in the table where it is
        not known."""
        self._chosen = workflow
        self._context.attend(workflow)
        known = self._context.screen.workflows.get(workflow)
        if known is not None and not self.whose.all and not self._context.screen.is_mine(known):
            self.whose.choose(True)
        if known is not None and self.hidden.is_hidden(known):
            self.hidden.show_again([known])
        if not self.table.choose(workflow) and self.filter.text():
            self.filter.clear()
            self.table.choose(workflow)
        if task:
            self._tasks_chosen = (task,)
            self.graph.choose(task)
            self.task_table.choose(task)
            self._tell_detail()

    @property
    def chosen(self) -> WorkflowView | None:
        """The workflow whose details are shown below; None if there is none."""
        return self._context.screen.workflows.get(self._chosen)

    def _workflow_chosen(self, view: WorkflowView | None) -> None:
        if view is None:
            return
        self.timeline.choose(view.workflow)
        if view.workflow != self._chosen or self._chosen not in self._context.screen.tasks:
            self._chosen, self._tasks_chosen = view.workflow, ()
            self._context.attend(view.workflow)
        self._tell_detail()

    @property
    def _own(self) -> dict[str, TaskView]:
        """The tasks of the chosen workflow, by their ids."""
        return self._context.screen.tasks.get(self._chosen, {})

    def _tell_detail(self) -> None:
        own, showing = self._own, self.tabs.currentWidget()
        if showing is self.graph:
            self.graph.tell(own)
        elif showing is self.task_table:
            self.task_rows.show(in_order(list(own.values())))
        else:
            self.timeline.refresh()
        tasks = [own[task] for task in self._tasks_chosen if task in own]
        self.details.tell(self.chosen, tasks)

    def _choose_tasks(self, tasks: Iterable[str]) -> None:
        self._tasks_chosen = tuple(tasks)
        self._tell_detail()

    def _rows_chosen(self, task: TaskView | None) -> None:
        self._choose_tasks(each.task for each in self.task_table.selected() if task is not None)

    def _box_opened(self, tasks: Sequence[str]) -> None:
        if len(tasks) == 1 and tasks[0] in self._own:
            self._context.log_of.emit(self._own[tasks[0]])

    # -- acts --------------------------------------------------------------------------------

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the chosen workflows, or of the chosen task, by where the mouse is; none
        beside both."""
        if self.table.rect().contains(self.table.mapFrom(self, event.pos())):
            self.menu_at(event.globalPos())
        elif self.tabs.rect().contains(self.tabs.mapFrom(self, event.pos())):
            self.task_menu_at(event.globalPos())

    def task_menu_at(self, place: QPoint) -> QMenu | None:
        """Open the menu of the chosen task at this place of the screen, and return it without
        waiting; None, with nothing opened, unless exactly one is chosen."""
        own = self._own
        if len(self._tasks_chosen) != 1 or self._tasks_chosen[0] not in own:
            return None
        details = self.details
        acts = TaskActs(
            lambda _: details.show_why(),
            details.mark_done,
            details.open_result,
            lambda _: details.try_again(),
            lambda task: self.cancel(self._chosen, (task.task,)),
        )
        return task_menu(self, self._context, own[self._tasks_chosen[0]], acts, place)

    def menu_at(self, place: QPoint) -> QMenu | None:
        """Open the menu of the chosen workflows at this place of the screen, and return it without
        waiting; None, with nothing opened, if none is chosen."""
        chosen: list[WorkflowView] = self.table.selected()
        if not chosen:
            return None
        menu = context_menu(self, "workflowMenu")
        for name, text, act, may in (
            ("cancel", tr("Cancel"), self._cancel_workflows, may_cancel),
            ("retry", tr("Retry"), self._retry_workflows, may_retry),
        ):
            add_entry(menu, name, text, act, name, able=any(map(may, chosen)))
        over = any(map(is_over, chosen))
        add_entry(menu, "runAgain", tr("Run again …"), self._run_again, able=over)
        able = any(may_run_here(self._context.screen, each) for each in chosen)
        add_entry(menu, "runHere", tr("Run it here now"), self._run_here, able=able)
        add_priorities(menu, self._set_priority)
        menu.addSeparator()
        self._add_tidying(menu, [each for each in chosen if not is_open(each)])
        menu.addSeparator()
        add_copy(menu, "\n".join(each.workflow for each in chosen))
        menu.popup(place)
        return menu

    def _add_tidying(self, menu: QMenu, ended: list[WorkflowView]) -> None:
        """What can be done with those of the chosen that have ended, and with all that have."""
        every = [each for each in self.rows.rows if not is_open(each)]
        again = bool(ended) and all(map(self.hidden.is_hidden, ended))
        hide = self.hidden.show_again if again else self.hidden.hide_all
        words = tr("Show again") if again else tr("Hide")
        add_entry(menu, "hide", words, lambda: hide(ended), able=bool(ended))
        hide_all = self.hidden.hide_all
        words = tr("Hide all that has ended")
        add_entry(menu, "hideAll", words, lambda: hide_all(every), able=bool(every))
        mine = [each.workflow for each in ended if self._context.screen.is_mine(each)]
        add_entry(menu, "remove", tr("Remove …"), lambda: self._remove(mine), able=bool(mine))

    def _remove(self, workflows: list[str]) -> None:
        ask_to_remove(self, self._context, workflows, past=False)

    def cancel_chosen(self) -> None:
        """Cancel the tasks chosen below if the keyboard is there, else the workflows above that can
        be, in ten seconds, unless the person takes it back."""
        if self._tasks_chosen and has_keyboard(self.below):
            self.cancel(self._chosen, self._tasks_chosen)
        else:
            self._cancel_workflows()

    def _cancel_workflows(self) -> None:
        chosen = [each for each in self.table.selected() if may_cancel(each)]
        if chosen:
            self._begin_cancel([(each.workflow, ()) for each in chosen], chosen[0].name)

    def cancel(self, workflow: str, tasks: tuple[str, ...]) -> None:
        """Cancel those of these tasks that have not ended (empty: the whole workflow) in ten
        seconds, unless the person takes it back; what still waited to be cancelled is, at once.
        Does nothing if all of them have ended."""
        view = self._context.screen.workflows.get(workflow)
        own = self._context.screen.tasks.get(workflow, {})
        still = tuple(each for each in tasks if each in own and own[each].state not in ENDED)
        if tasks and not still:
            return
        name = own[still[0]].name if still else view.name if view is not None else workflow
        self._begin_cancel([(workflow, still)], name, len(still))

    def _begin_cancel(
        self, wishes: list[tuple[str, tuple[str, ...]]], name: str, tasks: int = 0
    ) -> None:
        count = max(len(wishes), tasks)
        said = (
            tr("{name} will be cancelled", name=name)
            if count == 1
            else tr_n("%n will be cancelled", "workflows or tasks", count)
        )

        def do() -> None:
            for workflow, tasks in wishes:
                self._cancel_if_open(workflow, tasks)

        self.undo.begin(said, do, lambda: None)

    def _cancel_if_open(self, workflow: str, tasks: tuple[str, ...]) -> None:
        """What has ended while there was time to think better of it needs no cancelling."""
        view = self._context.screen.workflows.get(workflow)
        own = self._context.screen.tasks.get(workflow, {})
        if tasks:
            still_open = any(each not in own or own[each].state not in ENDED for each in tasks)
        else:
            still_open = view is None or may_cancel(view)
        if still_open:
            self._context.cancel(workflow, tasks)

    def retry_chosen(self) -> None:
        """Ask the agent to retry from the tasks chosen below if the keyboard is there, else the
        workflows above; what cannot be retried is left out."""
        if self._tasks_chosen and has_keyboard(self.below):
            self.details.try_again()
        else:
            self._retry_workflows()

    def _run_again(self) -> None:
        for each in filter(is_over, self.table.selected()):
            self._context.run_again.emit(each.workflow)

    def _retry_workflows(self) -> None:
        for each in self.table.selected():
            if may_retry(each):
                self._context.retry(each.workflow)

    def _run_here(self) -> None:
        for each in self.table.selected():
            if may_run_here(self._context.screen, each):
                self._context.set_priority(each.workflow, "interactive")

    def _set_priority(self, priority: NamedPriority) -> None:
        for each in self.table.selected():
            self._context.set_priority(each.workflow, priority)

    def _try_example(self) -> None:
        from gui.example import example_workflow

        self._context.submit.emit([str(example_workflow(self._context.home))])
