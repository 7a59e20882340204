"""How far each task is from the end of its workflow.

The longest remaining path is the one number that says how urgent a task is among its siblings:
started late, it makes the workflow end late, whatever else runs beside it. A need that the picture
does not hold adds nothing to any path, and tasks that need each other in a circle count by their
own length: neither can start, but neither may hang a node.
"""

from __future__ import annotations

from typing import Final

from agent.protocol.policy.view import WorkflowView

LENGTH_S_MAX: Final = 30 * 24 * 3600.0
"""No expectation is believed beyond this."""


def believed_s(length_s: float) -> float:
    """Return an expected length as far as it can be believed; what is not a number counts as
    nothing."""
    return min(length_s, LENGTH_S_MAX) if length_s > 0 else 0.0


def remaining_paths_s(workflow: WorkflowView) -> list[float]:
    """Return for each task the length of the longest path from its start to the end of its
    workflow."""
    paths_s = [believed_s(task.length_s) for task in workflow.tasks]
    if len(paths_s) == 1:
        return paths_s
    index = {task.task: number for number, task in enumerate(workflow.tasks)}
    producers = [[index[need] for need in task.needs if need in index] for task in workflow.tasks]
    open_dependants = [0] * len(paths_s)
    for needed in producers:
        for producer in needed:
            open_dependants[producer] += 1
    behind_s = [0.0] * len(paths_s)
    settled = [number for number, count in enumerate(open_dependants) if not count]
    while settled:
        number = settled.pop()
        paths_s[number] += behind_s[number]
        for producer in producers[number]:
            behind_s[producer] = max(behind_s[producer], paths_s[number])
            open_dependants[producer] -= 1
            if not open_dependants[producer]:
                settled.append(producer)
    return paths_s
