"""History: what has ended, by day and for years; searched as one types, and opened as it was."""

from __future__ import annotations

from functools import partial

from msgspec import structs
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QMenu, QStackedWidget, QWidget

from agent.api.past import MS_MAX, PAST, Past, PastReply, PastWorkflow
from gui.bridge.bridge import Task
from gui.model.folding import is_open
from gui.model.past import END_WORDS, PAGE, PastLines, is_empty, within
from gui.model.screen import Changes
from gui.model.times import size
from gui.theme.look import GRID
from gui.views.menus import add_copy, add_entry, context_menu
from gui.views.past_detail import PastDetail
from gui.views.past_export import PastExport
from gui.views.past_plot import PastPlot, range_words
from gui.views.past_rows import PastRows
from gui.views.pieces import (
    HEAD_MARGINS,
    Empty,
    action,
    button,
    column,
    filter_field,
    held,
    quiet,
    row,
    set_up,
    splitter,
    timer,
    title,
)
from gui.views.table import Table
from gui.views.tidying import ask_to_remove
from gui.views.view_context import ViewContext
from gui.views.whose import Whose
from gui.words import plain_tip, tr, tr_n

AGAIN_MS = 1_500
"""After something has ended, the list is read again; many end together."""


class HistoryPage(QWidget):
    """The past as a place."""

    def __init__(self, context: ViewContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._client = context.bridge.client(self)
        self._reply: PastReply | None = None
        self._days: tuple[int, int] = (0, MS_MAX)
        """Between which moments the days begin that are shown."""
        self._asking: Task | None = None
        self._again = timer(self, AGAIN_MS, self.read, once=True)
        self._make_filters()
        self._make_list()
        self._detail: PastDetail | None = None
        self._below = QStackedWidget()
        self.rows.wanted.connect(self._read_pages)
        self.table.chosen.connect(self._chosen)
        self._lay()
        self.begins_at = self.table
        context.changed.connect(self.refresh)
        context.tidied.connect(self.read)

    # -- parts -------------------------------------------------------------------------------

    @property
    def detail(self) -> PastDetail:
        """Return what stands below the list, made when it is first wanted, as making it at once
        takes longer than a frame may."""
        if self._detail is None:
            self._detail = PastDetail(self._context)
            self._below.addWidget(self._detail)
        return self._detail

    def _make_filters(self) -> None:
        self.filter = filter_field("historySearch", lambda _: self.read(), tr("Search …"))
        self.whose = Whose("history")
        self.whose.changed.connect(self.read)
        self.state = self._choice("historyState", tr("However it ended"))
        for state, words in zip(
            END_WORDS, (tr("Done"), tr("Failed"), tr("Cancelled")), strict=True
        ):
            self.state.addItem(words, state)
        self.program = self._choice("historyProgram", tr("Any program"))
        self.machine = self._choice("historyMachine", tr("Any machine"))
        self.range = button("", "historyRange", self.let_go, "close", flat=True)
        self.range.hide()
        self.summary = quiet("", "historySummary")
        self.plot = PastPlot()
        self.plot.chosen.connect(self._choose_days)
        self.export = PastExport(self._context, self.wanted)

    def _choice(self, name: str, every: str) -> QComboBox:
        made = set_up(QComboBox(), name, every)
        made.addItem(every, "")
        made.currentIndexChanged.connect(lambda _: self.read())
        return made

    def _make_list(self) -> None:
        self.rows = PastRows(self)
        self.table = Table(self.rows, "history", tr("History"))
        self.table.setSortingEnabled(False)
        self.table.horizontalHeader().setSectionsClickable(False)
        nothing = tr(
            "Workflows stand here from when they have ended, whoever ran them, for as long as the "
            "settings say: with how long they waited and ran, where, and why they failed."
        )
        self.empty = Empty("history", tr("Nothing has ended yet"), nothing)
        self.unfit = Empty(
            "search",
            tr("Nothing fits"),
            tr("No workflow of the past is like that."),
            button(tr("Show all of the past"), "historyClear", self.clear),
        )
        self.fault = Empty(
            "warning",
            tr("The history cannot be read"),
            "",
            button(tr("Try again"), "historyAgain", self.read, "retry"),
        )
        self.reading = Empty("history", tr("Reading …"), "")
        self._stack = QStackedWidget()
        for each in (self.reading, self.empty, self.unfit, self.fault, self.table):
            self._stack.addWidget(each)

    def _lay(self) -> None:
        head = row(
            *(title(tr("History")), self.summary, "stretch", self.whose, self.filter, self.export),
            margins=HEAD_MARGINS,
        )
        choices = row(
            *(self.state, self.program, self.machine, self.range, "stretch"),
            margins=(2 * GRID, 0, 2 * GRID, GRID),
        )
        plot = row(self.plot, margins=(2 * GRID, 0, 2 * GRID, GRID))
        self.tools = held(column(choices, plot, spacing=0))
        down = Qt.Orientation.Vertical
        self.split = splitter("historySplit", down, [300, 300], self._stack, self._below)
        column(head, self.tools, (self.split, 1), on=self, spacing=0)
        action(self, "Ctrl+F", "Ctrl+F", self.filter.setFocus)

    # -- what is asked -----------------------------------------------------------------------

    def wanted(self) -> Past:
        """Return what the person has chosen and typed, of that the first 256 letters, days
        included, as a question."""
        since_ms, until_ms = self._days
        return Past(
            self.filter.text()[:256],
            mine=not self.whose.all,
            submitter="" if self.whose.all else self._context.screen.me,
            state=self.state.currentData() or None,
            program=self.program.currentData(),
            host=self.machine.currentData(),
            since_ms=since_ms,
            until_ms=until_ms,
        )

    def _narrowed(self) -> bool:
        """Whether the list is of a part of the past, whatever days are chosen."""
        choices = (self.state, self.program, self.machine)
        return bool(self.filter.text()) or any(each.currentData() for each in choices)

    def read(self) -> None:
        """Have the first page and the sums of what is chosen read anew, in place of what is being
        read; returns at once, and the list is shown when they are here. If that fails, a list that
        is shown stays, and the context tells why."""
        self._again.stop()
        if self._asking is not None:
            self._asking.cancel()
        self._asking = self._ask(0, summed=True)

    def _ask(self, page: int, *, summed: bool = False) -> Task:
        """Days are chosen among those that were told, so they are never asked for."""
        wanted = structs.replace(
            self.wanted(), since_ms=0, until_ms=MS_MAX, first=page * PAGE, limit=PAGE, summed=summed
        )
        done = self._told if summed else partial(self._told_page, page)
        failed = self._failed if summed else lambda _: self.rows.failed(page)
        return self._context.bridge.work(
            self, lambda: self._client.call(PAST, wanted), done, failed
        )

    def _read_pages(self, pages: list[int]) -> None:
        for page in pages:
            self._ask(page)

    def _told(self, reply: PastReply) -> None:
        self._asking, self._reply = None, reply
        self._offer(self.program, reply.programs)
        self._offer(self.machine, reply.machines)
        self.plot.tell(reply.days, whole=not self._narrowed())
        self._show(reply)

    def _told_page(self, page: int, reply: PastReply) -> None:
        self.rows.fill(page * PAGE, reply.workflows)

    def _failed(self, sentence: str) -> None:
        self._asking = None
        self.fault.text.setText(sentence)
        if self._reply is None:
            self._stack.setCurrentWidget(self.fault)
        else:
            self._context.failed.emit(sentence)

    def _offer(self, choice: QComboBox, texts: tuple[str, ...]) -> None:
        """What there is to choose; what is chosen stays, also where nothing has it any more."""
        known = [choice.itemData(at) for at in range(1, choice.count())]
        chosen = choice.currentData()
        wanted = sorted({*texts, chosen} - {""})
        if known == wanted:
            return
        choice.blockSignals(True)
        while choice.count() > 1:
            choice.removeItem(1)
        for each in wanted:
            choice.addItem(each, each)
        choice.setCurrentIndex(max(0, choice.findData(chosen)))
        choice.blockSignals(False)

    # -- what is shown -----------------------------------------------------------------------

    def refresh(self, changes: Changes) -> None:
        """Have the list read again after a while if a workflow has ended, or the connection has
        changed, and somebody looks; else do nothing."""
        screen = self._context.screen
        views = (screen.workflows.get(each) for each in changes.workflows)
        over = any(view is not None and not is_open(view) for view in views)
        if self.isVisible() and (changes.connection or over) and not self._again.isActive():
            self._again.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Read the list, for somebody looks."""
        super().showEvent(event)
        self.read()

    def _show(self, reply: PastReply) -> None:
        """The list anew; what was chosen stays so where it is on the first page, and the list where it
        was scrolled to."""
        chosen: PastWorkflow | None = self.table.current()
        bar = self.table.verticalScrollBar()
        scrolled = bar.value()
        lines = within(reply.days, *self._days)
        self.table.clearSpans()
        self.rows.reset(lines)
        self.rows.fill(0, reply.workflows)
        for place in lines.headings:
            self.table.setSpan(place, 0, 1, len(self.rows.columns))
        self.summary.setText(tr_n("%n workflow(s)", "", lines.workflows))
        taken = tr("The history takes {size}, with all that is kept.", size=size(reply.size_bytes))
        self.summary.setToolTip(plain_tip(taken))
        self._show_part(reply, lines)
        bar.setValue(scrolled)
        again = self.rows.place_of(chosen.workflow) if chosen is not None else -1
        if lines.workflows:
            self.table.choose_place(again if again >= 0 else 1)

    def _show_part(self, reply: PastReply, lines: PastLines) -> None:
        shown = self.table if lines.workflows else self.empty if is_empty(reply) else self.unfit
        comes = shown is self.table and self._stack.currentWidget() is not self.table
        self._stack.setCurrentWidget(shown)
        self.tools.setVisible(not is_empty(reply))
        self._below.setVisible(bool(lines.workflows))
        if comes and not self.filter.hasFocus():
            self.table.setFocus()

    def _chosen(self, line: object) -> None:
        if isinstance(line, PastWorkflow):
            self.detail.open(line)

    def clear(self) -> None:
        """Take back everything that was chosen and typed, show everybody's from now on, which is
        remembered, and have the list read anew."""
        self._days = (0, MS_MAX)
        self.range.hide()
        for each in (self.state, self.program, self.machine):
            each.blockSignals(True)
            each.setCurrentIndex(0)
            each.blockSignals(False)
        self.filter.blockSignals(True)
        self.filter.clear()
        self.filter.blockSignals(False)
        self.plot.choose(0, 0)
        self.whose.choose(True)

    # -- days --------------------------------------------------------------------------------

    def _choose_days(self, since_ms: int, until_ms: int) -> None:
        """Show these days alone; all of them where both are 0. Nothing has to be asked for that."""
        self._days = (since_ms, until_ms) if until_ms else (0, MS_MAX)
        words = range_words(since_ms, until_ms) if until_ms else ""
        set_up(self.range, text=f" {words}", visible=bool(words))
        self.range.setAccessibleName(tr("All days instead of {days}", days=words))
        self.range.setToolTip(plain_tip(tr("Show all days again")))
        if self._reply is not None:
            self._show(self._reply)

    def let_go(self) -> None:
        """Show all days again."""
        self.plot.choose(0, 0)
        self._choose_days(0, 0)

    # -- acts --------------------------------------------------------------------------------

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the chosen workflow, if the mouse is over the list."""
        if self.table.rect().contains(self.table.mapFrom(self, event.pos())):
            self.menu_at(event.globalPos())

    def menu_at(self, place: QPoint) -> QMenu | None:
        """Open the menu of the chosen workflows at this place of the screen, and return it without
        waiting; None, with nothing opened, if none is chosen."""
        chosen = [each for each in self.table.selected() if isinstance(each, PastWorkflow)]
        if not chosen:
            return None
        menu = context_menu(self, "historyMenu")
        workflows = [each.workflow for each in chosen]
        again = self._context.run_again.emit
        one = len(workflows) == 1
        add_entry(menu, "runAgain", tr("Run again …"), lambda: again(workflows[0]), able=one)
        add_entry(menu, "remove", tr("Remove …"), lambda: self._remove(workflows))
        menu.addSeparator()
        add_copy(menu, "\n".join(each.workflow for each in chosen))
        menu.popup(place)
        return menu

    def _remove(self, workflows: list[str]) -> None:
        ask_to_remove(self, self._context, workflows, past=True)
