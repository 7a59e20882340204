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
    """Let a client in that shows the token, and return who is here; with another token it is
    refused. Until then no other verb is heard. With ``node`` the conversation is passed on to that
    member.

    The token is compared in constant time: the other end may be anybody of this machine. A member
    has shown its certificate, which is more than a token.
    """
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
    """Tell the client what happens from now on, or from where it was cut off. Nothing is awaited
    here, so that the events follow the answer without a gap."""
    position = params.after or call.events.position
    call.events.check(position)
    call.follow(position)
    return Subscribed(position)


@serves(STOP)
async def stop(call: RequestContext, params: Stop) -> Stopping:
    """End the agent, after it has handed back what it runs. Answered before that; the end of the
    connection says that it is done."""
    call.stop(params.reason or "a client asked for it")
    return Stopping(call.now.node)
