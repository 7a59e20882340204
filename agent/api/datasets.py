"""Datasets: what is kept where, and their way between a client and the flock.

Bytes travel in pieces of at most a mebibyte, as base64 in the JSON. A folder is uploaded file by
file, each under its path within the folder, and downloaded likewise.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from agent.api.programs import PathText
from agent.api.rpc import Method
from agent.api.values import Count, Dataset, Millis, Page, Reference, ShortText

CHUNK_BYTES_MAX = 1024 * 1024
FILES_PAGE_MAX = 10_000

Size = Annotated[int, Meta(ge=0, le=2**60)]
DatasetName = Annotated[str, Meta(min_length=1, max_length=256)]
Chunk = Annotated[bytes, Meta(max_length=CHUNK_BYTES_MAX)]
RelativePath = Annotated[str, Meta(max_length=4_096)]
"""Within a folder, with slashes; empty where the dataset is one file."""


class Datasets(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which datasets does this node know of? Of one workflow, or all, the newest first."""

    workflow: Annotated[str, Meta(max_length=256)] = ""
    first: Count = 0
    limit: Page = 200


class DatasetView(Struct, frozen=True):
    """A dataset. ``here``: on this disk; ``nodes``: all machines that hold it and are seen.

    ``task``, ``program`` and ``inputs`` tell what made it of what, where a task did.
    """

    dataset: str
    size_bytes: Size
    external: bool = False
    name: str = ""
    folder: bool = False
    here: bool = False
    nodes: tuple[str, ...] = ()
    workflow: str = ""
    task: str = ""
    program: str = ""
    inputs: tuple[str, ...] = ()
    needed: bool = False
    kept_since_ms: Millis = 0
    workflow_name: str = ""


class CopiesView(Struct, frozen=True):
    """How likely a result can be had, from how long ``machines`` were up and down within working hours
    so far: in which share of the working week with 1, 2, … copies, none where too little is known.
    ``copies`` results get now, ``advised`` are enough; ``up`` is the share of each machine, by name.
    """

    copies: Count
    advised: Count
    available: tuple[float, ...] = ()
    up: dict[str, float] = {}
    hours: float = 0.0


class DatasetsReply(Struct, frozen=True):
    """A page of datasets, and how full this node's store is; a quota of 0 is none."""

    datasets: tuple[DatasetView, ...]
    total: Count
    used_bytes: Size = 0
    quota_bytes: Size = 0
    free_bytes: Size = 0
    copies: CopiesView | None = None


class AddDataset(Struct, frozen=True, forbid_unknown_fields=True):
    """Take a file or folder of this machine into the store."""

    path: PathText


class DatasetAdded(Struct, frozen=True):
    """The dataset is kept under this identifier, on so many disks."""

    dataset: Dataset
    name: str
    disks: Count = 1


class BeginUpload(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A client begins to send a file, or a folder file by file."""

    name: ShortText
    folder: bool = False


class UploadBegun(Struct, frozen=True):
    """Pieces go under this name; the upload is forgotten with its connection."""

    upload: str


class UploadChunk(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A piece of a file; the files of a folder come one after the other, each from its beginning.

    An empty file has one empty piece. ``folder``: there is a folder at this path, and nothing in it.
    """

    upload: DatasetName
    data: Chunk
    path: RelativePath = ""
    offset: Size = 0
    executable: bool = False
    folder: bool = False


class ChunkTaken(Struct, frozen=True):
    """So many bytes of the file are here now."""

    size_bytes: Size


class EndUpload(Struct, frozen=True, forbid_unknown_fields=True):
    """All of an upload is sent: make it a dataset."""

    upload: DatasetName


class DatasetFiles(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which files is a dataset made of? It is brought here first if need be."""

    dataset: Reference
    first: Count = 0
    limit: Annotated[int, Meta(ge=1, le=FILES_PAGE_MAX)] = 1_000


class FileView(Struct, frozen=True):
    """One file of a dataset; the path is empty where the dataset is that file."""

    path: str
    size_bytes: Size
    executable: bool = False


class FilesReply(Struct, frozen=True):
    """A page of the files of a dataset, in the order of their paths."""

    dataset: str
    name: str
    folder: bool
    files: tuple[FileView, ...]
    total: Count
    size_bytes: Size


class ReadDataset(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Read a piece of a file of a dataset."""

    dataset: Reference
    path: RelativePath = ""
    offset: Size = 0
    limit: Annotated[int, Meta(ge=1, le=CHUNK_BYTES_MAX)] = CHUNK_BYTES_MAX


class DatasetPiece(Struct, frozen=True):
    """The bytes of a file from this offset on; the file is so large in all."""

    data: Chunk
    offset: Size
    size_bytes: Size


# -- what is asked, and what is answered ----------------------------------------------------------

DATASETS = Method("datasets", Datasets, DatasetsReply)
ADD_DATASET = Method("add_dataset", AddDataset, DatasetAdded, by_members=False)
BEGIN_UPLOAD = Method("begin_upload", BeginUpload, UploadBegun, repeatable=False)
UPLOAD_CHUNK = Method("upload_chunk", UploadChunk, ChunkTaken, repeatable=False)
END_UPLOAD = Method("end_upload", EndUpload, DatasetAdded, repeatable=False)
DATASET_FILES = Method("dataset_files", DatasetFiles, FilesReply)
READ_DATASET = Method("read_dataset", ReadDataset, DatasetPiece)
