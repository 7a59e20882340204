"""Everything of one process put together: tray, window, bridge, agent.

The icon comes first and alone; what else there is follows when the icon is where a person sees it,
because all of it wants the interpreter at the same time. The window is loaded when somebody wants to
see it. The agent ends with the tray only if the tray hosts it.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings, QTimer, Signal
from PySide6.QtWidgets import QApplication

from agent.api.flock import INVITATION_SUFFIX
from agent.api.session import STOP, Stop
from agent.client import Home
from agent.client.attending import Attending
from agent.client.own_agent import installed_file, own_name
from agent.client.removal import VARIABLE, delete_home
from gui import settings
from gui.bridge.bridge import Bridge
from gui.finishing import Finishing
from gui.hosting import Hosting
from gui.model.news import News, NewsKind
from gui.model.notices import Absence, Absent
from gui.model.screen import Changes, Screen
from gui.model.tray import Act, Entry, is_to_be_asked
from gui.model.trouble import Remedy
from gui.single import FirstInstance
from gui.startup import Login
from gui.tray_icon import TrayIcon
from gui.updating import Updating
from gui.views.view_context import ViewContext
from gui.wording import sentences
from gui.words import tr

if TYPE_CHECKING:
    from gui.views.window import Window

FIRST_RUN_AFTER_MS = 400
OWN_FILES_MS, OWN_FILES_MISSED = 15_000, 6
"""Later than the agent, which looks for itself and needs a while to hand over."""
ICON_ALONE_MS = 60
"""How long the icon has the process for itself: panels take it in by a short conversation."""


class Application(QObject):
    """Made when Qt is there; ``start`` begins everything, ``quit`` ends it."""

    _ended = Signal()

    def __init__(
        self,
        application: QApplication,
        home: Home,
        login: Login,
        first: FirstInstance | None = None,
    ) -> None:
        super().__init__()
        self._application, self._home, self._login = application, home, login
        self.hosting = Hosting(home)
        self.screen = Screen(own_name())
        self.screen.minds_all = settings.minds_all()
        self.bridge = Bridge(home)
        self.context = ViewContext(home, self.screen, self.bridge)
        self.tray = TrayIcon(self.context)
        self._window: Window | None = None
        self._quitting = self._asked = False
        self.finishing = Finishing(self.context)
        self.finishing.over.connect(self.quit)
        self.updating = Updating(self.context, self.hosting, self._is_open)
        self.updating.anew.connect(self._start_anew)
        self.anew: list[str] | None = None
        """With which arguments this process is to start the version that is installed, at its end."""
        self.attending = Attending(home)
        self.first = first or FirstInstance(home)
        self.first.called.connect(self.called)
        self.first.told_to_quit.connect(self.quit)
        self.tray.opened.connect(self.open)
        self.tray.pressed.connect(self._pressed)
        self.hosting.failed.connect(self._agent_failed)
        self._ended.connect(lambda: self._begin_agent(force=True))
        self.hosting.begun.connect(self._agent_begun)
        self.hosting.stopped.connect(self._stopped)
        self.context.changed.connect(self._maybe_first_run)
        self.context.changed.connect(self._submit_early)
        self.context.removed.connect(self._removed)
        self._early_paths: list[str] = []
        self._removing: bool | None = None
        """That this computer was removed, and whether its data is to be deleted."""
        self._misses = 0
        own_files = QTimer(self)
        own_files.timeout.connect(self._look_for_own_files)
        own_files.start(OWN_FILES_MS)
        application.aboutToQuit.connect(self.session_ends)

    @property
    def window(self) -> Window:
        """Return the only window, which is made, hidden and with its signals connected, when it is
        first asked for."""
        if self._window is None:
            from gui.views.window import Window

            self._window = Window(self.context, self._login)
            self._window.quit_wanted.connect(self.ask_to_quit)
            self._window.remedy_wanted.connect(self.remedy)
            self._window.closed.connect(self._window_closed)
        return self._window

    def start(self, *, background: bool, paths: list[str]) -> None:
        """Return at once; once Qt's loop has painted the icon, begin agent and bridge, and open the
        window with the paths if there are any. ``background`` without paths: open none, or a
        minimised one where no tray shows the icon."""
        QTimer.singleShot(ICON_ALONE_MS, self, lambda: self._start_rest(background, paths))

    def _start_rest(self, background: bool, paths: list[str]) -> None:
        if self._quitting:
            return
        if paths:
            self.called(paths)
        elif not background:
            self.open()
        elif not self.tray.there:
            self.window.showMinimized()
        self._begin_agent()
        self.bridge.start()
        self.attending.start()

    # -- coming to front ---------------------------------------------------------------------

    def open(self, news: News | None = None) -> None:
        """Bring the window to front, made if there is none yet, at what ``news`` is about: the
        workflow and its task, the flock, or the question whether programs may run; else the window
        stays at its place. Where nobody has said yet when this computer may help, that is asked a
        moment later, once while this runs."""
        self.window.to_front()
        self._maybe_first_run()
        if news is None:
            return
        from gui.views.side_bar import Place

        if news.workflow:
            self.window.show_there(Place.WORKFLOWS, f"{news.workflow}\n{news.task}")
        elif news.kind in (NewsKind.FLOCK, NewsKind.JOIN):
            self.window.go(Place.FLOCK)
        elif news.kind is NewsKind.PROGRAM:
            self.window.decide()

    def called(self, paths: list[str]) -> None:
        """Bring the window to front and take the paths of a start of the program. With an
        invitation among them begin joining with the first one, or say that this computer has a
        flock already, and drop the other paths; else open the sheet that submits them, if there are
        any, once the agent is up."""
        self.open()
        invitations = [path for path in paths if path.endswith(INVITATION_SUFFIX)]
        if invitations:
            self._first_run(Path(invitations[0]))
        elif paths and self.screen.starting:
            self._early_paths += paths
        elif paths:
            self.window.submit(paths)

    def _submit_early(self, changes: Changes) -> None:
        """Submit the paths that came before the agent was up, once it is."""
        if changes.connection and not self.screen.starting and self._early_paths:
            paths, self._early_paths = self._early_paths, []
            self.window.submit(paths)

    def _pressed(self, entry: Entry) -> None:
        if entry.act is Act.SUBMIT:
            self.open()
            self.window.submit(None)
        elif entry.act is Act.QUIT:
            self.ask_to_quit()

    # -- first run ---------------------------------------------------------------------------

    def _maybe_first_run(self, _changes: Changes | None = None) -> None:
        """Begin it where nobody here has said yet when this computer may help, once while this runs,
        when a window is there to ask in that asks nothing else."""
        window = self._window
        if self._asked or self.screen.node is None or not is_to_be_asked(self.screen):
            return
        free = window is not None and window.isVisible()
        if free and QApplication.activeModalWidget() is None:
            self._asked = True
            QTimer.singleShot(FIRST_RUN_AFTER_MS, self, self._first_run)

    def _first_run(self, invitation: Path | None = None) -> None:
        from gui.views.first_run import FirstRun, clipboard_invitation

        self._asked = True
        node = self.screen.node
        if invitation is not None and node is not None and node.flock:
            self.context.failed.emit(
                tr("This computer belongs to {flock} already: leave it before you join another.",
                   flock=node.flock)
            )  # fmt: skip
            return
        dialog = FirstRun(self.context, self._login, self.window)
        if invitation is not None:
            try:
                dialog.offer(invitation.read_text("utf-8"))
            except (OSError, UnicodeDecodeError):
                self.context.failed.emit(tr("{name} is no invitation.", name=invitation.name))
        elif offered := clipboard_invitation():
            dialog.offer(offered)
        dialog.open()

    # -- remedies ----------------------------------------------------------------------------

    def remedy(self, remedy: Remedy) -> None:
        """Begin what the button of a trouble's bar promises, and return at once: start the agent,
        end one that hangs and start it anew, start the installed version, join a flock, have the
        agent look what is wrong, or ask whether programs may run; ``NONE`` does nothing. What fails
        is said in the window later."""
        match remedy:
            case Remedy.START_AGENT:
                self._begin_agent(force=True)
            case Remedy.RESTART_AGENT:
                self._restart_agent()
            case Remedy.JOIN:
                self._first_run()
            case Remedy.DOCTOR:
                self._doctor()
            case Remedy.OPEN_PROGRAMS:
                self.window.decide()
            case Remedy.START_NEW_AGENT | Remedy.START_NEW_WINDOW:
                self.updating.now(remedy)
            case Remedy.NONE:
                pass

    def _begin_agent(self, *, force: bool = False) -> None:
        """While it starts, that it is not there yet is no trouble."""
        if self.hosting.begin(force=force):
            self.bridge.attention.awaited = True
            self.context.take((Absent(Absence.STARTING),))

    def _agent_begun(self) -> None:
        """Ours, or somebody else's that answered or hangs: what it is now is told as it is."""
        if not self.hosting.hosts:
            self.bridge.attention.awaited = False

    def _restart_agent(self) -> None:
        from gui.restarting import end_silent_agent

        def work() -> None:
            if self.hosting.hosts:
                self.hosting.failed.emit(
                    tr("The agent hangs in this process: quit Wingbeat and start it again.")
                )
                return
            sentence = end_silent_agent(self._home)
            if sentence:
                self.hosting.failed.emit(sentence)
            else:
                self._ended.emit()

        threading.Thread(target=work, daemon=True).start()

    def _doctor(self) -> None:
        from agent.api.flock import DOCTOR, Doctor, DoctorReply
        from gui.firewall import FirewallDoor

        def told(reply: DoctorReply) -> None:
            found = reply.findings
            whys, texts = [each.why for each in found], [each.text for each in found]
            told = sentences(whys, texts, " ", {each.subject for each in found})
            door = FirewallDoor(self)
            door.told.connect(self.context.said)
            door.failed.connect(self.context.failed)
            if door.offer(self._window, found, told) is None:
                self.context.said.emit(told or tr("Nothing is wrong as far as this computer sees."))

        self.context.ask(self, DOCTOR, Doctor(), told)

    def _agent_failed(self, sentence: str) -> None:
        self.bridge.attention.awaited = False
        self.window.to_front()
        self.context.failed.emit(sentence)

    # -- the end -----------------------------------------------------------------------------

    def ask_to_quit(self) -> None:
        """Ask the person whether to quit, and what becomes of tasks that run here; return at once.
        The answer quits, finishes first or does nothing."""
        running = len(self.screen.node.tasks) if self.screen.node is not None else 0
        from gui.views.questions import ask_to_quit

        parent = self._window if self._window is not None and self._window.isVisible() else None
        self._question = ask_to_quit(
            parent, running, self.hosting.hosts, self.quit, self.finishing.begin
        )

    def quit(self) -> None:
        """Close window, bridge and tray, and have the agent of this process, if it is here, hand
        back what runs. Returns before that is done; Qt's loop ends after it. A second call does
        nothing."""
        if self._quitting:
            return
        self._quitting = True
        if self._window is not None:
            self._window.close()
        self.bridge.stop()
        self.attending.stop()
        self.tray.hide()
        self.first.close()
        self.hosting.end("the tray ends")

    def _is_open(self) -> bool:
        """A minimised one stands for the icon where there is no tray."""
        window = self._window
        return window is not None and window.isVisible() and not window.isMinimized()

    def _start_anew(self) -> None:
        """With its window open, if it is; files that it was given are not submitted again."""
        self.anew = [] if self._is_open() else ["--background"]
        self.quit()

    def _stopped(self) -> None:
        if self._removing is not None:
            self._forget_all(delete=self._removing)
        self._application.quit()

    def _removed(self, delete: bool) -> None:
        """Nothing is to run or start here any more; an agent that is a service ends too."""
        self._removing = delete
        if self.hosting.hosts:
            self.quit()
        else:
            ended = self.quit
            self.bridge.ask(self, STOP, Stop("removed"), lambda _: ended(), lambda _: ended())

    def _forget_all(self, *, delete: bool) -> None:
        if not os.environ.get(VARIABLE):  # else what starts at login is of another home
            with contextlib.suppress(OSError):
                self._login.disable()
        if delete:
            remembered = QSettings()
            remembered.clear()
            remembered.sync()
            delete_home(self._home)

    def _look_for_own_files(self) -> None:
        """A program that was removed while it runs ends; its agent has handed over before."""
        self._misses = 0 if installed_file().exists() else self._misses + 1
        if self._misses >= OWN_FILES_MISSED:
            self.quit()

    def session_ends(self) -> None:
        """Stop the bridge and the agent of this process, and wait some seconds for what runs to be
        handed back: logoff and shutdown end Qt's loop without waiting. Does no harm after ``quit``.

        That somebody is asked about it before is no end yet: another program may still say no.
        """
        self.bridge.stop()
        self.hosting.end_now("the session ends")

    def _window_closed(self) -> None:
        """Without a tray a closed window could not be found again: it is only minimised."""
        if not self._quitting and not self.tray.there:
            QTimer.singleShot(0, self, self.window.showMinimized)
