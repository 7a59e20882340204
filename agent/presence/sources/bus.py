"""Questions over D-Bus, each answered within a second or not at all.

Nobody is started by a question: a service that does not run has nothing to tell. A lost bus is
joined anew at the next question.

**What a desktop tells over the session bus: the last input, its lock, and what keeps it awake.**

GNOME's compositor tells the last input in milliseconds. The interface of the screen savers, which
KDE has, is told in seconds by some and in milliseconds by others; by how much the answer grows
between two questions it is found out which. Until then the shorter of the two meanings counts.

Where nobody can tell which window fills the screen, whether a program keeps the screen on says the
same of films, games and talks.

**Who is logged in at the screens of a Linux machine, and whose screen is locked, by logind.**

A screen that is switched away from counts as locked: whoever used it has left it. The screens of
other people cannot be looked into; one that is in use and not locked counts as somebody who uses
this machine. Logins without a screen are seen by their terminals instead.

**What holds off the machine's sleep**: a lock of logind, which is a file that is kept open.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

from jeepney import DBusAddress, HeaderFields, MessageFlag, MessageType, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from agent.api.presence_reasons import Filling, NoBus, ScreenKeptOn
from agent.presence.readings import LastInput, Sessions
from agent.presence.sources import Asked, SightError

ANSWER_WITHIN_S = 1.0
MISSING = (
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner",
)
UNKNOWN = (
    "org.freedesktop.DBus.Error.UnknownMethod",
    "org.freedesktop.DBus.Error.UnknownInterface",
    "org.freedesktop.DBus.Error.UnknownObject",
    "org.freedesktop.DBus.Error.NotSupported",
)
T = TypeVar("T")
assert sys.platform != "win32"

SERVICE = "org.freedesktop.login1"
MANAGER = DBusAddress(
    "/org/freedesktop/login1", bus_name=SERVICE, interface="org.freedesktop.login1.Manager"
)
SESSION_INTERFACE = "org.freedesktop.login1.Session"
PROPERTIES_INTERFACE = "org.freedesktop.DBus.Properties"
SCREEN_TYPES = ("x11", "wayland", "mir")
SESSIONS_MAX = 64
HELD_OFF = ("idle:sleep", "Wingbeat", "A task of the flock runs here", "block")
"""What is held off, by whom, why, and how, as the system shows it to people."""


class BusError(SightError):
    """Nobody on the bus has answered, for this reason."""


class Bus:
    """The session bus or the system bus, or the one at an address; with ``descriptors`` for answers
    that are open files."""

    def __init__(self, which: str, *, descriptors: bool = False) -> None:
        self._which, self._descriptors = which, descriptors
        self._connection: DBusConnection | None = None

    def ask(self, question: DBusAddress, method: str, signature: str = "", *body: object) -> Any:
        """Call a method over the bus, joined if need be, and return the arguments of its answer,
        waiting a second at most; raise ``BusError`` when the bus is not there, nobody answers in
        time, or it is refused: the next call joins the bus anew where it did not answer. No service
        is started for it."""
        message = new_method_call(question, method, signature or None, body)
        message.header.flags |= MessageFlag.no_auto_start
        try:
            if self._connection is None:
                self._connection = open_dbus_connection(
                    self._which, self._descriptors, auth_timeout=ANSWER_WITHIN_S
                )
            reply = self._connection.send_and_get_reply(message, timeout=ANSWER_WITHIN_S)
        except FileNotFoundError as error:
            raise BusError(NoBus(self._name)) from error
        except Exception as error:  # the library's own errors have no common ancestor
            self.close()
            why = str(error) or type(error).__name__
            raise BusError(f"the {self._name} bus cannot be asked ({why})") from error
        if reply.header.message_type is MessageType.error:
            raise BusError(_refusal(question, method, reply.header.fields))
        return reply.body

    def close(self) -> None:
        """Leave the bus, if it was joined; the next question joins it anew."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def _name(self) -> str:
        return self._which.lower() if self._which in ("SESSION", "SYSTEM") else "message"


def _refusal(question: DBusAddress, method: str, fields: dict[HeaderFields, Any]) -> str:
    name = str(fields.get(HeaderFields.error_name, ""))
    if name in MISSING:
        return f"{question.bus_name} is not there"
    if name in UNKNOWN:
        return f"{question.bus_name} does not tell ({method})"
    return f"{question.bus_name} refuses ({name})"


def _address(name: str, path: str = "") -> DBusAddress:
    path = path or "/" + name.replace(".", "/")
    return DBusAddress(path, bus_name=name, interface=name)


MUTTER = _address("org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core")
GNOME_SAVER = _address("org.gnome.ScreenSaver")
SAVER = _address("org.freedesktop.ScreenSaver")
AWAKE = {
    "GNOME": (_address("org.gnome.SessionManager"), "IsInhibited", "u", 8),
    "KDE": (_address("org.kde.Solid.PowerManagement.PolicyAgent"), "HasInhibition", "u", 4),
}
"""Whom to ask whether the screen is kept on, and how; the number means the screen."""
SAVER_NAME = "the screen saver"
COMPARED_AFTER_S = 1.5
MILLISECONDS, SECONDS = 1000.0, 1.0


def mutter_last_input(bus: Bus, clock: Callable[[], float]) -> Asked[LastInput]:
    """Return a source that asks GNOME over the bus, on Wayland and on X11, when there was input
    last; unseen where GNOME does not run. Closed, it leaves the bus."""
    return _asked(
        bus, lambda ms: LastInput(clock() - int(ms) / 1000), "GNOME", MUTTER, "GetIdletime"
    )


