"""withdraw_ask: this machine does not want to join any more."""

from agent.api.admission import AskView, WithdrawAsk
from agent.api.methods import WITHDRAW_ASK
from agent.control.admission import ask_view
from agent.control.call import Call, verb


async def serve(call: Call, params: WithdrawAsk) -> AskView:  # noqa: ARG001 - it has none
    """Without a request nothing happens."""
    return ask_view(await call.surface.asking.withdraw())


VERB = verb(WITHDRAW_ASK, serve)
