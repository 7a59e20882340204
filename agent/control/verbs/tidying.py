"""Finished work that nobody wants to see any more, and what goes with it."""

from agent.api.errors import RefusedError, ServiceError
from agent.api.past import REMOVE, Remove, Removed
from agent.api.rpc import ErrorCode
from agent.control.naming import find_workflow
from agent.control.request_context import RequestContext, serves
from agent.control.wishes import TO_BE_NAMED, wish
from agent.protocol import events
from agent.protocol.phrases import said
from agent.protocol.records import Workflow


@serves(REMOVE)
async def remove(call: RequestContext, params: Remove) -> Removed:
    """Have workflows that have ended leave the table, delete what only they needed here and what
    their tasks have printed, as far as that lies here, and, if that is wanted, forget them in the
    history; return what went, or in a trial what would. Raises ``RefusedError`` for one that is
    unknown, goes on, is needed, or was submitted on another machine that still belongs to the flock;
    ``ServiceError`` where something cannot be looked at or deleted."""
    meant = await _meant(call, params)
    found = [each for each in meant if each.spec.workflow in call.now.table.workflows]
    names = {each.spec.workflow: each.spec.name for each in meant}
    tasks = [task.task for each in meant for task in each.spec.tasks]
    for each in found:
        _may_go(call, each)
    workflows = tuple(each.spec.workflow for each in found)
    past = tuple(names) if params.past else ()
    await call.rooms.history.past.settle()  # what has just ended is kept before it goes
    alone = await call.rooms.datasets.only_of(workflows)
    try:
        logs_bytes = await call.rooms.copies.size_of(tasks)
    except OSError as error:
        raise ServiceError(f"what they printed cannot be looked at: {error}") from error
    if not params.trial:
        for name in workflows:
            await wish(call, events.Remove(TO_BE_NAMED, name))
        try:
            await call.rooms.datasets.let_go(alone)
            await call.rooms.copies.let_go(tasks)
        except OSError as error:
            raise ServiceError(f"not all of what they left could be deleted: {error}") from error
        if past:
            past = tuple(await call.rooms.history.past.forget(list(past)))
    return Removed(workflows, past, len(alone), sum(alone.values()), names, logs_bytes)


async def _meant(call: RequestContext, params: Remove) -> list[Workflow]:
    """Each once; one that is only in the history can only be forgotten."""
    table, found = call.now.table, dict[str, Workflow]()
    for each in params.workflows:
        try:
            workflow = find_workflow(table, each)
        except RefusedError:
            kept = await call.rooms.history.past.recall(each) if params.past else None
            if kept is None:
                raise
            workflow = find_workflow(kept.table, each)
        found[workflow.spec.workflow] = workflow
    return list(found.values())


def _may_go(call: RequestContext, workflow: Workflow) -> None:
    """Results belong to whoever wanted them, as far as that machine is still there to be asked."""
    now, host = call.now, workflow.spec.host
    if host == now.node or all(each.node != host for each in call.rooms.flock.members()):
        return
    raise RefusedError(
        ErrorCode.REFUSED,
        said(
            "{workflow} was submitted on {host}: remove it there",
            workflow=workflow.spec.name,
            host=now.name_of(host),
        ),
    )
