"""runs: the timeline of tasks, who had them when."""

from agent.api.history import Runs, RunsReply
from agent.api.methods import RUNS
from agent.api.rpc import ErrorCode
from agent.control.call import Call, verb
from agent.control.naming import find_task, find_workflow
from agent.control.refusal import RefusedError
from agent.control.run_views import task_runs


async def serve(call: Call, params: Runs) -> RunsReply:
    """In the order of the author; phases are those that this node has seen."""
    surface = call.surface
    table, history = surface.table, surface.history
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
            task_runs(surface, each, spans.get(each.task, ()), history.ready_ms(each.task))
            for each in still
        ),
        len(specs),
    )


VERB = verb(RUNS, serve)
