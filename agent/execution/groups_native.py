"""The groups of the system that this runs on."""

from __future__ import annotations

import sys

from agent.execution.groups import Groups, Hear, Launch, Process
from agent.execution.programs import ProgramError


class NoGroups:
    """Refuses to start programs, on systems where they cannot be run."""

    def available(self) -> str:
        """Return a sentence that says why no program can be run on this system."""
        return (
            "Programs cannot be run on this system, because nothing here could suspend and end "
            "them with all that they start; run them on Linux and Windows machines of the flock."
        )

    def prepare(self) -> None:
        """Do nothing, as nothing can be started."""

    async def start(self, launch: Launch, hear: Hear) -> Process:
        del launch, hear
        raise ProgramError(self.available())

    async def close(self) -> None:
        """Do nothing, as nothing was started."""


def native_groups() -> Groups:
    """Return what starts groups of processes on the system that this runs on."""
    if sys.platform == "win32":
        from agent.execution.groups_windows import WindowsGroups
        from agent.execution.groups_windows_api import CtypesApi

        return WindowsGroups(CtypesApi())
    elif sys.platform == "linux":  # noqa: RET505 - so that the type checker sees one of them
        from agent.execution.groups_linux import LinuxGroups

        return LinuxGroups()
    else:
        return NoGroups()
