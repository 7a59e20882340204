"""A row: kind, id, checksum, content. What the records of the protocol look like on disk.

SQLite finds damage in its own structure and none in what it stores, so every row carries a
checksum over everything in it. Content is the record in msgpack, replaced whole: whoever reads a
row needs no other. The names of the kinds are on disk: they may be added to, never changed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final

import msgspec

from agent.protocol.effects import Identity, Persist
from agent.protocol.records import Pruning, TaskLife, Workflow

IDENTITY: Final = "identity"
WORKFLOW: Final = "workflow"
LIFE: Final = "life"
PRUNING: Final = "pruning"

Key = tuple[str, str]
Record = Workflow | TaskLife | Pruning | Identity
Row = tuple[str, str, int, bytes]

_encoder = msgspec.msgpack.Encoder()


def checksum(kind: bytes, name: bytes, content: bytes) -> int:
    """Return the checksum over all that a row says, so that a record cannot turn up under another's
    id."""
    return zlib.crc32(content, zlib.crc32(b"%b\0%b\0" % (kind, name)))


def last_words(persists: Iterable[Persist]) -> dict[Key, Record | None]:
    """Return what is to be on disk after all of these, each key once; None for what is
    forgotten."""
    words: dict[Key, Record | None] = {}
    for persist in persists:
        words[IDENTITY, ""] = persist.identity
        for workflow in persist.workflows:
            words[WORKFLOW, workflow.spec.workflow] = workflow
        for life in persist.lives:
            words[LIFE, life.task] = life
        for pruning in persist.prunings:
            words[PRUNING, pruning.workflow] = pruning
        words.update(dict.fromkeys((WORKFLOW, name) for name in persist.forgotten_workflows))
        words.update(dict.fromkeys((LIFE, task) for task in persist.forgotten_tasks))
        words.update(dict.fromkeys((PRUNING, name) for name in persist.forgotten_prunings))
    return words


def row(key: Key, record: Record) -> Row:
    """Return a record as the row that is stored."""
    kind, name = key
    content = _encoder.encode(record)
    return kind, name, checksum(kind.encode(), name.encode(), content), content
