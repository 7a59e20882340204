"""Programs that come with the work: published by a member, taken or not by the owner of a machine.

A published program is a folder in the store of datasets, and its name ends with the beginning of the
hash of that folder: ``count@1f0c…`` is the same program on every machine, for ever. It runs from a
folder of its own, laid out read-only from the store, so a workflow brings its programs along as it
brings its data.

Somebody else's program on one's own machine is the owner's business: the setting ``published_programs``
is ``always``, ``never``, or ``ask``, and then each waits here until it is accepted or refused. What was
published on this very node is always taken here. Decisions are kept over restarts.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from agent.api.errors import ServiceError
from agent.api.programs import Decision, published_name
from agent.api.session import ProgramWaiting
from agent.data.node_datasets import NodeDatasets
from agent.execution.folder_size import folder_bytes
from agent.execution.programs import ProgramError, Programs, Reader
from agent.host.private_files import write_whole
from agent.protocol.effects import (
    TaskMoved,
)
from agent.protocol.records import Dataset, DatasetId, TaskSpec
from agent.protocol.table import Table
from agent.settings.node_settings import TAKES

ALWAYS, ASK, NEVER = TAKES
LOOK_S = 0.2
FILE_BYTES_MAX = 16 * 1024 * 1024

log = logging.getLogger(__name__)


class NotAcceptedError(Exception):
    """The owner of this machine has not accepted a program, or not any more."""


class Decisions(msgspec.Struct):
    """What was decided here, by the program's name; ``own`` were published here."""

    own: dict[str, DatasetId] = {}
    accepted: dict[str, DatasetId] = {}
    refused: dict[str, DatasetId] = {}


