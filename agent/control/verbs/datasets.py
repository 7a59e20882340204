"""What is kept, and the way in and out for files."""

import asyncio
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from agent.api.datasets import (
    ADD_DATASET,
    BEGIN_UPLOAD,
    DATASET_FILES,
    DATASETS,
    END_UPLOAD,
    READ_DATASET,
    UPLOAD_CHUNK,
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
    ReadDataset,
    UploadBegun,
    UploadChunk,
)
from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.control.naming import bring_dataset, find_workflow
from agent.control.own_folders import refuse_own
from agent.control.port import DatasetRoom, Snapshot
from agent.control.recalling import with_past
from agent.control.request_context import RequestContext, serves
from agent.control.views import dataset_view
from agent.protocol.phrases import said
from agent.protocol.records import Dataset, WorkflowSpec
from agent.protocol.table import Table


@serves(DATASETS)
async def datasets(call: RequestContext, params: Datasets) -> DatasetsReply:
    """Return a page of the datasets of the table and of this disk, or of one workflow, the newest
    first: where each is kept, as far as is seen, and what made it; and what copies are worth.
    Raises ``RefusedError`` for a workflow that is unknown, ``OSError`` where the store cannot be
    read, ``sqlite3.Error`` where the history has to be asked and cannot be."""
    call = await with_past(call, params.workflow)
    now, store = call.now, call.rooms.datasets
    only = find_workflow(now.table, params.workflow).spec.workflow if params.workflow else ""
    kept = await store.listing()
    here = {each.dataset: each for each in kept.datasets}
    found = _known(now.table, only)
    for name, view in here.items():
        if name in found or not only:
            found[name] = _both(found.get(name, view), view)
    views = sorted(found.values(), key=lambda view: (-view.kept_since_ms, view.dataset))
    page = views[params.first : params.first + params.limit]
    shown = tuple(replace(each, nodes=_holders(each, now, store)) for each in page)
    copies = call.rooms.uptimes.view()
    up = {now.name_of(node): share for node, share in copies.up.items()}
    return replace(kept, datasets=shown, total=len(views), copies=replace(copies, up=up))


def _known(table: Table, only: str) -> dict[str, DatasetView]:
    """What the table knows of datasets."""
    found = dict[str, DatasetView]()
    for workflow in table.workflows.values():
        if only not in ("", workflow.spec.workflow):
            continue
        for spec in workflow.spec.tasks:
            for given in spec.raw if spec.published is None else (*spec.raw, spec.published):
                view = _view(given, workflow.spec, workflow.spec.submitted[0])
                found.setdefault(given.dataset, view)
            reading = table.reading(spec.task)
            if reading is None or reading.outcome is None:
                continue
            run = reading.outcome
            for made in reading.outputs:
                view = _view(made, workflow.spec, run.stamp[0])
                found[made.dataset] = replace(
                    view, task=spec.name, program=spec.program, inputs=run.inputs
                )
    return found


def _view(dataset: Dataset, workflow: WorkflowSpec, at_ms: int) -> DatasetView:
    name = dataset.dataset
    return DatasetView(
        name,
        dataset.size_bytes,
        dataset.external,
        folder=name.startswith("tree:"),
        workflow=workflow.workflow,
        kept_since_ms=at_ms,
        workflow_name=workflow.name,
    )


def _both(known: DatasetView, here: DatasetView) -> DatasetView:
    """What the table knows of a dataset, and the store."""
    return replace(
        known,
        size_bytes=known.size_bytes or here.size_bytes,
        name=here.name,
        folder=here.folder,
        here=True,
        needed=here.needed,
        kept_since_ms=here.kept_since_ms,
    )


def _holders(view: DatasetView, now: Snapshot, store: DatasetRoom) -> tuple[str, ...]:
    """Who has it, as far as is seen, this node first."""
    own = (now.node,) if view.here else ()
    return tuple(map(now.name_of, (*own, *store.holders(view.dataset))))


@serves(ADD_DATASET)
async def add_dataset(call: RequestContext, params: AddDataset) -> DatasetAdded:
    """Copy a file or folder of this machine into the store, and return its dataset when it is on
    this disk. Raises ``RefusedError`` where it is not there, cannot be kept, is a folder of Wingbeat
    itself, or its path is not whole, for the agent does not know where the client is."""
    path = Path(params.path)
    if not path.is_absolute():
        raise RefusedError(
            ErrorCode.REFUSED,
            said("{path} is no whole path, and the agent is elsewhere", path=params.path),
        )
    try:
        there = await asyncio.to_thread(path.exists)
        if not there:
            raise RefusedError(ErrorCode.UNKNOWN, said("there is no {path}", path=str(path)))
        await asyncio.to_thread(refuse_own, path)
        dataset = await call.rooms.datasets.add(path)
    except OSError as error:
        raise RefusedError(
            ErrorCode.REFUSED, said("it cannot be kept: {error}", error=str(error))
        ) from error
    return DatasetAdded(dataset_view(dataset), path.name)


