"""A few megabytes kept free for the worst day: when the disk is full, they are given up.

They are not for more records: what the disk refused stays refused, and the node is told so. They
are for what must go on all the same. A log that was filled to the last byte has to go into the
database, and the agent has to be able to start and say what is wrong; SQLite needs room for both.
What was already queued when the disk filled up, such as the end of a run, may find room in them,
too. They are taken back when there is room for all of it, which is also when the disk counts as
usable again: one that has room for one more record would be full again at the next.

The content is random, because file systems that compress would keep nothing free for zeros.
"""

from __future__ import annotations

import os
from pathlib import Path

from agent.storage.places import make_private_file

RESERVE_BYTES = 4 * 1024 * 1024
MARGIN_BYTES = 128 * 1024
"""What has to be free besides: giving up the reserve makes room for the reserve, and no more."""


class Reserve:
    """A file that takes up room until the disk is full."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self, margin_bytes: int = 0) -> None:
        """Have the reserve on disk, whole, and check for ``margin_bytes`` of room besides; raise
        ``OSError``, and keep nothing, when there is too little."""
        try:
            make_private_file(self._path)
            if margin_bytes or self._path.stat().st_size != RESERVE_BYTES:
                self._write(RESERVE_BYTES + margin_bytes)
            os.truncate(self._path, RESERVE_BYTES)
        except OSError:
            self.release()
            raise

    def _write(self, size_bytes: int) -> None:
        with self._path.open("wb") as file:
            file.write(os.urandom(size_bytes))
            file.flush()
            os.fsync(file.fileno())

    def release(self) -> bool:
        """Delete the reserve to free its room; return False when there was none or it cannot be
        deleted."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True
