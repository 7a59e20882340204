"""Who is here, what happens, and the end of the agent."""

import secrets

from agent import __version__
from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.api.session import (
    EVENTS,
    HELLO,
    STOP,
    Events,
    Hello,
    Stop,
    Stopping,
    Subscribed,
    Welcome,
)
from agent.api.values import CLIENT_PROTOCOL
from agent.control.request_context import RequestContext, serves


@serves(HELLO)
async def hello(call: RequestContext, params: Hello) -> Welcome:
    """Let a client in that shows the token, which a member need not, and return who is here; with
    ``node`` that other member answers this and all that follows. Raises ``RefusedError`` for
    another token, compared in constant time, and where that member is unknown or does not
    answer."""
    right = secrets.compare_digest(params.token.encode(), call.token.encode())
    if not (call.member or right):
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            "the token is not the one of this start of the agent: read control.json again",
        )
    if params.node and (elsewhere := await call.pass_on(params)) is not None:
        return elsewhere
    now = call.now
    return Welcome(CLIENT_PROTOCOL, __version__, now.node, now.name, call.events.position)


@serves(EVENTS)
async def events(call: RequestContext, params: Events) -> Subscribed:
    """Tell the client, after this answer, what happens from now on, or all that has since the place
    where it was cut off, in place of what it followed before. Raises ``RefusedError`` where events
    after that place are forgotten; nothing is awaited here, so that no gap comes."""
    position = params.after or call.events.position
    call.events.check(position)
    call.follow(position)
    return Subscribed(position)


@serves(STOP)
async def stop(call: RequestContext, params: Stop) -> Stopping:
    """Have the agent hand back what it runs and then end; answered at once, before that. The end of
    the connection says that it is done."""
    call.stop(params.reason or "a client asked for it")
    return Stopping(call.now.node)
