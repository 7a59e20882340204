"""end_upload: what a client has sent becomes a dataset."""

import asyncio

from agent.api.datasets import DatasetAdded, EndUpload
from agent.api.methods import END_UPLOAD
from agent.api.rpc import ErrorCode
from agent.control.call import Call, verb
from agent.control.refusal import RefusedError
from agent.control.views import dataset_view


async def serve(call: Call, params: EndUpload) -> DatasetAdded:
    """Moved into the store, not copied; on other disks too as soon as it is there."""
    content, name = call.uploads.content(params.upload)
    try:
        dataset = await call.surface.datasets.add(content, name, move=True)
    except OSError as error:
        raise RefusedError(ErrorCode.REFUSED, f"end_upload: {error}") from error
    finally:
        await asyncio.to_thread(call.uploads.forget, params.upload)
    return DatasetAdded(dataset_view(dataset), name)


VERB = verb(END_UPLOAD, serve)
