"""What must hold of the tasks of a workflow, whoever tells of it: a client or a peer."""

from __future__ import annotations

from collections.abc import Iterable

from agent.protocol.records import TaskId, TaskSpec


def producers_of(spec: TaskSpec) -> list[TaskId]:
    """Return everything that has to be finished before the task, each once."""
    if not (spec.inputs or spec.after):
        return []
    return list(dict.fromkeys([*(ref.task for ref in spec.inputs), *spec.after]))


def contradiction(specs: Iterable[TaskSpec]) -> str:
    """Return why these cannot be the tasks of one workflow (an id twice, a circle); empty when they
    can."""
    by_id: dict[TaskId, TaskSpec] = {}
    for spec in specs:
        if spec.task in by_id:
            return f"two tasks have the id {spec.task}"
        by_id[spec.task] = spec
    return _circle(by_id)


def _circle(specs: dict[TaskId, TaskSpec]) -> str:
    """Tasks are taken away as soon as all they need is; what remains goes round in circles."""
    if not any(spec.inputs or spec.after for spec in specs.values()):
        return ""
    needs = {
        task: {producer for producer in producers_of(spec) if producer in specs}
        for task, spec in specs.items()
    }
    dependants: dict[TaskId, list[TaskId]] = {}
    for task, spec in specs.items():
        for producer in producers_of(spec):
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
