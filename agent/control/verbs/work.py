"""What people want of workflows and tasks, and how these stand."""

from agent.api.errors import RefusedError
from agent.api.reasons import as_why
from agent.api.rpc import ErrorCode
from agent.api.work import (
    CANCEL,
    GATE,
    MEANT,
    PRIORITY,
    RETRY,
    SHOW,
    STATUS,
    Cancel,
    Gate,
    Meant,
    MeantReply,
    Retry,
    SetPriority,
    Show,
    ShowReply,
    Status,
    StatusReply,
    Wished,
)
from agent.control.gates import misfit, outputs_of
from agent.control.naming import find_task, find_workflow, newest_of
from agent.control.recalling import with_past
from agent.control.request_context import RequestContext, serves
from agent.control.sharing import shown_with
from agent.control.verbs.submitting import dataset_of, priority_value
from agent.control.views import node_view
from agent.control.wishes import TO_BE_NAMED, wish_of
from agent.protocol import events
from agent.protocol.origins import shown_for
from agent.protocol.phrases import said
from agent.protocol.records import TaskState
from agent.wording.speech import english


@serves(CANCEL)
async def cancel(call: RequestContext, params: Cancel) -> Wished:
    """Cancel tasks with all that depends on them, or, where none is named, a whole workflow.
    Answered when the wish is kept; what runs is stopped after that. Raises ``RefusedError`` for
    what is unknown, ``ServiceError`` where the node does not take it."""
    return await wish_of(call, *_meant(call, params, events.Cancel))


@serves(RETRY)
async def retry(call: RequestContext, params: Retry) -> Wished:
    """Try tasks, or all of a workflow where none is named, again if they failed or were cancelled,
    with all that they need; answered when the wish is kept, with how many tasks. Raises
    ``RefusedError`` for what is unknown or cannot be tried again, ``ServiceError`` where the node
    does not take it."""
    return await wish_of(call, *_meant(call, params, events.Retry))


def _meant(
    call: RequestContext, params: Cancel | Retry, kind: type[events.Cancel | events.Retry]
) -> tuple[str, events.Cancel | events.Retry]:
    """The workflow, and what is wished of tasks of it, of all if none is named."""
    table = call.now.table
    workflow = find_workflow(table, params.workflow)
    tasks = tuple(find_task(table, task, workflow).task for task in params.tasks)
    return workflow.spec.workflow, kind(TO_BE_NAMED, workflow.spec.workflow, tasks)


@serves(PRIORITY)
async def priority(call: RequestContext, params: SetPriority) -> Wished:
    """Set the priority by which a workflow, or tasks of it alone, go before others, or after them,
    and return when that is kept; it moves only what has not begun yet. Raises ``RefusedError`` for
    what is unknown or has ended, ``ServiceError`` where the node does not take it."""
    table = call.now.table
    workflow = find_workflow(table, params.workflow)
    name = workflow.spec.workflow
    tasks = tuple(find_task(table, task, workflow).task for task in params.tasks)
    event = events.Prioritise(TO_BE_NAMED, name, priority_value(params.priority), tasks)
    return await wish_of(call, name, event)


@serves(GATE)
async def gate(call: RequestContext, params: Gate) -> Wished:
    """Mark a gate done, with the attached datasets as its outputs; answered when that is kept.
    Raises ``RefusedError`` for what is unknown or no gate, does not wait for a person, has too much
    attached, or lacks what a task needs, ``ServiceError`` where the node does not take it."""
    table = call.now.table
    spec = find_task(table, params.task)
    task, workflow = spec.task, table.workflow_of[spec.task]
    tasks = table.workflows[workflow].spec.tasks
    if not spec.gate:
        raise RefusedError(
            ErrorCode.REFUSED,
            said(
                "{task} is no gate: a program does it, and says itself when it is done",
                task=spec.name,
            ),
        )
    reading = table.reading(task)
    waits = reading is not None and reading.state is TaskState.WAITING  # else the node says why not
    refused = misfit(spec, len(params.outputs), tasks) if waits else None
    if refused is not None:
        raise refused
    outputs = tuple(map(dataset_of, outputs_of(spec, params.outputs)))
    shown = await shown_with(call, outputs, shown_for(workflow, task))
    event = events.MarkGate(TO_BE_NAMED, task, outputs, shown)
    return await wish_of(call, workflow, event)


@serves(MEANT)
async def meant(call: RequestContext, params: Meant) -> MeantReply:
    """Return what a word means to whoever says it: the id of a workflow or task, and, where several
    workflows have its name, which of them that is. Raises ``RefusedError`` where it means none, or
    several."""
    table, word = call.now.table, params.reference
    if params.task:
        found = find_task(table, word, submitter=params.submitter, typed=True).task
        workflow = table.workflow_of[found]
    else:
        found = find_workflow(table, word, params.submitter, typed=True).spec.workflow
        workflow = found
    newest = newest_of(table, word, workflow)
    text = "" if newest is None else english(newest)
    return MeantReply(found, table.workflows[workflow].spec.name, text, as_why(newest))


@serves(STATUS)
async def status(call: RequestContext, params: Status) -> StatusReply:
    """Return this node and a page of the workflows, the newest first, all of one moment, and the
    place in the events from which to follow on."""
    views = call.views
    workflows = sorted(
        views.now.table.workflows.values(),
        key=lambda each: (each.spec.submitted, each.spec.workflow),
        reverse=True,
    )
    page = workflows[params.first : params.first + params.limit]
    return StatusReply(
        node_view(views),
        tuple(views.workflow(workflow) for workflow in page),
        len(workflows),
        call.events.position,
    )


@serves(SHOW)
async def show(call: RequestContext, params: Show) -> ShowReply:
    """Return a workflow with a page of its tasks, and the place in the events from which to follow
    on; a task that belongs to another workflow, which named it first, is left out. One that the
    flock has forgotten is told as it was. Raises ``RefusedError`` for one that is unknown,
    ``sqlite3.Error`` where the history has to be asked and cannot be read."""
    call = await with_past(call, params.workflow)
    table = call.now.table
    workflow = find_workflow(table, params.workflow)
    name = workflow.spec.workflow
    own = [each for each in workflow.spec.tasks if table.workflow_of.get(each.task) == name]
    return ShowReply(
        call.views.workflow(workflow),
        tuple(map(call.views.task, own[params.first : params.first + params.limit])),
        params.first,
        call.events.position,
    )
