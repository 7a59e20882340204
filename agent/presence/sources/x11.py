"""A screen of the X Window System: one connection for all that is asked of it.

Opened when it is first needed, given up when it breaks, opened anew at the next look.

The server knows the last input and where the pointer is: its screen saver extension tells how long
ago any device was used, and whether the saver is on; then nobody has touched the machine for long.
Whether a window fills the screen its window manager says, else its size.

**The few requests of the X protocol that presence needs, spoken on its socket.**

Not through Xlib, because that ends the whole process when its server goes away, which it does at
every logout, and may wait for a server that does not answer. Here a lost server is an ``OSError``,
and nothing is waited for longer than ``ANSWER_WITHIN_S``.

No events are asked for; the one kind that every client gets unasked is skipped.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agent.api.presence_reasons import (
    DisplayAway,
    Filling,
    NamedFills,
    NoSession,
    ProgramFills,
    ServerGone,
    WaylandHidesIt,
)
from agent.presence.readings import LastInput
from agent.presence.sources import Asked, SightError

assert sys.platform != "win32"

ANSWER_WITHIN_S = 1.0
EXTRA_BYTES_MAX = 4 * 1024 * 1024
COOKIE = b"MIT-MAGIC-COOKIE-1"
AUTHORITY_BYTES_MAX = 1024 * 1024
LOCAL, WILD = 256, 65535
QUERY_EXTENSION, INTERN_ATOM, GET_PROPERTY, QUERY_POINTER = 98, 16, 20, 38
GET_ATTRIBUTES, GET_GEOMETRY, QUERY_TREE = 3, 14, 15
INPUT_OUTPUT, VIEWABLE = 1, 2
PROPERTY_LONGS_MAX = 1024
_DISPLAY = re.compile(r"^(?:unix)?:(\d+)(?:\.\d+)?$")
NAME = "X11"
T = TypeVar("T")
WINDOWS_MAX = 64
EXTENSION = "MIT-SCREEN-SAVER"
QUERY_INFO = 1
SAVER_ON = 1


class XError(SightError):
    """The display cannot be asked."""


class XRefusal(XError):  # noqa: N818 - what the server says, not a fault of this program
    """The server answers a request with an error, like one for a window that was closed."""


@dataclass(frozen=True, slots=True)
class XReply:
    """An answer: its first 32 bytes, and what follows them."""

    head: bytes
    extra: bytes


def display_number(display: str) -> int:
    """Return the number of a display of this machine from a text like ``:0``; raise ``XError`` for
    an empty one, and for a display of another machine."""
    if not display:
        raise XError(NoSession())
    found = _DISPLAY.match(display)
    if found is None:
        raise XError(f"DISPLAY is {display}, which is not a screen of this machine")
    return int(found[1])


class XConnection:
    """A connection to a display of this machine; made by ``connect``."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._sequence = 0
        self.root = 0
        self.first_id = 0
        """Where the ids begin that this client may give, if it ever makes something."""
        self._extensions: dict[str, int] = {}
        self._atoms: dict[str, int] = {}

    @classmethod
    def connect(cls, environment: Mapping[str, str] = os.environ) -> XConnection:
        """Connect to the X server that ``DISPLAY`` names, waiting a second at most for each answer;
        raise ``OSError`` or ``struct.error`` when there is none, it refuses or answers
        strangely."""
        number = display_number(environment.get("DISPLAY", ""))
        connection = cls(_open(number))
        try:
            connection._set_up(_cookie(number, environment))
        except (OSError, struct.error):
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Close the connection to the X server."""
        self._socket.close()

    def ask(self, opcode: int, detail: int, body: bytes) -> XReply:
        """Send one request and wait for its answer, skipping others; raise ``XRefusal`` when the
        server answers with an error, another ``OSError`` when it is gone or does not answer in
        time."""
        body += bytes(-len(body) % 4)
        self._socket.sendall(struct.pack("=BBH", opcode, detail, 1 + len(body) // 4) + body)
        self._sequence = (self._sequence + 1) % 65_536
        while True:
            reply = self._next()
            if struct.unpack_from("=H", reply.head, 2)[0] != self._sequence or reply.head[0] > 1:
                continue
            if reply.head[0] == 0:
                raise XRefusal(f"the X server refuses with its error {reply.head[1]}")
            return reply

    def extension(self, name: str) -> int:
        """Return the opcode of an extension, asked for once; raise ``XError`` where the server has
        none, ``OSError`` when it does not tell."""
        if name not in self._extensions:
            text = name.encode()
            reply = self.ask(QUERY_EXTENSION, 0, struct.pack("=HH", len(text), 0) + text)
            if not reply.head[8]:
                raise XError(f"this X server has no extension {name}")
            self._extensions[name] = reply.head[9]
        return self._extensions[name]

    def atom(self, name: str) -> int:
        """Return the number by which the server knows a name, asked for once and made if need be;
        raise ``OSError`` when the server does not tell."""
        if name not in self._atoms:
            text = name.encode()
            reply = self.ask(INTERN_ATOM, 0, struct.pack("=HH", len(text), 0) + text)
            self._atoms[name] = struct.unpack_from("=I", reply.head, 8)[0]
        return self._atoms[name]

    def numbers(self, window: int, name: str) -> tuple[int, ...]:
        """Return the first ``PROPERTY_LONGS_MAX`` numbers of a property of a window, empty where it
        has none or it is no list of numbers; raise ``OSError`` when the server does not tell."""
        asked = struct.pack("=IIIII", window, self.atom(name), 0, 0, PROPERTY_LONGS_MAX)
        reply = self.ask(GET_PROPERTY, 0, asked)
        count = struct.unpack_from("=I", reply.head, 16)[0]
        if reply.head[1] != 32:
            return ()
        return struct.unpack_from(f"={count}I", reply.extra)

    def text(self, window: int, name: str) -> str:
        """Return a property of a window that is a text, cut where it is very long, empty where it
        has none or it is no text; raise ``OSError`` when the server does not tell."""
        asked = struct.pack("=IIIII", window, self.atom(name), 0, 0, PROPERTY_LONGS_MAX)
        reply = self.ask(GET_PROPERTY, 0, asked)
        count = struct.unpack_from("=I", reply.head, 16)[0]
        return reply.extra[:count].decode("utf-8", "replace") if reply.head[1] == 8 else ""

    def pointer(self) -> tuple[int, int]:
        """Return where the pointer is, in pixels from the left and from the top of the screen;
        raise ``OSError`` when the server does not tell."""
        reply = self.ask(QUERY_POINTER, 0, struct.pack("=I", self.root))
        x, y = struct.unpack_from("=hh", reply.head, 16)
        return (x, y)

    def windows(self) -> tuple[int, ...]:
        """Return the windows right on the screen, hidden ones too, the topmost last; raise
        ``OSError`` when the server does not tell."""
        reply = self.ask(QUERY_TREE, 0, struct.pack("=I", self.root))
        count = struct.unpack_from("=H", reply.head, 16)[0]
        return struct.unpack_from(f"={count}I", reply.extra)

    def size(self, window: int) -> tuple[int, int]:
        """Return width and height of a window in pixels; raise ``OSError`` when the server does not
        tell, as for a window that was closed."""
        reply = self.ask(GET_GEOMETRY, 0, struct.pack("=I", window))
        width, height = struct.unpack_from("=HH", reply.head, 16)
        return (width, height)

    def shown(self, window: int) -> bool:
        """Tell whether the window is shown, be it covered by others; raise ``OSError`` when the
        server does not tell, as for a window that was closed."""
        reply = self.ask(GET_ATTRIBUTES, 0, struct.pack("=I", window))
        kind = struct.unpack_from("=H", reply.head, 12)[0]
        return kind == INPUT_OUTPUT and reply.head[26] == VIEWABLE

    # -- inside ------------------------------------------------------------------------------------

    def _set_up(self, cookie: bytes) -> None:
        name = COOKIE if cookie else b""
        sizes = struct.pack("=HHHHH", 11, 0, len(name), len(cookie), 0)
        order = b"l" if struct.pack("=H", 1) == b"\x01\x00" else b"B"
        padded = [each + bytes(-len(each) % 4) for each in (name, cookie)]
        self._socket.sendall(order + b"\0" + sizes + b"".join(padded))
        head = self._receive(8)
        extra = self._receive(4 * struct.unpack_from("=H", head, 6)[0])
        if head[0] != 1:
            raise XError("the X server does not let this account in")
        self.first_id = struct.unpack_from("=I", extra, 4)[0]
        vendor = struct.unpack_from("=H", extra, 16)[0]
        formats = extra[21]
        self.root = struct.unpack_from("=I", extra, 32 + vendor + -vendor % 4 + 8 * formats)[0]

    def _next(self) -> XReply:
        head = self._receive(32)
        size = 4 * struct.unpack_from("=I", head, 4)[0] if head[0] in (1, 35) else 0
        if size > EXTRA_BYTES_MAX:
            raise XError("the X server answers too much")
        return XReply(head, self._receive(size))

    def _receive(self, count: int) -> bytes:
        received = b""
        while len(received) < count:
            data = self._socket.recv(count - len(received))
            if not data:
                raise XError(ServerGone())
            received += data
        return received


def _open(number: int) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connected.settimeout(ANSWER_WITHIN_S)
    path = f"/tmp/.X11-unix/X{number}"  # where the protocol has it, whatever the temporary folder
    try:
        connected.connect(path)
    except OSError as error:
        connected.close()
        raise XError(DisplayAway(f":{number}", error.strerror or str(error))) from error
    return connected


def _cookie(number: int, environment: Mapping[str, str]) -> bytes:
    """What lets this account in; empty where the authority file has nothing."""
    path = Path(environment.get("XAUTHORITY") or Path.home() / ".Xauthority")
    try:
        with path.open("rb") as file:
            entries = file.read(AUTHORITY_BYTES_MAX)
    except OSError:
        return b""
    return cookie_for(entries, number, socket.gethostname())


def cookie_for(entries: bytes, number: int, host: str) -> bytes:
    """Return the cookie of the local display of this number in the content of an authority file,
    that of this host before another's; empty when there is none. What stands behind a damaged entry
    is left out."""
    found = b""
    while entries:
        try:
            family, address, display, name, data, entries = _entry(entries)
        except struct.error:
            return found
        here = family == WILD or (family == LOCAL and address == host.encode())
        if name == COOKIE and display in (b"", str(number).encode()) and (here or not found):
            found = data
            if here:
                return found
    return found


def _entry(data: bytes) -> tuple[int, bytes, bytes, bytes, bytes, bytes]:
    family = struct.unpack_from(">H", data)[0]
    parts, at = [], 2
    for _ in range(4):
        size = struct.unpack_from(">H", data, at)[0]
        parts.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return family, parts[0], parts[1], parts[2], parts[3], data[at:]


class X11Screen:
    """The display that the environment names."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._connection: XConnection | None = None

    def asked(self, ask: Callable[[XConnection], T]) -> Asked[T]:
        """Return a source of what ``ask`` finds on the connection, which is opened when it is read,
        and shared. Unseen on Wayland, and where the server cannot be asked; the connection is
        closed then."""
        return Asked(lambda: self._answer(ask), NAME, self.close)

    def close(self) -> None:
        """Close the connection to the X server, if there is one; the next look opens it anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _answer(self, ask: Callable[[XConnection], T]) -> T:
        if self._environment.get("WAYLAND_DISPLAY"):
            raise XError(WaylandHidesIt())
        try:
            if self._connection is None:
                self._connection = XConnection.connect(self._environment)
            return ask(self._connection)
        except XError:
            self.close()
            raise
        except (OSError, struct.error) as error:
            self.close()
            raise XError(f"the X server cannot be asked ({error})") from error


def x11_last_input(screen: X11Screen, clock: Callable[[], float]) -> Asked[LastInput]:
    """Return a source of when keyboard or mouse were used last on an X11 screen, and where the
    pointer is; unseen where the server cannot be asked."""

    def ask(connection: XConnection) -> LastInput:
        return LastInput(clock() - saver_info(connection)[1] / 1000, connection.pointer())

    return screen.asked(ask)


def x11_screen_saver(screen: X11Screen) -> Asked[bool]:
    """Return the source of whether the screen saver is on; any input turns it off. Unseen where the
    server cannot be asked."""
    return screen.asked(lambda connection: saver_info(connection)[0] == SAVER_ON)


def saver_info(connection: XConnection) -> tuple[int, int]:
    """Return the state of the screen saver, 1 when it is on, and the milliseconds since the last
    input; raise ``OSError`` when the server does not tell."""
    opcode = connection.extension(EXTENSION)
    reply = connection.ask(opcode, QUERY_INFO, struct.pack("=I", connection.root))
    return reply.head[1], struct.unpack_from("=I", reply.head, 16)[0]


def filling(connection: XConnection) -> Filling | None:
    """Return what fills the screen, as films, games and talks do, by its name where it has one: the
    active window where a window manager says so, else one of its size; None where nothing does.
    Raise ``OSError`` when the server does not tell."""
    managed = connection.numbers(connection.root, "_NET_SUPPORTING_WM_CHECK")
    if not managed:
        return _by_size(connection)
    active = connection.numbers(connection.root, "_NET_ACTIVE_WINDOW")
    if not active or not active[0]:
        return None
    try:
        states = connection.numbers(active[0], "_NET_WM_STATE")
        if connection.atom("_NET_WM_STATE_FULLSCREEN") not in states:
            return None
        return _named(connection, active[0])
    except XRefusal:
        return None  # the window was closed in between


def _by_size(connection: XConnection) -> Filling | None:
    screen = connection.size(connection.root)
    for window in connection.windows()[-WINDOWS_MAX:]:
        try:
            width, height = connection.size(window)
            if width >= screen[0] and height >= screen[1] and connection.shown(window):
                return _named(connection, window)
        except XRefusal:
            continue
    return None


def _named(connection: XConnection, window: int) -> Filling:
    name = connection.text(window, "WM_CLASS").split("\0")[0]
    return NamedFills(name) if name else ProgramFills()
