"""The rows that events bring: of those that wait on only some, and that there are more is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.api import session
from agent.control.naming import task_id
from agent.control.progress import TaskProgress
from agent.control.rows import WAITING_ROWS_MAX, with_rows
from agent.control.views import Views
from agent.protocol.states import TaskState
from tests.control.surface import FakeNode


@pytest.mark.parametrize(
    ("waiting", "more"), [(WAITING_ROWS_MAX, False), (WAITING_ROWS_MAX + 1, True)]
)
def test_that_more_wait_than_there_are_rows_is_told(
    tmp_path: Path, waiting: int, more: bool
) -> None:
    node = FakeNode(tmp_path)
    first = task_id("survey", "first")
    tasks = [{"id": "first", "program": "copy"}, {"id": "look", "gate": True}]
    tasks += [
        {"id": f"after {number}", "program": "copy", "after": ["first", "look"]}
        for number in range(waiting)
    ]
    node.handle_submission({"name": "survey", "tasks": tasks})
    node.volunteer()
    node.succeed(first)
    views = Views(node.now(), TaskProgress(lambda: 0.0))
    ended = (TaskState.RUNNING, TaskState.TERMINATED, "birch", "")
    told = with_rows(session.TaskMoved(first, "first", "survey", *ended), node, views)
    assert isinstance(told, session.TaskMoved)
    assert (len(told.rows), told.more) == (1 + WAITING_ROWS_MAX, more)
