"""refuse_program: a published program never runs on this machine."""

from agent.api.methods import REFUSE_PROGRAM
from agent.api.programs import Decided, RefuseProgram
from agent.control.call import Call, verb
from agent.control.program_views import find_published


async def serve(call: Call, params: RefuseProgram) -> Decided:
    """What was accepted can be refused later."""
    published = call.surface.published
    name = find_published(call.surface, params.program)
    await published.refuse(name)
    return Decided(name, "refused", len(published.waiting()))


VERB = verb(REFUSE_PROGRAM, serve)
