"""The working folder of one run: made for it, filled with its inputs, gone with it.

What the program takes lies beside it, in a folder of its own, because there it cannot be changed
while the rest can: ``inputs``, long parameters, ``secrets``, and as ``checkpoint`` what a former attempt has
saved. What it leaves and names goes to the store; everything else is thrown away. A name that leads out of the
folder is an identifier like any other, whatever lies there. Where nothing was named, not by the
program nor by its description, all that it made counts, in the order of names: the files at the top
of its folder, and each folder there with files in it as one. Hidden files and links are by-products,
and its log says that they were left out; what it writes to the folder for temporary files is too.

A folder that a program left as it was made is handed to the next one: making and removing it waits
for the disk, on which the agent's loop must not wait hundreds of times a second.

**States that a program saves on its way, so that its next attempt need not begin at the
beginning.**

What the program names is taken out of its hands at once, by renaming, so that it can write the next
one under the same name while the store still reads this one. The store works on one at a time; of
those that come meanwhile only the newest is of use.

**What running programs needs of the place where the flock's datasets are kept.**

A dataset of the flock's own is named by what is in it. Every other identifier belongs to somebody's
database or file server: it is passed on to programs as it is, and nothing is ever asked of a store.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import logging
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Protocol

from agent.execution.folder_size import files_below, length_of
from agent.execution.output import arguments
from agent.host.deleting import FOLDER_MODE, delete_tree
from agent.protocol.effects import StartChild
from agent.protocol.names import NOT_ATTACHED
from agent.protocol.reasons import EndCause
from agent.protocol.records import Dataset, DatasetId, short_text

UNUSED_MAX = 16
WORK, TEMPORARY, GIVEN = "work", "tmp", "given"
INPUTS, CHECKPOINT, SAVED, PARAMETERS = "inputs", "checkpoint", "saved", "parameters"
SECRETS = "secrets"
NAMES_OF_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""A program's folder is the program, whole and unchanged; published ones are known by it."""
UTF8 = {"PYTHONUTF8": "1"}
"""What it prints is read as UTF-8; on Windows, Python would print in the machine's code page, and
fail with a letter that is not in it."""
MADE_MAX = 1_000
"""What a program leaves without naming it; who makes more puts it into one folder."""
TOLD_MAX = 10
FINISH_S = 5.0
"""A state that is still on its way to the store when the program ends is given this long."""

log = logging.getLogger(__name__)
_OWN = re.compile("(sha256|tree):[0-9a-f]{64}")


class OutputError(Exception):
    """Which output is not there."""

    def __init__(self, why: EndCause) -> None:
        super().__init__(why)
        self.why = why


Outputs = tuple[tuple[Dataset, ...], tuple[str, ...]]
"""What a program made, and what it calls that, in the same order."""


class ScratchFolders:
    """All working folders of a node."""

    def __init__(self, place: Path, store: Store | None) -> None:
        self._place, self._store = place, store
        self._numbers = itertools.count(1)
        self._unused: list[Scratch] = []

    def take(self) -> Scratch:
        """Return an empty working folder: one given back that is still as it was made, or a new
        one. Raise ``OSError`` when none can be made."""
        while self._unused:
            scratch = self._unused.pop()
            if scratch.is_as_made():
                return scratch
        number = next(self._numbers)
        scratch = Scratch(self._place / f"run-{number}", self._store)
        scratch.make()
        return scratch

    async def give_back(self, scratch: Scratch) -> None:
        """Take back the working folder of a run that is over: kept for another run where nothing
        was done to it, else deleted with all that is in it. What cannot be deleted stays."""
        if len(self._unused) < UNUSED_MAX and scratch.is_as_made():
            self._unused.append(scratch)
            return
        await asyncio.to_thread(scratch.remove)

    def close(self) -> None:
        """Delete the working folders that are kept for other runs; those in use stay, and nothing
        is raised."""
        while self._unused:
            self._unused.pop().remove()


