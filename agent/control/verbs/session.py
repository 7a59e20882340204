"""Who is here, what happens, and the end of the agent."""

from agent import __version__
from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.api.session import (
    EVENTS,
    HELLO,
    PROVE,
    STOP,
    Events,
    Hello,
    Proof,
    Prove,
    Stop,
    Stopping,
    Subscribed,
    Welcome,
)
from agent.api.update import START_ANEW, StartAnew, StartingAnew
from agent.api.values import CLIENT_PROTOCOL
from agent.control.request_context import RequestContext, serves


@serves(PROVE)
async def prove(call: RequestContext, params: Prove) -> Proof:
    """Return this agent's proof that it holds the token; asked before anything else."""
    return Proof(*call.neighbour.prove(params.nonce))


@serves(HELLO)
async def hello(call: RequestContext, params: Hello) -> Welcome:
    """Let a client in that shows the token, or on a pipe or port its proof, which a member need not,
    and return who is here; with ``node`` that other member answers this and all that follows. Raises
    ``RefusedError`` for another one, and where that member is unknown or does not answer."""
    if not (call.member or call.neighbour.may_enter(params.token)):
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            "the token is not the one of this start of the agent: read control.json again"
            if call.neighbour.account is not None
            else "on a port or pipe both sides prove that they hold the token: ask to `prove` first",
        )
    if params.node and (elsewhere := await call.pass_on(params)) is not None:
        return elsewhere
    now = call.now
    return Welcome(CLIENT_PROTOCOL, __version__, now.node, now.name, call.events.position)


@serves(EVENTS)
async def events(call: RequestContext, params: Events) -> Subscribed:
    """Tell the client, after this answer, what happens from now on, or all that has since the place
    where it was cut off, in place of what it followed before. Raises ``RefusedError`` where events
    after that place are forgotten, or it is ahead or of another start of the agent; nothing is
    awaited here, so that no gap comes."""
    position = params.after or call.events.position
    call.events.check(position)
    call.follow(position, params.also)
    return Subscribed(position)


@serves(STOP)
async def stop(call: RequestContext, params: Stop) -> Stopping:
    """Have the agent hand back what it runs and then end; answered at once, before that. The end of
    the connection says that it is done."""
    call.stop(params.reason or "a client asked for it")
    return Stopping(call.now.node)


@serves(START_ANEW)
async def start_anew(call: RequestContext, params: StartAnew) -> StartingAnew:
    """Have the agent begin with the version that is installed, when what runs here has ended or at
    once; answered before that. Raises ``RefusedError`` where no other is installed and no setting
    waits for it."""
    return StartingAnew(call.rooms.updates.start_anew(params))
