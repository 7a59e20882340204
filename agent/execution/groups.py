"""A program and all that it starts, as one thing to suspend, resume and end.

A program may start others; stopping only the first would leave the owner of the machine waiting
for the rest. How a system groups processes is behind this interface, a module for each system.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent.execution.confinement.boundary import Boundary

Hear = Callable[[int, bytes], None]
"""Told of what a program prints, by the number of the file that it prints to: 1 or 2."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start, and what all of it together may take; zero: as much as there is."""

    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    spare: bool = True
    """It gets only what nobody else wants of the processor; else a small share in any case."""
    memory_bytes: int = 0
    disk_bytes: int = 0
    free_bytes_min: int = 0
    """It is ended when the disk of its folder has less than this."""
    written: Path | None = None
    """Of which all counts as written by it; None: of the folder that it begins in."""
    processes: int = 0
    processors: int = 0
    """How many processors it may use at a time."""
    boundary: Boundary | None = None
    """What it may reach; None: whatever the account may."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a group ended. Nothing of it runs any more."""

    code: int
    """Of its first process, negative for the signal that ended it."""
    excess: str = ""
    """Why it was ended here: too much ``memory`` or ``disk``, too many ``processes``, or the disk was
    ``full``."""
    excess_bytes: int = 0
    cpu_ms: int = 0
    memory_kb: int = 0


class Process(Protocol):
    """A group, with the pipes of its first process."""

    ended: asyncio.Future[Exit]
    silent: asyncio.Future[None]
    """Nothing more can be heard of the group: all have closed their pipes."""
    held: tuple[str, ...]
    """What the kernel does for a group as a whole: freeze, end it, hold back its memory."""

    def say(self, line: bytes) -> None:
        """Write to its standard input, as far as it reads."""

    def suspend(self) -> None:
        """Stop the whole group where it is."""

    def resume(self) -> None:
        """Let suspended processes go on."""

    def kill(self) -> None:
        """End the whole group now."""

    def close(self) -> None:
        """Close the pipes of the group, and give up what else it holds."""


class Groups(Protocol):
    """How processes are started on this system."""

    def available(self) -> str:
        """Return why programs cannot be run here, in a sentence; empty when they can."""

    def prepare(self) -> None:
        """Do what takes long now, as a program may be started soon; raise ``OSError`` when that
        fails."""

    async def start(self, launch: Launch, hear: Hear) -> Process:
        """Start a program with low priority in a group of its own and return it, without waiting
        for its end; raise ``OSError`` when it cannot be started."""

    async def close(self) -> None:
        """Start nothing any more, and end whatever is left."""
