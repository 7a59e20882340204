"""The flock, its machines, and what is wrong with either."""

from collections.abc import Iterator

from agent.api.flock import (
    DOCTOR,
    EXPEL,
    FLOCK_CREATE,
    HAND_OVER,
    INVITE,
    JOIN,
    LEAVE,
    MEMBERS,
    PEERS,
    ConfinementView,
    Doctor,
    DoctorReply,
    Expel,
    Expelled,
    Finding,
    HandedOver,
    HandOver,
    Invitation,
    Invite,
    Leave,
    Left,
    Members,
    MembersReply,
    Peers,
    PeersReply,
)
from agent.api.reasons import AnswerWanted, AsksToBeLetIn, Diagnosis, Reason, as_why
from agent.api.update import newer_elsewhere, standing_of
from agent.api.volunteering import NOT_YET
from agent.control.membership import (
    open_requests,
    require_flock,
    require_membership,
)
from agent.control.naming import find_member
from agent.control.request_context import RequestContext, serves
from agent.control.views import node_view, peer_views
from agent.wording.speech import english


@serves(PEERS)
async def peers(call: RequestContext, params: Peers) -> PeersReply:
    """Return this machine and the others, linked or not, in the order of names, with what they have
    in hand; those without a link with what is known of why; and what this machine warns of now."""
    views = call.views
    wrong = views.now.warning
    said = "" if wrong is None else english(wrong)
    return PeersReply(node_view(views), peer_views(views), said, as_why(wrong))


@serves(MEMBERS)
async def members(call: RequestContext, params: Members) -> MembersReply:
    """Return who belongs to the flock, in the order of names, and who left it or was expelled.
    Raises ``RefusedError`` without a flock."""
    flock = require_flock(call)
    room = call.rooms.flock
    members = sorted(room.members(), key=lambda each: (each.name, each.node))
    return MembersReply(flock.name, tuple(members), tuple(room.departures()))


flock_create = serves(FLOCK_CREATE)(lambda call, params: call.rooms.flock.create(params.name))
"""Found a flock with this machine as its first member; refused where it belongs to one
already."""


@serves(INVITE)
async def invite(call: RequestContext, params: Invite) -> Invitation:
    """Make an invitation for so many machines and hours, and return it as a text, and a file of the
    same, by which they join. Raises ``RefusedError`` without a flock, ``ServiceError`` where this
    node cannot invite; one that is no keeper is told who is."""
    require_membership(call)
    return await call.rooms.flock.invite(params.uses, params.hours * 3600, params.role)


join = serves(JOIN)(lambda call, params: call.rooms.flock.join(params.invitation))
"""Join the flock that invites this machine; what it has in its table goes with it."""


@serves(EXPEL)
async def expel(call: RequestContext, params: Expel) -> Expelled:
    """Send a member away for ever, by its id or name; return who it was, with a warning where it
    was a keeper, else an empty one, and who has said so where that is not enough. Raises
    ``RefusedError`` without a flock and where none or several are meant, ``ServiceError`` for this
    machine itself and where it is no administrator's."""
    require_membership(call)
    member = find_member(call.rooms.flock.members(), params.member)
    return await call.rooms.flock.expel(member.node, params.phrase)


@serves(HAND_OVER)
async def hand_over(call: RequestContext, params: HandOver) -> HandedOver:
    """Have other machines take what only this one keeps, from now on, until it is started again;
    wait until nothing of it is left, at most as long as is asked, and return what is left."""
    return await call.rooms.datasets.hand_over(params.within_s)


@serves(LEAVE)
async def leave(call: RequestContext, params: Leave) -> Left:
    """Hand back what this machine runs, then leave the flock; return a warning, or an empty one.
    Raises ``RefusedError`` without a flock, ``ServiceError`` for its last keeper, unless it
    insists."""
    flock = require_flock(call)
    warning = await call.rooms.flock.leave(even_as_last_keeper=params.even_as_last_keeper)
    return Left(flock.name, warning)


@serves(DOCTOR)
async def doctor(call: RequestContext, params: Doctor) -> DoctorReply:
    """Return why machines are not seen, or this one does not work, in sentences with what to do,
    who asks to be let in, that nobody has said when it may help, which settings the policy
    overrules, which versions are installed here or run elsewhere, and what holds programs back. All
    but the last is from what this node knows, nothing is tried out."""
    now, confined = call.now, await call.rooms.confinement.confined()
    requests = open_requests(call.rooms.flock.requests())
    asking: list[Reason] = [AsksToBeLetIn(each.name, each.user) for each in requests]
    if call.rooms.presence.view().rules.mode == NOT_YET:
        asking.append(AnswerWanted())
    asking += [*call.rooms.flock.administration.waiting(), *now.overruled]
    if now.status.update is not None:
        asking.append(standing_of(now.status.update))
    asking += newer_elsewhere(((each.name, each.version) for each in now.peers), now.status.version)
    waiting, whys = tuple(map(english, asking)), tuple(map(as_why, asking))
    findings = (*_unconfined(confined, now.name), *now.findings())
    return DoctorReply(findings, len(now.peers), len(now.away), waiting, whys, confined)


def _unconfined(found: ConfinementView, name: str) -> Iterator[Finding]:
    if found.rule == "off":
        why = Diagnosis("ConfinementOff")
    elif found.holds:
        return
    else:
        why = Diagnosis("ConfinedNothing", error=found.error)
    yield Finding("confinement", english(why), name, as_why(why))
