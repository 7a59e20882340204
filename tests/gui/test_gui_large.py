"""What is large comes in slices: graphs and logs, whole in the end and in the right order."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from agent.api.logs import AgentLogReply, LogLine
from agent.api.values import TaskState
from agent.api.work import TaskView
from gui.model.graph import BENDS_MAX, draw
from gui.views.graph_building import AT_ONCE_MAX
from gui.views.graph_view import GraphView
from gui.views.log_page import LINES_AT_ONCE, LogPage
from gui.views.view_context import ViewContext
from tests.gui.values import task

WITHIN_MS = 90_000


def ladder(name: str, length: int) -> dict[str, TaskView]:
    """Each needs the one before it and one far before it, so that nothing folds."""
    needs = [
        tuple(dict.fromkeys((f"{name}{each - 1}", f"{name}{each * 2 // 3}"))) if each > 2 else ()
        for each in range(length)
    ]
    tasks = [task(f"{name}{each}", needs=needs[each]) for each in range(length)]
    return {each.task: each for each in tasks}


def test_a_small_graph_is_there_at_once(qtbot: QtBot, qapp: QApplication) -> None:
    del qapp
    graph = GraphView()
    qtbot.addWidget(graph)
    graph.tell(ladder("a", 9))
    assert list(graph.boxes) == [f"a{each}" for each in range(9)]
    assert len(graph.arrows) == len(graph.picture.arrows)


def test_a_large_graph_comes_by_itself_and_what_was_chosen_meanwhile_holds(
    qtbot: QtBot, qapp: QApplication
) -> None:
    del qapp
    graph = GraphView()
    qtbot.addWidget(graph)
    tasks = ladder("a", AT_ONCE_MAX + 80)
    graph.tell(tasks)
    graph.choose("a150")
    tasks["a150"] = task("a150", TaskState.RUNNING, needs=tasks["a150"].needs)
    graph.tell(tasks)
    qtbot.waitUntil(lambda: len(graph.picture.boxes) == len(tasks), timeout=WITHIN_MS)
    assert set(graph.boxes) == set(tasks)
    assert graph.boxes["a150"].isSelected()
    assert graph.boxes["a150"].tasks[0].state is TaskState.RUNNING


def test_of_two_graphs_the_last_one_told_is_shown(qtbot: QtBot, qapp: QApplication) -> None:
    del qapp
    graph = GraphView()
    qtbot.addWidget(graph)
    first, second, third = ladder("a", 200), ladder("b", 250), ladder("c", 5)
    for tasks in (first, second):
        graph.tell(tasks)
    qtbot.waitUntil(lambda: len(graph.picture.boxes) == len(second), timeout=WITHIN_MS)
    assert set(graph.boxes) == set(second)
    graph.tell(first)
    graph.tell(third)
    qtbot.waitUntil(lambda: len(graph.picture.boxes) == len(third), timeout=WITHIN_MS)
    assert set(graph.boxes) == set(third)
    items = [item for item in graph.scene().items() if item.parentItem() is None]
    assert len(items) == len(third) + len(graph.arrows)


def test_lines_across_many_layers_bend_as_far_as_the_limit_goes() -> None:
    picture = draw(list(ladder("a", 400).values()))
    bends = sum(len(arrow.bends) for arrow in picture.arrows)
    assert 0 < bends <= BENDS_MAX
    assert len(picture.boxes) == 400


def test_a_long_log_is_written_whole_and_in_order(qtbot: QtBot, context: ViewContext) -> None:
    page = LogPage(context)
    qtbot.addWidget(page)
    lines = tuple(
        LogLine(1_800_000_000_000, "warning" if each % 7 == 0 else "info", f"line {each}")
        for each in range(3 * LINES_AT_ONCE + 5)
    )
    page._took(AgentLogReply(lines[:-1], "1"))
    page._took(AgentLogReply(lines[-1:], "2"))
    qtbot.waitUntil(lambda: page.text.blockCount() == len(lines), timeout=WITHIN_MS)
    said = page.text.toPlainText().splitlines()
    assert [each.rpartition("  ")[2] for each in said] == [each.text for each in lines]
