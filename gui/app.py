"""`wingbeat-tray`: the tray, the window, and the agent of this home in a thread if nobody else runs it.

The icon comes first, the agent starts beside it, the window opens when asked for. A second start
brings the first to front, with its files. The agent ends with the tray only if the tray hosts it.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from agent.client import Home
from agent.client.errors import ClientError
from agent.client.own_agent import OwnAgent, host, runs_here
from gui import settings
from gui.bridge.bridge import Bridge
from gui.icons.wing import plain_wing
from gui.languages import speak
from gui.model.news import News, NewsKind
from gui.model.screen import Changes, Screen
from gui.model.tray import Act, Entry
from gui.model.trouble import Remedy
from gui.single import FirstInstance, call_first
from gui.startup import Login, native_login
from gui.theme.look import look
from gui.tray.icon import TrayIcon
from gui.views.desk import Desk
from gui.views.questions import ask_to_quit
from gui.views.side_bar import Place
from gui.views.window import Window
from gui.words import tr

APPLICATION = "wingbeat"
INVITATION_SUFFIX = ".wingbeat-invitation"
FIRST_RUN_AFTER_MS = 400
SIGNALS_MS = 300
STOP_S_MAX = 30.0
GREETING_S_MAX = 3.0
FINISH_POLL_MS = 500


class Hosting(QObject):
    """The agent in this process: started and stopped beside Qt's thread."""

    failed = Signal(str)
    stopped = Signal()

    def __init__(self, home: Home) -> None:
        super().__init__()
        self._home = home
        self._agent: OwnAgent | None = None
        self._thread: threading.Thread | None = None
        self._wanted_end = False

    @property
    def hosts(self) -> bool:
        """Whether the agent ends with us."""
        return self._agent is not None and self._agent.alive

    def begin(self, *, force: bool = False) -> None:
        """Start an agent unless one runs; what is wrong is told by ``failed``."""
        if self.hosts or (self._thread is not None and self._thread.is_alive()):
            return
        self._wanted_end = False
        self._thread = threading.Thread(target=self._start, args=(force,), daemon=True)
        self._thread.start()

    def end(self, reason: str) -> None:
        """Hand back what runs; ``stopped`` comes when that is done, or took too long."""
        self._wanted_end = True
        threading.Thread(target=self._stop, args=(reason,), daemon=True).start()

    def _start(self, force: bool) -> None:
        if runs_here(self._home) and not force and _answers(self._home):
            return
        try:
            agent = host(self._home)
        except ClientError as error:
            if not _answers(self._home):
                self.failed.emit(str(error))
            return
        self._agent = agent
        if self._wanted_end:
            agent.stop("the tray ends", STOP_S_MAX)

    def _stop(self, reason: str) -> None:
        if self._thread is not None:
            self._thread.join(STOP_S_MAX)
        if self._agent is not None:
            self._agent.stop(reason, STOP_S_MAX)
        self.stopped.emit()


