"""A program and all that it starts, as one thing to suspend, resume and end.

A program may start others; stopping only the first would leave the owner of the machine waiting
for the rest. How a system groups processes is behind this interface, a module for each system.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from agent.execution.programs import ProgramError

Hear = Callable[[int, bytes], None]
"""Told of what a program prints, by the number of the file that it prints to: 1 or 2."""


class Process(Protocol):
    """The first process of a group, with its pipes."""

    exited: asyncio.Future[int]
    """Its exit code, negative for the signal that ended it."""
    silent: asyncio.Future[None]
    """Nothing more can be heard of the group: all have closed their pipes."""

    def say(self, line: bytes) -> None:
        """Write to its standard input, as far as it reads."""

    def suspend(self) -> None:
        """Stop the whole group where it is."""

    def resume(self) -> None:
        """Let it go on."""

    def kill(self) -> None:
        """End the whole group now."""

    def close(self) -> None:
        """Let go of the pipes."""


class Groups(Protocol):
    """How processes are started on this system."""

    def available(self) -> str:
        """Why programs cannot be run here, in a sentence; empty when they can."""

    async def start(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str], hear: Hear
    ) -> Process:
        """Start a group with low priority. Raises ``OSError``."""

    async def close(self) -> None:
        """Nothing is started any more; whatever is left is ended."""


class NoGroups:
    """On systems where programs cannot be run yet."""

    def available(self) -> str:
        return (
            "Programs cannot be run on this system yet, because nothing here could suspend and end "
            "them with all that they start; run them on Linux machines of the flock."
        )

    async def start(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str], hear: Hear
    ) -> Process:
        del command, folder, environment, hear
        raise ProgramError(self.available())

    async def close(self) -> None:
        """Nothing was started."""


def native_groups() -> Groups:
    """For the system that this runs on."""
    if sys.platform == "win32":
        return NoGroups()
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.execution.groups_posix import PosixGroups

        return PosixGroups()
