"""What of a graph is seen in how much room: all of it if that can be read, else what runs."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from agent.api.values import TaskState
from gui.model.graph import BOX_WIDTH, LAYER_GAP
from gui.views.graph_items import NEAR
from gui.views.graph_view import READABLE_ZOOM_MIN, GraphView
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
