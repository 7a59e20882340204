"""asked: what has become of this machine's request."""

from agent.api.admission import Asked, AskView
from agent.api.methods import ASKED
from agent.control.admission import ask_view
from agent.control.call import Call, verb


async def serve(call: Call, params: Asked) -> AskView:  # noqa: ARG001 - it has none
    """The last one of this start of the agent."""
    return ask_view(call.surface.asking.asked())


VERB = verb(ASKED, serve)
