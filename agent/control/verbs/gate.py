"""gate: a person has done the step that a gate waits for."""

from agent.api.methods import GATE
from agent.api.rpc import ErrorCode
from agent.api.work import Gate, Wished
from agent.control.call import Call, verb
from agent.control.gates import attachment_fault
from agent.control.naming import find_task
from agent.control.refusal import RefusedError
from agent.control.wishes import TO_BE_NAMED, wish_of
from agent.protocol import events, records
from agent.protocol.states import TaskState


async def serve(call: Call, params: Gate) -> Wished:
    """The datasets that are attached are the gate's outputs."""
    table = call.surface.table
    spec = find_task(table, params.task)
    task, workflow = spec.task, table.workflow_of[spec.task]
    tasks = table.workflows[workflow].spec.tasks
    if not spec.gate:
        sentence = f"{spec.name} is no gate: a program does it, and says itself when it is done"
        raise RefusedError(ErrorCode.REFUSED, sentence)
    reading = table.reading(task)
    waits = reading is not None and reading.state is TaskState.WAITING  # else the node says why not
    fault = attachment_fault(spec, len(params.outputs), tasks) if waits else ""
    if fault:
        raise RefusedError(ErrorCode.REFUSED, fault)
    outputs = tuple(
        records.Dataset(each.dataset, each.size_bytes, each.external) for each in params.outputs
    )
    event = events.MarkGate(TO_BE_NAMED, task, outputs)
    return await wish_of(call, workflow, event)


VERB = verb(GATE, serve)
