"""The folders that published programs run from, laid out read-only from the store of datasets."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from agent.data.leave import is_name_of
from agent.data.node_datasets import NodeDatasets
from agent.execution.programs import Program, ProgramError, Programs, Reader
from agent.host.deleting import delete_tree
from agent.protocol.records import DatasetId

SEEN_MAX = 256


class PublishedFolders:
    """One for each content; all of this waits for the disk."""

    def __init__(
        self, folder: Path, datasets: NodeDatasets, programs: Programs, read: Reader
    ) -> None:
        self._folder, self._datasets = folder, datasets
        self._programs, self._read = programs, read
        self.seen: dict[str, Program] = {}
        """Programs that were looked at and may not run, by their published names."""

    def place(self, dataset: DatasetId) -> Path:
        """Return where the program with this content lies, or would."""
        return self._folder / dataset.partition(":")[2]

    def prepare(self, name: str, dataset: DatasetId) -> Program:
        """Lay a published program out on the disk, if it is not yet, add it to the programs that
        can run, and return it. Raise ``ProgramError`` where it is no program or its name is not its
        content's, ``OSError`` where it cannot be laid out."""
        if not is_name_of(name, dataset):
            raise ProgramError(f"{name} is not the name of {dataset}")
        place = self.place(dataset)
        if not place.is_dir():
            self._lay_out(dataset, place)
        try:
            return self._programs.add(name, place)
        except ProgramError as error:  # where it lies here tells nobody anything
            raise ProgramError(str(error).replace(f"{place}{os.sep}", "")) from error

    def look(self, name: str, dataset: DatasetId) -> None:
        """Read a published program's description into ``seen``, where the oldest make room, and
        leave nothing on the disk; do nothing where it is there. Raise ``ProgramError`` where it is
        no program, ``OSError`` where it cannot be laid out."""
        if name in self.seen:
            return
        with self._beside() as beside:
            self.seen[name] = replace(
                self._read(self._datasets.store.lay(dataset, beside)), name=name
            )
        while len(self.seen) > SEEN_MAX:
            del self.seen[next(iter(self.seen))]

    def _lay_out(self, dataset: DatasetId, place: Path) -> None:
        """Whole or not at all: beside its place first."""
        with self._beside() as beside:
            laid = self._datasets.store.lay(dataset, beside)
            try:
                laid.rename(place)
            except OSError:  # each system has its own name for a folder that is there
                if not place.is_dir():
                    raise

    @contextmanager
    def _beside(self) -> Iterator[Path]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = self._folder / f".{uuid.uuid4().hex}"
        beside.mkdir(mode=0o700)
        try:
            yield beside
        finally:
            delete_tree(beside)
