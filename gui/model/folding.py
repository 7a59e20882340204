"""How one event changes one workflow: counts, state and progress, without asking the agent again.

What is reckoned here is what the agent would say, but for the progress, which it weighs by expected
lengths; between two answers of it the share of finished tasks has to do.
"""

from __future__ import annotations

import msgspec

from agent.api.reasons import no_why
from agent.api.session import TaskMoved, TaskProgressed
from agent.api.values import ENDED, UNDER_WAY, TaskState, workflow_state
from agent.api.work import Basis, TaskView, WorkflowView


def workflow_moved(
    workflow: WorkflowView, before: TaskState | None, after: TaskState, at_ms: int
) -> WorkflowView:
    """Return the workflow after one of its tasks went from ``before`` (None: not known, so it is
    not counted out) to ``after``: counts, gates, state, progress and its beginning follow. If
    nothing is left to do, ``at_ms`` is its end, unless it had one, and none is expected any more;
    else it has no end. No machine of it counts as gone any more, until that is told anew."""
    counts = dict(workflow.counts)
    if before is not None and counts.get(before):
        counts[before] -= 1
        if not counts[before]:
            del counts[before]
    counts[after] = counts.get(after, 0) + 1
    tasks = max(workflow.tasks, sum(counts.values()))
    done = counts.get(TaskState.TERMINATED, 0)
    state = workflow_state(counts)
    ended = state in ("finished", "failed", "cancelled")
    return msgspec.structs.replace(
        workflow,
        counts=counts,
        tasks=tasks,
        state=state,
        gates=counts.get(TaskState.WAITING, 0),
        permille=max(workflow.permille, done * 1000 // max(1, tasks)) if done else 0,
        ended_ms=(workflow.ended_ms or at_ms) if ended else 0,
        expected_end_ms=0 if ended else workflow.expected_end_ms,
        begun_ms=workflow.begun_ms or (at_ms if after in UNDER_WAY else 0),
        gone=0,
    )


def workflow_overtaken(told: WorkflowView, known: WorkflowView) -> WorkflowView:
    """Return a workflow as an answer ``told`` of it, but with its number of tasks, counts, waiting
    gates, state and end as later events left them (``known``), the greater progress of both, and no
    expected end once it is over."""
    return msgspec.structs.replace(
        told,
        counts=known.counts,
        tasks=known.tasks,
        state=known.state,
        gates=known.gates,
        permille=max(told.permille, known.permille),
        ended_ms=known.ended_ms,
        expected_end_ms=told.expected_end_ms if is_open(known) else 0,
    )


def task_moved(task: TaskView, moved: TaskMoved, at_ms: int) -> TaskView:
    """Return the task as a move leaves it: state, host, times and progress. What the move does not
    tell, such as a reason, stays; a task that begins, or is open again after its end, loses reason
    and progress. Its machine counts as there."""
    begins = moved.after in UNDER_WAY and task.state not in UNDER_WAY
    again = task.state in ENDED and moved.after not in ENDED
    finished = moved.after is TaskState.TERMINATED
    host = moved.host or ("" if again else task.host)
    return msgspec.structs.replace(
        task,
        state=moved.after,
        host=host,
        host_node=task.host_node if host == task.host else "",
        changed_ms=at_ms,
        begun_ms=at_ms if begins else (0 if again else task.begun_ms),
        ended_ms=at_ms if moved.after in ENDED else 0,
        permille=1000 if finished else (0 if begins or again else task.permille),
        left_ms=0 if finished or again else task.left_ms,
        expected_end_ms=0 if moved.after in ENDED or again else task.expected_end_ms,
        reason="" if begins or again else task.reason,
        why=no_why() if begins or again else task.why,
        gone_ms=0,
    )


def task_progressed(task: TaskView, progressed: TaskProgressed, at_ms: int) -> TaskView:
    """Return the task with the progress that it told at ``at_ms``, at most 1000, the time left, and
    the end expected by that, which then stands on its own word; if it told no time left, the
    expected end and what that stands on stay."""
    left_ms = progressed.left_ms
    return msgspec.structs.replace(
        task,
        permille=min(1000, progressed.permille),
        left_ms=left_ms,
        expected_end_ms=at_ms + left_ms if left_ms else task.expected_end_ms,
        basis=Basis(progress=True) if left_ms else task.basis,
    )


def is_open(workflow: WorkflowView) -> bool:
    """Tell whether something of a workflow is still to be done."""
    return workflow.state in ("waiting", "running")
