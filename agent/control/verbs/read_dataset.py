"""read_dataset: a piece of a file of a dataset."""

from agent.api.datasets import DatasetPiece, ReadDataset
from agent.api.methods import READ_DATASET
from agent.api.rpc import ErrorCode
from agent.control.bringing import brought
from agent.control.call import Call, verb
from agent.control.refusal import RefusedError


async def serve(call: Call, params: ReadDataset) -> DatasetPiece:
    """Behind the end there is nothing, which is no fault."""
    dataset = await brought(call.surface, params.dataset)
    office, name = call.surface.datasets, dataset.dataset
    sizes = {each.path: each.size_bytes for each in await office.files(name)}
    if params.path not in sizes:
        what = f"no file {params.path}" if params.path else "several files: name one of them"
        raise RefusedError(ErrorCode.UNKNOWN, f"the dataset {name[:20]} has {what}")
    try:
        data = await office.read(name, params.path, params.offset, params.limit)
    except OSError as error:
        raise RefusedError(ErrorCode.REFUSED, f"read_dataset: {error}") from error
    return DatasetPiece(data, params.offset, sizes[params.path])


VERB = verb(READ_DATASET, serve)
