"""why: the story of a task, and what it waits for, in sentences."""

from typing import assert_never

from agent.api.methods import WHY
from agent.api.values import TaskState
from agent.api.work import Story, TaskView, Why
from agent.control.call import Call, verb
from agent.control.naming import find_task, readable
from agent.control.surface import Surface
from agent.control.views import task_view


async def serve(call: Call, params: Why) -> Story:
    """What this node knows: another one may have seen more of the way."""
    surface = call.surface
    spec = find_task(surface.table, params.task)
    task = task_view(surface, spec)
    moves = tuple(readable(move, surface.table) for move in surface.story(spec.task))
    return Story(task, _now(task, surface), moves)


def _now(task: TaskView, surface: Surface) -> str:
    match task.state:
        case TaskState.SUBMITTED:
            return f"{task.name} {task.reason or 'waits for what it needs'}"
        case TaskState.READY:
            return f"{task.name} has all that it needs; {_helpers(surface)}"
        case TaskState.WAITING:
            return (
                f"{task.name} waits until a person marks it done: {task.asks or 'no reason given'}"
            )
        case TaskState.SCHEDULED:
            return f"{task.host} has taken {task.name} and fetches its inputs"
        case TaskState.RUNNING:
            return f"{task.name} runs on {task.host}"
        case TaskState.SUSPENDED:
            return f"{task.name} is suspended on {task.host}, whose owner needs the machine"
        case TaskState.TERMINATED:
            return f"{task.name} finished on {task.host}"
        case TaskState.CANCELLED | TaskState.ABORTED:
            return f"{task.name} is {task.state.value.lower()}: {task.reason}"
        case _:
            assert_never(task.state)


def _helpers(surface: Surface) -> str:
    facts = surface.facts()
    willing = facts.volunteering + sum(peer.willing for peer in facts.peers)
    if willing:
        return f"{willing} of {1 + len(facts.peers)} machines help now, none has taken it yet"
    return f"no machine helps now (this one: {facts.presence_reason or 'paused'})"


VERB = verb(WHY, serve)