def saver_last_input(bus: Bus, clock: Callable[[], float]) -> Asked[LastInput]:
    """Return a source that asks the screen saver over the bus when there was input last; whether
    that counts seconds or milliseconds it finds out as it goes. Unseen where none tells; closed, it
    leaves the bus."""
    meaning = _SaverMeaning(clock).last_input
    return _asked(bus, meaning, SAVER_NAME, SAVER, "GetSessionIdleTime")


def bus_screen_saver(bus: Bus, saver: DBusAddress) -> Asked[bool]:
    """Return a source that asks over the bus whether the screen saver or lock is on: ``saver`` is
    ``GNOME_SAVER``, or the ``SAVER`` of KDE and others. Unseen where that does not run; closed, it
    leaves the bus."""
    return _asked(bus, bool, SAVER_NAME, saver, "GetActive")


def bus_kept_awake(bus: Bus, desktop: str) -> Asked[Filling | None]:
    """Return a source that asks this desktop whether a program keeps the screen on, and reads None
    where none does; unseen where the desktop does not run, and closed, it leaves the bus.
    ``desktop`` is a key of ``AWAKE``; raise ``KeyError`` for another one."""

    def meaning(kept: object) -> Filling | None:
        return ScreenKeptOn() if kept else None

    return _asked(bus, meaning, desktop, *AWAKE[desktop])


def _asked(
    bus: Bus, meaning: Callable[[Any], T], by: str, whom: DBusAddress, *question: Any
) -> Asked[T]:
    return Asked(lambda: meaning(bus.ask(whom, *question)[0]), by, bus.close)


class _SaverMeaning:
    """Whether a screen saver counts seconds or milliseconds, found out as it goes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None
        self._a_second: float | None = None

    def last_input(self, told: int) -> LastInput:
        now_s = self._clock()
        self._compare(now_s, int(told))
        return LastInput(now_s - told / (self._a_second or MILLISECONDS))

    def _compare(self, now_s: float, told: int) -> None:
        if self._a_second is not None:
            return
        if self._first is None or told < self._first[1]:
            self._first = (now_s, told)  # somebody was there in between
            return
        passed_s = now_s - self._first[0]
        if passed_s >= COMPARED_AFTER_S:
            rate = (told - self._first[1]) / passed_s
            if rate > 0:
                self._a_second = MILLISECONDS if rate > 30 else SECONDS


@dataclass(frozen=True, slots=True)
class Login:
    """One session, as far as it matters."""

    user_id: int
    user: str
    in_use: bool
    locked: bool


def logind_sessions(bus: Bus, user_id: int | None = None) -> Asked[Sessions]:
    """Return a source of who is at the screens, by the first 64 sessions that logind tells of at
    each look; ``user_id`` is whose own they are, by default the one who runs this. Unseen where
    logind does not answer; closed, it leaves the bus."""
    own = os.getuid() if user_id is None else user_id

    def ask() -> Sessions:
        listed = bus.ask(MANAGER, "ListSessions")[0][:SESSIONS_MAX]
        return sessions_of(filter(None, (_login(bus, *each) for each in listed)), own)

    return Asked(ask, "logind", bus.close)


def _login(bus: Bus, _: str, user_id: int, user: str, __: str, path: str) -> Login | None:
    question = DBusAddress(path, bus_name=SERVICE, interface=PROPERTIES_INTERFACE)
    try:
        told: dict[str, Any] = bus.ask(question, "GetAll", "s", SESSION_INTERFACE)[0]
    except BusError:
        return None  # it has ended since
    found = {name: value for name, (_, value) in told.items()}
    if found.get("Type") not in SCREEN_TYPES or found.get("State") == "closing":
        return None
    if not str(found.get("Class", "user")).startswith("user"):
        return None  # a login screen, a service
    return Login(user_id, user, bool(found.get("Active")), bool(found.get("LockedHint")))


def sessions_of(logins: Iterable[Login], user_id: int) -> Sessions:
    """Return what the logins mean for this user: locked when each screen of its own is locked or
    not in use, nobody without any login, and the others whose screens are in use and not locked, by
    name."""
    logins = list(logins)
    own = [each for each in logins if each.user_id == user_id]
    others = {
        each.user for each in logins if each.user_id != user_id and each.in_use and not each.locked
    }
    return Sessions(
        locked=bool(own) and all(each.locked or not each.in_use for each in own),
        nobody=not logins,
        others=tuple(sorted(others)),
    )


def suspend(bus: Bus) -> None:
    """Ask logind to send this machine to sleep, without a question to anybody; raise ``BusError`` where it
    does not answer, or refuses."""
    bus.ask(MANAGER, "Suspend", "b", False)


class SleepLock:
    """Keeps this machine from falling asleep, by logind, while it is taken."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._file: int | None = None

    def take(self) -> None:
        """Hold off sleep and what comes of idleness, if that is not done already; raise ``BusError``
        where logind does not answer, or refuses. The bus is left at once: the file is what counts."""
        if self._file is None:
            with closing(self._bus):
                held = self._bus.ask(MANAGER, "Inhibit", "ssss", *HELD_OFF)[0]
            self._file = held.to_raw_fd()
            os.set_inheritable(self._file, False)  # else a program would hold it on

    def give_back(self) -> None:
        """Let the machine sleep again; do nothing where it may."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
