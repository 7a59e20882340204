"""hello: the token, and who is here. Until it was said no other verb is heard."""

import secrets

from agent import __version__
from agent.api.methods import HELLO
from agent.api.rpc import ErrorCode
from agent.api.session import Hello, Welcome
from agent.api.values import CLIENT_PROTOCOL
from agent.control.call import Call, verb
from agent.control.refusal import RefusedError


async def serve(call: Call, params: Hello) -> Welcome:
    """Compared in constant time: the other end may be anybody of this machine.

    Another member has shown its certificate, which is more than a token.
    """
    right = secrets.compare_digest(params.token.encode(), call.token.encode())
    if not (call.member or right):
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            "the token is not the one of this start of the agent: read control.json again",
        )
    if params.node and (elsewhere := await call.pass_on(params)) is not None:
        return elsewhere
    surface = call.surface
    return Welcome(
        CLIENT_PROTOCOL, __version__, surface.node_id, surface.name, call.events.position
    )


VERB = verb(HELLO, serve)
