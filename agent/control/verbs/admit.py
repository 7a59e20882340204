"""admit: a machine that asks is let in."""

from agent.api.admission import Admit, Answered
from agent.api.methods import ADMIT
from agent.control.admission import decided
from agent.control.call import Call, verb


async def serve(call: Call, params: Admit) -> Answered:
    """It belongs as soon as it has come, which it does when a person there agrees too."""
    return await decided(call, params.request, params.code, admit=True)


VERB = verb(ADMIT, serve)