class Scratch:
    """The working folder of one run, and what lies beside it.

    In ``home`` are the folder that it works in and the one for temporary files, both its own;
    ``given``, made when something is laid there, is what it may only read.
    """

    def __init__(self, home: Path, store: Store | None) -> None:
        self.home = home
        self.folder, self.temporary = home / WORK, home / TEMPORARY
        self.given = home.with_name(f"{GIVEN}-{home.name}")
        self._store = store
        self._saved = 0
        self._has_given = False
        self._bytes_kept, self._bytes_max = 0, sys.maxsize
        self._marks: tuple[_Marks, ...] = ()

    def make(self) -> None:
        """Make its folders; raise ``OSError`` when that fails."""
        for each in (self.home, self.folder, self.temporary):
            each.mkdir(mode=FOLDER_MODE)
        self._marks = (_marks_of(self.folder), _marks_of(self.temporary))

    def is_as_made(self) -> bool:
        """Tell whether nothing was done to its folders and nothing laid for its program."""
        places = (self.folder, self.temporary)
        return (
            not self._has_given
            and len(self._marks) == len(places)
            and all(map(_is_as_made, places, self._marks))
        )

    def reads(self) -> tuple[str, ...]:
        """Return what its program may only read, of what lies here."""
        return (str(self.given),) if self._has_given else ()

    def remove(self) -> None:
        """Delete all of it; what cannot be deleted stays, and nothing is raised."""
        for each in (self.home, self.given) if self._has_given else (self.home,):
            delete_tree(each)

    # -- for the program -------------------------------------------------------------------

    async def arguments(
        self, effect: StartChild, place: Callable[[DatasetId], str] = str
    ) -> list[str]:
        """Lay the run's raw data and inputs beside its folder and return the program's arguments
        with their paths, ``-p … -i … -x …``; an input that is raw data too is told once.
        Identifiers of other databases are told as they are, those of raw data as ``place`` returns
        them, parameters of several lines or in XML as a file. Raise ``OSError`` when an input
        cannot be laid, and what ``place`` raises; what was laid before stays."""
        raw = [each.dataset for each in effect.spec.raw]
        inputs = [each for each in effect.inputs if each not in (*raw, NOT_ATTACHED)]
        if effect.spec.published is not None:
            inputs = [each for each in inputs if each != effect.spec.published.dataset]
        return arguments(
            [place(await self._lay(each, number)) for number, each in enumerate(raw)],
            [await self._lay(each, number) for number, each in enumerate(inputs, len(raw))],
            self._parameters(effect.spec.parameters),
        )

    async def environment(self, effect: StartChild, others: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the program: ``others``, in place of theirs its folder for
        temporary files and what the node tells it of its task, and settings of Python where they
        have none. The run's checkpoint is placed beside the folder and named in it; one that cannot
        be had is left out."""
        told = {
            **NO_BYTECODE,
            **UTF8,
            **others,
            **dict.fromkeys(NAMES_OF_TEMPORARY, str(self.temporary)),
            "WINGBEAT_TASK": effect.task,
            "WINGBEAT_PROGRAM": effect.spec.program,
            "WINGBEAT_WORKFLOW": effect.workflow,
            "WINGBEAT_ATTEMPT": str(effect.run[1]),
            "WINGBEAT_SCRATCH": str(self.folder),
        }
        saved = await self._saved_before(effect.checkpoint)
        if saved is not None:
            told["WINGBEAT_CHECKPOINT"] = str(saved)
        return told

    def give(self, secrets: Mapping[str, bytes]) -> dict[str, str]:
        """Lay values beside the folder, each in a file that only this account and of its programs
        only this one can read, and return what the environment says of that; nothing without any.
        Raise ``OSError`` when that fails."""
        if not secrets:
            return {}
        folder = self._place(SECRETS)
        folder.mkdir(mode=FOLDER_MODE)
        for name, value in secrets.items():
            file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
            with os.fdopen(file, "wb") as opened:
                opened.write(value)
        return {"WINGBEAT_SECRETS": str(folder)}

    async def _lay(self, dataset: DatasetId, number: int) -> str:
        if self._store is None or not in_store(dataset):
            return dataset
        into = self._place(INPUTS, str(number))
        into.mkdir(parents=True)
        return str(await self._store.lay(dataset, into))

    def _parameters(self, text: str) -> str:
        """Short ones as they are; what is more than a line, or XML, as a file."""
        xml = text.lstrip().startswith("<")
        if not xml and "\n" not in text:
            return text
        path = self._place(PARAMETERS + (".xml" if xml else ".txt"))
        path.write_text(text, "utf-8")
        return str(path)

    async def _saved_before(self, checkpoint: DatasetId) -> Path | None:
        """Best effort: without it the program begins at its beginning."""
        if not checkpoint or self._store is None or not in_store(checkpoint):
            return None
        into = self._place(CHECKPOINT)
        with suppress(OSError):
            into.mkdir(parents=True)
            return await self._store.lay(checkpoint, into)
        return None

    def _place(self, *names: str) -> Path:
        """Where something lies that the program did not make."""
        if not self._has_given:
            self.given.mkdir(mode=FOLDER_MODE)
            self._has_given = True
        return self.given.joinpath(*names)

    # -- of the program --------------------------------------------------------------------

    async def outputs(
        self,
        named: tuple[str, ...] | None,
        declared: tuple[str, ...] | None,
        task: str,
        note: Callable[[str], object] = id,
        bytes_max: int = 0,
    ) -> Outputs:
        """Keep the outputs that the program named, those that are no files of its folder as
        external identifiers, or its declared ones for ``named`` None; for both None all that it
        made, of which ``note`` hears a sentence; without a store keep nothing, and all are
        external. Return them with their names, empty for external ones. Raise ``OutputError`` when
        declared ones are missing or fewer are named, too much was made, or together they are longer
        than ``bytes_max`` if it is not 0: a file may be much longer than what it takes on disk, and
        others would get all of it. Raise ``OSError`` when one cannot be kept."""
        self._bytes_kept, self._bytes_max = 0, bytes_max or sys.maxsize
        if named is None:
            return await (self._made(note) if declared is None else self._declared(declared, task))
        declared = declared or ()
        if len(named) < len(declared):
            raise OutputError(EndCause("TooFewOutputs", count=len(named), limit=len(declared)))
        kept: dict[str, Dataset] = {}
        for word in named:
            if word not in kept:
                kept[word] = await self._kept(word)
        return tuple(kept[word] for word in named), tuple(
            "" if kept[word].external else Path(word).name for word in named
        )

    def save(self, name: str) -> Path | None:
        """Move a saved state, named within the folder, out of the program's hands and return where
        it is now; None when there is no such file or folder, no store, or it cannot be moved."""
        path = self._own(name)
        if path is None or self._store is None:
            return None
        self._saved += 1
        try:
            into = self._place(SAVED, str(self._saved))
            into.mkdir(parents=True)
            return _moved(self.folder, path.relative_to(self.folder.resolve()), into)
        except OSError:
            return None

    async def keep(self, path: Path) -> Dataset:
        """Move a file or folder into the store, under its own name, and return its dataset; raise
        ``OSError`` when it cannot be kept. There has to be a store."""
        assert self._store is not None
        return await self._store.keep(path, path.name)

    async def _declared(self, declared: tuple[str, ...], task: str) -> Outputs:
        if self._store is None:  # named for it, the same wherever it runs
            return tuple(Dataset(f"{task}:{n}", external=True) for n in range(len(declared))), ()
        paths = [(name, self._own(name)) for name in declared]
        missing = [name for name, path in paths if path is None]
        if missing:
            raise OutputError(EndCause("NoOutput", error=short_text(", ".join(missing))))
        return await self._all_of([path for _, path in paths if path is not None])

    async def _all_of(self, paths: list[Path]) -> Outputs:
        kept = tuple([await self._keep_output(path) for path in paths])
        return kept, tuple(_text(path.name) for path in paths)

    async def _keep_output(self, path: Path) -> Dataset:
        self._bytes_kept += await asyncio.to_thread(length_of, str(path))
        took, most = self._bytes_kept, self._bytes_max
        if took > most:
            raise OutputError(EndCause("WroteTooMuch", took_bytes=took, limit_bytes=most))
        return await self.keep(path)

    async def _made(self, note: Callable[[str], object]) -> Outputs:
        if self._store is None or (self._marks and _is_as_made(self.folder, self._marks[0])):
            return (), ()
        made, left_out = await asyncio.to_thread(_own_work, self.folder)
        if len(made) > MADE_MAX:
            raise OutputError(EndCause("TooMuchMade", count=len(made), limit=MADE_MAX))
        if made:
            note(f"no outputs are named, so what it made is kept: {_in_words(made)}")
        if left_out:
            note(f"left out, for hidden files and links are by-products: {_in_words(left_out)}")
        return await self._all_of([self.folder / name for name in made])

    async def _kept(self, word: str) -> Dataset:
        path = self._own(word)
        if path is None or self._store is None:
            return Dataset(word, external=True)
        return await self._keep_output(path)

    def _own(self, name: str) -> Path | None:
        """A file or folder inside this one, all links followed; None for everything else."""
        try:
            home = self.folder.resolve(strict=True)
            path = (home / name).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            return None
        inside = path != home and path.is_relative_to(home)
        return path if inside and (path.is_file() or path.is_dir()) else None


def _own_work(folder: Path) -> tuple[list[str], list[str]]:
    """The names of what a program has made at the top of its folder, sorted, and of what is none of
    its outputs; folders without files are neither."""
    made, left_out = list[str](), list[str]()
    with suppress(FileNotFoundError), os.scandir(folder) as found:
        for each in found:
            hidden = each.name.startswith(".") or each.is_symlink()
            if hidden or not (each.is_file() or each.is_dir()):
                left_out.append(each.name)
            elif each.is_file() or any(files_below(each.path)):
                made.append(each.name)
    return sorted(made), sorted(left_out)


def _in_words(names: list[str]) -> str:
    """Names in a row, of many the first and how many others there are."""
    more = f" and {len(names) - TOLD_MAX} more" if len(names) > TOLD_MAX else ""
    return short_text(", ".join(map(_text, names[:TOLD_MAX]))) + more


def _text(name: str) -> str:
    """A name of a file as people can be shown it: on Linux it may be any bytes."""
    return os.fsencode(name).decode("utf-8", "replace")


_Marks = tuple[int, ...]
"""By what a folder is known again: any change to it sets its times."""


def _marks_of(folder: Path) -> _Marks:
    found = os.stat(folder, follow_symlinks=False)  # noqa: PTH116 - once for each run
    whose = found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid
    return *whose, found.st_ctime_ns, found.st_mtime_ns


def _is_as_made(folder: Path, marks: _Marks) -> bool:
    """Times alone do not tell: they stand still for some milliseconds."""
    try:
        return _marks_of(folder) == marks and not os.listdir(folder)  # noqa: PTH208
    except OSError:
        return False


def _copied(path: Path) -> Path:
    """Copy a saved state, and delete it: its program may have it open still, and would change what
    the store has looked at. Raise ``OSError`` when that fails."""
    into = path.parent / "whole"
    into.mkdir()
    copy = into / path.name
    try:
        if path.is_dir():
            shutil.copytree(path, copy, symlinks=True)
        else:
            shutil.copyfile(path, copy, follow_symlinks=False)
    except RecursionError as error:
        raise OSError(errno.ENAMETOOLONG, "it has too many folders one in the other") from error
    delete_tree(path) if path.is_dir() else path.unlink()
    return copy


def _moved(folder: Path, name: Path, into: Path) -> Path:
    """Move what lies in a folder that a program may change meanwhile: no link on the way is followed
    that was not one when it was looked at, and what was moved is no link, pipe or device, whatever
    had its name before. Raise ``OSError`` when it is not there any more, or is one of those."""
    moved = _renamed(folder, name, into)
    mode = moved.lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        moved.unlink()
        raise OSError(errno.EINVAL, "it is neither a file nor a folder any more")
    return moved


def _renamed(folder: Path, name: Path, into: Path) -> Path:
    if sys.platform == "win32":
        return (folder / name).rename(into / name.name)
    with ExitStack() as opened:
        flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        at: int | None = None
        for part in (str(folder), *name.parts[:-1]):
            at = os.open(part, flags, dir_fd=at)
            opened.callback(os.close, at)
        os.rename(name.name, into / name.name, src_dir_fd=at)
    return into / name.name


class Saving:
    """Keeps the states that one run saves, the latest first."""

    def __init__(self, scratch: Scratch, saved: Callable[[Dataset], None]) -> None:
        self._scratch, self._saved = scratch, saved
        self._next: Path | None = None
        self._work: asyncio.Task[None] | None = None

    def take(self, name: str) -> None:
        """Take the state that the program says it saved out of its hands, and have it kept in the
        background, of those that wait only the latest; a name that cannot be kept is only
        logged."""
        path = self._scratch.save(name)
        if path is None:
            log.warning("a program names %r as its saved state, which cannot be kept", name)
            return
        if self._next is not None:  # or a program fills the disk with states of no use
            loop = asyncio.get_running_loop()
            loop.run_in_executor(None, delete_tree, self._next.parent)
        self._next = path
        if self._work is None:
            self._work = asyncio.create_task(self._keep())

    async def finish(self) -> None:
        """Wait, for some seconds at most, until the states that were taken are kept; what is not
        kept by then is given up, and nobody is told. Do nothing where none was taken."""
        if self._work is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._work, FINISH_S)

    async def _keep(self) -> None:
        while self._next is not None:
            path, self._next = self._next, None
            try:
                self._saved(await self._scratch.keep(await asyncio.to_thread(_copied, path)))
            except OSError as error:
                log.warning("a saved state could not be kept: %s", error)
        self._work = None


class Store(Protocol):
    """Where the datasets on this disk are kept, as running programs needs it."""

    async def lay(self, dataset: DatasetId, into: Path) -> Path:
        """Place a dataset in this folder, readable for a program, under its own file name where it
        has one, and return the path; raise ``OSError`` when that fails."""

    async def keep(self, path: Path, name: str) -> Dataset:
        """Move a file or folder into the store for good and return its dataset; raise ``OSError``
        when that fails."""

    def free_bytes(self) -> int:
        """Return how many bytes can still be taken in."""


def in_store(dataset: DatasetId) -> bool:
    """Tell whether a store has datasets of this kind, rather than somebody's database."""
    return _OWN.fullmatch(dataset) is not None
