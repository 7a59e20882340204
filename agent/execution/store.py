"""What running programs needs of the place where the flock's datasets are kept.

A dataset of the flock's own is named by what is in it. Every other identifier belongs to somebody's
database or file server: it is passed on to programs as it is, and nothing is ever asked of a store.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from agent.protocol.records import Dataset, DatasetId

_OWN = re.compile("(sha256|tree):[0-9a-f]{64}")


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
