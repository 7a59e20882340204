"""A file or folder of this machine becomes objects of the store.

What a program leaves in its scratch folder is moved in, what a person shows is copied, for it stays
theirs. Refused, by a sentence that names it, is what would not be the same elsewhere: a link that
leads out of the folder, a device, a name that other systems do not take, a file that somebody is
still writing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agent.storage.datasets.errors import NotKeepable
from agent.storage.datasets.manifest import PATH_LENGTH_MAX, Entry, fault_of_paths
from agent.storage.datasets.objects import Objects, copy_into, digests

SHOWN = 60


@dataclass(slots=True)
class Found:
    """What is to be kept, before any of it is written: path within, and the file on disk."""

    files: list[tuple[str, Path, os.stat_result]] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        """The size of all files, as they are now."""
        return sum(known.st_size for _, _, known in self.files)


@dataclass(slots=True)
class Gathered:
    """What was written: an entry for each file, and what each object is on disk."""

    entries: list[Entry] = field(default_factory=list)
    objects: list[tuple[str, int, int]] = field(default_factory=list)


def look(path: Path) -> Found:
    """Return the files and empty folders of a folder, or the one file that the path is, without
    reading any; raise ``NotKeepable`` when one cannot be looked at, or not be kept elsewhere: a
    link that leads out or to a folder, a device, a name that some system refuses."""
    try:
        if path.is_dir():
            return _look_into(path)
        known = path.stat()
    except OSError as error:
        raise NotKeepable(f"{path} cannot be read ({error.strerror}): check it.") from error
    _require_file(path, known)
    return Found([("", path, known)])


def gather(objects: Objects, found: Found, *, move: bool) -> Gathered:
    """Write all files that were found into the object store and return what became of them. With
    ``move`` those that lie on the same disk under one name are taken away, others copied. Raise
    ``NotKeepable`` when a file changes meanwhile, ``OSError`` when the disk refuses; what is
    written by then stays there."""
    gathered = Gathered()
    # What is copied comes first: a link may lead to a file that is moved.
    for name, path, known in sorted(found.files, key=lambda each: _movable(each[1], each[2])):
        digest, size, mtime_ns = _keep(objects, path, known, move=move)
        gathered.objects.append((digest, size, mtime_ns))
        gathered.entries.append(Entry(name, size, digest, _executable(known)))
    return gathered


def _look_into(folder: Path) -> Found:
    inside = folder.resolve()
    found = Found()
    for path, name in _walk(folder, ""):
        known = path.stat()
        if stat.S_ISDIR(known.st_mode):
            found.empty.append(name)
            continue
        if path.is_symlink() and not path.resolve().is_relative_to(inside):
            raise NotKeepable(f"{path} is a link that leads out of the folder: put the file there.")
        _require_file(path, known)
        found.files.append((name, path, known))
    fault = fault_of_paths((name for name, _, _ in found.files), found.empty)
    if fault:
        raise NotKeepable(f"in {folder}, {fault}")
    return found


def _walk(folder: Path, prefix: str) -> Iterator[tuple[Path, str]]:
    """Files and empty folders below, with their names within."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda each: each.name)
    if not entries and prefix:
        yield folder, prefix[:-1]
    for entry in entries:
        path, name = Path(entry.path), f"{prefix}{entry.name}"
        if len(name) > PATH_LENGTH_MAX:
            raise NotKeepable(f"{name[:SHOWN]!r}… is longer than {PATH_LENGTH_MAX} characters.")
        if entry.is_symlink() and entry.is_dir():
            raise NotKeepable(f"{path} is a link to a folder: put the folder itself there.")
        if entry.is_dir():
            yield from _walk(path, f"{name}/")
        else:
            yield path, name


def _require_file(path: Path, known: os.stat_result) -> None:
    if not stat.S_ISREG(known.st_mode):
        raise NotKeepable(f"{path} is no file but a device or a pipe, which cannot be kept.")


def _keep(
    objects: Objects, path: Path, known: os.stat_result, *, move: bool
) -> tuple[str, int, int]:
    place = objects.place()
    if move and _movable(path, known) and _moved(path, place):
        return _taken_over(objects, place)
    incoming = objects.begin()
    try:
        copy_into(path, incoming)
        now = path.stat()
        if (now.st_size, now.st_mtime_ns) != (known.st_size, known.st_mtime_ns):
            raise NotKeepable(f"{path} was written to while it was read: try again.")
        digest = incoming.finish()
    except BaseException:
        incoming.drop()
        raise
    return digest, *objects.take(incoming.path, digest)


def _movable(path: Path, known: os.stat_result) -> bool:
    """Whether nobody reaches the file by another name."""
    return known.st_nlink == 1 and not path.is_symlink()


def _moved(path: Path, place: Path) -> bool:
    """Another disk takes a copy instead."""
    try:
        path.rename(place)
    except OSError:
        return False
    return True


def _taken_over(objects: Objects, place: Path) -> tuple[str, int, int]:
    place.chmod(0o600)
    with place.open("r+b", buffering=0) as file:
        digest, _ = digests(file)
        os.fsync(file.fileno())
    return digest, *objects.take(place, digest)


def _executable(known: os.stat_result) -> bool:
    return os.name == "posix" and bool(known.st_mode & stat.S_IXUSR)
