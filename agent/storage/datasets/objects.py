"""One read-only file for each content, under the hash of it, written whole or not at all.

What is written goes to a file of its own first, is hashed on the way, flushed, and only then given
its name, and the folder is flushed behind it: an object under its name is complete, whatever killed
the agent or the machine meanwhile. The same content is kept once.

What is read is believed as long as the file is the one that was noted when it was whole, and was not
touched since: another size, inode or time of change, which no program can set back, are a doubt. Who
cannot be sure reads it again and compares the hash.

**Objects become a file or folder for a program, which may read them and nothing more.**

It gets a file of its own. A second name for the same file would cost neither time nor room, but who
has one may make it writable, and has then changed what everybody after him reads. Where the disk can
share the blocks of two files until one is written (Btrfs, XFS), that costs next to nothing too. On
Windows it is an ordinary file: one that is not to be written cannot be removed there either.

**A large file on its way here, which outlives the agent, so that nothing is fetched twice.**

It has its full size from the start and is filled in any order. What is in it is not noted anywhere:
whoever goes on with it after a restart compares the hashes of its pieces with those of a holder,
which tells what arrived whole, what was torn by the loss of power, and what never came.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from agent.regular_files import open_regular
from agent.storage.datasets.errors import DatasetDamaged, DatasetMissing
from agent.storage.places import keep_names, make_private_folder

READ_BYTES = 1024 * 1024
CHUNK_BYTES = 4 * 1024 * 1024
"""Of this size are the pieces whose hashes tell which part of a copy is wrong."""
FILE_MODE = 0o444
WRITABLE_MODE = 0o600
EXECUTABLE_MODE = 0o555
READ_ONLY_MODE = 0o444
POSIX = sys.platform != "win32"
FICLONE = 0x40049409
"""The request of Linux by which a file gets the blocks of another one."""
COPY_BYTES = 2**30
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_WRITES_ANYWHERE = hasattr(os, "pwrite")


class Incoming:
    """A file that is being written; it becomes an object by ``Objects.take``, or nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size_bytes = 0
        self._hash = hashlib.sha256()
        descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), WRITABLE_MODE
        )
        self._file: IO[bytes] = os.fdopen(descriptor, "wb", buffering=0)

    def write(self, data: bytes | memoryview) -> None:
        """Append all of the data to the file and to its hash; raise ``OSError`` when the disk
        refuses, which may leave a part of it."""
        self._hash.update(data)
        self.size_bytes += len(data)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def finish(self) -> str:
        """Flush the file to disk and close it; return the digest of all that was written. Raise
        ``OSError`` when the disk refuses; the file is still open then."""
        os.fsync(self._file.fileno())
        self._file.close()
        return self._hash.hexdigest()

    def drop(self) -> None:
        """Close and delete the file if it was not kept; raise ``OSError`` when it cannot be
        deleted."""
        self._file.close()
        self.path.unlink(missing_ok=True)


