"""What is kept, and the way in and out for files."""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from agent.api.datasets import (
    AddDataset,
    BeginUpload,
    ChunkTaken,
    DatasetAdded,
    DatasetFiles,
    DatasetPiece,
    Datasets,
    DatasetsReply,
    DatasetView,
    EndUpload,
    FilesReply,
    FileView,
    ReadDataset,
    UploadBegun,
    UploadChunk,
)
from agent.api.methods import (
    ADD_DATASET,
    BEGIN_UPLOAD,
    DATASET_FILES,
    DATASETS,
    END_UPLOAD,
    READ_DATASET,
    UPLOAD_CHUNK,
)
from agent.api.rpc import ErrorCode
from agent.control.bringing import brought
from agent.control.naming import find_workflow
from agent.control.refusal import RefusedError
from agent.control.request_context import RequestContext, serves
from agent.control.views import dataset_view
from agent.data.node_datasets import DatasetFacts
from agent.protocol.records import Dataset, TaskSpec
from agent.protocol.table import Table


@dataclass(slots=True)
class _Known:
    """What the table knows of a dataset."""

    dataset: Dataset
    maker: TaskSpec | None = None
    inputs: tuple[str, ...] = ()
    workflow: str = ""
    at_ms: int = field(default=0)


@serves(DATASETS)
async def datasets(call: RequestContext, params: Datasets) -> DatasetsReply:
    """What is kept, where, and what made it.

    Those of the table and those on this disk, the newest first.
    """
    now = call.now
    store = call.rooms.datasets
    only = find_workflow(now.table, params.workflow).spec.workflow if params.workflow else ""
    here = {each.kept.dataset: each for each in await store.listing()}
    known = _known(now.table, only)
    names = dict.fromkeys([*known, *(() if only else here)])
    views = [_view(call, name, known.get(name), here.get(name)) for name in names]
    views.sort(key=lambda view: (-view.kept_since_ms, view.dataset))
    quota = await store.quota()
    page = views[params.first : params.first + params.limit]
    return DatasetsReply(
        tuple(page), len(views), quota.used_bytes, quota.quota_bytes, max(0, quota.free_bytes)
    )


def _known(table: Table, only: str) -> dict[str, _Known]:
    found = dict[str, _Known]()
    for workflow in table.workflows.values():
        name, submitted_ms = workflow.spec.workflow, workflow.spec.submitted[0]
        if only not in ("", name):
            continue
        for spec in workflow.spec.tasks:
            for given in spec.raw if spec.published is None else (*spec.raw, spec.published):
                found.setdefault(given.dataset, _Known(given, workflow=name, at_ms=submitted_ms))
            reading = table.reading(spec.task)
            if reading is None or reading.outcome is None:
                continue
            run = reading.outcome
            for made in reading.outputs:
                found[made.dataset] = _Known(made, spec, run.inputs, name, run.stamp[0])
    return found


def _view(
    call: RequestContext, name: str, known: _Known | None, here: DatasetFacts | None
) -> DatasetView:
    kept = here.kept if here else None
    nodes = here.nodes if here else call.rooms.datasets.holders(name)
    dataset = known.dataset if known else Dataset(name, kept.size_bytes if kept else 0)
    maker = known.maker if known else None
    return DatasetView(
        name,
        dataset.size_bytes or (kept.size_bytes if kept else 0),
        dataset.external,
        kept.name if kept else "",
        kept.folder if kept else name.startswith("tree:"),
        kept is not None,
        tuple(map(call.now.name_of, nodes)),
        known.workflow if known else "",
        maker.name if maker else "",
        maker.program if maker else "",
        known.inputs if known else (),
        here.needed if here else False,
        round(kept.added_s * 1000) if kept else known.at_ms if known else 0,
    )


