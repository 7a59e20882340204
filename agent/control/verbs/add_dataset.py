"""add_dataset: a file or folder of this machine is taken into the store."""

import asyncio
from pathlib import Path

from agent.api.datasets import AddDataset, DatasetAdded
from agent.api.methods import ADD_DATASET
from agent.api.rpc import ErrorCode
from agent.control.call import Call, verb
from agent.control.refusal import RefusedError
from agent.control.views import dataset_view


async def serve(call: Call, params: AddDataset) -> DatasetAdded:
    """By its whole path: the agent does not know where the client is."""
    path = Path(params.path)
    if not path.is_absolute():
        sentence = f"add_dataset: {params.path} is no whole path, and the agent is elsewhere"
        raise RefusedError(ErrorCode.REFUSED, sentence)
    try:
        there = await asyncio.to_thread(path.exists)
        if not there:
            raise RefusedError(ErrorCode.UNKNOWN, f"add_dataset: there is no {path}")
        dataset = await call.surface.datasets.add(path)
    except OSError as error:
        raise RefusedError(ErrorCode.REFUSED, f"add_dataset: {error}") from error
    return DatasetAdded(dataset_view(dataset), path.name)


VERB = verb(ADD_DATASET, serve)
