"""What was: of the tasks that are known, of all that ever ended, and in sums."""

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from agent.api.history import (
    History,
    HistoryReply,
    Runs,
    RunsReply,
    Statistics,
    StatisticsReply,
    TaskHistory,
    WeekView,
)
from agent.api.methods import HISTORY, RUNS, STATISTICS
from agent.api.rpc import ErrorCode
from agent.api.values import TaskState
from agent.control.naming import find_task, find_workflow
from agent.control.refusal import RefusedError
from agent.control.request_context import RequestContext, serves
from agent.control.run_views import task_runs
from agent.storage.history import Sums, TaskRow, Wanted

HOUR_MS = 3_600_000


@serves(RUNS)
async def runs(call: RequestContext, params: Runs) -> RunsReply:
    """The timeline of tasks, who had them when.

    In the order of the author; phases are those that this node has seen.
    """
    now = call.now
    table, history = now.table, call.rooms.history
    if params.task:
        within = find_workflow(table, params.workflow) if params.workflow else None
        specs = [find_task(table, params.task, within)]
    elif params.workflow:
        workflow = find_workflow(table, params.workflow)
        name = workflow.spec.workflow
        specs = [each for each in workflow.spec.tasks if table.workflow_of.get(each.task) == name]
    else:
        raise RefusedError(ErrorCode.WRONG_PARAMETERS, "runs: name a workflow or a task")
    page = specs[params.first : params.first + params.limit]
    spans = await history.spans_of([each.task for each in page])
    still = [each for each in page if each.task in table.specs]
    return RunsReply(
        tuple(
            task_runs(now, each, spans.get(each.task, ()), history.ready_ms(each.task))
            for each in still
        ),
        len(specs),
    )


@serves(HISTORY)
async def history(call: RequestContext, params: History) -> HistoryReply:
    """What became of tasks, also of those that the flock has forgotten.

    The latest first.
    """
    wanted = Wanted(
        params.workflow,
        params.program,
        params.host,
        params.state.value if params.state else "",
        params.since_ms,
        params.until_ms,
    )
    rows, total = await call.rooms.history.tasks(wanted, params.first, params.limit)
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


@serves(STATISTICS)
async def statistics(call: RequestContext, params: Statistics) -> StatisticsReply:
    """What this machine gave in each week, and what the flock did.

    Weeks begin on Monday by this machine's calendar, which may have hours more or less.
    """
    borders = _borders(datetime.now(UTC).astimezone(), params.weeks)
    spans = [(0, borders[0][1]), *borders]
    sums, since_ms = await call.rooms.history.sums(spans)
    whole = sums[0]
    return StatisticsReply(
        tuple(_week(begin_ms, each) for (begin_ms, _), each in zip(borders, sums[1:], strict=True)),
        since_ms,
        whole.given_ms / HOUR_MS,
        whole.done_here,
        whole.done,
    )


def _borders(now: datetime, weeks: int) -> list[tuple[int, int]]:
    """Beginning and end of each week in milliseconds, the latest first."""
    monday = now.replace(tzinfo=None).date() - timedelta(days=now.weekday())
    mondays = [monday + timedelta(weeks=number) for number in range(1, -weeks, -1)]
    moments = [
        round(datetime(day.year, day.month, day.day).astimezone().timestamp() * 1000)
        for day in mondays
    ]
    return [(begin, end) for end, begin in pairwise(moments)]


def _week(begin_ms: int, sums: Sums) -> WeekView:
    return WeekView(
        begin_ms,
        sums.given_ms / HOUR_MS,
        sums.done_here,
        sums.done,
        sums.failed,
        sums.moved,
        sums.waited_median_ms / 1000,
        sums.waited_longest_ms / 1000,
    )
