"""publish: a program folder of this machine is given to the flock."""

import asyncio
from pathlib import Path

from agent.api.methods import PUBLISH
from agent.api.programs import Publish, Published
from agent.api.rpc import ErrorCode
from agent.control.call import Call, verb
from agent.control.refusal import RefusedError
from agent.control.views import dataset_view


async def serve(call: Call, params: Publish) -> Published:
    """By its whole path: the agent does not know where the client is."""
    folder = Path(params.folder)
    if not folder.is_absolute():
        sentence = f"publish: {params.folder} is no whole path, and the agent is elsewhere"
        raise RefusedError(ErrorCode.REFUSED, sentence)
    if not await asyncio.to_thread(folder.is_dir):
        raise RefusedError(ErrorCode.UNKNOWN, f"publish: there is no folder {folder}")
    name, dataset = await call.surface.published.publish(folder)
    return Published(name, dataset_view(dataset))


VERB = verb(PUBLISH, serve)
