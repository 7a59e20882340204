"""cancel: tasks with all that depends on them, or a whole workflow."""

from agent.api.methods import CANCEL
from agent.api.work import Cancel, Wished
from agent.control.call import Call, verb
from agent.control.naming import find_task, find_workflow
from agent.control.wishes import TO_BE_NAMED, wish_of
from agent.protocol import events


async def serve(call: Call, params: Cancel) -> Wished:
    """Answered when the wish is kept; what runs is stopped after that."""
    table = call.surface.table
    workflow = find_workflow(table, params.workflow)
    tasks = tuple(find_task(table, task, workflow).task for task in params.tasks)
    name = workflow.spec.workflow
    return await wish_of(call, name, events.Cancel(TO_BE_NAMED, name, tasks))


VERB = verb(CANCEL, serve)
