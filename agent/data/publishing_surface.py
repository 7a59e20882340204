"""What a service offers of data and of programs that are published, in one place.

A part of ``Service`` by inheritance, because whoever holds a service asks it for both as for
everything else.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent.data.datasets import DatasetOffice
from agent.data.publishing import PublishedPrograms, WaitingProgram
from agent.protocol.records import Dataset

if TYPE_CHECKING:
    from agent.node.running import LiveNode


class DataSurface:
    """Datasets, and programs that come with the work."""

    _live: LiveNode

    @property
    def datasets(self) -> DatasetOffice:
        """What this node keeps, and the way in and out."""
        return self._live.datasets

    @property
    def published(self) -> PublishedPrograms:
        """Programs that were published, and what is decided about them here."""
        return self._live.published

    async def add_dataset(self, path: Path) -> Dataset:
        """A file or folder of this machine becomes a dataset. Raises ``OSError``."""
        return await self.datasets.add(path)

    async def publish_program(self, folder: Path) -> tuple[str, Dataset]:
        """Its name for tasks, and its folder as a dataset. Raises ``ServiceError``."""
        return await self.published.publish(folder)

    def waiting_programs(self) -> list[WaitingProgram]:
        """Those that somebody has to decide about here."""
        return self.published.waiting()

    async def accept_program(self, name: str) -> None:
        """Run it here from now on. Raises ``ServiceError``."""
        await self.published.accept(name)

    async def refuse_program(self, name: str) -> None:
        """Never run it here. Raises ``ServiceError``."""
        await self.published.refuse(name)
