"""history: what became of tasks, also of those that the flock has forgotten."""

import json

from agent.api.history import History, HistoryReply, TaskHistory
from agent.api.methods import HISTORY
from agent.api.values import TaskState
from agent.control.call import Call, verb
from agent.storage.history import TaskRow, Wanted


async def serve(call: Call, params: History) -> HistoryReply:
    """The latest first."""
    wanted = Wanted(
        params.workflow,
        params.program,
        params.host,
        params.state.value if params.state else "",
        params.since_ms,
        params.until_ms,
    )
    rows, total = await call.surface.history.tasks(wanted, params.first, params.limit)
    return HistoryReply(tuple(map(_view, rows)), total)


def _view(row: TaskRow) -> TaskHistory:
    return TaskHistory(
        row.task,
        row.name,
        row.workflow,
        row.program,
        TaskState(row.state),
        row.host,
        row.submitted_ms,
        row.ready_ms,
        row.started_ms,
        row.ended_ms,
        row.waited_ms / 1000,
        row.ran_ms / 1000,
        row.suspended_ms / 1000,
        row.attempts,
        tuple(json.loads(row.moved)),
        row.reason,
    )


VERB = verb(HISTORY, serve)
