"""priority: a workflow is to go before others, or after them."""

from agent.api.methods import PRIORITY
from agent.api.work import SetPriority, Wished
from agent.control.call import Call, verb
from agent.control.naming import find_workflow
from agent.control.verbs.submit import priority_value
from agent.control.wishes import TO_BE_NAMED, wish_of
from agent.protocol import events


async def serve(call: Call, params: SetPriority) -> Wished:
    """Moves what has not begun yet."""
    name = find_workflow(call.surface.table, params.workflow).spec.workflow
    event = events.Prioritise(TO_BE_NAMED, name, priority_value(params.priority))
    return await wish_of(call, name, event)


VERB = verb(PRIORITY, serve)
