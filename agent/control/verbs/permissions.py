"""The leave of this machine's owner for what others publish, and asking for it elsewhere."""

import asyncio

from msgspec.structs import replace

from agent.api.errors import RefusedError, ServiceError
from agent.api.flock import ConfinementView
from agent.api.permissions import (
    ASK_OWNERS,
    DISTRUST,
    GRANT,
    PERMISSIONS,
    PERMIT,
    REMIND_OWNER,
    REVOKE,
    SCRIPTS,
    AskOwners,
    Distrust,
    Distrusted,
    Grant,
    Granted,
    OwnersAsked,
    PermissionAsked,
    Permissions,
    PermissionsReply,
    Permit,
    Permitted,
    Reminded,
    RemindOwner,
    Revoke,
    Scripts,
    ScriptsReply,
    TrustedMachine,
)
from agent.api.rpc import ErrorCode
from agent.client.errors import ClientError
from agent.control.dry_run import unaccepted
from agent.control.naming import find_workflow
from agent.control.request_context import RequestContext, serves
from agent.protocol.phrases import said
from agent.protocol.records import WorkflowSpec

ID_SHOWN = 12
KNOWN_WITHIN_S = 3.0


@serves(PERMISSIONS)
async def permissions(call: RequestContext, params: Permissions) -> PermissionsReply:
    """Return what the owner of this machine is asked, the oldest first, whom it trusts, which
    programs here ask for more than programs have, and what confines programs here, None where that
    is not found out within some seconds."""
    room, name_of = call.rooms.programs, call.now.name_of
    asked = tuple(_named(call, each) for each in room.questions())
    trusted = (TrustedMachine(node, name_of(node) or name) for node, name in room.trusted.items())
    trusting = tuple(sorted(trusted, key=lambda each: each.name))
    return PermissionsReply(asked, trusting, call.rooms.grants.wanting(), await _confined(call))


@serves(SCRIPTS)
async def scripts(call: RequestContext, params: Scripts) -> ScriptsReply:
    """Return the question about a workflow with all files of its programs, which are fetched for
    that. Raises ``RefusedError`` for a workflow that is unknown or where several are meant,
    ``ServiceError`` where nothing is asked or a program cannot be had."""
    meant = _meant(call, params.workflow)
    asked, found = await call.rooms.programs.scripts(meant.workflow)
    return ScriptsReply(_named(call, asked), found)


@serves(PERMIT)
async def permit(call: RequestContext, params: Permit) -> Permitted:
    """Answer the question about a workflow, waiting for its programs where they may run. Raises
    ``RefusedError`` for a workflow that is unknown or where several are meant, ``ServiceError``
    where nothing is asked, no machine can be trusted, or a program cannot be had, ``OSError`` where
    the answer cannot be written; it is asked again then."""
    room, found = call.rooms.programs, _meant(call, params.workflow)
    await room.permit(found.workflow, params.answer, call.now.name_of(found.host))
    return Permitted(found.workflow, found.name, params.answer, len(room.questions()))


@serves(GRANT)
async def grant(call: RequestContext, params: Grant) -> Granted:
    """Let a program of this machine have what its description asks for now. Raises ``ServiceError``
    where it is not here, asks for nothing, or for what nobody can allow, ``OSError`` where that
    cannot be written."""
    return Granted(params.program, await call.rooms.grants.grant(params.program))


@serves(REVOKE)
async def revoke(call: RequestContext, params: Revoke) -> Granted:
    """Take back what a program was allowed; what runs of it goes on. Raises ``OSError`` where that
    cannot be written."""
    return Granted(params.program, await call.rooms.grants.revoke(params.program))


@serves(DISTRUST)
async def distrust(call: RequestContext, params: Distrust) -> Distrusted:
    """Trust a machine no more, by its name or id. Raises ``RefusedError`` where none is called so,
    ``OSError`` where that cannot be written; it is trusted as before then."""
    room, name_of = call.rooms.programs, call.now.name_of
    for node, name in room.trusted.items():
        if params.machine in (node, name, name_of(node)):
            await room.distrust(node)
            return Distrusted(name_of(node) or name)
    raise RefusedError(
        ErrorCode.UNKNOWN, said('no machine "{machine}" is trusted here', machine=params.machine)
    )


@serves(ASK_OWNERS)
async def ask_owners(call: RequestContext, params: AskOwners) -> OwnersAsked:
    """Bring the question about a workflow up on the other linked machines that have not allowed its
    programs, and return who asks its owner now and who does not, as it has no such question (any
    more) or was not reached. Raises ``RefusedError`` for a workflow that is unknown."""
    table = call.now.table
    workflow = find_workflow(table, params.workflow).spec.workflow
    open_tasks = [table.specs[task] for task in table.unfinished.get(workflow, ())]
    brought = {spec.program: spec for spec in open_tasks if spec.published is not None}

    async def asks(node: str) -> bool:
        """Tell whether this machine asks its owner now; False where it cannot be asked."""
        try:
            reply = await call.members.ask(node, REMIND_OWNER, RemindOwner(workflow))
        except (ServiceError, ClientError):
            return False
        return reply.asks

    lacking = [
        each for each in call.now.peers if any(unaccepted(spec, each) for spec in brought.values())
    ]
    answers = await asyncio.gather(*(asks(each.node) for each in lacking))
    told = list(zip(lacking, answers, strict=True))
    return OwnersAsked(
        tuple(each.name for each, up in told if up), tuple(each.name for each, up in told if not up)
    )


@serves(REMIND_OWNER)
async def remind_owner(call: RequestContext, params: RemindOwner) -> Reminded:
    """Bring a question up again on this machine, at most once a minute, and return whether there is
    one."""
    return Reminded(call.rooms.programs.remind(params.workflow))


async def _confined(call: RequestContext) -> ConfinementView | None:
    """What holds here; None where trying takes longer than anybody waits for this."""
    try:
        async with asyncio.timeout(KNOWN_WITHIN_S):
            return await call.rooms.confinement.confined()
    except TimeoutError:
        return None


def _meant(call: RequestContext, reference: str) -> WorkflowSpec:
    """The workflow of the question that is meant: what asks here goes before all others."""
    asked = call.rooms.programs.questions()
    found = [each for each in asked if reference in (each.workflow, each.name)] or [
        each for each in asked if each.workflow.startswith(reference)
    ]
    if len(found) > 1:
        ids = ", ".join(each.workflow[:ID_SHOWN] for each in found)
        raise RefusedError(
            ErrorCode.AMBIGUOUS,
            said(
                '"{reference}" may mean {several} {names}: write more of it',
                reference=reference,
                several=said("the workflows"),
                names=ids,
            ),
        )
    workflow = found[0].workflow if found else reference
    return find_workflow(call.now.table, workflow).spec


def _named(call: RequestContext, asked: PermissionAsked) -> PermissionAsked:
    """With the name of its machine."""
    return replace(asked, machine=call.now.name_of(asked.node)) if asked.node else asked
