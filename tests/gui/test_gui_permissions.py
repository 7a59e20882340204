"""What waits for an owner's leave is told where it waits, and nothing is hidden in what is to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from agent.api.flock import PeerView
from agent.api.permissions import AskedProgram, PermissionAsked, Script
from agent.api.values import Capabilities, Dataset, TaskState
from agent.api.work import TaskView
from gui.model.flock import lacks_leave
from gui.model.screen import Screen
from gui.views.columns import workflow_columns
from gui.views.permission_sheet import answered_too, shown_text
from gui.views.window import Window
from tests.gui.acts import press, until
from tests.gui.conftest import NoLogin, context_on
from tests.gui.machines import flock
from tests.gui.values import NOW_S, connected, peer, peers, status, task

WAITS = task("a", state=TaskState.READY, program="count@1")
BARE, MAY, ALL = (
    Capabilities(),
    Capabilities(programs=("count@1",)),
    Capabilities(takes_published=True),
)
HELPS: dict[str, Any] = {"volunteering": True, "slots": 1}
WORDS = "programs: {count: count.sh}\ntasks: {count: {program: count}}\n"


@pytest.mark.parametrize(
    ("others", "tasks", "told"),
    [
        ([peer("a", **HELPS, capabilities=BARE)], [WAITS], ("count", 1)),
        ([peer(each, **HELPS, capabilities=BARE) for each in "ab"], [WAITS], ("count", 2)),
        ([peer("a", **HELPS, capabilities=MAY), peer("b", **HELPS)], [WAITS], ("", 0)),
        ([peer("a", **HELPS, capabilities=ALL)], [WAITS], ("", 0)),
        ([peer("a", **HELPS, running=1)], [WAITS], ("", 0)),
        ([peer("a", volunteering=False)], [WAITS], ("", 0)),
        ([peer("a", **HELPS)], [task("a", state=TaskState.READY, program="map")], ("", 0)),
        ([peer("a", **HELPS)], [task("a", state=TaskState.RUNNING, program="count@1")], ("", 0)),
    ],
)
def test_it_is_known_that_only_leave_is_lacking(
    others: list[PeerView], tasks: list[TaskView], told: tuple[str, int]
) -> None:
    screen: Screen = connected(status(volunteering=False), peers(*others, volunteering=False))
    assert lacks_leave(screen, tasks) == told


@pytest.mark.parametrize(
    ("script", "shown"),
    [
        (Script("a", "a.sh", 3, "new", "ls\n"), "ls\n"),
        (Script("a", "a.sh", 3, "new", "x \u202e y\u200b\r"), "x <U+202E> y<U+200B><U+000D>"),
        (Script("a", "a.sh", 3, "gone", None, "ls\n"), "ls\n"),
        (Script("a", "a.sh", 9_000_000, "new"), "This is no text, or too long to be shown here."),
        (
            Script("a", "a.sh", 3, "changed", "ls\nwc\n", "ls\n"),
            "--- allowed before\n+++ as it is now\n@@ -1 +1,2 @@\n ls\n+wc",
        ),
    ],
)
def test_what_is_to_be_read_hides_nothing(script: Script, shown: str) -> None:
    assert shown_text(script) == shown


def test_owners_are_asked_from_where_it_waits(
    qtbot: QtBot, qapp: QApplication, login: NoLogin, tmp_path: Path
) -> None:
    with flock(tmp_path, ("acor", "cagarro")) as machines, context_on(machines[0]) as context:
        own, other = machines
        (tmp_path / "words.wingbeat.yaml").write_text(WORDS)
        (tmp_path / "count.sh").write_text("echo TERMINATED\n")
        own.said("pause")
        own.said("submit", str(tmp_path / "words.wingbeat.yaml"))
        said: list[str] = []
        context.said.connect(said.append)
        window = Window(context, login)
        window.show()
        until(
            qtbot, lambda: any(each.name == "words" for each in context.screen.workflows.values())
        )
        window.workflows.choose(next(iter(context.screen.workflows)))
        until(qtbot, window.workflows.details.ask_them.isVisible)
        row = {
            each.key: each.text(window.workflows.chosen, NOW_S)
            for each in workflow_columns(context.screen)
        }
        assert row["next"] == "waits: no free machine may run count"
        press(window, "askOwners")
        until(qtbot, lambda: said == ["The question is up on cagarro."])
        assert [each["name"] for each in other.answer("permissions")["asked"]] == ["words"]
        window.close()
        window.deleteLater()


def test_one_answer_leaves_no_question_that_it_answers() -> None:
    def asks(workflow: str, node: str, *programs: str) -> PermissionAsked:
        brought = tuple(AskedProgram(each, Dataset(f"tree:{each}", 1)) for each in programs)
        return PermissionAsked(workflow, workflow, "ana", node, node, 1, brought)

    first = asks("first", "n1", "count@1", "map@1")
    others = (
        asks("same machine", "n1", "cut@1"),
        asks("same programs", "n2", "count@1"),
        asks("one more", "n2", "count@1", "cut@1"),
        asks("from afar", "", "cut@1"),
    )
    assert answered_too(first, "once", others) == []
    assert answered_too(first, "machine", others) == ["same machine"]
    for answer in ("programs", "never"):
        assert answered_too(first, answer, others) == ["same programs"]
    assert answered_too(asks("afar", "", "cut@1"), "machine", others) == []
