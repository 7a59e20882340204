"""The window: side bar and six places, made when first looked at, so that opening takes no time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QSettings, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QHideEvent,
    QKeySequence,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from agent import __version__
from agent.api.work import TaskView
from agent.client.inspecting import is_flight
from agent.workflow.again import Looked
from gui import settings
from gui.bridge.submitting import workflow_files
from gui.model.flock import up_count
from gui.model.screen import Changes
from gui.model.tray import (
    basis_of,
    gates_waiting,
    is_answered,
    is_paused,
    is_warning,
    pause_entries,
    programs_waiting,
    sentence_of,
)
from gui.model.trouble import agent_trouble, update_notice
from gui.startup import Login
from gui.views.again_sheet import AgainSheet
from gui.views.bars import Bar, TroubleBar
from gui.views.choosing import files_to_open
from gui.views.inspect_sheet import InspectSheet
from gui.views.log_window import LogWindow
from gui.views.pieces import column, row, set_up, timer
from gui.views.room import keep_on_screen
from gui.views.side_bar import Place, SideBar, load_the_rest
from gui.views.submit_sheet import SubmitSheet
from gui.views.veil import Veil, paths_in
from gui.views.view_context import ViewContext
from gui.views.workflows_page import WorkflowsPage
from gui.words import tr, tr_n

if TYPE_CHECKING:
    from gui.views.permission_sheet import PermissionSheet
    from gui.views.settings_dialog import SettingsDialog

TICK_MS = 1000
QUIET_TICKS = 10
"""While nothing runs, times on the screen change rarely."""
SIZE_FIRST = (1280, 800)
SIZE_MIN = (860, 560)
SAID_MS = 8_000
WORKFLOW_SUFFIXES = ("*.wingbeat.yaml", "*.wingbeat.yml", "*.wingbeat", "*.yaml", "*.yml", "*.xml")


class Window(QWidget):
    """``closed`` when its person is done with it; the program goes on in the tray."""

    closed = Signal()
    quit_wanted = Signal()
    remedy_wanted = Signal(object)

    def __init__(self, context: ViewContext, login: Login) -> None:
        super().__init__()
        self._context, self._login = context, login
        set_up(self, "window", windowTitle="Wingbeat", acceptDrops=True)
        self.side = SideBar()
        self.side.went.connect(self.go)
        self.side.pressed.connect(context.press)
        self.side.settings_wanted.connect(self.open_settings)
        self.side.answer_wanted.connect(lambda: self.go(Place.COMPUTER))
        self.trouble = TroubleBar("agentTrouble", self.remedy_wanted.emit)
        self.update_bar = TroubleBar("updateBar", self.remedy_wanted.emit, "notice")
        self.fault, self.said = Bar("fault"), Bar("said", "notice")
        self.stack = QStackedWidget()
        self.places: dict[Place, QWidget] = {}
        self._logs: list[LogWindow] = []
        self._ticks = 0
        self._veil = Veil(self)
        right = column(
            self.trouble, self.update_bar, self.fault, self.said, (self.stack, 1), spacing=0
        )
        self.setLayout(row(self.side, (right, 1), spacing=0))
        self._make_shortcuts()
        self._said_timer = timer(self, SAID_MS, self.said.hide, once=True)
        self._tick_timer = timer(self, TICK_MS, self._tick)
        self._listen()
        threading.Thread(target=load_the_rest, daemon=True).start()
        self._restore()
        self.go(Place.WORKFLOWS)
        self._everything()

    def _listen(self) -> None:
        self._context.changed.connect(self.refresh)
        self._context.failed.connect(self.fault.say)
        self._context.said.connect(self._say)
        self._context.go_to.connect(self.show_there)
        self._context.submit.connect(self.submit)
        self._context.log_of.connect(self.open_log)
        self._context.decide.connect(self.decide)
        self._context.run_again.connect(self.run_again)
        self._context.once_more.connect(lambda each, steps: self.run_again(each, steps=steps))
        self._context.differs.connect(self.run_again)

    def _make_shortcuts(self) -> None:
        acts: list[tuple[str, Callable[[], object]]] = [
            (f"Ctrl+{number}", lambda place=place: self._go_into(place))  # type: ignore[misc]
            for number, place in enumerate(Place, 1)
        ]
        acts += [
            ("Ctrl+O", lambda: self.submit(None)),
            ("Ctrl+V", self._paste),
            ("Ctrl+,", self.open_settings),
            ("Ctrl+P", self._pause_key),
            ("Ctrl+L", self._log_key),
            ("F1", self.open_shortcuts),
            ("Esc", self._close_last),
            ("Ctrl+W", self.close),
            ("Ctrl+Q", self.quit_wanted.emit),
        ]
        for key, act in acts:
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.activated.connect(lambda act=act: act())

    # -- places ------------------------------------------------------------------------------

    def go(self, place: Place) -> None:
        """Show a place, which is made when it is first shown, mark it in the side bar, and give it
        the keyboard unless the side bar has it."""
        if place not in self.places:
            self.places[place] = made = self._make(place)
            self.stack.addWidget(made)
        self.side.go(place)
        self.stack.setCurrentWidget(self.places[place])
        focus = QApplication.focusWidget()
        if focus is None or not self.side.isAncestorOf(focus):
            _begin_at(self.places[place])
        self._everything()

    def _go_into(self, place: Place) -> None:
        """Show a place by a key: the keyboard goes along, wherever it was."""
        self.go(place)
        _begin_at(self.places[place])

    @property
    def workflows(self) -> WorkflowsPage:
        """The page of workflows, which is made with the window."""
        page = self.places[Place.WORKFLOWS]
        assert isinstance(page, WorkflowsPage)
        return page

    def _make(self, place: Place) -> QWidget:
        remedy = self.remedy_wanted.emit
        match place:
            case Place.WORKFLOWS:
                return WorkflowsPage(self._context, remedy)
            case Place.QUEUE:
                from gui.views.queue_page import QueuePage

                queue = QueuePage(self._context)
                queue.details_wanted.connect(lambda act: act(self.workflows.details))
                return queue
            case Place.FLOCK:
                from gui.views.flock_page import FlockPage

                return FlockPage(self._context, remedy)
            case Place.COMPUTER:
                from gui.views.computer_page import ComputerPage

                return ComputerPage(self._context)
            case Place.LOG:
                from gui.views.log_page import LogPage

                return LogPage(self._context)
            case Place.HISTORY:
                from gui.views.history_page import HistoryPage

                return HistoryPage(self._context)

    def show_there(self, place: Place, key: str) -> None:
        """Show a place; among the workflows, choose the one whose id is the key, and its task if
        that stands in a second line of it. An empty key chooses none."""
        self.go(place)
        if place is Place.WORKFLOWS and key:
            workflow, _, task = key.partition("\n")
            self.workflows.choose(workflow, task)

    # -- what is shown -----------------------------------------------------------------------

    def refresh(self, changes: Changes) -> None:
        """Show what the model says in the side bar (what each place counts, and what this computer
        does) and in the bar of trouble with the agent, whatever changed; the pages follow the model
        themselves."""
        screen, now_s = self._context.screen, time.time()
        self.trouble.tell(agent_trouble(screen.absence))
        self.update_bar.tell(update_notice(screen, __version__))
        running, active = screen.totals.running, screen.minded.active
        gates = gates_waiting(screen)
        up = up_count(screen)
        side = self.side.buttons
        side[Place.WORKFLOWS].tell(
            str(gates or active or ""),
            gates > 0,
            tr_n("%n wait(s) for you", "gates", gates) if gates else tr_n("%n run(s)", "", active),
        )
        side[Place.QUEUE].tell(str(running or ""), False, tr_n("%n task(s) run", "", running))
        joining, programs = len(screen.join_requests()), programs_waiting(screen)
        side[Place.FLOCK].tell(
            str(joining or up or ""),
            joining > 0,
            tr_n("%n machine(s) want to join", "", joining)
            if joining
            else tr_n("%n machine(s) up", "", up),
        )
        side[Place.COMPUTER].tell(
            str(programs or ""),
            programs > 0,
            tr_n("%n workflow(s) wait for your permission", "", programs) if programs else "",
        )
        self._tell_presence(now_s)

    def _tell_presence(self, now_s: float) -> None:
        screen = self._context.screen
        sentence, entries = sentence_of(screen, now_s), pause_entries(screen, now_s)
        self.side.tell(sentence, entries, basis_of(screen), answered=is_answered(screen))

    def _everything(self) -> None:
        changes = Changes(
            flock=True, node=True, volunteering=True, programs=True, settings=True,
            connection=True, everything=True,
        )  # fmt: skip
        changes.tasks = set(self._context.screen.tasks)
        changes.workflows = set(self._context.screen.workflows)
        self.refresh(changes)
        page = self.stack.currentWidget()
        refresh = getattr(page, "refresh", None)
        if refresh is not None:
            refresh(changes)

    def _tick(self) -> None:
        """A second has passed: countdowns and relative times."""
        screen, now_s = self._context.screen, time.time()
        helps = screen.volunteering is None or screen.volunteering.volunteering
        moving = not helps or screen.totals.active > 0
        self._ticks += 1
        if not moving and self._ticks % QUIET_TICKS:
            return
        self._tell_presence(now_s)
        tick = getattr(self.stack.currentWidget(), "tick", None)
        if tick is not None:
            tick()

    def _say(self, sentence: str) -> None:
        self.said.say(sentence)
        self._said_timer.start()

    # -- submitting --------------------------------------------------------------------------

    def submit(self, paths: list[str] | None) -> SubmitSheet | None:
        """Open the sheet that submits these files, or those in these folders, and return it without
        waiting; None waits until the person has chosen files. Return None if none are chosen or
        found, which is said in the latter case, and for a flight's folder alone, of which the
        inspection is opened instead. The folder is remembered for the next choice."""
        if paths is None:
            shown = tr("Workflows ({patterns})", patterns=" ".join(WORKFLOW_SUFFIXES))
            every = tr("Scripts and all other files ({patterns})", patterns="*")
            chosen = files_to_open(self, "submit", tr("Submit a workflow"), f"{shown};;{every}")
        else:
            chosen = [Path(each) for each in paths]
        if not chosen:
            return None
        settings.keep_folder("submit", chosen[0].parent)
        if len(chosen) == 1 and is_flight(chosen[0]):
            self.inspect(chosen[0])
            return None
        try:
            files, left_out = workflow_files(chosen)
        except OSError as error:
            self.fault.say(f"{error.filename}: {error.strerror}.")
            return None
        if not files:
            self.fault.say(
                tr("There is no workflow in {folder}: their files end in {suffix}.",
                   folder=chosen[0].name, suffix=WORKFLOW_SUFFIXES[0][1:])
            )  # fmt: skip
            return None
        sheet = self._open_submission(files)
        if left_out:
            sheet.note.setText(
                tr_n("%n more file(s) are left out: submit them next.", "", left_out)
            )
        return sheet

    def _open_submission(self, files: list[Path], allowed: tuple[Path, ...] = ()) -> SubmitSheet:
        sheet = SubmitSheet(self._context, files, self, allowed)
        sheet.submitted.connect(self._submitted)
        sheet.open()
        return sheet

    def inspect(self, flight: Path) -> InspectSheet:
        """Open the sheet that plans the inspection of a flight's folder, and return it without
        waiting; the sheet that submits follows it."""
        sheet = InspectSheet(self._context, flight, self)

        def planned(workflow: Path, along: Path | None) -> None:
            self._open_submission([workflow], () if along is None else (along,))

        sheet.planned.connect(planned)
        sheet.open()
        return sheet

    def run_again(
        self,
        workflow: str,
        looked: Looked | None = None,
        tasks: tuple[str, ...] | None = None,
        steps: tuple[str, ...] = (),
    ) -> AgainSheet:
        """Open the sheet that runs a past workflow again, with what was ``looked`` at already
        (None: it looks itself), or that tries these ``tasks`` of it again (None: all of it is run),
        and return it without waiting. ``steps`` are done once more although they are as they were."""
        sheet = AgainSheet(self._context, workflow, looked, tasks, self, steps)
        sheet.submitted.connect(self._submitted)
        sheet.open()
        return sheet

    def _submitted(self, workflow: str) -> None:
        self.go(Place.WORKFLOWS)
        QTimer.singleShot(300, self, lambda: self.workflows.choose(workflow))

    def _paste(self) -> None:
        """A path, or files, that were copied elsewhere."""
        paths = paths_in(QGuiApplication.clipboard().mimeData())
        if paths:
            self.submit(paths)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files anywhere, and cover the window with what dropping them will do; anything
        else is not accepted."""
        if paths_in(event.mimeData()):
            event.acceptProposedAction()
            self._veil.begin(paths_in(event.mimeData()))

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Uncover the window, for the files went elsewhere."""
        self._veil.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        """Submit the files; the sheet opens when the file manager has its mouse back."""
        self._veil.hide()
        paths = paths_in(event.mimeData())
        if paths:
            event.acceptProposedAction()
            QTimer.singleShot(0, self, lambda: self.submit(paths))

    # -- dialogs -----------------------------------------------------------------------------

    def open_settings(self) -> None:
        """Open the settings on a sheet of their own."""
        self._settings().show()

    def decide(self, workflow: str = "") -> PermissionSheet:
        """Open the question about what a workflow of others brings, or, where ``workflow`` is
        empty, the oldest one, and return its sheet without waiting; one that is open is brought to
        front as it is, whatever it asks."""
        from gui.views.permission_sheet import PermissionSheet

        sheet = self.findChild(PermissionSheet)
        if sheet is None:
            sheet = PermissionSheet(self._context, self, workflow)
            sheet.open()
        sheet.activateWindow()
        return sheet

    def open_shortcuts(self) -> None:
        """Open the settings at their last page, the shortcuts, and return at once."""
        dialog = self._settings()
        dialog.tabs.setCurrentIndex(dialog.tabs.count() - 1)
        dialog.show()

    def _settings(self) -> SettingsDialog:
        from gui.views.settings_dialog import SettingsDialog

        return SettingsDialog(self._context, self._login, self)

    def open_log(self, task: TaskView) -> LogWindow:
        """Open the output of a task in a window of its own, a new one each time; return it at
        once."""
        made = LogWindow(self._context, task)
        self._logs.append(made)
        made.destroyed.connect(lambda: self._forget(made))
        made.show()
        return made

    def _forget(self, log: LogWindow) -> None:
        self._logs = [each for each in self._logs if each is not log]

    def _close_last(self) -> None:
        """Esc: a bar, else what is typed in the filter, else what the place has narrowed down."""
        for bar in (self.fault, self.said):
            if bar.isVisible():
                bar.hide()
                return
        page = self.stack.currentWidget()
        field, let_go = getattr(page, "filter", None), getattr(page, "let_go", None)
        if field is not None and field.text():
            field.clear()
        elif let_go is not None:
            let_go()

    def _pause_key(self) -> None:
        if is_paused(self._context.screen) or is_warning(self._context.screen):
            self._context.press(pause_entries(self._context.screen, time.time())[0])
        else:
            self.side.pause.showMenu()

    def _log_key(self) -> None:
        tasks = self.workflows.details.log
        if self.stack.currentWidget() is self.workflows and tasks.isVisible():
            tasks.click()

    # -- coming and going --------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Have the agent asked more often, for somebody looks, show all anew, and give the page the
        keyboard, unless something on it has it."""
        super().showEvent(event)
        focus = QApplication.focusWidget()
        if focus is None or self.side.isAncestorOf(focus):
            page = self.stack.currentWidget()
            if page is not None:
                _begin_at(page)
        self._look(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Have the agent asked less often, for nobody looks."""
        super().hideEvent(event)
        self._look(False)

    def changeEvent(self, event: QEvent) -> None:
        """Have the agent asked less often while the window is minimised, more often when it is not
        any more."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self._look(not self.isMinimized() and self.isVisible())

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember how the window stood, do at once what the undo bar holds back, and emit
        ``closed``; the program goes on."""
        QSettings().setValue("window/geometry", self.saveGeometry())
        if self.places:
            self.workflows.undo.do_now()
        super().closeEvent(event)
        self.closed.emit()

    def to_front(self) -> None:
        """Show the window, also when it is minimised, and ask the system to bring it to front."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def _look(self, seen: bool) -> None:
        self._context.bridge.attention.seen = seen
        if seen:
            self._tick_timer.start()
            self._everything()
        else:
            self._tick_timer.stop()

    def _restore(self) -> None:
        stored = QSettings().value("window/geometry")
        if isinstance(stored, QByteArray):
            self.restoreGeometry(stored)
        else:
            self.resize(*SIZE_FIRST)
        keep_on_screen(self, SIZE_MIN)


def _begin_at(page: QWidget) -> None:
    """Where the keyboard is in a place that was gone to. A focus proxy would do the same, but with
    one Qt leaves out, when somebody walks by Tab, all that stands before it."""
    getattr(page, "begins_at", page).setFocus()
