"""accept_program: a published program may run on this machine."""

from agent.api.methods import ACCEPT_PROGRAM
from agent.api.programs import AcceptProgram, Decided
from agent.control.call import Call, verb
from agent.control.program_views import find_published


async def serve(call: Call, params: AcceptProgram) -> Decided:
    """It is brought here, so that a fault of it is told now."""
    published = call.surface.published
    name = find_published(call.surface, params.program)
    await published.accept(name)
    return Decided(name, "accepted", len(published.waiting()))


VERB = verb(ACCEPT_PROGRAM, serve)
