"""Results go into a folder of this machine as they end, where whoever submitted the work here said so.

Only this machine's own clients can say it, and only this machine knows: a folder named by another
member is none of ours. What lies in the folder is somebody's, so nothing there is ever replaced: a
result whose name is taken gets a number. What was delivered is remembered over starts, and what could
not be is tried again.
"""

from __future__ import annotations

import asyncio
import errno
import filecmp
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path

import msgspec

from agent.host import logs
from agent.host.private_files import write_whole
from agent.protocol.output_names import output_names
from agent.protocol.records import Dataset, DatasetId, TaskId, TaskState, Workflow
from agent.protocol.sanity import producers_of
from agent.protocol.table import Table
from agent.regular_files import mark_as_foreign
from agent.storage.datasets.manifest import plain_name
from agent.storage.datasets.store import DatasetStore

AGAIN_S = 60.0
SOON_S = 0.2
FILE_MODE, PROGRAM_MODE, FOLDER_MODE = 0o644, 0o755, 0o755
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EACCES)

log = logging.getLogger(__name__)


class Delivery(msgspec.Struct):
    """Where the results of a workflow go, and of each task what is there already."""

    folder: str
    there: dict[TaskId, list[DatasetId]] = {}


_read = msgspec.json.Decoder(dict[str, Delivery]).decode


class Deliveries:
    """The deliveries of this machine, in the loop, from ``begin`` to ``close``."""

    def __init__(
        self, file: Path, store: DatasetStore, bring: Callable[[DatasetId], Awaitable[None]]
    ) -> None:
        self._file, self._store, self._bring = file, store, bring
        self._wanted: dict[str, Delivery] = {}
        self._table: Table
        self._timer: asyncio.TimerHandle | None = None
        self._delivering: asyncio.Task[None] | None = None
        self._complaints: set[str] = set()
        self._writing = threading.Lock()

    def load(self) -> None:
        """Read what is to be delivered; waits for the disk. A file that cannot be read is logged,
        and nothing of it is delivered."""
        try:
            self._wanted = _read(self._file.read_bytes())
        except FileNotFoundError:
            return
        except (msgspec.MsgspecError, OSError) as error:
            log.warning("%s cannot be read (%s): results stay in the flock", self._file, error)

    def begin(self, table: Table) -> None:
        """Deliver from now on what this table says has ended; also what ended before."""
        self._table = table
        self.look_soon(0)

    async def ask(self, workflow: str, folder: Path) -> None:
        """Have the results of those tasks of a workflow that no other one needs put into a folder,
        earlier results too; after another folder was named before, all of them, into this one only.
        Remembered on return. Raise ``OSError`` where that cannot be kept on the disk; nothing has
        changed then."""
        before = self._wanted.get(workflow)
        if before is None or before.folder != str(folder):
            await asyncio.to_thread(self._write, {workflow: Delivery(str(folder))})
        self.look_soon(0)

    def look_soon(self, after_s: float = SOON_S) -> None:
        """Look in a moment for what has ended; does nothing where nothing is to be delivered."""
        if not self._wanted or self._timer is not None:
            return
        self._timer = asyncio.get_running_loop().call_later(after_s, self._look)

    async def close(self) -> None:
        """Stop delivering, and wait for that; the rest is delivered after the next start."""
        if self._timer is not None:
            self._timer.cancel()
        if self._delivering is not None:
            self._delivering.cancel()
            await asyncio.gather(self._delivering, return_exceptions=True)

    def _look(self) -> None:
        self._timer = None
        if self._delivering is None or self._delivering.done():
            self._delivering = asyncio.create_task(self._deliver())
        else:
            self.look_soon()

    async def _deliver(self) -> None:
        gone = [name for name in list(self._wanted) if name not in self._table.workflows]
        for name in gone:
            del self._wanted[name]
        failed = False
        for name, delivery in list(self._wanted.items()):
            for task, due in list(_due(self._table, self._table.workflows[name], delivery)):
                try:
                    await self._put(delivery, task, due)
                except OSError as error:
                    failed = True
                    self._complain(f"results for {delivery.folder} wait: {error}")
        if gone:
            await asyncio.to_thread(self._write, {})
        if failed:
            self.look_soon(AGAIN_S)

    async def _put(self, delivery: Delivery, task: TaskId, due: list[tuple[Dataset, str]]) -> None:
        for dataset, name in due:
            await self._bring(dataset.dataset)
            place = await asyncio.to_thread(self._lay, dataset, name, Path(delivery.folder))
            delivery.there.setdefault(task, []).append(dataset.dataset)
            await asyncio.to_thread(self._write, {})
            log.log(logs.NORMAL, "delivered %s", place)

    def _lay(self, dataset: Dataset, name: str, folder: Path) -> Path:
        """Copy a dataset beside its place first, so that it is whole or not there."""
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".wingbeat-", dir=folder))
        try:
            laid = self._store.lay(dataset.dataset, made)
            _for_everyday(laid)
            mark_as_foreign(laid)
            return _placed(laid, folder, _visible(name) or _visible(laid.name) or "result")
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def _write(self, asked: dict[str, Delivery]) -> None:
        """In a thread, of which there may be two: the later one writes what holds then. What is
        asked holds when it is on the disk."""
        with self._writing:
            write_whole(self._file, msgspec.json.encode({**self._wanted, **asked}))
            self._wanted.update(asked)

    def _complain(self, sentence: str) -> None:
        """Once, however often it is tried."""
        if sentence not in self._complaints:
            self._complaints.add(sentence)
            log.warning("%s; they are tried again every %.0f s", sentence, AGAIN_S)