class Application(QObject):
    """Everything of one process, put together."""

    def __init__(self, application: QApplication, home: Home, login: Login) -> None:
        super().__init__()
        self._application, self._home, self._login = application, home, login
        self.hosting = Hosting(home)
        self.screen = Screen()
        self.bridge = Bridge(home)
        self.desk = Desk(home, self.screen, self.bridge)
        self.tray = TrayIcon(self.desk)
        self._window: Window | None = None
        self._quitting = False
        self._finishing = QTimer(self)
        self._finishing.setInterval(FINISH_POLL_MS)
        self._finishing.timeout.connect(self._quit_when_idle)
        self.first = FirstInstance(home)
        self.first.called.connect(self.called)
        self.tray.opened.connect(self.open)
        self.tray.pressed.connect(self._pressed)
        self.hosting.failed.connect(self._agent_failed)
        self.hosting.stopped.connect(self._stopped)
        self.desk.changed.connect(self._maybe_first_run)
        application.commitDataRequest.connect(lambda _: self.bridge.stop())

    @property
    def window(self) -> Window:
        """Made when first asked for."""
        if self._window is None:
            self._window = Window(self.desk, self._login)
            self._window.quit_wanted.connect(self.ask_to_quit)
            self._window.remedy_wanted.connect(self.remedy)
            self._window.closed.connect(self._window_closed)
        return self._window

    def start(self, *, background: bool, paths: list[str]) -> None:
        """The icon is there already; the rest follows."""
        self.bridge.start()
        self.hosting.begin()
        if paths:
            self.called(paths)
        elif not background or not self.tray.there:
            self.window.show()
            if background:
                self.window.showMinimized()

    # -- coming to front ---------------------------------------------------------------------

    def open(self, news: News | None = None) -> None:
        """The window, where the news is."""
        self.window.to_front()
        if news is None:
            return
        if news.workflow:
            self.window.show_there(Place.WORKFLOWS, f"{news.workflow}\n{news.task}")
        elif news.kind is NewsKind.FLOCK:
            self.window.go(Place.FLOCK)
        elif news.kind is NewsKind.PROGRAM:
            self.window.go(Place.COMPUTER)

    def called(self, paths: list[str]) -> None:
        """By a later start."""
        self.open()
        invitations = [path for path in paths if path.endswith(INVITATION_SUFFIX)]
        if invitations:
            self._first_run(Path(invitations[0]))
        elif paths:
            self.window.submit(paths)

    def _pressed(self, entry: Entry) -> None:
        if entry.act is Act.SUBMIT:
            self.open()
            self.window.submit(None)
        elif entry.act is Act.QUIT:
            self.ask_to_quit()

    # -- first run ---------------------------------------------------------------------------

    def _maybe_first_run(self, changes: Changes) -> None:
        node = self.screen.node
        if node is None or settings.first_run_done() or not changes.node:
            return
        if node.flock:
            settings.finish_first_run()
            return
        if self._window is not None and self._window.isVisible():
            settings.finish_first_run()
            QTimer.singleShot(FIRST_RUN_AFTER_MS, self, self._first_run)

    def _first_run(self, invitation: Path | None = None) -> None:
        from gui.views.first_run import FirstRun, clipboard_invitation

        dialog = FirstRun(self.desk, self._login, self.window)
        if invitation is not None:
            try:
                dialog.offer(invitation.read_text("utf-8"))
            except (OSError, UnicodeDecodeError):
                self.desk.failed.emit(tr("{name} is no invitation.", name=invitation.name))
        elif offered := clipboard_invitation():
            dialog.offer(offered)
        dialog.open()

    # -- remedies ----------------------------------------------------------------------------

    def remedy(self, remedy: Remedy) -> None:
        """What a bar's button does."""
        match remedy:
            case Remedy.START_AGENT:
                self.hosting.begin(force=True)
            case Remedy.RESTART_AGENT:
                self._restart_agent()
            case Remedy.JOIN:
                self._first_run()
            case Remedy.DOCTOR:
                self._doctor()
            case Remedy.OPEN_PROGRAMS:
                self.window.go(Place.COMPUTER)
            case Remedy.NONE:
                pass

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
                self.hosting.begin(force=True)

        threading.Thread(target=work, daemon=True).start()

    def _doctor(self) -> None:
        from agent.api.flock import Doctor, DoctorReply
        from agent.api.methods import DOCTOR

        def told(reply: DoctorReply) -> None:
            found = [each.text for each in reply.findings]
            self.desk.said.emit(
                " ".join(found) or tr("Nothing is wrong as far as this computer sees.")
            )

        self.desk.ask(DOCTOR, Doctor(), told)

    def _agent_failed(self, sentence: str) -> None:
        self.window.to_front()
        self.desk.failed.emit(sentence)

    # -- the end -----------------------------------------------------------------------------

    def ask_to_quit(self) -> None:
        """What becomes of what runs here?"""
        running = len(self.screen.node.tasks) if self.screen.node is not None else 0
        parent = self._window if self._window is not None and self._window.isVisible() else None
        self._question = ask_to_quit(
            parent, running, self.hosting.hosts, self.quit, self._quit_after
        )

    def quit(self) -> None:
        """Hand back, and end."""
        if self._quitting:
            return
        self._quitting = True
        if self._window is not None:
            self._window.close()
        self.bridge.stop()
        self.tray.hide()
        self.first.close()
        self.hosting.end("the tray ends")

    def _quit_after(self) -> None:
        self.desk.press(Entry(Act.FINISH))
        self._finishing.start()

    def _quit_when_idle(self) -> None:
        if self.screen.node is None or not self.screen.node.tasks:
            self._finishing.stop()
            self.quit()

    def _stopped(self) -> None:
        self._application.quit()

    def _window_closed(self) -> None:
        """Without a tray a closed window could not be found again: it is only minimised."""
        if not self._quitting and not self.tray.there:
            QTimer.singleShot(0, self, self.window.showMinimized)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until its person quits."""
    options = _options(sys.argv[1:] if arguments is None else arguments)
    home = Home.of()
    application = make_application()
    paths = [str(Path(each).absolute()) for each in options.paths]
    if call_first(home, paths):
        return 0
    speak(settings.language())
    look().follow(application)
    whole = Application(application, home, native_login())
    _let_signals_in(application, whole)
    whole.start(background=options.background, paths=paths)
    return application.exec()


def make_application() -> QApplication:
    """With its names and icon; also for tests and pictures."""
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else QApplication([APPLICATION])
    application.setApplicationName(APPLICATION)
    application.setApplicationDisplayName("Wingbeat")
    application.setDesktopFileName(APPLICATION)
    application.setQuitOnLastWindowClosed(False)
    icon = QIcon()
    for size in (16, 32, 48, 128, 256):
        icon.addPixmap(plain_wing(size, "#0b63b0"))
    application.setWindowIcon(icon)
    return application


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "wingbeat-tray", description="The tray icon and the window of Wingbeat."
    )
    parser.add_argument("--background", action="store_true", help="do not open the window")
    parser.add_argument("paths", nargs="*", metavar="FILE", help="workflows to submit")
    return parser.parse_args(arguments)


def _let_signals_in(application: QApplication, whole: Application) -> None:
    """Ctrl-C and the like end it properly; Python hears them only while it runs now and then."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, lambda *_: whole.quit())
    timer = QTimer(application)
    timer.setInterval(SIGNALS_MS)
    timer.timeout.connect(time.monotonic)
    timer.start()


def _answers(home: Home) -> bool:
    """Whether an agent of this home is there; one that hangs is, and the window says that it does."""
    from agent.client import Client

    async def greet() -> None:
        async with asyncio.timeout(GREETING_S_MAX), await Client.connect(home, "tray"):
            pass

    try:
        asyncio.run(greet())
    except ClientError:
        return False
    except TimeoutError:
        return True
    return True


if __name__ == "__main__":
    sys.exit(main())
