"""The last input of a Wayland session, by the compositor's idle notification (ext-idle-notify-v1).

A compositor does not tell when there was input. It tells when there was none for a time that one
chooses, and when there is some again. With a short time that is nearly the same: between the two
words somebody is there now, after the first the last input was that time before it.

There are two such notifications. One counts input alone. The other does not count a machine as idle
either while a program keeps the screen on, which films, games and talks do; where the first is idle
and the second is not, there is such a program. Older compositors have only the second: then
whoever watches a film counts as somebody who touches the machine, which is right as well.

**The few messages of the Wayland protocol that presence needs, spoken on its socket.**

There is no small maintained client library for Python, and the messages are simple: an object, an
operation, a length, arguments. Nothing is shown and no input is received: only the globals are
listed and a few are bound.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.api.presence_reasons import CompositorGone, Filling, NoSession, ScreenKeptOn
from agent.presence.readings import LastInput
from agent.presence.sources import Asked, SightError

assert sys.platform != "win32"

ANSWER_WITHIN_S = 1.0
MESSAGE_BYTES_MAX = 65_535
READ_BYTES = 65_536
DISPLAY, REGISTRY = 1, 2
GET_REGISTRY, SYNC, BIND = 1, 0, 0
ERROR, GLOBAL, GLOBAL_REMOVE, DONE = 0, 0, 1, 0
NAME = "Wayland"
NOTIFIER, SEAT = "ext_idle_notifier_v1", "wl_seat"
GET_IDLE, GET_INPUT_IDLE = 1, 2
INPUT_IDLE_SINCE_VERSION = 2
IDLED, RESUMED = 0, 1
QUIET_MS = 1_000
AWAKE_AFTER_S = 5.0
"""The two notifications do not come at the same instant."""


class WaylandError(SightError):
    """The compositor cannot be asked."""


@dataclass(frozen=True, slots=True)
class Global:
    """Something that the compositor offers."""

    name: int
    interface: str
    version: int


@dataclass(frozen=True, slots=True)
class WaylandEvent:
    """What an object of this client is told."""

    target: int
    operation: int
    arguments: bytes


class WaylandConnection:
    """A connection with the globals that there were when it was made."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._unread = b""
        self._last_id = REGISTRY
        self.globals: dict[int, Global] = {}
        self.changed = False
        """A global came or went since."""

    @classmethod
    def connect(cls, environment: Mapping[str, str] = os.environ) -> WaylandConnection:
        """Connect to the session's compositor and learn what it offers, waiting a second at most
        for each answer; raise ``OSError`` or ``struct.error`` when there is none, or it answers
        strangely."""
        connection = cls(_open(socket_path(environment)))
        try:
            connection._list_globals()
        except (OSError, struct.error):
            connection.close()
            raise
        connection.changed = False
        return connection

    def close(self) -> None:
        """Close the connection to the compositor."""
        self._socket.close()

    def find(self, interface: str) -> list[Global]:
        """Return the globals of an interface; empty when the compositor has none."""
        return [each for each in self.globals.values() if each.interface == interface]

    def bind(self, wanted: Global, version: int) -> int:
        """Send a request for an object of this version of what the compositor offers, and return
        its id without waiting; raise ``OSError`` when the compositor is gone."""
        new = self.new_id()
        text = _text(wanted.interface)
        self.send(REGISTRY, BIND, struct.pack("=I", wanted.name) + text + _numbers(version, new))
        return new

    def new_id(self) -> int:
        """Return a new id for an object that a request makes."""
        self._last_id += 1
        return self._last_id

    def ask(self, target: int, operation: int, *arguments: int) -> None:
        """Send a request whose arguments are all numbers to an object, without waiting for an
        answer; raise ``OSError`` when the compositor is gone."""
        self.send(target, operation, _numbers(*arguments))

    def send(self, target: int, operation: int, arguments: bytes) -> None:
        """Send a request with these arguments, packed already, to an object, without waiting for an
        answer; raise ``OSError`` when the compositor is gone."""
        size = 8 + len(arguments)
        self._socket.sendall(struct.pack("=II", target, size << 16 | operation) + arguments)

    def events(self) -> Iterator[WaylandEvent]:
        """Yield what has come for the objects of this client, without waiting; what it tells of its
        globals only sets ``changed`` and ``globals``. Raise ``OSError`` when the compositor is gone
        or ends the connection, ``struct.error`` for what makes no sense."""
        while self._receive(0.0):
            pass
        yield from self._messages()

    # -- inside ------------------------------------------------------------------------------------

    def _list_globals(self) -> None:
        self.ask(DISPLAY, GET_REGISTRY, REGISTRY)
        callback = self.new_id()
        self.ask(DISPLAY, SYNC, callback)
        while True:
            self._receive(ANSWER_WITHIN_S)
            if any(each.target == callback for each in self._messages()):
                return

    def _receive(self, wait_s: float) -> bool:
        """Whether there was anything."""
        self._socket.settimeout(wait_s)
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return False
        finally:
            self._socket.settimeout(ANSWER_WITHIN_S)
        if not data:
            raise WaylandError(CompositorGone())
        self._unread += data
        return True

    def _messages(self) -> list[WaylandEvent]:
        found: list[WaylandEvent] = []
        while len(self._unread) >= 8:
            target, word = struct.unpack_from("=II", self._unread)
            size = word >> 16
            if size < 8:
                raise WaylandError("the compositor sends something else than Wayland")
            if len(self._unread) < size:
                break
            event = WaylandEvent(target, word & 0xFFFF, self._unread[8:size])
            self._unread = self._unread[size:]
            if target == REGISTRY:
                self._globals(event)
            elif target == DISPLAY and event.operation == ERROR:
                raise WaylandError("the compositor has ended the connection")
            elif target != DISPLAY:
                found.append(event)
        return found

    def _globals(self, event: WaylandEvent) -> None:
        self.changed = True
        name = struct.unpack_from("=I", event.arguments)[0]
        if event.operation == GLOBAL_REMOVE:
            self.globals.pop(name, None)
            return
        size = struct.unpack_from("=I", event.arguments, 4)[0]
        interface = event.arguments[8 : 8 + size - 1].decode("utf-8", "replace")
        version = struct.unpack_from("=I", event.arguments, 8 + size + -size % 4)[0]
        self.globals[name] = Global(name, interface, version)