class Objects:
    """All objects in one folder. Used by many threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "objects"
        self._incoming = folder / "incoming"
        for each in (folder, self._folder, self._incoming):
            make_private_folder(each)

    def path(self, digest: str) -> Path:
        """Return where the object of this content lies, if it is here."""
        return self._folder / digest[:2] / digest

    def listed(self) -> dict[str, tuple[int, int]]:
        """Return by digest the size in bytes of each object on disk, and a mark that differs when
        its file is another or was touched; contents are not read. Raise ``OSError`` when the folder
        cannot be listed."""
        found: dict[str, tuple[int, int]] = {}
        for group in self._folder.iterdir():
            with os.scandir(group) as objects:
                for each in objects:
                    known = each.stat()
                    found[each.name] = (known.st_size, _mark(known))
        return found

    def clear_incoming(self) -> None:
        """Delete all unfinished files, also those that are being written: to be called before any
        is begun. One that cannot be deleted stays; raise ``OSError`` when their folder cannot be
        listed."""
        for left in self._incoming.iterdir():
            with suppress(OSError):
                left.unlink()

    def begin(self) -> Incoming:
        """Return a new file to write an object into."""
        return Incoming(self._incoming / uuid.uuid4().hex)

    def place(self) -> Path:
        """Return a free path beside the unfinished objects, for a file that is moved in."""
        return self._incoming / uuid.uuid4().hex

    def take(self, path: Path, digest: str) -> tuple[int, int]:
        """Make a flushed file read-only and move it to the place of its content's digest, in place
        of an older one; where Windows has that open it stays, and the file is deleted. Return size in
        bytes and mark of the one that is there. Durable on return; the content is not
        checked. Raise ``OSError`` when the disk refuses; the file may have been moved then."""
        path.chmod(FILE_MODE)
        target = self.path(digest)
        if not target.parent.is_dir():
            target.parent.mkdir(mode=0o700, exist_ok=True)
            keep_names(self._folder)
        try:
            path.replace(target)  # also over an older one: this one was looked at just now
        except PermissionError:
            if not target.exists():
                raise
            remove_file(path)  # Windows: the older one is being read
        keep_names(target.parent)
        known = target.stat()
        return known.st_size, _mark(known)

    def remove(self, digest: str) -> None:
        """Delete an object, if it is here; raise ``OSError`` when it cannot be deleted."""
        remove_file(self.path(digest))

    def seen(self, digest: str) -> tuple[int, int] | None:
        """Return the size in bytes and the mark of an object's file now, without reading it: another
        mark says that it is another file, or was touched. None when it cannot be looked at."""
        try:
            known = self.path(digest).stat()
        except OSError:
            return None
        return known.st_size, _mark(known)

    def written_s(self, digest: str) -> float:
        """Return when an object was written, in seconds since 1970; 0 when it cannot be looked
        at."""
        try:
            return self.path(digest).stat().st_mtime
        except OSError:
            return 0.0

    def open(self, digest: str) -> IO[bytes]:
        """Open an object for reading, not verified; raise ``DatasetMissing`` when it is not on this
        disk, ``OSError`` when it cannot be opened. The caller closes it."""
        try:
            return self.path(digest).open("rb", buffering=0)
        except FileNotFoundError as error:
            raise DatasetMissing(f"the file sha256:{digest} is not on this disk.") from error

    def hashes(self, digest: str, progress: Callable[[], None] = lambda: None) -> bytes:
        """Read an object and return the hashes of its pieces in one row of bytes, calling
        ``progress`` after each block; raise ``DatasetDamaged``, and leave the file, when its
        content is not that of the digest, ``DatasetMissing`` when it is not here, ``OSError`` when
        it cannot be read."""
        with self.open(digest) as file:
            told, pieces = digests(file, progress)
        if told != digest:
            raise DatasetDamaged(f"the file sha256:{digest} on this disk was damaged.")
        return pieces


def blocks(file: IO[bytes]) -> Iterator[memoryview]:
    """Yield what a file holds from here on, block by block; each block is overwritten when the next
    is asked for. Raise ``OSError`` when it cannot be read."""
    buffer = bytearray(READ_BYTES)
    view = memoryview(buffer)
    while size := file.readinto(buffer):  # type: ignore[attr-defined]
        yield view[:size]


def digests(file: IO[bytes], progress: Callable[[], None] = lambda: None) -> tuple[str, bytes]:
    """Read a file from here to its end and call ``progress`` after each block; return the digest of
    all, as text, and those of its pieces of ``CHUNK_BYTES`` in one row of bytes. Raise ``OSError``
    when it cannot be read."""
    whole, pieces = hashlib.sha256(), bytearray()
    piece, left = hashlib.sha256(), CHUNK_BYTES
    for block in blocks(file):
        whole.update(block)
        while block:
            part = block[:left]
            piece.update(part)
            left -= len(part)
            block = block[len(part) :]  # noqa: PLW2901 - what is left of it
            if not left:
                pieces += piece.digest()
                piece, left = hashlib.sha256(), CHUNK_BYTES
        progress()
    if left < CHUNK_BYTES:
        pieces += piece.digest()
    return whole.hexdigest(), bytes(pieces)


def remove_file(path: Path) -> None:
    """Delete a file, also a read-only one, which Windows wants made writable first; do nothing when
    it is missing, raise ``OSError`` when it cannot be deleted."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        with suppress(FileNotFoundError):
            path.chmod(WRITABLE_MODE)
            path.unlink()


def copy_into(source: Path, incoming: Incoming) -> None:
    """Append all of a file, as it is now, to an unfinished object, which stays open; raise
    ``OSError`` when one cannot be read or the other written."""
    with open_regular(source) as file:
        for block in blocks(file):
            incoming.write(block)


def free_bytes(folder: Path) -> int:
    """Return how many bytes the folder's disk still takes."""
    return shutil.disk_usage(folder).free


