"""A Wayland compositor without a screen: real messages on a real socket, idle when a test says so."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.certain import certain
from tests.hosts.waiting import EVENTUALLY_S_MAX

IDLED, RESUMED = 0, 1
GLOBALS = {1: ("wl_compositor", 5), 2: ("wl_seat", 8), 3: ("ext_idle_notifier_v1", 2)}


class Compositor:
    """Serves one client after the other, in a thread of its own.

    Test and thread share what it offers, its client and what that client has asked for. Whoever
    reads, changes or sends any of it holds ``_shared``; what a test is given is a copy.
    """

    def __init__(self, path: Path, offered: dict[int, tuple[str, int]]) -> None:
        self._shared = threading.Condition()
        self._offered = dict(offered)
        self._bound: list[tuple[str, int]] = []
        self._notifications: dict[int, int] = {}
        """What made each of them, by its id: 1 those that programs hold back, 2 input alone."""
        self._timeouts_ms: list[int] = []
        self._client: socket.socket | None = None
        self._kinds: dict[int, str] = {}
        self._closing = False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, name="compositor")
        self._thread.start()

    @property
    def bound(self) -> list[tuple[str, int]]:
        """Interfaces and versions that clients have bound."""
        with self._shared:
            return list(self._bound)

    @property
    def timeouts_ms(self) -> list[int]:
        """Of all notifications that were ever asked for."""
        with self._shared:
            return list(self._timeouts_ms)

    @property
    def notifications(self) -> list[int]:
        """What made each of those that the client has now."""
        with self._shared:
            return list(self._notifications.values())

    def tell(self, made_by: int, operation: int) -> None:
        """Wait until such notifications are asked for; tell them that it is idle, or not any more."""
        with self._shared:
            asked = self._shared.wait_for(
                lambda: made_by in self._notifications.values(), EVENTUALLY_S_MAX
            )
            assert asked, f"nobody asks for notifications by {made_by}"
            for each, request in self._notifications.items():
                if request == made_by:
                    self._send(struct.pack("=II", each, 8 << 16 | operation))

    def offer(self, name: int, interface: str) -> None:
        """A global comes while somebody is connected."""
        with self._shared:
            self._offered[name] = (interface, 1)
            self._send(_global(name, interface, 1))

    def drop(self) -> None:
        """End the connection."""
        with self._shared:
            certain(self._client).shutdown(socket.SHUT_RDWR)

    def fail(self) -> None:
        """Accuse the client of a fault."""
        text = struct.pack("=III", 1, 0, 4) + b"bad\0"
        with self._shared:
            self._send(struct.pack("=II", 1, 8 + len(text) << 16) + text)

    def close(self) -> None:
        """Serve nobody any more."""
        with self._shared:
            self._closing = True
            self._listener.shutdown(socket.SHUT_RDWR)
            if self._client is not None:
                with suppress(OSError):
                    self._client.shutdown(socket.SHUT_RDWR)
        self._thread.join(EVENTUALLY_S_MAX)
        assert not self._thread.is_alive(), "the compositor does not end"
        self._listener.close()

    # -- in its thread -----------------------------------------------------------------------------

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client:
                if self._takes(client):
                    self._client_lives(client)
                with self._shared:
                    self._client = None

    def _takes(self, client: socket.socket) -> bool:
        """From now on the test reaches this one; False where there is no more to come."""
        with self._shared:
            self._client, self._kinds = client, {}
            self._notifications.clear()
            return not self._closing

    def _client_lives(self, client: socket.socket) -> None:
        unread = b""
        while data := _received(client):
            unread += data
            while len(unread) >= 8:
                target, word = struct.unpack_from("=II", unread)
                if len(unread) < word >> 16:
                    break
                with self._shared:
                    self._request(target, word & 0xFFFF, unread[8 : word >> 16])
                    self._shared.notify_all()
                unread = unread[word >> 16 :]

    def _request(self, target: int, operation: int, body: bytes) -> None:
        if target == 1 and operation == 1:
            for name, (interface, version) in self._offered.items():
                self._send(_global(name, interface, version))
        elif target == 1:
            callback = struct.unpack("=I", body)[0]
            self._send(struct.pack("=III", callback, 12 << 16, 0))
        elif target == 2:
            name, size = struct.unpack_from("=II", body)
            interface = body[8 : 8 + size - 1].decode()
            version, new = struct.unpack("=II", body[-8:])
            assert interface == self._offered[name][0]
            assert version <= self._offered[name][1]
            self._bound.append((interface, version))
            self._kinds[new] = interface
        else:
            assert self._kinds[target] == "ext_idle_notifier_v1"
            new, timeout_ms, seat = struct.unpack("=III", body)
            assert self._kinds[seat] == "wl_seat"
            self._notifications[new] = operation
            self._timeouts_ms.append(timeout_ms)

    def _send(self, data: bytes) -> None:
        """To the client, by whoever holds ``_shared``; one that has just left hears nothing."""
        with suppress(OSError):
            certain(self._client).sendall(data)


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