def _due(
    table: Table, workflow: Workflow, delivery: Delivery
) -> Iterator[tuple[TaskId, list[tuple[Dataset, str]]]]:
    """The results of tasks that no other one of the workflow needs, with their names."""
    needed = {need for spec in workflow.spec.tasks for need in producers_of(spec)}
    for spec in workflow.spec.tasks:
        reading = table.reading(spec.task)
        if spec.task in needed or reading is None or reading.state is not TaskState.TERMINATED:
            continue
        names = output_names(reading.outcome) if reading.outcome else ()
        there = delivery.there.get(spec.task, ())
        due = [
            (each, names[place] if place < len(names) else "")
            for place, each in enumerate(reading.outputs)
            if not each.external and each.dataset not in there
        ]
        if due:
            yield spec.task, due


def _visible(name: str) -> str:
    """What the machine that ran it calls a result, as far as that stays in the folder and is not
    hidden there, where programs look for what to do; empty where it does not."""
    return plain_name(name.lstrip("."))


def _for_everyday(laid: Path) -> None:
    """What lies in a store is read-only; what is delivered is for its owner to change."""
    paths = [laid, *laid.rglob("*")] if laid.is_dir() else [laid]
    for path in paths:
        if path.is_dir():
            path.chmod(FOLDER_MODE)
        else:
            path.chmod(PROGRAM_MODE if path.stat().st_mode & 0o100 else FILE_MODE)


def _placed(laid: Path, folder: Path, name: str) -> Path:
    """Where it is now: under its name, or with a number where that is taken by something else."""
    plain, target = Path(name), folder / name
    for number in count(2):
        if laid.is_file() and target.is_file() and filecmp.cmp(laid, target, shallow=False):
            return target  # put there before, and not remembered
        try:
            _move(laid, target)
        except FileExistsError:
            target = folder / f"{plain.stem} ({number}){plain.suffix}"
        else:
            return target
    raise AssertionError("there is always another number")


def _move(laid: Path, target: Path) -> None:
    """Never over what is there; where a disk knows no links, somebody may come in between."""
    if laid.is_file():
        try:
            os.link(laid, target)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
        else:
            return
    if target.exists() or target.is_symlink():
        raise FileExistsError(errno.EEXIST, "it is there already", str(target))
    laid.rename(target)
