"""One window for each home: whoever starts a second one brings the first to front, with its files.

A lock decides who is the first, so that two starts at the same moment do not both become it; a local
socket in the home is the way in, where no other account can listen in its place. Neither outlives its process: the lock of a dead one is
taken over, and so is a socket that answers nobody. What the system wants to know before it lets the
first come to front (see ``gui.foreground``) is handed over with the files.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets

from PySide6.QtCore import QDeadlineTimer, QLockFile, QObject, QThread, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from agent.client import Home
from gui.foreground import native_foreground

PATIENCE_S = 10.0
"""How long the first may take until it listens and answers: it may be starting on a busy machine."""
CONNECT_MS, PAUSE_MS = 500, 50
PATH_BYTES_MAX = 88
"""Qt makes a socket in a folder beside its place first, and no name may be longer than 107."""
SECRET_BYTES = 16
MESSAGE_BYTES_MAX = 64 * 1024
_UNCONNECTED = QLocalSocket.LocalSocketState.UnconnectedState
_HELD = QLockFile.LockError.LockFailedError


class SilentWindowError(Exception):
    """A process is the first, and does not answer; ``process`` is its number, where it is known."""

    def __init__(self, process: int = 0) -> None:
        super().__init__(process)
        self.process = process


def become_first(home: Home, paths: list[str], within_s: float = PATIENCE_S) -> QLockFile | None:
    """Return the lock of this home's only window, to be held until the end; None if one runs
    already and was handed the paths, for which it has about ``within_s``. Raises
    ``SilentWindowError`` if that one does not answer. The home's folders are made if they can be;
    where nobody can lock there, a lock comes back that holds nobody off: two windows are better
    than none."""
    with contextlib.suppress(OSError):
        home.prepare()
    lock = QLockFile(str(home.window_lock))
    lock.setStaleLockTime(0)
    until = QDeadlineTimer(round(within_s * 1000))
    while not until.hasExpired():  # it may be about to listen, or about to end
        if lock.tryLock(0) or lock.error() is not _HELD:
            return lock
        try:
            if call_first(home, paths, within_s):
                return None
        except SilentWindowError:
            break
        QThread.msleep(PAUSE_MS)
    # Its number may be another program's by now. A lock that a living process holds is not removed.
    lock.removeStaleLockFile()
    if lock.tryLock(0):
        return lock
    process, *_ = lock.getLockInfo()
    raise SilentWindowError(process)


def socket_name(home: Home) -> str:
    """Return the name of the local socket on which the window of this home listens, the same one at
    each start, where nobody but its account can listen: in its folder of data. Where that has no
    room for it, and for a pipe of Windows, the name has a secret from a file there, which is made
    if it is missing; empty where that file cannot be made or read."""
    path = str(home.data / "window.socket")
    if os.name == "posix" and len(os.fsencode(path)) <= PATH_BYTES_MAX:
        return path
    secret = home.data / "window.secret"
    with contextlib.suppress(OSError):
        if not secret.exists():
            made = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(made, "w") as file:
                file.write(secrets.token_hex(SECRET_BYTES))
        told = secret.read_text("utf-8")
        return f"wingbeat-{told}" if len(told) == 2 * SECRET_BYTES else ""
    return ""


def call_first(home: Home, paths: list[str], within_s: float = PATIENCE_S) -> bool:
    """Hand the paths, and the right to come to front, to the window that runs already; return true
    when it has answered, false if none listens or it ends before that.

    Raises ``SilentWindowError`` if one listens and does not answer in that time.
    """
    return _tell_first(home, {"paths": paths, "way": native_foreground().give()}, within_s)


def ask_first_to_quit(home: Home, within_s: float = PATIENCE_S) -> bool:
    """Have the window that runs already quit with its tray; return true when it has answered, before
    it has ended, false if none listens. Raises ``SilentWindowError`` as ``call_first`` does."""
    return _tell_first(home, {"quit": True}, within_s)


def first_process(home: Home) -> int:
    """Return the number of the process that is this home's first now; 0 where there is none."""
    lock = QLockFile(str(home.window_lock))
    lock.setStaleLockTime(0)
    if not home.window_lock.exists() or lock.tryLock(0):
        return 0
    process, *_ = lock.getLockInfo()
    return process


def _tell_first(home: Home, message: dict[str, object], within_s: float) -> bool:
    name, socket = socket_name(home), QLocalSocket()
    if not name:
        return False
    socket.connectToServer(name)
    if not socket.waitForConnected(CONNECT_MS):
        return False
    socket.write(json.dumps(message).encode() + b"\n")
    until = QDeadlineTimer(round(within_s * 1000))
    while not socket.canReadLine():
        if socket.waitForReadyRead(max(1, until.remainingTime())):
            continue
        if socket.state() is _UNCONNECTED:
            return False  # it ended before it could answer
        raise SilentWindowError
    socket.disconnectFromServer()
    return True


class FirstInstance(QObject):
    """Listens for later ones; ``called`` with the paths that they were given, ``told_to_quit`` when
    one wants nothing but the end of this one."""

    called = Signal(list)
    told_to_quit = Signal()

    def __init__(self, home: Home) -> None:
        super().__init__()
        self._server = QLocalServer(self)
        self._sockets: list[QLocalSocket] = []
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        name = socket_name(home)
        if not self._server.listen(name):
            QLocalServer.removeServer(name)
            self._server.listen(name)
        self._server.newConnection.connect(self._arrived)

    def close(self) -> None:
        """Stop listening, so that the next window is the first."""
        self._server.close()

    def _arrived(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            self._sockets.append(socket)
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(self._gone)
            self._take(socket)

    def _gone(self) -> None:
        for each in [one for one in self._sockets if one.state() == _UNCONNECTED]:
            self._sockets.remove(each)
            each.deleteLater()

    def _read(self) -> None:
        for each in list(self._sockets):
            self._take(each)

    def _take(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > MESSAGE_BYTES_MAX:
                socket.abort()
            return
        data = bytes(socket.readLine(MESSAGE_BYTES_MAX).data())
        socket.write(b"ok\n")
        socket.flush()  # the other one need not wait for the window
        try:
            told = json.loads(data)
            paths, way = told.get("paths", []), told.get("way", "")
        except (ValueError, AttributeError):
            return
        if told.get("quit") is True:
            self.told_to_quit.emit()
            return
        native_foreground().take(str(way))
        self.called.emit([path for path in paths if isinstance(path, str)])
