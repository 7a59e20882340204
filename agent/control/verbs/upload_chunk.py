"""upload_chunk: a piece of what a client sends."""

import asyncio
from functools import partial

from agent.api.datasets import ChunkTaken, UploadChunk
from agent.api.methods import UPLOAD_CHUNK
from agent.api.rpc import ErrorCode
from agent.control.call import Call, verb
from agent.control.refusal import RefusedError


async def serve(call: Call, params: UploadChunk) -> ChunkTaken:
    """In order within each file: whoever sends several at once waits for the answers."""
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


VERB = verb(UPLOAD_CHUNK, serve)