def lay_file(source: Path, target: Path, *, executable: bool = False) -> None:
    """Place a copy of a file at the target, which shares its blocks with it where the disk can do
    that. It is read-only, on Windows an ordinary file. Raise ``OSError`` when there is something at
    the target, or that fails otherwise; what was placed may stay then."""
    with open_regular(source) as read:
        descriptor = os.open(target, _NEW, WRITABLE_MODE)
        with os.fdopen(descriptor, "wb") as written:
            if not _shares_blocks(read, written):
                _copy_all(read, written)
    if POSIX:
        target.chmod(EXECUTABLE_MODE if executable else READ_ONLY_MODE)


def _shares_blocks(source: IO[bytes], target: IO[bytes]) -> bool:
    """Whether the disk could give the new file the blocks of the old one."""
    if not sys.platform.startswith("linux"):
        return False
    import fcntl

    try:
        fcntl.ioctl(target.fileno(), FICLONE, source.fileno())
    except OSError:
        return False
    return True


def _copy_all(source: IO[bytes], target: IO[bytes]) -> None:
    """The kernel copies where it can, so that nothing passes through this process."""
    copy = getattr(os, "copy_file_range", None)
    try:
        while copy is not None and copy(source.fileno(), target.fileno(), COPY_BYTES):
            pass
    except OSError:  # not between these two disks
        source.seek(0)
        target.seek(0)
        target.truncate()
        copy = None
    if copy is None:
        shutil.copyfileobj(source, target, READ_BYTES)


def _mark(known: os.stat_result) -> int:
    """Return a number that is another one for another file, and for this one when it was changed;
    what a program may set, the time of its content, is only a part of it."""
    told = (known.st_ino, known.st_ctime_ns, known.st_mtime_ns)
    return int.from_bytes(hashlib.sha256(repr(told).encode()).digest()[:7], "big") + 1


class Partial:
    """One such file. Written by many threads, each piece by one."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        self.path, self.size_bytes = path, size_bytes
        self.found = path.exists() and path.stat().st_size == size_bytes
        """Whether an earlier attempt has left something."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._file: IO[bytes] = os.fdopen(os.open(path, flags, WRITABLE_MODE), "r+b", buffering=0)
        if not self.found:
            self._file.truncate(0)
            self._file.truncate(size_bytes)
        self._turn = threading.Lock()

    @property
    def pieces(self) -> int:
        """How many pieces the file has."""
        return -(-self.size_bytes // CHUNK_BYTES)

    def write(self, offset: int, data: memoryview) -> None:
        """Write all of the data at this offset of the file, not flushed yet; raise ``OSError`` when
        the disk refuses."""
        while data:
            written = self._write_some(offset, data)
            offset += written
            data = data[written:]

    def piece_size(self, number: int) -> int:
        """Return the size of a piece, which is the same for all but the last."""
        return min(CHUNK_BYTES, self.size_bytes - number * CHUNK_BYTES)

    def whole_pieces(self, hashes: bytes) -> set[int]:
        """Read the file and return the numbers, from 0, of the pieces whose hashes are those that a
        holder gave, all in one row; empty when it gave another number of hashes. Raise ``OSError``
        when the file cannot be read."""
        width = hashlib.sha256().digest_size
        told = [hashes[at : at + width] for at in range(0, len(hashes), width)]
        if len(told) != self.pieces:
            return set()
        with self.path.open("rb", buffering=0) as file:
            return {number for number, each in enumerate(told) if self._digest(file) == each}

    def reader(self) -> IO[bytes]:
        """Open what has come so far for reading."""
        return self.path.open("rb", buffering=0)

    def finish(self) -> None:
        """Flush and close the file, which is complete; raise ``OSError`` when the disk refuses."""
        os.fsync(self._file.fileno())
        self._file.close()

    def close(self) -> None:
        """Close the file and leave it for another time."""
        self._file.close()

    def drop(self) -> None:
        """Close and delete the file, as nothing of it is any good; raise ``OSError`` when it cannot
        be deleted."""
        self._file.close()
        self.path.unlink(missing_ok=True)

    def _digest(self, file: IO[bytes]) -> bytes:
        """Of the next piece."""
        found, left = hashlib.sha256(), CHUNK_BYTES
        while left and (block := file.read(min(left, READ_BYTES))):
            found.update(block)
            left -= len(block)
        return found.digest()

    def _write_some(self, offset: int, data: memoryview) -> int:
        if _WRITES_ANYWHERE:
            return os.pwrite(self._file.fileno(), data, offset)
        with self._turn:
            self._file.seek(offset)
            return self._file.write(data)
