"""ask: this machine wants to join a flock that nobody invited it to."""

from agent.api.admission import Ask, AskView
from agent.api.methods import ASK
from agent.control.admission import ask_view, refusing
from agent.control.call import Call, verb


async def serve(call: Call, params: Ask) -> AskView:
    """The flock's people see the request when this is answered."""
    with refusing():
        return ask_view(await call.surface.asking.ask(params.flock))


VERB = verb(ASK, serve)
