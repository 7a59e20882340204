"""What a folder is, so that its name can be the hash of that: its files, sorted, and nothing else.

Kept of a folder are the relative paths, the sizes, the contents and whether a file can be executed,
and the folders that would be empty. Times, owners and rights are not: the same files give the same
dataset wherever and whenever they were made. Links are gone: what they led to inside the folder is
a file of its own.

**Names that a file may have on every machine of a flock, whatever system made it.**

A folder made on Linux may hold two names that Windows takes for one, or a name that opens a device
there, and a manifest from elsewhere may hold a path that leads out of its folder. All of that is
refused where the folder becomes a dataset, by a sentence that names the file, and again where a
manifest arrives.

**What a dataset is called: by what is in it, so that nobody can be given something else.**

``sha256:`` and 64 hexadecimal digits is a file, named by the hash of its content; ``tree:`` and 64
is a folder, named by the hash of its manifest. Everything else is an identifier in somebody's
database, which is passed on untouched and never kept here.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from enum import Enum
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.protocol.records import Dataset, DatasetId
from agent.storage.datasets.errors import NotKeepable

NAME_BYTES_MAX = 255
PATH_LENGTH_MAX = 1_024
_FORBIDDEN = frozenset('<>:"/\\|?*')
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"}
)
_ID = re.compile(r"(sha256|tree):([0-9a-f]{64})")
FILES_MAX = 200_000

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, Meta(ge=0, le=2**60)]


def fault_of_name(name: str) -> str:
    """Return why a file of this name could not be made on every system, as the end of a sentence
    about it; empty when it could."""
    if name in ("", ".", ".."):
        return "is not the name of a file"
    if len(name.encode("utf-8", "surrogateescape")) > NAME_BYTES_MAX:
        return f"is longer than {NAME_BYTES_MAX} bytes"
    if any(each in _FORBIDDEN or not each.isprintable() for each in name):
        return "has a character that some systems do not allow in names"
    if name[-1] in ". ":
        return "ends with a dot or a space, which Windows drops"
    if name.partition(".")[0].rstrip().lower() in _DEVICES:
        return "is the name of a device on Windows"
    return ""


def fault_of_path(path: str) -> str:
    """Return why a path (parts between slashes) could not be made on every system, as the end of a
    sentence about that path; empty when it could."""
    if len(path) > PATH_LENGTH_MAX:
        return f"is longer than {PATH_LENGTH_MAX} characters"
    return next(filter(None, map(fault_of_name, path.split("/"))), "")


def fault_of_paths(files: Iterable[str], folders: Iterable[str] = ()) -> str:
    """Return a sentence about the first of these files and empty folders, in the order of their
    paths, that cannot lie in one folder on every system, alone or beside the others; empty when all
    can. A path that is there twice counts once."""
    leaves, empty = frozenset(files), frozenset(folders)
    places = empty | {parent for path in leaves | empty for parent in _parents(path)}
    seen: dict[str, str] = {}
    for path in sorted(leaves | places):
        fault = fault_of_path(path)
        if fault:
            return f"{path!r} {fault}: give it another name."
        alike = seen.setdefault(_folded(path), path)
        if alike != path:
            return f"{alike!r} and {path!r} are one name on Windows: give one of them another."
        if path in leaves and path in places:
            return f"{path!r} is a file and a folder at once."
    return ""


def plain_name(name: str) -> str:
    """Return the name if a file can have it on every system, else an empty text."""
    return "" if fault_of_name(name) else name


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


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
    """Return the manifest of these files and empty folders, sorted, and its bytes; raise
    ``NotKeepable`` for too many files or empty folders, and for paths that are impossible on some
    system or twice there."""
    manifest = Manifest(tuple(sorted(entries)), tuple(sorted(empty)))
    if len(entries) > FILES_MAX:
        raise NotKeepable(f"it has more than {FILES_MAX} files: pack them into one.")
    if len(empty) > FILES_MAX:
        raise NotKeepable(f"it has more than {FILES_MAX} empty folders: pack them into a file.")
    _judge(manifest)
    return manifest, _encode(manifest)


def decoded(digest: str, content: bytes) -> Manifest:
    """Return the manifest of the folder with this digest, read from its bytes; raise
    ``NotKeepable`` when they are not of this digest, no manifest, or have paths that are impossible
    on some system or twice there."""
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
