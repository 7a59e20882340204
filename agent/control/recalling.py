"""A workflow of the past in the place of the table: what is asked of one of today is asked of it alike.

Only where the table does not know what is meant; whatever is wished of it is refused, as of anything
that the flock has forgotten, for wishes never look here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.control.naming import find_task, find_workflow
from agent.control.port import NodePort, Recalled, Snapshot
from agent.control.request_context import RequestContext
from agent.protocol.records import NodeId, WorkflowSpec
from agent.protocol.table import Table


class _PastSnapshot:
    """The node as it is now, but for the records."""

    def __init__(self, now: Snapshot, past: Recalled) -> None:
        self._now, self._past = now, past
        self.table = past.table

    def name_of(self, node: str) -> str:
        return self._past.names.get(node) or self._now.name_of(node)

    def home_of(self, _: WorkflowSpec) -> NodeId:
        return self._past.home

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now, name)


class _PastNode:
    def __init__(self, node: NodePort, past: Recalled) -> None:
        self._node, self._past = node, past

    def now(self) -> Snapshot:
        return cast("Snapshot", _PastSnapshot(self._node.now(), self._past))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)


async def with_past(call: RequestContext, workflow: str, task: str = "") -> RequestContext:
    """Return what surrounds the request, with the records of a past workflow in place of the table
    where the table does not know the workflow or task that is meant (either may be empty), and the
    history does; else the same, also where several are meant. Raises ``sqlite3.Error`` where the
    history cannot be read."""
    try:
        _look(call.now.table, workflow, task)
    except RefusedError as error:
        if error.problem.code != ErrorCode.UNKNOWN:
            return call
        if "/" in task and not workflow:
            workflow = task.rpartition("/")[0]
        past = await call.rooms.history.past.recall(workflow, task)
        if past is not None:
            return replace(call, node=cast("NodePort", _PastNode(call.node, past)))
    return call


def _look(table: Table, workflow: str, task: str) -> None:
    within = find_workflow(table, workflow) if workflow else None
    if task:
        find_task(table, task, within)
