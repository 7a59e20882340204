"""What the command line says of a machine that helps or not, and of a task that was cancelled."""

from __future__ import annotations

import pytest

from agent.api.presence_reasons import HelpsAlways, PausedUntilResumed
from agent.api.reasons import Cancelled, NeedsCancelled, Opaque, Reason, as_why
from agent.api.session import TaskMoved
from agent.api.values import TaskState
from agent.api.work import NodeView
from agent.commands.showing import helping
from agent.commands.waiting import ending
from agent.wording.speech import english


@pytest.mark.parametrize(
    ("reason", "helps", "said"),
    [
        (HelpsAlways(), True, "helps: set to always"),
        (PausedUntilResumed(), False, "does not help: Paused until you resume"),
        (Opaque("an agent of before says so"), False, "does not help: an agent of before says so"),
        (Opaque(""), False, "does not help"),
    ],
)
def test_a_machine_says_once_whether_it_helps(reason: Reason, helps: bool, said: str) -> None:
    view = NodeView("n", "acor", "1", reason=english(reason), why=as_why(reason))
    assert helping(view, helps=helps) == said


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (Cancelled(), "segment Cancelled"),
        (NeedsCancelled("import"), "segment Cancelled: needs import, which was cancelled"),
    ],
)
def test_an_end_says_no_more_than_its_state_where_that_says_it(reason: Reason, said: str) -> None:
    moved = (TaskState.RUNNING, TaskState.CANCELLED, "", "", english(reason))
    assert ending(TaskMoved("t", "segment", "line", *moved, why=as_why(reason))) == said
