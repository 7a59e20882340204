"""status: this node and the workflows, the newest first."""

from agent.api.methods import STATUS
from agent.api.work import Status, StatusReply
from agent.control.call import Call, verb
from agent.control.machines import node_view


async def serve(call: Call, params: Status) -> StatusReply:
    """All of one moment: nothing is awaited between the first word and the position."""
    surface = call.surface
    workflows = sorted(
        surface.table.workflows.values(),
        key=lambda each: (each.spec.submitted, each.spec.workflow),
        reverse=True,
    )
    page = workflows[params.first : params.first + params.limit]
    return StatusReply(
        node_view(surface, surface.facts(), call.views),
        tuple(call.views.workflow(workflow) for workflow in page),
        len(workflows),
        call.events.position,
    )


VERB = verb(STATUS, serve)
