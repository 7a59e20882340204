"""Acts on the flock, for administrators."""

from agent.api.administration import (
    APPOINT,
    NEW_PHRASE,
    RECOVER,
    SET_ROLE,
    UPGRADE_FLOCK,
    Acted,
    Appoint,
    NewPhrase,
    PhraseShown,
    Recover,
    Recovered,
    SetRole,
    UpgradeFlock,
)
from agent.control.membership import require_membership
from agent.control.naming import find_member
from agent.control.request_context import RequestContext, serves


@serves(APPOINT)
async def appoint(call: RequestContext, params: Appoint) -> Acted:
    """Make a member an administrator or keeper, or end that; return who has said so where that is not
    enough. Raises ``RefusedError`` without a flock and where none or several are meant,
    ``ServiceError`` where this machine may not, or the recovery phrase is wanted."""
    return await call.rooms.flock.administration.appoint(
        _member(call, params.member), params.what, params.phrase, withdraw=params.withdraw
    )


@serves(SET_ROLE)
async def set_role(call: RequestContext, params: SetRole) -> Acted:
    """Make a member an operator or a helper; returns and raises what ``appoint`` does."""
    room = call.rooms.flock.administration
    return await room.set_role(_member(call, params.member), params.role, params.phrase)


@serves(RECOVER)
async def recover(call: RequestContext, params: Recover) -> Recovered:
    """Make this machine the flock's only administrator, or with ``check`` only check the phrase;
    return the flock's name. Raises ``RefusedError`` without a flock, ``ServiceError`` where it is
    not the phrase."""
    require_membership(call)
    room = call.rooms.flock.administration
    return Recovered(await room.recover(params.phrase, check=params.check))


@serves(UPGRADE_FLOCK)
async def upgrade_flock(call: RequestContext, params: UpgradeFlock) -> PhraseShown:
    """Give a flock of before administrators, and return its recovery phrase, this once. Raises
    ``RefusedError`` without a flock, ``ServiceError`` where it has some, or this is no keeper."""
    require_membership(call)
    return await call.rooms.flock.administration.upgrade()


@serves(NEW_PHRASE)
async def new_phrase(call: RequestContext, params: NewPhrase) -> PhraseShown:
    """Draw another recovery phrase, or agree to one that another administrator has drawn. Raises
    ``RefusedError`` without a flock, ``ServiceError`` on a machine that may not."""
    require_membership(call)
    return await call.rooms.flock.administration.renew_phrase(params.phrase)


def _member(call: RequestContext, reference: str) -> str:
    require_membership(call)
    return find_member(call.rooms.flock.members(), reference).node
