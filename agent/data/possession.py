"""Showing that one has data without giving them away: hashes that only who has the content can make.

Of large files pieces are hashed, at places that nobody chooses. What comes of it stays here; a record
carries that, hashed with its own name, and so shows nothing for another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from threading import Lock

from agent.protocol.records import DatasetId
from agent.storage.datasets.store import DatasetStore

WHOLE_BYTES_MAX = 256 * 1024
PIECES, PIECE_BYTES = 64, 4 * 1024
KNOWN_MAX = 20_000
SHOWN_BYTES = 12


class Possession:
    """What the contents on this disk gave, as far as somebody asked."""

    def __init__(self, store: DatasetStore) -> None:
        self._store = store
        self._known: dict[DatasetId, bytes] = {}
        self._lock = Lock()

    def knows(self, dataset: DatasetId) -> bool:
        """Tell whether it was looked at."""
        return dataset in self._known

    def look(self, dataset: DatasetId) -> None:
        """Read a dataset, unless done before, so that its possession can be proven; blocks. Raise
        ``OSError`` where it cannot be read here."""
        if dataset in self._known:
            return
        found = _hashed(self._store, dataset)
        with self._lock:
            self._known[dataset] = found
            while len(self._known) > KNOWN_MAX:
                del self._known[next(iter(self._known))]

    def shows(self, dataset: DatasetId, whose: str) -> bytes:
        """Return what shows that whoever made the record of this name had it; empty where it was not
        looked at."""
        known = self._known.get(dataset)
        return b"" if known is None else sha256(known + whose.encode()).digest()[:SHOWN_BYTES]

    def is_in(self, shown: bytes, dataset: DatasetId, whose: str) -> bool:
        """Tell whether a record of this name carries that."""
        expected = self.shows(dataset, whose)
        return bool(expected) and expected in shown

    def show(self, datasets: Iterable[DatasetId], whose: str) -> bytes:
        """Return that of all of these that were looked at, as a record carries it."""
        return b"".join(self.shows(each, whose) for each in datasets)


def _hashed(store: DatasetStore, dataset: DatasetId) -> bytes:
    size_bytes, _, manifest = store.described(dataset)
    found = sha256(b"wingbeat has\0" + dataset.encode() + b"\0" + manifest)
    if manifest:
        return found.digest()
    with store.open(dataset.partition(":")[2]) as file:
        if size_bytes <= WHOLE_BYTES_MAX:
            found.update(file.read(WHOLE_BYTES_MAX))
            return found.digest()
        for number in range(PIECES):
            place = sha256(f"{dataset} {number}".encode()).digest()
            file.seek(int.from_bytes(place[:8], "big") % (size_bytes - PIECE_BYTES))
            found.update(file.read(PIECE_BYTES))
    return found.digest()