def socket_path(environment: Mapping[str, str]) -> Path:
    """Return where the compositor listens by ``WAYLAND_DISPLAY`` and ``XDG_RUNTIME_DIR``, whether
    or not there is one; raise ``WaylandError`` where these do not say."""
    name = environment.get("WAYLAND_DISPLAY", "")
    folder = environment.get("XDG_RUNTIME_DIR", "")
    if not name or not (folder or name.startswith("/")):
        raise WaylandError(NoSession())
    return Path(folder) / name


def _open(path: Path) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connected.settimeout(ANSWER_WITHIN_S)
    try:
        connected.connect(str(path))
    except OSError as error:
        connected.close()
        raise WaylandError(f"the compositor at {path} cannot be reached ({error})") from error
    return connected


def _numbers(*values: int) -> bytes:
    return struct.pack(f"={len(values)}I", *values)


def _text(value: str) -> bytes:
    data = value.encode() + b"\0"
    return struct.pack("=I", len(data)) + data + bytes(-len(data) % 4)


class WaylandIdle:
    """One connection, and what it has told of each seat."""

    def __init__(
        self, clock: Callable[[], float], environment: Mapping[str, str] = os.environ
    ) -> None:
        self._clock, self._environment = clock, environment
        self._connection: WaylandConnection | None = None
        self._input: dict[int, float | None] = {}
        """Since when each seat is quiet; None while it is not. By notification."""
        self._awake: dict[int, float | None] = {}
        """The same of those that a program can hold back; empty where they are the same."""

    def look(self) -> None:
        """Take in what the compositor has told, without waiting but for a connection that has to be
        made first; close the connection and raise ``WaylandError`` when that cannot be."""
        try:
            self._hear()
        except WaylandError:
            self.close()
            raise
        except (OSError, struct.error) as error:
            self.close()
            raise WaylandError(f"the compositor cannot be asked ({error})") from error

    def last_input_s(self) -> float:
        """Return when there was input last, of all seats the latest, by this source's clock, as the
        last ``look`` heard it; now while somebody is active. ``look`` comes first."""
        now_s = self._clock()
        return max(now_s if since_s is None else since_s for since_s in self._input.values())

    def kept_awake(self) -> bool:
        """Tell whether nobody has touched the machine for some seconds and a program yet keeps it
        from idling, as the last ``look`` heard it; False where the compositor cannot tell the two
        apart."""
        if not self._awake or None in self._input.values():
            return False
        quiet_s = self._clock() - self.last_input_s()
        return None in self._awake.values() and quiet_s >= AWAKE_AFTER_S

    def close(self) -> None:
        """Close the connection to the compositor, if there is one; the next look opens it anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _hear(self) -> None:
        if self._connection is None:
            self._connection = self._connected()
        for event in self._connection.events():
            for known in (self._input, self._awake):
                if event.target in known:
                    quiet = event.operation == IDLED
                    known[event.target] = self._clock() - QUIET_MS / 1000 if quiet else None
        if self._connection.changed:
            self._connection.close()  # a seat came or went: begin anew
            self._connection = self._connected()

    def _connected(self) -> WaylandConnection:
        connection = WaylandConnection.connect(self._environment)
        try:
            self._ask_to_be_told(connection)
        except OSError:
            connection.close()
            raise
        return connection

    def _ask_to_be_told(self, connection: WaylandConnection) -> None:
        notifiers, seats = connection.find(NOTIFIER), connection.find(SEAT)
        if not notifiers or not seats:
            raise WaylandError(f"this compositor does not offer {NOTIFIER if seats else SEAT}")
        version = min(notifiers[0].version, INPUT_IDLE_SINCE_VERSION)
        notifier = connection.bind(notifiers[0], version)
        self._input, self._awake = {}, {}
        for seat in [connection.bind(each, 1) for each in seats]:
            wanted = [(self._input, GET_INPUT_IDLE), (self._awake, GET_IDLE)]
            if version < INPUT_IDLE_SINCE_VERSION:
                wanted = [(self._input, GET_IDLE)]
            for known, request in wanted:
                new = connection.new_id()
                connection.ask(notifier, request, new, QUIET_MS, seat)
                known[new] = None


def wayland_last_input(idle: WaylandIdle) -> Asked[LastInput]:
    """Return a source of when any input device of the session was used last; unseen where the
    compositor does not tell. Closed, it disconnects."""

    def ask() -> LastInput:
        idle.look()
        return LastInput(idle.last_input_s())

    return Asked(ask, NAME, idle.close)


def wayland_kept_awake(idle: WaylandIdle) -> Asked[Filling | None]:
    """Return a source of whether a program keeps the screen on, which those do that fill it; it
    reads None where none does, and is unseen where the compositor cannot be asked."""

    def ask() -> Filling | None:
        idle.look()
        return ScreenKeptOn() if idle.kept_awake() else None

    return Asked(ask, NAME, idle.close)
