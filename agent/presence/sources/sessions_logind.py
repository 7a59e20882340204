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

from agent.presence.readings import Sessions
from agent.presence.sources.bus import Bus, BusError
from agent.presence.sources.source import Asked

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


def logind_sessions(bus: Bus, user_id: int | None = None) -> Asked[Sessions]:
    """Return the source of who is at the screens, as logind tells it; all sessions are asked for
    at each look."""
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
