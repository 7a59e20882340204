"""What a dataset is called: by what is in it, so that nobody can be given something else.

``sha256:`` and 64 hexadecimal digits is a file, named by the hash of its content; ``tree:`` and 64
is a folder, named by the hash of its manifest. Everything else is an identifier in somebody's
database, which is passed on untouched and never kept here.
"""

from __future__ import annotations

import re
from enum import Enum

from agent.protocol.records import DatasetId

_ID = re.compile(r"(sha256|tree):([0-9a-f]{64})")


class Kind(Enum):
    """Whether a dataset is a file or a folder."""

    FILE = "sha256"
    TREE = "tree"


def dataset_id(kind: Kind, digest: str) -> DatasetId:
    """Return the identifier of this content."""
    return f"{kind.value}:{digest}"


def parsed(dataset: DatasetId) -> tuple[Kind, str] | None:
    """Return kind and digest of a dataset; None for an identifier of somebody's database."""
    found = _ID.fullmatch(dataset)
    return None if found is None else (Kind(found[1]), found[2])


def ours(dataset: DatasetId) -> bool:
    """Tell whether it names a content that nodes can keep."""
    return _ID.fullmatch(dataset) is not None
