"""Whether programs are confined on this machine, as its owner has it, and the boundary of each.

What can be had is found out once, before the first program (``proof``); until then nobody is told
that it cannot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.execution.confinement.boundary import Boundary, Wishes
from agent.execution.confinement.proof import Proof, prove
from agent.execution.confinement.reachable import devices_of, reads_of
from agent.execution.groups import Groups
from agent.execution.limits import MEGABYTE, NO_LIMITS, Limits

Rule = Literal["on", "own work", "when possible", "off"]
ON: Rule = "on"
OWN_WORK: Rule = "own work"
WHEN_POSSIBLE: Rule = "when possible"
OFF: Rule = "off"
RULES: tuple[Rule, ...] = (ON, OWN_WORK, WHEN_POSSIBLE, OFF)
"""``on``: what cannot be confined does not run; ``own work``: where nothing can be confined, what
was submitted on the machine runs all the same; ``when possible``: all does, which is for trials and
for those who trust the whole flock; ``off``: nothing is confined."""


def read_rule(text: str) -> Rule:
    """Return the rule of this name; the strict one for any other text."""
    return next((each for each in RULES if each == text), ON)


class UnconfinedError(Exception):
    """This machine cannot confine a program, and its owner wants that."""


@dataclass(frozen=True, slots=True)
class Given:
    """What one run of a program gets: the folder it writes in with what lies there, folders and
    files that are given to it, and its limits."""

    home: Path
    writes: tuple[Path, ...]
    reads: tuple[str, ...]
    limits: Limits = NO_LIMITS


class Confinement:
    """The boundaries of all programs of one node."""

    def __init__(
        self,
        rule: Rule = OFF,
        secrets: Callable[[], Sequence[Path]] = tuple,
        kept: Sequence[Path] = (),
        reads: Sequence[str] = (),
        place: Path | None = None,
    ) -> None:
        """``secrets`` are files of the agent that no program may read, asked for in a thread;
        ``kept`` its folders. ``reads`` is what all programs may read besides. What holds is tried in
        ``place``, which the agent clears when it starts."""
        self.rule, self._place = rule, place
        self._secrets, self._kept, self._reads = secrets, tuple(kept), tuple(reads)
        self._proving: asyncio.Task[Proof] | None = None
        self.known: Callable[[Proof], object] = id
        """Told once, when it has been found out what holds."""

    @property
    def proof(self) -> Proof | None:
        """What holds here; None before that is known, and where it does not matter."""
        task = self._proving
        return task.result() if task is not None and task.done() and not task.cancelled() else None

    async def prove(self, groups: Groups) -> Proof:
        """Return what holds here, found out by trying when nobody has asked before."""
        if self._proving is None or self._proving.cancelled():
            self._proving = asyncio.create_task(self._prove(groups))
        return await asyncio.shield(self._proving)

    async def _prove(self, groups: Groups) -> Proof:
        secrets = await asyncio.to_thread(self._secrets)
        found = await prove(groups, secrets, self._kept, self._place)
        asyncio.get_running_loop().call_soon(self.known, found)
        return found

    async def boundary(
        self,
        groups: Groups,
        wishes: Wishes,
        folder: Path,
        command: Sequence[str],
        given: Given,
    ) -> Boundary | None:
        """Return the boundary of a program of this folder with what was granted of its wishes; None
        under the rule ``off``, and where nothing holds here, unless the rule is ``on``: then raise
        ``UnconfinedError``. What holds is found out at the first call, which may take long."""
        if self.rule == OFF:
            return None
        proof = await self.prove(groups)
        if not proof.holds:
            if self.rule == ON:
                raise UnconfinedError
            return None
        reads = reads_of(wishes, folder, command, self._kept)
        return Boundary(
            proof.means,
            (*reads, *self._reads, *given.reads),
            str(given.home),
            tuple(str(each) for each in given.writes),
            devices_of(wishes),
            network=wishes.network != "none",
            processes_max=given.limits.processes,
            files_max=given.limits.open_files,
            file_bytes_max=given.limits.disk_mb * MEGABYTE,
            memory_bytes=given.limits.memory_mb * MEGABYTE,
        )

    async def close(self) -> None:
        """End trying, where that still goes on."""
        if self._proving is not None:
            self._proving.cancel()
            await asyncio.gather(self._proving, return_exceptions=True)
