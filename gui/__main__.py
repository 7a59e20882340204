"""`wingbeat-tray`: the tray, the window, and the agent of this home in a thread if nobody else runs it.

A second start brings the first to front, with its files, and needs little of the program for that:
so what it does not need is imported after it is known which of the two this is.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import gui.qt_features  # noqa: F401 - before all of Qt

# isort: split
from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from agent.client import Home
from gui.single import FirstInstance, SilentWindowError, become_first

if TYPE_CHECKING:
    from gui.application import Application

APPLICATION = "wingbeat"
SIGNALS_MS = 300
NO_SCREEN = (
    "wingbeat-tray: there is no desktop here (neither DISPLAY nor WAYLAND_DISPLAY is set): log in to "
    "one and start it there, or start `wingbeat agent`, which needs none.\n"
)
ICON_SIZES = (16, 32, 48, 128, 256)
ICON_COLOUR = "#0b63b0"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run tray and window until their person quits, and return Qt's exit code; to begin with
    another installed version, this process becomes that one instead or starts it. Return 0 at once
    where a window of this home runs, which is handed the paths, or where ``--at-login`` is switched
    off; 1, and say so, where that window is silent or no screen is there. With ``--quit`` or
    ``--leave`` end what runs of this home: 1, and a sentence, where that has not ended. Raises
    ``SystemExit`` for ``--help`` and wrong arguments."""
    options = _options(sys.argv[1:] if arguments is None else arguments)
    home = Home.of()
    if options.quit or options.leave:
        return _quit(home, for_good=options.leave)
    if options.at_login and not _starts_at_login():
        return 0
    paths = [str(Path(each).absolute()) for each in options.paths]
    try:
        lock = become_first(home, paths)
    except SilentWindowError as error:
        return _tell_silence(error.process)
    if lock is None:
        return 0
    if not _screen_there():
        lock.unlock()
        _complain(NO_SCREEN)
        return 1
    application = make_application()
    first = FirstInstance(home)
    from agent.client.own_agent import start_anew
    from gui import settings
    from gui.application import Application
    from gui.startup import native_login
    from gui.theme.look import look
    from gui.translations import speak

    speak(settings.language())
    look().follow(application)
    whole = Application(application, home, native_login(), first)
    _let_signals_in(application, whole)
    whole.start(background=options.background or options.at_login, paths=paths)
    code = application.exec()
    lock.unlock()
    if whole.anew is not None:
        start_anew(whole.anew)
    return code


def _quit(home: Home, *, for_good: bool) -> int:
    from gui.ending import end_all, leave_and_end_all

    sentence = leave_and_end_all(home) if for_good else end_all(home)
    if sentence:
        _complain(f"wingbeat-tray: {sentence}.\n")
    return 1 if sentence else 0


def _complain(text: str) -> None:
    """Nowhere, where there is no terminal, as in a program with windows on Windows."""
    if sys.stderr is not None:
        sys.stderr.write(text)


def _starts_at_login() -> bool:
    from gui.startup import native_login

    with suppress(OSError):  # what cannot be read says no to nothing
        return native_login().enabled()
    return True


def _screen_there() -> bool:
    """Qt ends the process where there is none, without a word that helps."""
    known = any(os.environ.get(each) for each in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    return sys.platform != "linux" or known


def make_application() -> QApplication:
    """Return Qt's application of this process, made if there is none yet, with the program's names
    and icon set; it goes on when its last window is closed. Tests and pictures use it too."""
    from gui.theme.wing import plain_wing

    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else QApplication([APPLICATION])
    _name(application)
    application.setApplicationDisplayName("Wingbeat")
    application.setDesktopFileName(APPLICATION)
    application.setQuitOnLastWindowClosed(False)
    icon = QIcon()
    for size in ICON_SIZES:
        icon.addPixmap(plain_wing(size, ICON_COLOUR))
    application.setWindowIcon(icon)
    return application


def _name(application: QCoreApplication) -> None:
    application.setApplicationName(APPLICATION)
    application.setOrganizationName(APPLICATION)  # the folder of what the window remembers


def _tell_silence(process: int) -> int:
    """A person who started it sees why nothing comes, on a terminal too; only there without a
    screen, for Qt ends a process that wants to show something then."""
    from PySide6.QtWidgets import QMessageBox

    from gui import settings
    from gui.translations import speak
    from gui.words import tr

    screen = _screen_there()
    application = make_application() if screen else QCoreApplication([APPLICATION])
    _name(application)
    speak(settings.language())
    sentence = tr(
        "Wingbeat runs already, as process {process}, and does not answer: wait a little, or end "
        "that process, then start it again.",
        process=process,
    )
    _complain(sentence + "\n")
    if not screen:
        return 1
    box = QMessageBox(QMessageBox.Icon.Warning, "Wingbeat", sentence)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.finished.connect(application.exit)
    box.show()
    application.exec()
    return 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "wingbeat-tray", description="The tray icon and the window of Wingbeat."
    )
    parser.add_argument("--background", action="store_true", help="do not open the window")
    parser.add_argument(
        "--at-login",
        action="store_true",
        help="for what the system starts at each login: do nothing where this person has switched "
        "that off, else as --background",
    )
    parser.add_argument(
        "--quit",
        action="store_true",
        help="have the tray that runs quit, and its agent hand back what it runs, and wait until both "
        "have ended; the exit code is 1 where that takes longer than 75 seconds",
    )
    parser.add_argument(
        "--leave",
        action="store_true",
        help="as --quit, for who removes the program: before, have others take what only this machine "
        "keeps, for a minute at most, and leave the flock",
    )
    parser.add_argument("paths", nargs="*", metavar="FILE", help="workflows to submit")
    return parser.parse_args(arguments)


def _let_signals_in(application: QApplication, whole: Application) -> None:
    """Ctrl-C and the like end it properly; Python hears them only while it runs now and then.

    That may be in the midst of an event, and what Qt still needs for that one must not be gone: on
    Wayland a window that was closed while it was resized hung for good. So it ends between two.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, lambda *_: QTimer.singleShot(0, whole.quit))
    timer = QTimer(application)
    timer.setInterval(SIGNALS_MS)
    timer.timeout.connect(time.monotonic)
    timer.start()


if __name__ == "__main__":
    sys.exit(main())
