"""What of a graph is seen in how much room, and what is large: whole in the end, in the right order."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QFontMetricsF, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from agent.api.logs import AgentLogReply, LogLine, Severity
from agent.api.values import TaskState
from agent.api.work import TaskView
from gui.model.graph import BENDS_MAX, BOX_WIDTH, LAYER_GAP, draw
from gui.theme.look import small_font
from gui.views.graph_building import AT_ONCE_MAX
from gui.views.graph_items import NEAR, shortened
from gui.views.graph_view import READABLE_ZOOM_MIN, GraphView
from gui.views.log_page import LINES_AT_ONCE, LogPage
from gui.views.view_context import ViewContext
from tests.gui.acts import WITHIN_MS
from tests.gui.values import task

CHAIN = ("import", "georeference", "segment", "validate", "detect", "report")


def chain(running: int) -> dict[str, object]:
    """Six steps, one after the other."""
    done, now, later = TaskState.TERMINATED, TaskState.RUNNING, TaskState.SUBMITTED
    return {
        name: task(
            name,
            task=name,
            program=name,
            state=done if place < running else now if place == running else later,
            needs=CHAIN[max(0, place - 1) : place],
        )
        for place, name in enumerate(CHAIN)
    }


def view_of(qtbot: QtBot, width: int, running: int) -> GraphView:
    view = GraphView()
    qtbot.addWidget(view)
    view.resize(width, 325)
    view.tell(chain(running))  # type: ignore[arg-type]
    view.show()
    qtbot.waitExposed(view)
    return view


def seen(view: GraphView, name: str) -> bool:
    rect = view.mapFromScene(view.boxes[name].sceneBoundingRect()).boundingRect()
    return QRect(view.viewport().rect()).contains(rect)


@pytest.mark.parametrize("running", range(6))
def test_in_little_room_the_running_step_can_be_read(
    qapp: QApplication, qtbot: QtBot, running: int
) -> None:
    view = view_of(qtbot, 390, running)
    assert view.transform().m11() == pytest.approx(READABLE_ZOOM_MIN)
    assert seen(view, CHAIN[running])
    assert view.map.isVisible()
    view.fit()
    assert all(seen(view, name) for name in CHAIN)
    assert view.map.isHidden()


def test_the_running_step_is_followed_until_a_hand_moves_the_graph(
    qapp: QApplication, qtbot: QtBot
) -> None:
    view = view_of(qtbot, 390, 0)
    view.tell(chain(4))  # type: ignore[arg-type]
    assert seen(view, CHAIN[4])
    assert not seen(view, CHAIN[0])
    view.stay()
    view.tell(chain(0))  # type: ignore[arg-type]
    assert not seen(view, CHAIN[0])
    view.fit()
    assert seen(view, CHAIN[0])


def test_six_steps_say_in_a_window_of_usual_size_what_they_do(
    qapp: QApplication, qtbot: QtBot
) -> None:
    view = view_of(qtbot, 790, 2)
    assert all(seen(view, name) for name in CHAIN)
    assert view.transform().m11() >= NEAR
    view.resize(1300, 325)
    first, second = (view.boxes[name].box.x for name in CHAIN[:2])
    assert second - first == BOX_WIDTH + LAYER_GAP


def test_where_there_is_room_all_is_seen(qapp: QApplication, qtbot: QtBot) -> None:
    view = view_of(qtbot, 1300, 2)
    assert all(seen(view, name) for name in CHAIN)
    assert view.map.isHidden()


# -- what is large comes in slices -----------------------------------------------------------


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


def test_the_log_tells_severity_by_shape_too(qtbot: QtBot, context: ViewContext) -> None:
    """Marks stand in a column of their own, so that times stay below each other."""
    page = LogPage(context)
    qtbot.addWidget(page)
    kinds: tuple[Severity, ...] = ("debug", "info", "normal", "warning", "error")
    page._took(AgentLogReply(tuple(LogLine(0, each, each) for each in kinds), "1"))
    qtbot.waitUntil(lambda: page.text.blockCount() == len(kinds), timeout=WITHIN_MS)
    said = page.text.toPlainText().splitlines()
    marks = [line[0].strip() for line in said]
    assert (marks[:3], len({*marks[2:]})) == (["", "", ""], 3)
    assert len({line.partition("1970")[0][1:] for line in said}) == 1


def test_who_looks_back_in_a_growing_log_stays_there(qtbot: QtBot, context: ViewContext) -> None:
    page = LogPage(context)
    qtbot.addWidget(page)
    page.resize(640, 300)
    page.show()
    page._took(AgentLogReply(tuple(LogLine(0, "info", str(each)) for each in range(90)), "1"))
    bar = page.text.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0, "it follows"
    middle, notch = QPointF(page.text.viewport().rect().center()), QPoint(0, 120)
    nowhere, none, still = QPoint(), Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    wheel = QWheelEvent(middle, middle, nowhere, notch, Qt.MouseButton.NoButton, none, still, False)
    QApplication.sendEvent(page.text.viewport(), wheel)
    looked_at = bar.value()
    assert looked_at < bar.maximum()
    page._took(AgentLogReply((LogLine(0, "info", "one more"),), "2"))
    assert bar.value() == looked_at


@pytest.mark.parametrize("room", [40.0, 80.0, 118.0, 124.0, 400.0])
def test_how_far_a_step_is_is_never_cut_for_the_name_of_its_machine(
    qapp: QApplication, room: float
) -> None:
    del qapp
    metrics = QFontMetricsF(small_font())
    for said in ("running for 2 min", "12 s left"):
        for host in ("acor", "milhafre", "a" * 40):
            line = shortened(f"{host} · {said}", metrics, room)
            assert line.endswith(said)
            fits = metrics.horizontalAdvance(line) <= room
            assert fits or line == said
    assert shortened("milhafre", metrics, room) == "milhafre"
