"""Whether a program keeps the screen on, as GNOME and KDE tell it over the session bus.

Where nobody can tell which window fills the screen, this says the same of films, games and talks.
"""

from __future__ import annotations

from jeepney import DBusAddress

from agent.api.presence_reasons import Filling, ScreenKeptOn
from agent.presence.readings import Reading, Seen, Unseen
from agent.presence.sources.bus import Bus, BusError

GNOME = DBusAddress(
    "/org/gnome/SessionManager",
    bus_name="org.gnome.SessionManager",
    interface="org.gnome.SessionManager",
)
GNOME_IDLE = 8
KDE = DBusAddress(
    "/org/kde/Solid/PowerManagement/PolicyAgent",
    bus_name="org.kde.Solid.PowerManagement.PolicyAgent",
    interface="org.kde.Solid.PowerManagement.PolicyAgent",
)
KDE_SCREEN = 4


class BusKeptAwake:
    """Sees whether the screen is kept on, by one desktop's way to ask."""

    def __init__(self, bus: Bus, desktop: str) -> None:
        self._bus, self._desktop = bus, desktop

    @classmethod
    def gnome(cls, bus: Bus) -> BusKeptAwake:
        """Return the source for GNOME and what is made of it."""
        return cls(bus, "GNOME")

    @classmethod
    def kde(cls, bus: Bus) -> BusKeptAwake:
        """Return the source for KDE Plasma."""
        return cls(bus, "KDE")

    def read(self) -> Reading[Filling | None]:
        """Return what keeps the screen on, None when nothing does; unseen when the desktop does not
        answer."""
        gnome = self._desktop == "GNOME"
        question, method = (GNOME, "IsInhibited") if gnome else (KDE, "HasInhibition")
        try:
            kept = self._bus.ask(question, method, "u", GNOME_IDLE if gnome else KDE_SCREEN)[0]
        except BusError as error:
            return Unseen(error.reason)
        return Seen(ScreenKeptOn() if kept else None, self._desktop)

    def close(self) -> None:
        self._bus.close()
