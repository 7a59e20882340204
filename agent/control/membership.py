"""What the verbs share that are about the flock."""

from agent.api.flock import MemberView
from agent.api.rpc import ErrorCode
from agent.api.wording import moment
from agent.control.naming import find_member
from agent.control.port import Belonging
from agent.control.refusal import RefusedError
from agent.control.request_context import RequestContext
from agent.wording.belonging import HOW_TO_JOIN, sent_away


def require_flock(call: RequestContext) -> Belonging:
    """Return the flock of this node. Raises ``RefusedError`` without one, telling how to join."""
    flock = call.now.flock
    if flock is None:
        raise RefusedError(ErrorCode.NO_FLOCK, HOW_TO_JOIN)
    return flock


def require_membership(call: RequestContext) -> Belonging:
    """Return the flock that this node belongs to. Raises ``RefusedError`` without one, and where it
    was sent away: such a node still knows its flock."""
    flock = require_flock(call)
    if flock.expelled:
        raise RefusedError(ErrorCode.NO_FLOCK, sent_away(flock.name))
    return flock


def other_member(call: RequestContext, reference: str) -> MemberView:
    """Return the member that is meant. Raises ``RefusedError`` where none or several are, saying of
    one that is gone when and how it went."""
    require_membership(call)
    members = call.rooms.flock.members()
    if not any(reference in (each.name, each.node) for each in members):
        for gone in call.rooms.flock.departures():
            if reference in (gone.name, gone.node):
                how = "was sent away from" if gone.expelled else "left"
                sentence = (
                    f"{gone.name} {how} the flock on {moment(gone.at_ms / 1000)}: it is not asked"
                )
                raise RefusedError(ErrorCode.UNKNOWN, sentence)
    return find_member(members, reference)
