"""What the verbs share that wish something of the table: the way in, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent.api.rpc import ErrorCode
from agent.api.work import Wished
from agent.control.naming import readable, with_names
from agent.control.port import Wish
from agent.control.refusal import RefusedError
from agent.control.request_context import RequestContext
from agent.protocol.effects import Answer, Verdict
from agent.protocol.records import TaskId, WorkflowId

TO_BE_NAMED = ""
"""The node gives requests their ids."""


async def wish(
    call: RequestContext, event: Wish, names: Callable[[], Mapping[TaskId, str]] = dict
) -> Answer:
    """Hand a wish to the node, and return its answer. Raises ``RefusedError`` where the node
    refuses, with ``names`` in the place of ids."""
    answer = await call.node.ask(event)
    if answer.verdict is not Verdict.REFUSED:
        return answer
    if answer.fault is not None:
        raise RefusedError(ErrorCode.REFUSED, with_names(answer.fault, names()))
    raise RefusedError(ErrorCode.REFUSED, readable(answer.text, call.now.table, names()))


async def wish_of(call: RequestContext, workflow: WorkflowId, event: Wish) -> Wished:
    """Hand in a wish for a workflow that is known, and return what came of it. Raises
    ``RefusedError`` where the node refuses."""
    answer = await wish(call, event)
    text = readable(answer.text, call.now.table)
    if answer.verdict is Verdict.CANCELLING:
        return Wished(workflow, "cancelling", text)
    return Wished(workflow, "done", text)
