"""What a submission must satisfy before it becomes a record; one sentence when it does not."""

from __future__ import annotations

from agent.protocol.events import Submit
from agent.protocol.records import PRIORITY_INTERACTIVE, TaskId, TaskSpec
from agent.protocol.table import Table

NAME_LENGTH_MAX = 128
TASK_ID_LENGTH_MAX = 64
TASKS_MAX = 100_000


def fault_of(event: Submit, table: Table) -> str:
    """What is wrong with the submission; empty when nothing is."""
    name = event.workflow
    if not 0 < len(name) <= NAME_LENGTH_MAX:
        return f"the name of a workflow has 1 to {NAME_LENGTH_MAX} characters, not {len(name)}"
    if name in table.prunings:
        return f"workflow {name} was finished and cleaned up; choose another name"
    if not 0 < len(event.tasks) <= TASKS_MAX:
        return f"a workflow has 1 to {TASKS_MAX} tasks; {name} has {len(event.tasks)}"
    if not 0 <= event.priority <= PRIORITY_INTERACTIVE:
        return f"priority {event.priority} of {name} is not between 0 and {PRIORITY_INTERACTIVE}"
    specs: dict[TaskId, TaskSpec] = {}
    for spec in event.tasks:
        if not 0 < len(spec.task) <= TASK_ID_LENGTH_MAX:
            return f"a task of {name} has an id of {len(spec.task)} characters, not 1 to 64"
        if spec.task in specs:
            return f"two tasks of {name} have the id {spec.task}"
        if spec.task in table.specs:
            return f"task {spec.task} of {name} is already in {table.workflow_of[spec.task]}"
        specs[spec.task] = spec
    return _unknown_producer(specs, table) or _cycle(specs)


def producers_of(spec: TaskSpec) -> list[TaskId]:
    """Everything that has to be finished before the task."""
    return list(dict.fromkeys([*(ref.task for ref in spec.inputs), *spec.after]))


def _unknown_producer(specs: dict[TaskId, TaskSpec], table: Table) -> str:
    for spec in specs.values():
        for producer in producers_of(spec):
            if producer not in specs and producer not in table.specs:
                return f"task {spec.task} needs {producer}, which no workflow known here has"
    return ""


def _cycle(specs: dict[TaskId, TaskSpec]) -> str:
    """Tasks are taken away as soon as all they need is; what remains goes round in circles."""
    needs = {
        task: {producer for producer in producers_of(spec) if producer in specs}
        for task, spec in specs.items()
    }
    dependants: dict[TaskId, list[TaskId]] = {}
    for task, producers in needs.items():
        for producer in producers:
            dependants.setdefault(producer, []).append(task)
    free = [task for task, producers in needs.items() if not producers]
    for task in free:
        for dependant in dependants.get(task, []):
            needs[dependant].discard(task)
            if not needs[dependant]:
                free.append(dependant)
    if len(free) == len(specs):
        return ""
    return f"tasks need each other in a circle: {' -> '.join(_walk(needs, set(free)))}"


def _walk(needs: dict[TaskId, set[TaskId]], done: set[TaskId]) -> list[TaskId]:
    path: list[TaskId] = []
    task = next(task for task in needs if task not in done)
    while task not in path:
        path.append(task)
        task = min(needs[task])
    return [*path[path.index(task) :], task]
