"""What was: of the tasks that are known, of all that ever ended, and in sums."""

from agent.api.errors import RefusedError
from agent.api.history import (
    HISTORY,
    RUNS,
    STATISTICS,
    Runs,
    RunsReply,
)
from agent.api.past import PAST
from agent.api.rpc import ErrorCode
from agent.control.naming import find_task, find_workflow
from agent.control.recalling import with_past
from agent.control.request_context import RequestContext, serves
from agent.protocol.phrases import said


@serves(RUNS)
async def runs(call: RequestContext, params: Runs) -> RunsReply:
    """Return a page of the tasks of a workflow, in the order of the author, or one task, with their
    runs and who had them when; phases are those that this node has seen. Raises ``RefusedError``
    where neither is named, or it is unknown, ``sqlite3.Error`` where the history cannot be read."""
    call = await with_past(call, params.workflow, params.task)
    now, table = call.now, call.now.table
    if params.task:
        within = find_workflow(table, params.workflow) if params.workflow else None
        specs = [find_task(table, params.task, within)]
    elif params.workflow:
        workflow = find_workflow(table, params.workflow)
        name = workflow.spec.workflow
        specs = [each for each in workflow.spec.tasks if table.workflow_of.get(each.task) == name]
    else:
        raise RefusedError(ErrorCode.WRONG_PARAMETERS, said("runs: name a workflow or a task"))
    page = specs[params.first : params.first + params.limit]
    return RunsReply(await call.rooms.history.runs(page, table, now.name_of), len(specs))


history = serves(HISTORY)(lambda call, params: call.rooms.history.tasks(params))
"""Return a page of what became of tasks, the latest first, also of those that the flock has
forgotten."""


past = serves(PAST)(lambda call, params: call.rooms.history.past.page(params))
"""Return a page of the workflows that have ended, the latest first, also of those that the flock has
forgotten, and, if they are asked for, the sums of all pages by day."""


statistics = serves(STATISTICS)(lambda call, params: call.rooms.history.statistics(params.weeks))
"""Return what this machine gave in each week, and what the flock did. Weeks begin on Monday by
this machine's calendar, and may have an hour more or less."""