@serves(BEGIN_UPLOAD)
async def begin_upload(call: RequestContext, params: BeginUpload) -> UploadBegun:
    """Begin to receive a file or a folder from the client, and return the number of the upload;
    what is not ended is deleted with the connection. Raises ``RefusedError`` for a name that is
    none, or too many at once, ``OSError`` when the disk refuses."""
    number = await asyncio.to_thread(call.uploads.begin, params.name, folder=params.folder)
    return UploadBegun(number)


@serves(UPLOAD_CHUNK)
async def upload_chunk(call: RequestContext, params: UploadChunk) -> ChunkTaken:
    """Append a piece of what a client sends to a file, in order within each, or make an empty
    folder; return how large the file is now, 0 for a folder. Raises ``RefusedError`` for an unknown
    upload, a wrong path, a piece that does not follow, or a disk that refuses; what came before
    stays, and the piece may come again."""
    if params.folder and params.data:
        raise RefusedError(ErrorCode.REFUSED, said("upload_chunk: a folder has no data of its own"))
    take = partial(call.uploads.take, executable=params.executable)
    try:
        if params.folder:
            await asyncio.to_thread(call.uploads.make_folder, params.upload, params.path)
            return ChunkTaken(0)
        size = await asyncio.to_thread(take, params.upload, params.path, params.offset, params.data)
    except OSError as error:
        raise RefusedError(
            ErrorCode.REFUSED,
            f"upload_chunk: {params.path or 'the file'} cannot be written: {error.strerror}",
        ) from error
    return ChunkTaken(size)


@serves(END_UPLOAD)
async def end_upload(call: RequestContext, params: EndUpload) -> DatasetAdded:
    """Move what a client has sent into the store, and return its dataset when it is on this disk;
    another one gets a copy some time after. The upload is over then, and its files are deleted,
    also where the store does not take it. Raises ``RefusedError`` in that case, and where the
    upload is unknown or has no file yet, which leaves it open."""
    content, name = call.uploads.content(params.upload)
    try:
        dataset = await call.rooms.datasets.add(content, name, move=True)
    except OSError as error:
        raise RefusedError(
            ErrorCode.REFUSED, said("end_upload: {error}", error=str(error))
        ) from error
    finally:
        await asyncio.to_thread(call.uploads.forget, params.upload)
    if call.member:
        call.rooms.datasets.brought(call.member_node, dataset.dataset)
    return DatasetAdded(dataset_view(dataset), name)


@serves(DATASET_FILES)
async def dataset_files(call: RequestContext, params: DatasetFiles) -> FilesReply:
    """Bring a dataset here, waiting for it, and return a page of its files in the order of their
    paths. Raises ``RefusedError`` where it is unknown or cannot be had, ``OSError`` where its list
    of files cannot be read."""
    dataset = await bring_dataset(call, params.dataset)
    store = call.rooms.datasets
    files = await store.files(dataset.dataset)
    page = files[params.first : params.first + params.limit]
    return FilesReply(
        dataset.dataset,
        await store.named(dataset.dataset),
        dataset.dataset.startswith("tree:"),
        page,
        len(files),
        sum(each.size_bytes for each in files),
    )


@serves(READ_DATASET)
async def read_dataset(call: RequestContext, params: ReadDataset) -> DatasetPiece:
    """Bring a dataset here, waiting for it, and return a piece of one of its files; behind the
    file's end it is empty. Raises ``RefusedError`` where there is no such dataset or file, or it
    cannot be had or read, ``OSError`` where the list of its files cannot be."""
    dataset = await bring_dataset(call, params.dataset)
    store, name = call.rooms.datasets, dataset.dataset
    sizes = {each.path: each.size_bytes for each in await store.files(name)}
    if params.path not in sizes:
        what = f"no file {params.path}" if params.path else "several files: name one of them"
        raise RefusedError(
            ErrorCode.UNKNOWN, said("the dataset {name} has {what}", name=name[:20], what=what)
        )
    try:
        data = await store.read(name, params.path, params.offset, params.limit)
    except OSError as error:
        raise RefusedError(
            ErrorCode.REFUSED, said("read_dataset: {error}", error=str(error))
        ) from error
    return DatasetPiece(data, params.offset, sizes[params.path])
