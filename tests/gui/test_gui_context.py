"""What the window asks again of a workflow that is looked at: no more than events leave out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from agent.api.datasets import DatasetsReply
from agent.api.reasons import CancelledStopping, as_why
from agent.api.values import Dataset, TaskState
from agent.client import Home
from gui.bridge.bridge import Bridge
from gui.model.screen import Screen
from gui.views import view_context
from gui.views.view_context import READ_AGAIN_MS, ViewContext
from tests.gui.values import happened, moved, shown, status, task, workflow

WITHIN_MS = 20_000
NAME = "line-42"


class Asked(QObject):
    """Stands for the bridge, and notes what it is asked."""

    bundle = Signal(object)
    unheard = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def want(self, name: str) -> None:
        self.noted.append(f"tasks of {name}")

    def want_outlook(self, name: str) -> None:
        self.noted.append(f"outlook of {name}")

    def ask(self, _asker: QObject, method: Any, _params: Any, done: Any, *_: Any) -> None:
        self.noted.append(method.name)
        done(DatasetsReply((), 0))


@pytest.fixture
def asked(qapp: QObject) -> Asked:
    del qapp
    return Asked()


@pytest.fixture
def context(asked: Asked, tmp_path: Path) -> ViewContext:
    made = ViewContext(Home.at(tmp_path), Screen(), cast("Bridge", asked))
    view = workflow(state="running", counts={TaskState.RUNNING: 3, TaskState.READY: 1})
    made.take((status(view), shown(view, task("a", TaskState.RUNNING), task("b"))))
    made.attend(NAME)
    return made


def move(context: ViewContext, sequence: int, *rows: Any) -> None:
    told = moved("a", TaskState.RUNNING, TaskState.SUSPENDED)
    context.take((happened(sequence, replace(told, rows=rows)),))


def test_what_a_row_tells_is_not_read_but_how_far_all_of_it_is(
    qtbot: QtBot, asked: Asked, context: ViewContext
) -> None:
    move(context, 1, task("a", TaskState.SUSPENDED))
    qtbot.waitUntil(lambda: asked.noted == [f"outlook of {NAME}"], timeout=WITHIN_MS)
    move(context, 2, task("a", TaskState.SUSPENDED))
    assert context._again.remainingTime() > READ_AGAIN_MS


def test_what_an_event_leaves_out_is_read_soon(
    qtbot: QtBot, asked: Asked, context: ViewContext
) -> None:
    move(context, 1, task("a", TaskState.SUSPENDED))
    qtbot.waitUntil(lambda: len(asked.noted) == 1, timeout=WITHIN_MS)
    move(context, 2, task("a", TaskState.SUSPENDED))
    move(context, 3)
    # A timer of Qt's may be set a twentieth later, to go off together with others.
    assert context._again.remainingTime() <= READ_AGAIN_MS * 1.05
    qtbot.waitUntil(lambda: asked.noted[1:] == [f"tasks of {NAME}"], timeout=WITHIN_MS)


def test_what_is_still_being_stopped_is_read_until_it_has_stopped(
    qtbot: QtBot, asked: Asked, context: ViewContext
) -> None:
    view = workflow(state="cancelled", counts={TaskState.CANCELLED: 1, TaskState.TERMINATED: 1})
    stopping = task("a", TaskState.CANCELLED, why=as_why(CancelledStopping(("acor",))))
    context.attend("")
    asked.noted.clear()
    context.take((shown(view, stopping, task("b"), sequence=1),))
    context.attend(NAME)
    assert asked.noted == [f"tasks of {NAME}"], "it may have stopped meanwhile"
    context._read_s = 0.0  # long ago
    context.take((shown(view, stopping, task("b"), sequence=2),))
    qtbot.waitUntil(lambda: asked.noted == 2 * [f"tasks of {NAME}"], timeout=WITHIN_MS)
    context._read_s = 0.0
    context.take((shown(view, task("a", TaskState.CANCELLED), task("b"), sequence=3),))
    qtbot.waitUntil(lambda: not context._again.isActive(), timeout=WITHIN_MS)
    assert len(asked.noted) == 2


def test_names_are_asked_for_while_one_is_missing(
    asked: Asked, context: ViewContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = SimpleNamespace(s=100.0)
    monkeypatch.setattr(view_context, "time", SimpleNamespace(monotonic=lambda: now.s))

    def ask_after(seconds: float) -> int:
        now.s += seconds
        context.want_names(NAME)
        return asked.noted.count("datasets")

    assert [ask_after(5), ask_after(5)] == [1, 1]
    made = task("a", TaskState.TERMINATED, outputs=(Dataset("sha256:1", 1),))
    move(context, 1, made)
    assert [ask_after(1), ask_after(5), ask_after(1), ask_after(5)] == [2, 3, 3, 4]
    context.screen.dataset_names["sha256:1"] = "map.tif"
    assert ask_after(5) == 4
