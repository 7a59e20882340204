"""What one program may reach, and by which means that is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agent.execution.limits import OPEN_FILES_MAX, PROCESSES_MAX

Network = Literal["none", "lan", "internet"]
NETWORKS: tuple[Network, ...] = ("none", "lan", "internet")
Device = Literal["gpu"]
DEVICES: tuple[Device, ...] = ("gpu",)

MEMORY_SPARE_BYTES = 512 * 1024 * 1024
"""What one process may ask for beyond its memory limit: most ask for more than they touch."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a program's description asks for beyond its boundary."""

    network: Network = "none"
    reads: tuple[str, ...] = ()
    devices: tuple[Device, ...] = ()
    secrets: tuple[str, ...] = ()


NO_WISHES = Wishes()


@dataclass(frozen=True, slots=True)
class Means:
    """What a boundary is kept by on this machine: on Linux always Landlock and the filter, on Windows a
    container."""

    landlock: int = 0
    """The version of its interface; 0 without."""
    mounts: bool = False
    """Everything is mounted read-only but the working folder; else no call may change whose a file
    is, its mode and times."""
    processes: bool = False
    """Programs see no other processes: where Landlock does not hold signals back."""
    container: bool = False
    """Each run is in an AppContainer of its own (Windows)."""


NO_MEANS = Means()


@dataclass(frozen=True, slots=True)
class Boundary:
    """What one program may reach. ``home`` is the folder that ``writes`` lie in."""

    means: Means
    reads: tuple[str, ...]
    """Files and folders that it may read and execute; those that are missing are left out."""
    home: str
    writes: tuple[str, ...]
    devices: tuple[str, ...] = ()
    network: bool = False
    processes_max: int = PROCESSES_MAX
    files_max: int = OPEN_FILES_MAX
    file_bytes_max: int = 0
    memory_bytes: int = 0

    def told_of_places(self) -> dict[str, Any]:
        """Return the part of this boundary about files and the network, as the program that begins
        a task on Windows reads it."""
        return {
            "reads": list(self.reads),
            "home": self.home,
            "writes": list(self.writes),
            "network": self.network,
        }

    def told(self, filters: bytes) -> dict[str, Any]:
        """Return this boundary as the keeper reads it, with ``filters``, the filter of system
        calls, and of memory 512 MiB more than its limit, where it has one."""
        return {
            "landlock": self.means.landlock,
            "mounts": self.means.mounts,
            "own processes": self.means.processes,
            "filter": filters,
            **self.told_of_places(),
            "devices": list(self.devices),
            "processes": self.processes_max,
            "files": self.files_max,
            "file bytes": self.file_bytes_max,
            "memory": self.memory_bytes + MEMORY_SPARE_BYTES if self.memory_bytes else 0,
        }
