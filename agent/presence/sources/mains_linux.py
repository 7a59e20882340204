"""Mains or battery on Linux, by what the kernel says of each supply.

Mice and keyboards have batteries too; those say that they belong to a device. A machine without a
battery of its own is on mains.
"""

from __future__ import annotations

from pathlib import Path

from agent.presence.readings import Reading, Seen

SUPPLIES = Path("/sys/class/power_supply")
NAME = "the kernel"


class LinuxMains:
    """Sees whether a Linux machine is on mains, by a few small files."""

    def __init__(self, supplies: Path = SUPPLIES) -> None:
        self._supplies = supplies

    def read(self) -> Reading[bool]:
        """Return whether the machine is on mains; it is when it has no battery of its own."""
        try:
            found = [_supply(path) for path in sorted(self._supplies.iterdir())]
        except FileNotFoundError:
            found = []
        lines = [each for each in found if each.get("type") in ("Mains", "USB", "Wireless")]
        if any(each.get("online") == "1" for each in lines):
            return Seen(value=True, by=NAME)
        batteries = [
            each
            for each in found
            if each.get("type") in ("Battery", "UPS") and each.get("scope") != "Device"
        ]
        if not batteries:
            return Seen(value=True, by=NAME)
        draining = any(each.get("status") == "Discharging" for each in batteries)
        unplugged = any(each.get("type") == "Mains" for each in lines)
        return Seen(value=not (draining or unplugged), by=NAME)

    def close(self) -> None:
        """Do nothing, as nothing is held open."""


def _supply(folder: Path) -> dict[str, str]:
    found = {}
    for name in ("type", "online", "scope", "status"):
        try:
            found[name] = (folder / name).read_text().strip()
        except OSError:
            continue
    return found
