"""One window for each home: whoever starts a second one brings the first to front, with its files.

A local socket, named after the home, is both lock and way in. A socket that a dead process left
behind answers nobody and is taken over.
"""

from __future__ import annotations

import hashlib
import json

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from agent.client import Home

CONNECT_MS = 500
MESSAGE_BYTES_MAX = 64 * 1024
_UNCONNECTED = QLocalSocket.LocalSocketState.UnconnectedState


def socket_name(home: Home) -> str:
    """The same for the same home, of no use to anybody else."""
    digest = hashlib.sha256(str(home.data).encode()).hexdigest()[:16]
    return f"wingbeat-{digest}"


def call_first(home: Home, paths: list[str]) -> bool:
    """Hand these paths to the window that runs already; false if there is none."""
    socket = QLocalSocket()
    socket.connectToServer(socket_name(home))
    if not socket.waitForConnected(CONNECT_MS):
        return False
    socket.write(json.dumps({"paths": paths}).encode() + b"\n")
    socket.waitForBytesWritten(CONNECT_MS)
    socket.waitForReadyRead(CONNECT_MS)
    socket.disconnectFromServer()
    return True


class FirstInstance(QObject):
    """Listens for later ones; ``called`` with the paths that they were given."""

    called = Signal(list)

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
        """The next one is the first."""
        self._server.close()

    def _arrived(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            self._sockets.append(socket)
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(self._gone)

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
        try:
            paths = json.loads(data).get("paths", [])
        except (ValueError, AttributeError):
            return
        self.called.emit([path for path in paths if isinstance(path, str)])
