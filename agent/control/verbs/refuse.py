"""refuse: a machine that asks is not let in."""

from agent.api.admission import Answered, Refuse
from agent.api.methods import REFUSE
from agent.control.admission import decided
from agent.control.call import Call, verb


async def serve(call: Call, params: Refuse) -> Answered:
    """It is told so; it may ask again."""
    return await decided(call, params.request, "", admit=False)


VERB = verb(REFUSE, serve)