class PublishedPrograms:
    """Which published programs run here, in the loop, from ``load`` on."""

    def __init__(
        self,
        data: Path,
        mode: str,
        datasets: NodeDatasets,
        programs: Programs,
        read: Reader,
        changed: Callable[[], None],
    ) -> None:
        self._folder, self._file = data / "published", data / "published.json"
        self.mode, self._datasets, self._programs = mode, datasets, programs
        self._read, self._changed = read, changed
        self._decisions, self._writing = Decisions(), threading.Lock()
        self._table: Table
        self._announced: dict[str, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self.offered: Callable[[ProgramWaiting], object] = id  # nobody wants to know
        datasets.kept_besides = self._kept

    def load(self) -> None:
        """Read what was decided about published programs, and lay out and add those that are
        accepted; waits for the disk. Decisions that cannot be read are asked for again, a program
        that cannot be prepared is tried again when it is to run; either is only logged."""
        try:
            content = self._file.read_bytes()[:FILE_BYTES_MAX]
            self._decisions = msgspec.json.decode(content, type=Decisions)
        except FileNotFoundError:
            log.debug("nothing was decided about published programs yet")
        except (msgspec.MsgspecError, OSError) as error:
            log.warning("%s cannot be read (%s): programs are asked about again", self._file, error)
        for name, dataset in (self._decisions.own | self._decisions.accepted).items():
            try:
                self._prepare(name, dataset)
            except (OSError, ProgramError) as error:
                log.info("the published program %s is not ready: %s", name, error)

    def begin(self, table: Table) -> None:
        """Take the table of the node, which runs now, and announce in a moment the published
        programs in it that wait for a decision; ``moved`` has it done again as work comes."""
        self._table = table
        self._look_soon()

    def moved(self, moved: TaskMoved) -> None:
        """Look in a moment for published programs to announce, where a task has just come and the
        owner wants to be asked; do nothing for other moves."""
        if moved.before is None and self.mode == ASK and self._timer is None:
            self._look_soon()

    # -- what is asked ---------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """The folder of the programs that are installed here."""
        return self._programs.folder

    @property
    def takes(self) -> bool:
        """Whether this node takes any program that comes."""
        return self.mode == ALWAYS

    async def publish(self, folder: Path) -> tuple[str, Dataset]:
        """Keep the program in a folder of this machine as a dataset, accept it here, and return its
        published name and dataset. Raise ``ServiceError`` when it is no program or cannot be kept,
        ``OSError`` when the decision cannot be written."""
        try:
            program = await asyncio.to_thread(self._read, folder)
            dataset = await self._datasets.add(folder, program.name)
            name = published_name(program.name, dataset.dataset)
            await asyncio.to_thread(self._prepare, name, dataset.dataset)
        except (ProgramError, OSError) as error:
            raise ServiceError(f"{folder} cannot be published: {error}") from error
        self._decisions.own[name] = dataset.dataset
        await self._decided()
        return name, dataset

    def waiting(self) -> list[ProgramWaiting]:
        """Return the published programs of unfinished work that wait for a decision here, each with
        who submitted the first work with it; empty unless the owner wants to be asked."""
        if self.mode != ASK:
            return []
        found: dict[str, ProgramWaiting] = {}
        for name, _, submitter in self._brought():
            if self.decision(name) == "waiting":
                found.setdefault(name, ProgramWaiting(name, submitter))
        return list(found.values())

    def decision(self, name: str) -> Decision:
        """Return what holds for a published program of this name here, known or not: ``accepted``,
        ``refused`` or, where the owner has to be asked, ``waiting``."""
        if name in self._decisions.own or name in self._decisions.accepted:
            return "accepted"
        if name in self._decisions.refused or self.mode == NEVER:
            return "refused"
        return "accepted" if self.takes else "waiting"

    async def accept(self, name: str) -> None:
        """Fetch a published program and let it run here from now on, over restarts; raise
        ``ServiceError`` when it is unknown, cannot be fetched or is unusable, ``OSError`` when the
        decision cannot be written."""
        dataset = self._dataset_of(name)
        try:
            await self._datasets.bring(dataset)
            await asyncio.to_thread(self._prepare, name, dataset)
        except (OSError, ProgramError) as error:
            raise ServiceError(f"{name} cannot be taken: {error}") from error
        self._decisions.refused.pop(name, None)
        self._decisions.accepted[name] = dataset
        await self._decided()

    async def refuse(self, name: str) -> None:
        """Let a published program not run here from now on, over restarts, and delete its folder as far
        as that goes; what runs of it is not ended. Raise ``ServiceError`` when it is unknown,
        ``OSError`` when the decision cannot be written: it then holds until a restart."""
        dataset = self._dataset_of(name)
        self._decisions.accepted.pop(name, None)
        self._decisions.own.pop(name, None)
        self._decisions.refused[name] = dataset
        self._programs.drop(name)
        await self._decided()
        await asyncio.to_thread(shutil.rmtree, self._place(dataset), ignore_errors=True)

    async def forget(self, name: str, *, trial: bool) -> int:
        """Delete a published program here, its folder and the dataset that nobody else needs, with what
        was decided about it; return how many bytes that frees, in a trial would free. Raise
        ``ServiceError`` when nothing is known of it here or unfinished work brings it, ``OSError``
        when the decision cannot be written or something not be deleted."""
        decided = self._decisions.own | self._decisions.accepted | self._decisions.refused
        if name not in decided:
            raise ServiceError(f"Nothing is decided here about a program {name}.")
        if any(name == brought for brought, _, _ in self._brought()):
            raise ServiceError(f"{name} is needed: unfinished work brings it.")
        dataset = decided[name]
        place, kept = self._place(dataset), self._datasets.store.get(dataset)
        alone = kept is not None and not self._datasets.is_needed(dataset)
        frees = await asyncio.to_thread(folder_bytes, str(place))
        frees += kept.size_bytes if kept is not None and alone else 0
        if trial:
            return frees
        for each in (self._decisions.own, self._decisions.accepted, self._decisions.refused):
            each.pop(name, None)
        self._announced.pop(name, None)
        self._programs.drop(name)
        await self._decided()
        await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
        if alone:
            await self._datasets.let_go([dataset], added=True)
        return frees

    # -- for the node ----------------------------------------------------------------------

    async def ready(self, spec: TaskSpec) -> None:
        """Have the program of a task laid out and added, if it came with the task, else do nothing.
        Raise ``ProgramError`` where no other attempt would do better, ``NotAcceptedError`` where
        its owner has not accepted it, and ``OSError`` where it is not here or cannot be placed."""
        if spec.published is None:
            return
        own, accepted = self._decisions.own, self._decisions.accepted
        decided = own.get(spec.program) or accepted.get(spec.program)
        if decided not in (None, spec.published.dataset):  # two can be made that begin alike
            raise ProgramError(f"{spec.program} is not what was accepted here under that name")
        if self._programs.get(spec.program) is not None:
            return
        if self.decision(spec.program) != "accepted":
            raise NotAcceptedError("the owner of this machine has not accepted it")
        await asyncio.to_thread(self._prepare, spec.program, spec.published.dataset)

    # -- inside ----------------------------------------------------------------------------

    def _look_soon(self) -> None:
        """Not for each task of a workflow."""
        self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._announce)

    def _announce(self) -> None:
        self._timer = None
        for each in self.waiting():
            if each.program not in self._announced:
                self._announced[each.program] = None
                log.info("%s asks to be run here: accept or refuse it", each.program)
                self.offered(each)

    def _brought(self) -> Iterator[tuple[str, DatasetId, str]]:
        """Every published program that unfinished work names, under its true name, and by whom."""
        for task, folder, submitter in self._table.bringing():
            if _is_name_of(task.program, folder.dataset):
                yield task.program, folder.dataset, submitter

    def _dataset_of(self, name: str) -> DatasetId:
        known = self._decisions.own | self._decisions.accepted | self._decisions.refused
        if name in known:
            return known[name]
        for brought, dataset, _ in self._brought():
            if brought == name:
                return dataset
        raise ServiceError(f"No published program is called {name}: see which there are.")

    def _prepare(self, name: str, dataset: DatasetId) -> None:
        """Lay it out, once, and let it be run. Blocks."""
        if not _is_name_of(name, dataset):
            raise ProgramError(f"{name} is not the name of {dataset}")
        place = self._place(dataset)
        if not place.is_dir():
            self._lay_out(dataset, place)
        try:
            self._programs.add(name, place)
        except ProgramError as error:  # where it lies here tells nobody anything
            raise ProgramError(str(error).replace(f"{place}{os.sep}", "")) from error

    def _lay_out(self, dataset: DatasetId, place: Path) -> None:
        """Whole or not at all: beside its place first."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = self._folder / f".{uuid.uuid4().hex}"
        beside.mkdir(mode=0o700)
        try:
            laid = self._datasets.store.lay(dataset, beside, links=False)
            try:
                laid.rename(place)
            except OSError:  # each system has its own name for a folder that is there
                if not place.is_dir():
                    raise
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def _place(self, dataset: DatasetId) -> Path:
        return self._folder / dataset.partition(":")[2]

    def _kept(self) -> tuple[DatasetId, ...]:
        return (*self._decisions.own.values(), *self._decisions.accepted.values())

    async def _decided(self) -> None:
        await asyncio.to_thread(self._write)
        self._changed()

    def _write(self) -> None:
        """One after the other, and each what holds then: many programs come with many files."""
        with self._writing:
            content = msgspec.json.format(msgspec.json.encode(self._decisions), indent=1)
            write_whole(self._file, content)


def _is_name_of(name: str, dataset: DatasetId) -> bool:
    """Nobody can give something else under an accepted name."""
    program, at, _ = name.rpartition("@")
    return bool(at) and dataset.startswith("tree:") and name == published_name(program, dataset)
