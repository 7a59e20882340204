"""retry: what failed or was cancelled is tried again, with all that it needs."""

from agent.api.methods import RETRY
from agent.api.work import Retry, Wished
from agent.control.call import Call, verb
from agent.control.naming import find_task, find_workflow
from agent.control.wishes import TO_BE_NAMED, wish_of
from agent.protocol import events


async def serve(call: Call, params: Retry) -> Wished:
    """Answered with how many tasks are tried again."""
    table = call.surface.table
    workflow = find_workflow(table, params.workflow)
    tasks = tuple(find_task(table, task, workflow).task for task in params.tasks)
    name = workflow.spec.workflow
    return await wish_of(call, name, events.Retry(TO_BE_NAMED, name, tasks))


VERB = verb(RETRY, serve)
