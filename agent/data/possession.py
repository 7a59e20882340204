"""Showing that one has data without giving them away: a hash of content that only who has it can make.

It is made with the id of the workflow that it comes with, so it shows nothing for another one. Of large
files pieces are hashed, at places that the id decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import msgspec
from msgspec import Raw

from agent.protocol.phrases import UNREADABLE
from agent.protocol.records import DatasetId, More, WorkflowId
from agent.storage.datasets.store import DatasetStore

HAS = "has"
"""By which name a workflow carries it."""
WHOLE_BYTES_MAX = 4 * 1024 * 1024
PIECES, PIECE_BYTES = 64, 64 * 1024
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(dict[DatasetId, bytes]).decode


def possession(store: DatasetStore, dataset: DatasetId, workflow: WorkflowId) -> bytes:
    """Return what shows, with this workflow, that its submitter has the dataset; reads some of it, so
    it is for a thread. Raise ``OSError`` where it is not here."""
    size_bytes, _, manifest = store.described(dataset)
    shown = sha256(b"wingbeat has\0" + workflow.encode() + b"\0" + dataset.encode() + manifest)
    if manifest:
        return shown.digest()[:20]
    with store.open(dataset.partition(":")[2]) as file:
        if size_bytes <= WHOLE_BYTES_MAX:
            shown.update(file.read(WHOLE_BYTES_MAX))
            return shown.digest()[:20]
        for number in range(PIECES):
            place = sha256(f"{workflow} {number}".encode()).digest()
            file.seek(int.from_bytes(place[:8], "big") % (size_bytes - PIECE_BYTES))
            shown.update(file.read(PIECE_BYTES))
    return shown.digest()[:20]


def proofs(store: DatasetStore, datasets: Iterable[DatasetId], workflow: WorkflowId) -> More:
    """Return what a workflow carries to show that these are here; of those that are not, nothing."""
    shown = {each: possession(store, each, workflow) for each in datasets if store.has(each)}
    return {HAS: Raw(_encode(shown))} if shown else {}


def proofs_in(more: More) -> dict[DatasetId, bytes]:
    """Return what a workflow carries to show that its submitter has data."""
    raw = more.get(HAS)
    if raw is None:
        return {}
    try:
        return _decode(raw)
    except UNREADABLE:
        return {}
