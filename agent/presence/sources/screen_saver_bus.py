"""Whether the screen saver or lock of the session is on, as the desktop tells it."""

from __future__ import annotations

from jeepney import DBusAddress

from agent.presence.readings import Reading, Seen, Unseen
from agent.presence.sources.bus import Bus, BusError
from agent.presence.sources.last_input_bus import SAVER

GNOME_SAVER = DBusAddress(
    "/org/gnome/ScreenSaver",
    bus_name="org.gnome.ScreenSaver",
    interface="org.gnome.ScreenSaver",
)


class BusScreenSaver:
    """Sees whether the screen saver is on, by one of the interfaces by which desktops tell."""

    def __init__(self, bus: Bus, question: DBusAddress) -> None:
        self._bus, self._question = bus, question

    @classmethod
    def gnome(cls, bus: Bus) -> BusScreenSaver:
        """Return the source for GNOME and what is made of it."""
        return cls(bus, GNOME_SAVER)

    @classmethod
    def freedesktop(cls, bus: Bus) -> BusScreenSaver:
        """Return the source for KDE and others."""
        return cls(bus, SAVER)

    def read(self) -> Reading[bool]:
        """Return whether the screen saver or lock is on; unseen when the desktop does not
        answer."""
        try:
            return Seen(bool(self._bus.ask(self._question, "GetActive")[0]), "the screen saver")
        except BusError as error:
            return Unseen(error.reason)

    def close(self) -> None:
        self._bus.close()
