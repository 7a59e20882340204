"""Who is logged in at the screens of a Linux machine, and whose screen is locked, by logind.

A screen that is switched away from counts as locked: whoever used it has left it. The screens of
other people cannot be looked into; one that is in use and not locked counts as somebody who uses
this machine. Logins without a screen are seen by their terminals instead.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress

from agent.presence.readings import Reading, Seen, Sessions, Unseen
from agent.presence.sources.bus import Bus, BusError

assert sys.platform != "win32"

SERVICE = "org.freedesktop.login1"
MANAGER = DBusAddress(
    "/org/freedesktop/login1", bus_name=SERVICE, interface="org.freedesktop.login1.Manager"
)
SESSION_INTERFACE = "org.freedesktop.login1.Session"
PROPERTIES_INTERFACE = "org.freedesktop.DBus.Properties"
SCREEN_TYPES = ("x11", "wayland", "mir")
SESSIONS_MAX = 64


@dataclass(frozen=True, slots=True)
class Login:
    """One session, as far as it matters."""

    user_id: int
    user: str
    in_use: bool
    locked: bool


class LogindSessions:
    """Sees who is logged in; asks for all sessions at each look."""

    def __init__(self, bus: Bus, user_id: int | None = None) -> None:
        self._bus = bus
        self._user_id = os.getuid() if user_id is None else user_id

    def read(self) -> Reading[Sessions]:
        """Return who is at the screens, as logind tells it; unseen when it does not answer."""
        try:
            listed = self._bus.ask(MANAGER, "ListSessions")[0]
            logins = [
                login for each in listed[:SESSIONS_MAX] if (login := self._login(*each)) is not None
            ]
        except BusError as error:
            return Unseen(error.reason)
        return Seen(sessions_of(logins, self._user_id), "logind")

    def close(self) -> None:
        self._bus.close()

    def _login(self, _: str, user_id: int, user: str, __: str, path: str) -> Login | None:
        question = DBusAddress(path, bus_name=SERVICE, interface=PROPERTIES_INTERFACE)
        try:
            told: dict[str, Any] = self._bus.ask(question, "GetAll", "s", SESSION_INTERFACE)[0]
        except BusError:
            return None  # it has ended since
        found = {name: value for name, (_, value) in told.items()}
        if found.get("Type") not in SCREEN_TYPES or found.get("State") == "closing":
            return None
        if not str(found.get("Class", "user")).startswith("user"):
            return None  # a login screen, a service
        return Login(user_id, user, bool(found.get("Active")), bool(found.get("LockedHint")))


def sessions_of(logins: Iterable[Login], user_id: int) -> Sessions:
    """Return what the logins mean for the user who runs the agent: whether its screen is locked,
    whether nobody is logged in, and who else uses the machine."""
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
