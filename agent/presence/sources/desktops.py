"""What a desktop tells over the session bus: the last input, its lock, and what keeps it awake.

GNOME's compositor tells the last input in milliseconds. The interface of the screen savers, which
KDE has, is told in seconds by some and in milliseconds by others; by how much the answer grows
between two questions it is found out which. Until then the shorter of the two meanings counts.

Where nobody can tell which window fills the screen, whether a program keeps the screen on says the
same of films, games and talks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from jeepney import DBusAddress

from agent.api.presence_reasons import Filling, ScreenKeptOn
from agent.presence.readings import LastInput
from agent.presence.sources.bus import Bus
from agent.presence.sources.source import Asked

T = TypeVar("T")


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
    """Return the source of the last input on GNOME, on Wayland and on X11."""
    return _asked(
        bus, lambda ms: LastInput(clock() - int(ms) / 1000), "GNOME", MUTTER, "GetIdletime"
    )


def saver_last_input(bus: Bus, clock: Callable[[], float]) -> Asked[LastInput]:
    """Return the source of the last input on desktops whose screen saver tells it."""
    meaning = _SaverMeaning(clock).last_input
    return _asked(bus, meaning, SAVER_NAME, SAVER, "GetSessionIdleTime")


def bus_screen_saver(bus: Bus, saver: DBusAddress) -> Asked[bool]:
    """Return the source of whether the screen saver or lock is on, by ``GNOME_SAVER`` or by the
    ``SAVER`` of KDE and others."""
    return _asked(bus, bool, SAVER_NAME, saver, "GetActive")


def bus_kept_awake(bus: Bus, desktop: str) -> Asked[Filling | None]:
    """Return the source of what keeps the screen on, by the way of a desktop to ask."""

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
