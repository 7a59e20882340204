"""What a submission must satisfy before it becomes a record, and what is wrong when it does not.

All rules of a submission are here. Files have theirs beside them, of what their author wrote; what
they come to is held to these again, as is whatever else a client sends.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from agent.protocol.events import Submit
from agent.protocol.names import fault_of_names
from agent.protocol.phrases import Phrase, said
from agent.protocol.records import PRIORITY_INTERACTIVE, TaskSpec, WorkflowSpec
from agent.protocol.sanity import contradiction, producers_of
from agent.protocol.table import Table

WORKFLOW_BYTES_MAX = 16 * 1024 * 1024
"""A workflow travels in one message with its lives, which must stay below the codec's limit."""
NAME_SHOWN_MAX, WHY_SHOWN_MAX = 128, 160

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(WorkflowSpec).decode


def fault_of(event: Submit, table: Table) -> Phrase | None:
    """Return the first thing that is wrong with the submission, in itself or beside what is in the
    table; None when nothing is.

    A task that is not known is named by its id: what its author calls it, the client knows.
    """
    name = event.name
    if event.workflow in table.prunings:
        return said(
            "workflow {workflow} was finished and cleaned up; submit it anew", workflow=name
        )
    if not event.tasks:
        return said("workflow {workflow} has no tasks; give it at least one", workflow=name)
    if not 0 <= event.priority <= PRIORITY_INTERACTIVE:
        return said(
            "priority {priority} of {workflow} is not between 0 and {most}",
            priority=event.priority,
            workflow=name,
            most=PRIORITY_INTERACTIVE,
        )
    return (
        fault_of_names(_names(event))
        or _unreadable(event)
        or contradiction(event.tasks)
        or next(filter(None, map(_misfit, event.tasks)), None)
        or _conflict(event, table)
    )


def _names(event: Submit) -> Iterator[str]:
    yield from (event.name, event.submitter)
    for spec in event.tasks:
        needs = spec.requirements
        yield from (spec.name, spec.program, needs.system, needs.architecture, *needs.tags)


def _unreadable(event: Submit) -> Phrase | None:
    """Peers decode against the types; what they could not read is not accepted here."""
    spec = WorkflowSpec(
        *(event.workflow, event.name, (0, 0), "me", event.submitter),
        *(tuple(event.tasks), event.more),
    )
    try:
        data = _encode(spec)
        _decode(data)
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError, TypeError) as error:
        name, why = event.name[:NAME_SHOWN_MAX], str(error)[:WHY_SHOWN_MAX]
        return said("workflow {workflow} cannot be kept: {why}", workflow=name, why=why)
    if len(data) > WORKFLOW_BYTES_MAX:
        return said(
            "workflow {workflow} takes {bytes} bytes, at most {most} fit; split it",
            workflow=event.name,
            bytes=len(data),
            most=WORKFLOW_BYTES_MAX,
        )
    return None


def _misfit(spec: TaskSpec) -> Phrase | None:
    """What is wrong with a task alone."""
    name = f'"{spec.name}"'
    if spec.gate and spec.program:
        return said("task {task} is a gate and cannot have a program", task=name)
    if not spec.gate and not spec.program:
        return said("task {task} names no program", task=name)
    return None


def _conflict(event: Submit, table: Table) -> Phrase | None:
    own = {spec.task for spec in event.tasks}
    for spec in event.tasks:
        name = f'"{spec.name}"'
        if spec.task in table.specs:
            there = table.workflows[table.workflow_of[spec.task]].spec.name
            return said("task {task} is already in {workflow}", task=name, workflow=there)
        for producer in producers_of(spec):
            if producer not in own and producer not in table.specs:
                return said(
                    "task {task} needs {other}, which is not known here", task=name, other=producer
                )
    return None
