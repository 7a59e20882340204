"""First come, first served within a priority: the queue of the source, kept for comparison.

Whatever became ready first starts first. So all workflows advance together and end together: mostly
the last one early and the average late. It knows neither ageing nor lengths, and tasks that became
ready together follow submission.
"""

from __future__ import annotations

from agent.protocol.policy.view import INTERACTIVE_PRIORITY, FlockView, Stage


class FirstCome:
    """By priority, then by how long a task has been ready, then by submission."""

    def order(self, flock: FlockView) -> list[str]:
        """Return every ready task once, the one to start first in front."""
        queue = [
            (
                -min(workflow.priority, INTERACTIVE_PRIORITY),
                -task.ready_s,
                workflow.submitted,
                workflow.workflow,
                place,
                task.task,
            )
            for workflow in flock.workflows
            for place, task in enumerate(workflow.tasks)
            if task.state is Stage.READY
        ]
        return [entry[-1] for entry in sorted(queue)]
