"""show: the tasks of one workflow."""

from agent.api.methods import SHOW
from agent.api.work import Show, ShowReply
from agent.control.call import Call, verb
from agent.control.naming import find_workflow


async def serve(call: Call, params: Show) -> ShowReply:
    """A page of tasks. One that belongs to another workflow, which named it first, is left out."""
    table = call.surface.table
    workflow = find_workflow(table, params.workflow)
    name = workflow.spec.workflow
    page = workflow.spec.tasks[params.first : params.first + params.limit]
    return ShowReply(
        call.views.workflow(workflow),
        tuple(call.views.task(each) for each in page if table.workflow_of.get(each.task) == name),
        params.first,
        call.events.position,
    )


VERB = verb(SHOW, serve)
