"""What a submission must satisfy before it becomes a record; one sentence when it does not."""

from __future__ import annotations

import msgspec

from agent.protocol.events import Submit
from agent.protocol.records import PRIORITY_INTERACTIVE, WorkflowSpec
from agent.protocol.specs import contradiction, producers_of
from agent.protocol.table import Table

WORKFLOW_BYTES_MAX = 16 * 1024 * 1024
"""A workflow travels in one message with its lives, which must stay below the codec's limit."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(WorkflowSpec).decode


def fault_of(event: Submit, table: Table) -> str:
    """Return what is wrong with a submission, the first fault only; empty when nothing is."""
    name = event.workflow
    if name in table.prunings:
        return f"workflow {name} was finished and cleaned up; choose another name"
    if not event.tasks:
        return f"workflow {name} has no tasks; give it at least one"
    if not 0 <= event.priority <= PRIORITY_INTERACTIVE:
        return f"priority {event.priority} of {name} is not between 0 and {PRIORITY_INTERACTIVE}"
    return _unreadable(event) or contradiction(event.tasks) or _conflict(event, table)


def _unreadable(event: Submit) -> str:
    """Peers decode against the types; what they could not read is not accepted here."""
    spec = WorkflowSpec(
        event.workflow, event.name, (0, 0), "me", event.submitter, tuple(event.tasks)
    )
    try:
        data = _encode(spec)
        _decode(data)
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError, TypeError) as error:
        return f"workflow {event.workflow[:128]} cannot be kept: {str(error)[:160]}"
    if len(data) > WORKFLOW_BYTES_MAX:
        return (
            f"workflow {event.workflow} takes {len(data)} bytes, at most {WORKFLOW_BYTES_MAX} "
            "fit; split it"
        )
    return ""


def _conflict(event: Submit, table: Table) -> str:
    own = {spec.task for spec in event.tasks}
    for spec in event.tasks:
        if spec.task in table.specs:
            return f"task {spec.task} is already in {table.workflow_of[spec.task]}"
        for producer in producers_of(spec):
            if producer not in own and producer not in table.specs:
                return f"task {spec.task} needs {producer}, which no workflow known here has"
    return ""
