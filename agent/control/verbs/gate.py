"""gate: a person has done the step that a gate waits for."""

from agent.api.methods import GATE
from agent.api.work import Gate, Wished
from agent.control.call import Call, verb
from agent.control.naming import find_task
from agent.control.wishes import TO_BE_NAMED, wish_of
from agent.protocol import events, records


async def serve(call: Call, params: Gate) -> Wished:
    """The datasets that are attached are the gate's outputs."""
    table = call.surface.table
    task = find_task(table, params.task).task
    outputs = tuple(
        records.Dataset(each.dataset, each.size_bytes, each.external) for each in params.outputs
    )
    event = events.MarkGate(TO_BE_NAMED, task, outputs)
    return await wish_of(call, table.workflow_of[task], event)


VERB = verb(GATE, serve)
