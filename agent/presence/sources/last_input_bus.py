"""The last input of a session, as its desktop tells it over the session bus.

GNOME's compositor tells it in milliseconds. The interface of the screen savers, which KDE has, is
told in seconds by some and in milliseconds by others; by how much the answer grows between two
questions it is found out which. Until then the shorter of the two meanings counts.
"""

from __future__ import annotations

from collections.abc import Callable

from jeepney import DBusAddress

from agent.presence.readings import LastInput, Reading, Seen, Unseen
from agent.presence.sources.bus import Bus, BusError

MUTTER = DBusAddress(
    "/org/gnome/Mutter/IdleMonitor/Core",
    bus_name="org.gnome.Mutter.IdleMonitor",
    interface="org.gnome.Mutter.IdleMonitor",
)
SAVER = DBusAddress(
    "/org/freedesktop/ScreenSaver",
    bus_name="org.freedesktop.ScreenSaver",
    interface="org.freedesktop.ScreenSaver",
)
COMPARED_AFTER_S = 1.5
MILLISECONDS, SECONDS = 1000.0, 1.0


class MutterLastInput:
    """Sees the last input on GNOME, on Wayland and on X11."""

    def __init__(self, bus: Bus, clock: Callable[[], float]) -> None:
        self._bus, self._clock = bus, clock

    def read(self) -> Reading[LastInput]:
        """Return when there was input last, as GNOME tells it; unseen when it does not answer."""
        try:
            quiet_ms = int(self._bus.ask(MUTTER, "GetIdletime")[0])
        except BusError as error:
            return Unseen(error.reason)
        return Seen(LastInput(self._clock() - quiet_ms / 1000), "GNOME")

    def close(self) -> None:
        self._bus.close()


class SaverLastInput:
    """Sees the last input on desktops whose screen saver tells it."""

    def __init__(self, bus: Bus, clock: Callable[[], float]) -> None:
        self._bus, self._clock = bus, clock
        self._first: tuple[float, int] | None = None
        self._a_second: float | None = None

    def read(self) -> Reading[LastInput]:
        """Return when there was input last, as the screen saver tells it; unseen when it does not
        answer."""
        try:
            told = int(self._bus.ask(SAVER, "GetSessionIdleTime")[0])
        except BusError as error:
            return Unseen(error.reason)
        now_s = self._clock()
        self._compare(now_s, told)
        return Seen(LastInput(now_s - told / (self._a_second or MILLISECONDS)), "the screen saver")

    def close(self) -> None:
        self._bus.close()

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
