"""What a folder is, so that its name can be the hash of that: its files, sorted, and nothing else.

Kept of a folder are the relative paths, the sizes, the contents and whether a file can be executed,
and the folders that would be empty. Times, owners and rights are not: the same files give the same
dataset wherever and whenever they were made. Links are gone: what they led to inside the folder is
a file of its own.
"""

from __future__ import annotations

import hashlib
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.protocol.records import Dataset
from agent.storage.datasets.errors import NotKeepable
from agent.storage.datasets.names import Kind, dataset_id, fault_of_paths

MANIFEST_BYTES_MAX = 32 * 1024 * 1024
FILES_MAX = 200_000

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Meta(ge=0, le=2**60)]


class Entry(Struct, frozen=True, array_like=True, order=True):
    """One file of a folder; the path has slashes on every system."""

    path: str
    size_bytes: Size
    digest: Digest
    executable: bool = False


class Manifest(Struct, frozen=True, array_like=True):
    """All files of a folder in the order of their paths, and the folders that are empty."""

    entries: Annotated[tuple[Entry, ...], Meta(max_length=FILES_MAX)] = ()
    empty: Annotated[tuple[str, ...], Meta(max_length=FILES_MAX)] = ()

    @property
    def size_bytes(self) -> int:
        """The size of all files together."""
        return sum(entry.size_bytes for entry in self.entries)

    def sizes(self) -> dict[str, int]:
        """Return the size of each content by its digest; the same content counts once."""
        return {entry.digest: entry.size_bytes for entry in self.entries}


_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(Manifest)


def encoded(entries: list[Entry], empty: list[str]) -> tuple[Manifest, bytes]:
    """Return the manifest of these files and empty folders, and its bytes; raise ``NotKeepable``
    for too many or impossible names."""
    manifest = Manifest(tuple(sorted(entries)), tuple(sorted(empty)))
    if len(entries) > FILES_MAX:
        raise NotKeepable(f"it has more than {FILES_MAX} files: pack them into one.")
    _judge(manifest)
    return manifest, _encode(manifest)


def decoded(digest: str, content: bytes) -> Manifest:
    """Decode the manifest of the folder with this digest; raise ``NotKeepable`` when the content is
    not that or its names are impossible."""
    if hashlib.sha256(content).hexdigest() != digest:
        raise NotKeepable(f"what came is not the list of files of tree:{digest}.")
    try:
        manifest = _decoder.decode(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise NotKeepable(f"tree:{digest} is no list of files: {error}.") from error
    _judge(manifest)
    return manifest


def tree_of(content: bytes, manifest: Manifest) -> Dataset:
    """Return the dataset that these bytes are the manifest of."""
    digest = hashlib.sha256(content).hexdigest()
    return Dataset(dataset_id(Kind.TREE, digest), manifest.size_bytes)


def _judge(manifest: Manifest) -> None:
    paths = [entry.path for entry in manifest.entries]
    fault = fault_of_paths(frozenset(paths), manifest.empty)
    if fault:
        raise NotKeepable(fault)
    if len(set(paths)) != len(paths):
        raise NotKeepable("one of its files is named twice.")
