"""confirm_ask: a person here says that the keeper shows the same code."""

from agent.api.admission import AskView, ConfirmAsk
from agent.api.methods import CONFIRM_ASK
from agent.control.admission import ask_view
from agent.control.call import Call, verb


async def serve(call: Call, params: ConfirmAsk) -> AskView:
    """Only with the code of the request that is open, so that no other one is meant."""
    return ask_view(call.surface.asking.confirm(params.code))


VERB = verb(CONFIRM_ASK, serve)