@serves(ADD_DATASET)
async def add_dataset(call: RequestContext, params: AddDataset) -> DatasetAdded:
    """A file or folder of this machine is taken into the store.

    By its whole path: the agent does not know where the client is.
    """
    path = Path(params.path)
    if not path.is_absolute():
        sentence = f"add_dataset: {params.path} is no whole path, and the agent is elsewhere"
        raise RefusedError(ErrorCode.REFUSED, sentence)
    try:
        there = await asyncio.to_thread(path.exists)
        if not there:
            raise RefusedError(ErrorCode.UNKNOWN, f"add_dataset: there is no {path}")
        dataset = await call.rooms.datasets.add(path)
    except OSError as error:
        raise RefusedError(ErrorCode.REFUSED, f"add_dataset: {error}") from error
    return DatasetAdded(dataset_view(dataset), path.name)


@serves(BEGIN_UPLOAD)
async def begin_upload(call: RequestContext, params: BeginUpload) -> UploadBegun:
    """A client is about to send a file or a folder.

    It is forgotten with the connection.
    """
    number = await asyncio.to_thread(call.uploads.begin, params.name, folder=params.folder)
    return UploadBegun(number)


@serves(UPLOAD_CHUNK)
async def upload_chunk(call: RequestContext, params: UploadChunk) -> ChunkTaken:
    """A piece of what a client sends.

    In order within each file: whoever sends several at once waits for the answers.
    """
    if params.folder and params.data:
        raise RefusedError(ErrorCode.REFUSED, "upload_chunk: a folder has no data of its own")
    take = partial(call.uploads.take, executable=params.executable)
    try:
        if params.folder:
            await asyncio.to_thread(call.uploads.make_folder, params.upload, params.path)
            return ChunkTaken(0)
        size = await asyncio.to_thread(take, params.upload, params.path, params.offset, params.data)
    except OSError as error:
        sentence = f"upload_chunk: {params.path or 'the file'} cannot be written: {error.strerror}"
        raise RefusedError(ErrorCode.REFUSED, sentence) from error
    return ChunkTaken(size)


@serves(END_UPLOAD)
async def end_upload(call: RequestContext, params: EndUpload) -> DatasetAdded:
    """What a client has sent becomes a dataset.

    Moved into the store, not copied; on other disks too as soon as it is there.
    """
    content, name = call.uploads.content(params.upload)
    try:
        dataset = await call.rooms.datasets.add(content, name, move=True)
    except OSError as error:
        raise RefusedError(ErrorCode.REFUSED, f"end_upload: {error}") from error
    finally:
        await asyncio.to_thread(call.uploads.forget, params.upload)
    return DatasetAdded(dataset_view(dataset), name)


@serves(DATASET_FILES)
async def dataset_files(call: RequestContext, params: DatasetFiles) -> FilesReply:
    """What a dataset is made of; it is brought here first.

    In the order of their paths.
    """
    dataset = await brought(call, params.dataset)
    store = call.rooms.datasets
    kept = await store.kept(dataset.dataset)
    files = await store.files(dataset.dataset)
    page = files[params.first : params.first + params.limit]
    return FilesReply(
        dataset.dataset,
        kept.name if kept else "",
        dataset.dataset.startswith("tree:"),
        tuple(FileView(each.path, each.size_bytes, each.executable) for each in page),
        len(files),
        sum(each.size_bytes for each in files),
    )


@serves(READ_DATASET)
async def read_dataset(call: RequestContext, params: ReadDataset) -> DatasetPiece:
    """A piece of a file of a dataset.

    Behind the end there is nothing, which is no fault.
    """
    dataset = await brought(call, params.dataset)
    store, name = call.rooms.datasets, dataset.dataset
    sizes = {each.path: each.size_bytes for each in await store.files(name)}
    if params.path not in sizes:
        what = f"no file {params.path}" if params.path else "several files: name one of them"
        raise RefusedError(ErrorCode.UNKNOWN, f"the dataset {name[:20]} has {what}")
    try:
        data = await store.read(name, params.path, params.offset, params.limit)
    except OSError as error:
        raise RefusedError(ErrorCode.REFUSED, f"read_dataset: {error}") from error
    return DatasetPiece(data, params.offset, sizes[params.path])
