"""programs: what the flock can run, and where."""

import asyncio
from pathlib import Path

from agent.api.methods import PROGRAMS
from agent.api.programs import BrokenProgram, Programs, ProgramsReply
from agent.control.call import Call, verb
from agent.control.flock_programs import Told
from agent.control.program_views import descriptions, program_views


async def serve(call: Call, params: Programs) -> ProgramsReply:
    """In the order of names, with what the descriptions say here and on other machines."""
    folder = Path(call.surface.home.programs)
    described, broken = await asyncio.to_thread(descriptions, folder)
    told = Told() if params.own else await call.programs.told(described)
    return ProgramsReply(
        program_views(call.surface, described, told),
        tuple(BrokenProgram(name, fault) for name, fault in broken),
        told.missing(told.silent),
    )


VERB = verb(PROGRAMS, serve)
