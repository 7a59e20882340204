"""What of a graph is seen in how much room: all of it if that can be read, else what runs."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from agent.api.values import TaskState
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


def test_where_there_is_room_all_is_seen(qapp: QApplication, qtbot: QtBot) -> None:
    view = view_of(qtbot, 1300, 2)
    assert all(seen(view, name) for name in CHAIN)
    assert view.map.isHidden()
