"""A large file on its way here, which outlives the agent, so that nothing is fetched twice.

It has its full size from the start and is filled in any order. What is in it is not noted anywhere:
whoever goes on with it after a restart compares the hashes of its pieces with those of a holder,
which tells what arrived whole, what was torn by the loss of power, and what never came.
"""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import IO

from agent.storage.datasets.objects import CHUNK_BYTES, READ_BYTES, WRITABLE_MODE

_WRITES_ANYWHERE = hasattr(os, "pwrite")


class Partial:
    """One such file. Written by many threads, each piece by one."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        self.path, self.size_bytes = path, size_bytes
        self._found = path.exists() and path.stat().st_size == size_bytes
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._file: IO[bytes] = os.fdopen(os.open(path, flags, WRITABLE_MODE), "r+b", buffering=0)
        if not self._found:
            self._file.truncate(0)
            self._file.truncate(size_bytes)
        self._turn = threading.Lock()

    @property
    def found(self) -> bool:
        """Whether an earlier attempt has left something."""
        return self._found

    @property
    def pieces(self) -> int:
        """How many pieces the file has."""
        return -(-self.size_bytes // CHUNK_BYTES)

    def write(self, offset: int, data: memoryview) -> None:
        """Write the data at this offset of the file; raise ``OSError`` when the disk refuses."""
        while data:
            written = self._write_some(offset, data)
            offset += written
            data = data[written:]

    def piece_size(self, number: int) -> int:
        """Return the size of a piece, which is the same for all but the last."""
        return min(CHUNK_BYTES, self.size_bytes - number * CHUNK_BYTES)

    def whole_pieces(self, hashes: bytes) -> set[int]:
        """Return the numbers of the pieces here whose hashes are those that a holder gave; none
        when it gave another number of hashes."""
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
        """Close and delete the file, as nothing of it is any good."""
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
