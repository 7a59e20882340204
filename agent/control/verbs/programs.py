"""programs: what the flock can run, and where."""

import asyncio
from pathlib import Path

from agent.api.methods import PROGRAMS
from agent.api.programs import BrokenProgram, Programs, ProgramsReply
from agent.control.call import Call, verb
from agent.control.program_views import descriptions, program_views


async def serve(call: Call, params: Programs) -> ProgramsReply:  # noqa: ARG001 - it has none
    """In the order of names; what is installed here with what its description says."""
    folder = Path(call.surface.home.programs)
    described, broken = await asyncio.to_thread(descriptions, folder)
    return ProgramsReply(
        program_views(call.surface, described),
        tuple(BrokenProgram(name, fault) for name, fault in broken),
    )


VERB = verb(PROGRAMS, serve)
