"""How far running tasks are, by their own last word.

Progress is a hint that travels beside the table and is not kept there, so whoever shows tasks
remembers the last word of each. A task that has moved on has said it of an earlier time: its word
is forgotten as soon as it is not running any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from agent.control.port import Notice
from agent.protocol.effects import TaskMoved, TaskProgressed
from agent.protocol.records import NodeId, TaskId, TaskState

AT_IT = (TaskState.RUNNING, TaskState.SUSPENDED)
PERMILLE_MAX = 1_000


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """The last word: of which machine, how far, how long still, and when it was heard."""

    host: NodeId
    permille: int
    left_ms: int
    at_ms: int


class TaskProgress:
    """The last word of each task that runs somewhere, as the node heard it."""

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self._wall = wall
        self._told: dict[TaskId, ProgressReport] = {}

    def note(self, notice: Notice) -> None:
        """Keep what a task says of its progress, and forget it when the task is not run any more;
        other notices change nothing."""
        match notice:
            case TaskProgressed(task, host, permille, left_ms):
                known = min(permille, PERMILLE_MAX)
                self._told[task] = ProgressReport(host, known, left_ms, self.now_ms())
            case TaskMoved(task, _, after) if after not in AT_IT:
                self._told.pop(task, None)
            case _:
                pass

    def of(self, task: TaskId, host: NodeId) -> ProgressReport | None:
        """Return the last word of this machine on the task; None if it has said none."""
        told = self._told.get(task)
        return told if told is not None and told.host == host else None

    def now_ms(self) -> int:
        """Return the time by which words are stamped."""
        return int(self._wall() * 1000)
