"""What the verbs share that wish something of the table: the way in, and what came of it."""

from __future__ import annotations

from typing import Literal

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.api.work import Wished
from agent.control.naming import with_names
from agent.control.port import Wish
from agent.control.request_context import RequestContext
from agent.protocol.effects import Answer, Verdict
from agent.protocol.events import Submit
from agent.protocol.phrases import Phrase, said
from agent.protocol.records import TaskId, WorkflowId
from agent.protocol.table import Table

TO_BE_NAMED = ""
"""The node gives requests their ids."""


async def wish(call: RequestContext, event: Wish) -> Answer:
    """Hand a wish to the node, wait for its answer and return it. Raises ``RefusedError`` where the
    node refuses, naming tasks, and for a submission on a machine that only helps; ``ServiceError``
    when the node does not take it."""
    if isinstance(event, Submit) and _only_helps(call):
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            said(
                "this machine is a helper in its flock: it runs what others submit, and submits nothing"
            ),
        )
    answer = await call.node.ask(event)
    if answer.verdict is not Verdict.REFUSED:
        return answer
    fault = answer.fault or Phrase("{text}", {"text": answer.text})
    known = {task: call.now.table.specs[task].name for task in _tasks_in(fault, call.now.table)}
    raise RefusedError(ErrorCode.REFUSED, with_names(fault, known))


async def wish_of(call: RequestContext, workflow: WorkflowId, event: Wish) -> Wished:
    """Hand in a wish for a workflow that is known, wait for the answer, and return whether it is
    done or, of a cancelling, still under way, with what the node says. Raises ``RefusedError``
    where the node refuses, ``ServiceError`` where it does not take it."""
    answer = await wish(call, event)
    known = call.now.table.workflows.get(workflow)
    name = workflow if known is None else known.spec.name
    verdict: Literal["done", "cancelling"] = "done"
    if answer.verdict is Verdict.CANCELLING:
        verdict = "cancelling"
    return Wished(workflow, verdict, answer.text, name)


def _only_helps(call: RequestContext) -> bool:
    now = call.now
    return now.flock is not None and call.rooms.flock.role_of(now.node) == "helper"


def _tasks_in(fault: Phrase, table: Table) -> list[TaskId]:
    """The ids of tasks that the flock knows."""
    return [each for each in fault.values.values() if isinstance(each, str) and each in table.specs]
