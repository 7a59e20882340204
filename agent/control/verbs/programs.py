"""What the flock can run, and what may run here."""

import asyncio
from pathlib import Path

from agent.api.errors import RefusedError
from agent.api.programs import (
    ACCEPT_PROGRAM,
    FORGET_PROGRAM,
    PROGRAMS,
    PUBLISH,
    REFUSE_PROGRAM,
    AcceptProgram,
    BrokenProgram,
    Decided,
    ForgetProgram,
    Forgotten,
    Programs,
    ProgramsReply,
    Publish,
    Published,
    RefuseProgram,
)
from agent.api.rpc import ErrorCode
from agent.control.own_folders import refuse_own
from agent.control.program_views import ProgramAnswers, descriptions, find_published, program_views
from agent.control.request_context import RequestContext, serves
from agent.control.views import dataset_view
from agent.protocol.phrases import said


@serves(PROGRAMS)
async def programs(call: RequestContext, params: Programs) -> ProgramsReply:
    """Return what the flock can run and where, in the order of names, as described here or by
    machines that answer in time, what is missing for those that do not, and folders here that are
    no program. With ``own`` no other machine is asked."""
    folder = call.rooms.programs.folder
    described, broken = await asyncio.to_thread(descriptions, folder)
    told = ProgramAnswers() if params.own else await call.programs.answers(described)
    return ProgramsReply(
        program_views(call.now, call.rooms.programs, described, told),
        tuple(BrokenProgram(name, fault) for name, fault in broken),
        told.missing(told.silent),
    )


@serves(PUBLISH)
async def publish(call: RequestContext, params: Publish) -> Published:
    """Give a program folder of this machine to the flock, accept it here (with ``with_work`` only
    when work brings it), and return its name and dataset. Raises ``RefusedError`` where its path is
    not whole, for the agent does not know where the client is, there is no folder, or it is one of
    Wingbeat itself, ``ServiceError`` where it is no program or cannot be kept, ``OSError`` where it
    cannot be written that it is accepted."""
    folder = Path(params.folder)
    if not folder.is_absolute():
        raise RefusedError(
            ErrorCode.REFUSED,
            said(
                "publish: {folder} is no whole path, and the agent is elsewhere",
                folder=params.folder,
            ),
        )
    if not await asyncio.to_thread(folder.is_dir):
        raise RefusedError(
            ErrorCode.UNKNOWN, said("publish: there is no folder {folder}", folder=str(folder))
        )
    await asyncio.to_thread(refuse_own, folder)
    name, dataset = await call.rooms.programs.publish(folder, with_work=params.with_work)
    return Published(name, dataset_view(dataset))


@serves(ACCEPT_PROGRAM)
async def accept_program(call: RequestContext, params: AcceptProgram) -> Decided:
    """Fetch a published program, waiting for it, and let it run on this machine from now on. Raises
    ``ServiceError`` where it is unknown, cannot be had or is no program, ``RefusedError`` where
    several are meant, ``OSError`` where that cannot be written."""
    published = call.rooms.programs
    name = find_published(call.now.table, published, params.program)
    await published.accept(name)
    return Decided(name, "accepted", len(published.waiting()))


@serves(REFUSE_PROGRAM)
async def refuse_program(call: RequestContext, params: RefuseProgram) -> Decided:
    """Let a published program never run here and delete its folder, also if it was accepted before;
    what runs of it goes on. Raises ``ServiceError`` where it is unknown, ``RefusedError`` where
    several are meant, ``OSError`` where that cannot be written; what held before holds then."""
    published = call.rooms.programs
    name = find_published(call.now.table, published, params.program)
    await published.refuse(name)
    return Decided(name, "refused", len(published.waiting()))


@serves(FORGET_PROGRAM)
async def forget_program(call: RequestContext, params: ForgetProgram) -> Forgotten:
    """Delete a published program on this machine with what was decided about it, and return what
    that frees, or with ``trial`` would free; work that brings it asks anew. Raises ``ServiceError``
    where nothing is decided about it or unfinished work brings it, ``RefusedError`` where several
    are meant, ``OSError`` where that cannot be written or deleted."""
    published = call.rooms.programs
    name = find_published(call.now.table, published, params.program)
    return Forgotten(name, await published.forget(name, trial=params.trial))
