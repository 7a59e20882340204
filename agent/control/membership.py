"""What the verbs share that are about the flock."""

from agent.api.flock import Joined
from agent.api.rpc import ErrorCode
from agent.control.call import Call
from agent.control.refusal import RefusedError
from agent.service_facts import FlockFacts, MemberFacts

HOW_TO_JOIN = (
    "this machine belongs to no flock: join one with an invitation (`wingbeat flock join TEXT`), ask "
    "one nearby (`wingbeat flock nearby`), or make one (`wingbeat flock create NAME`)"
)


def required_flock(call: Call) -> FlockFacts:
    """The flock of this node; refuses without one, telling how to join."""
    flock = call.surface.flock
    if flock is None:
        raise RefusedError(ErrorCode.NO_FLOCK, HOW_TO_JOIN)
    return flock


def required_members(call: Call) -> list[MemberFacts]:
    """Who belongs; refuses without a flock."""
    required_flock(call)
    return call.surface.members()


def joined(call: Call, flock: FlockFacts) -> Joined:
    """What is told of a flock that this node belongs to from now on."""
    return Joined(flock.name, call.surface.node_id, call.surface.name)
