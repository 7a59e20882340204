"""stop: the agent ends, after it has handed back what it runs."""

from agent.api.methods import STOP
from agent.api.session import Stop, Stopping
from agent.control.call import Call, verb


async def serve(call: Call, params: Stop) -> Stopping:
    """Answered before it is done; the end of the connection says that it was."""
    call.stop(params.reason or "a client asked for it")
    return Stopping(call.surface.node_id)


VERB = verb(STOP, serve)
