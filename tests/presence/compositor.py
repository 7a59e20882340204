"""A Wayland compositor without a screen: real messages on a real socket, idle when a test says so."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

JOIN_S = 10.0
IDLED, RESUMED = 0, 1
GLOBALS = {1: ("wl_compositor", 5), 2: ("wl_seat", 8), 3: ("ext_idle_notifier_v1", 2)}


class Compositor:
    """Serves one client after the other."""

    def __init__(self, path: Path, offered: dict[int, tuple[str, int]]) -> None:
        self.offered = offered
        self.bound: list[tuple[str, int]] = []
        self.notifications: dict[int, int] = {}
        """What made each of them, by its id: 1 those that programs hold back, 2 input alone."""
        self.timeouts_ms: list[int] = []
        self._client: socket.socket | None = None
        self._kinds: dict[int, str] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, name="compositor")
        self._thread.start()

    def tell(self, made_by: int, operation: int) -> None:
        """Tell the notifications that were made so that they are idle, or not any more."""
        assert self._client is not None
        for each, request in self.notifications.items():
            if request == made_by:
                self._client.sendall(struct.pack("=II", each, 8 << 16 | operation))

    def offer(self, name: int, interface: str) -> None:
        """A global comes while somebody is connected."""
        assert self._client is not None
        self.offered[name] = (interface, 1)
        self._client.sendall(_global(name, interface, 1))

    def drop(self) -> None:
        """End the connection."""
        assert self._client is not None
        self._client.shutdown(socket.SHUT_RDWR)

    def fail(self) -> None:
        """Accuse the client of a fault."""
        assert self._client is not None
        text = struct.pack("=III", 1, 0, 4) + b"bad\0"
        self._client.sendall(struct.pack("=II", 1, 8 + len(text) << 16) + text)

    def close(self) -> None:
        """Serve nobody any more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if self._client is not None:
            with suppress(OSError):
                self._client.shutdown(socket.SHUT_RDWR)
        self._thread.join(JOIN_S)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._client, self._kinds = client, {}
            self.notifications.clear()
            with client:
                self._client_lives(client)

    def _client_lives(self, client: socket.socket) -> None:
        unread = b""
        while data := _received(client):
            unread += data
            while len(unread) >= 8:
                target, word = struct.unpack_from("=II", unread)
                if len(unread) < word >> 16:
                    break
                self._request(client, target, word & 0xFFFF, unread[8 : word >> 16])
                unread = unread[word >> 16 :]

    def _request(self, client: socket.socket, target: int, operation: int, body: bytes) -> None:
        if target == 1 and operation == 1:
            for name, (interface, version) in self.offered.items():
                client.sendall(_global(name, interface, version))
        elif target == 1:
            callback = struct.unpack("=I", body)[0]
            client.sendall(struct.pack("=III", callback, 12 << 16, 0))
        elif target == 2:
            name, size = struct.unpack_from("=II", body)
            interface = body[8 : 8 + size - 1].decode()
            version, new = struct.unpack("=II", body[-8:])
            assert interface == self.offered[name][0]
            assert version <= self.offered[name][1]
            self.bound.append((interface, version))
            self._kinds[new] = interface
        else:
            assert self._kinds[target] == "ext_idle_notifier_v1"
            new, timeout_ms, seat = struct.unpack("=III", body)
            assert self._kinds[seat] == "wl_seat"
            self.notifications[new] = operation
            self.timeouts_ms.append(timeout_ms)


def _received(client: socket.socket) -> bytes:
    try:
        return client.recv(65_536)
    except OSError:
        return b""


def _global(name: int, interface: str, version: int) -> bytes:
    text = interface.encode() + b"\0"
    text = struct.pack("=I", len(text)) + text + bytes(-len(text) % 4)
    body = struct.pack("=I", name) + text + struct.pack("=I", version)
    return struct.pack("=II", 2, 8 + len(body) << 16) + body


@contextmanager
def compositor(
    folder: Path, offered: dict[int, tuple[str, int]] | None = None
) -> Iterator[tuple[Compositor, dict[str, str]]]:
    """A compositor, and the environment of its session."""
    found = Compositor(folder / "wayland-7", dict(GLOBALS if offered is None else offered))
    try:
        yield found, {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "wayland-7"}
    finally:
        found.close()
