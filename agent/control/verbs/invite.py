"""invite: a text, and a file of the same, by which other machines join."""

from agent.api.flock import Invitation, Invite
from agent.api.methods import INVITE
from agent.control.call import Call, verb
from agent.control.membership import required_membership


async def serve(call: Call, params: Invite) -> Invitation:
    """Only a keeper can; another member is told who is one."""
    flock = required_membership(call)
    invitation = await call.surface.invite(params.uses, params.hours * 3600)
    return Invitation(
        invitation.text,
        invitation.file.decode("utf-8"),
        flock.name,
        invitation.uses,
        max(0, round(invitation.expires_s * 1000)),
    )


VERB = verb(INVITE, serve)
