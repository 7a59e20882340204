"""begin_upload: a client is about to send a file or a folder."""

import asyncio

from agent.api.datasets import BeginUpload, UploadBegun
from agent.api.methods import BEGIN_UPLOAD
from agent.control.call import Call, verb


async def serve(call: Call, params: BeginUpload) -> UploadBegun:
    """It is forgotten with the connection."""
    number = await asyncio.to_thread(call.uploads.begin, params.name, folder=params.folder)
    return UploadBegun(number)


VERB = verb(BEGIN_UPLOAD, serve)
