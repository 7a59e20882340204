"""A dataset that a client wants to read is brought to this disk first."""

from __future__ import annotations

from agent.api.rpc import ErrorCode
from agent.control.dataset_names import find_dataset
from agent.control.refusal import RefusedError
from agent.control.request_context import RequestContext
from agent.protocol.records import Dataset


async def bring_dataset(call: RequestContext, reference: str) -> Dataset:
    """Bring the dataset that is meant to this disk, and return it. Raises ``RefusedError`` where it
    is unknown, not kept by the flock or cannot be had."""
    dataset = find_dataset(call.now.table, reference)
    if dataset.external or ":" not in dataset.dataset:
        sentence = f"{dataset.dataset} is not kept by the flock: only its identifier is known"
        raise RefusedError(ErrorCode.REFUSED, sentence)
    try:
        await call.rooms.datasets.bring(dataset.dataset)
    except OSError as error:
        sentence = f"{dataset.dataset[:20]} cannot be had: {error}"
        raise RefusedError(ErrorCode.REFUSED, sentence) from error
    return dataset
