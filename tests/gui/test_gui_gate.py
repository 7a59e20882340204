"""A gate that asks for files: chosen, dropped, sent, refused and finished, with a real agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from agent.api.values import TaskState
from agent.api.work import GATE, Gate, Input, Task
from gui import words
from gui.translations import speak
from gui.views.gate_dialog import GateDialog
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain, of_kind
from tests.gui.acts import press, submit, task_of, until, view_of

BIG_BYTES = 24 * 1024 * 1024


def asks_for(*names: str) -> Task:
    return Task("look", gate=True, asks="look at the wires", attach=names)


def needs(output: int) -> Task:
    return Task("import", "import", inputs=(Input("look", output),), parameters="0.1")


def opened(
    qtbot: QtBot, context: ViewContext, window: Window, *tasks: Task
) -> tuple[GateDialog, str]:
    """The dialog of the gate of a workflow of these tasks."""
    name = submit(qtbot, context, *tasks)
    until(qtbot, lambda: task_of(context, name, "look").state is TaskState.WAITING)
    window.workflows.choose(name, task_of(context, name, "look").task)
    until(qtbot, window.workflows.details.done.isVisible)
    press(window, "markDone")
    until(qtbot, lambda: window.findChild(GateDialog) is not None)
    dialog = of_kind(GateDialog, window.findChild(GateDialog))
    return dialog, name


def file(folder: Path, name: str, content: bytes = b"points") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def drop(dialog: GateDialog, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    at = QPointF(10, 10)
    dialog.dropEvent(QDropEvent(at, Qt.DropAction.CopyAction, data, left, none))


def test_files_are_dropped_sent_and_become_the_outputs(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    dialog, name = opened(
        qtbot,
        context,
        window,
        asks_for("corrected", "notes"),
        needs(0),
    )
    assert dialog.asks.text() == "look at the wires"
    assert "corrected, notes" in dialog.missing.text()
    drop(dialog, file(tmp_path, "notes.txt", b"two wires"), file(tmp_path, "line 42.csv"))
    assert dialog.missing.text() == ""
    press(dialog, "gateDone")
    until(qtbot, lambda: task_of(context, name, "look").state is TaskState.TERMINATED)
    until(qtbot, lambda: len(task_of(context, name, "look").outputs) == 2)
    sizes = [each.size_bytes for each in task_of(context, name, "look").outputs]
    assert sizes == [len(b"points"), len(b"two wires")]
    until(qtbot, lambda: view_of(context, name).state == "finished")


def test_a_gate_names_its_workflow_and_opens_what_it_asks_about(
    qtbot: QtBot,
    context: ViewContext,
    window: Window,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Task("look", gate=True, asks="look", after=("import",), attach=("corrected",))
    made = Task("import", "import", parameters="0.1")
    dialog, workflow = opened(qtbot, context, window, made, gate)
    name = view_of(context, workflow).name
    assert dialog.windowTitle() == f"look of {name}"
    assert certain(dialog.findChild(QLabel, "gateWorkflow")).text() == name
    shown = (dialog, window.workflows.details)
    for place in shown:
        until(qtbot, lambda place=place: "result.las" in _words(place))  # type: ignore[misc]
        assert "To look at" in _words(place)
    looked_at: list[str] = []
    monkeypatch.setattr(
        QDesktopServices, "openUrl", lambda url: looked_at.append(url.toLocalFile())
    )
    press(dialog, "openOutput0")
    until(qtbot, lambda: bool(looked_at))
    assert Path(looked_at[0]).read_text().startswith("points\n")
    buttons = ("gateChoose0", "gateDone")

    def leading() -> list[str]:
        found = [certain(dialog.findChild(QPushButton, each)) for each in buttons]
        assert [each.property("primary") for each in found] == [each.isDefault() for each in found]
        return [each.objectName() for each in found if each.isDefault()]

    assert leading() == ["gateChoose0"]
    assert not window.workflows.details.done.property("primary")
    dialog.offer([file(tmp_path, "corrected.csv")])
    assert leading() == ["gateDone"]
    dialog.close()


def _words(place: QWidget) -> str:
    return " ".join(each.text() for each in place.findChildren(QLabel) if each.isVisible())


def test_what_the_tasks_behind_need_is_said_and_can_be_added(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    dialog, name = opened(qtbot, context, window, asks_for("corrected"), needs(0))
    press(dialog, "gateDone")
    until(qtbot, dialog.fault.isVisible)
    assert "mport needs corrected of look" in dialog.fault.sentence.text()
    dialog.offer([file(tmp_path, "anything.csv")])
    press(dialog, "gateDone")
    until(qtbot, lambda: view_of(context, name).state == "finished")


@pytest.fixture
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[str]:
    """What the window speaks, set again after the test."""
    speak(request.param)
    yield request.param
    words.install(None)


@pytest.mark.parametrize("language", ["en", "pt"], indirect=True)
def test_a_gate_without_names_asks_when_files_are_needed(
    language: str,
    qtbot: QtBot,
    context: ViewContext,
    window: Window,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialog, name = opened(qtbot, context, window, asks_for(), needs(0))
    said = {"en": "attach it", "pt": "anexe"}[language]
    assert said in dialog.fault.sentence.text()
    chosen = [str(file(tmp_path, "points.csv"))]
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: (chosen, ""))
    press(dialog, "gateAdd")
    press(dialog, "gateDone")
    until(qtbot, lambda: view_of(context, name).state == "finished")


def test_a_file_is_chosen_for_a_name_and_taken_away_again(
    qtbot: QtBot,
    context: ViewContext,
    window: Window,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialog, name = opened(qtbot, context, window, asks_for("corrected", "notes"), needs(0))
    chosen = file(tmp_path, "second.csv")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(chosen), ""))
    press(dialog, "gateChoose1")
    assert "corrected comes before" in dialog.missing.text()
    assert not dialog.done_now.isEnabled()
    shown = certain(dialog.findChild(QLabel, "gateFile1"))
    assert shown.text() == "second.csv · 6 B"
    dialog.attaching.remove(chosen)
    press(dialog, "gateChoose0")
    assert dialog.done_now.isEnabled()
    assert "notes" in dialog.missing.text()
    press(dialog, "gateDone")
    until(qtbot, lambda: view_of(context, name).state == "finished")


def test_a_large_file_shows_how_far_it_is_and_can_be_stopped(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    dialog, name = opened(qtbot, context, window, asks_for("corrected"), needs(0))
    dialog.offer([file(tmp_path, "large.las", bytes(BIG_BYTES))])
    steps: list[int] = []

    def step(value: int) -> None:
        """At the third it is stopped, before the rest is sent."""
        steps.append(value)
        if len(steps) == 3:
            dialog.close()

    dialog.progress.valueChanged.connect(step)
    press(dialog, "gateDone")
    until(qtbot, lambda: len(steps) >= 3)
    assert steps == sorted(steps)
    assert task_of(context, name, "look").state is TaskState.WAITING


def test_somebody_else_was_faster(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    dialog, name = opened(qtbot, context, window, asks_for("notes"))
    context.ask(context, GATE, Gate(task_of(context, name, "look").task))
    until(qtbot, dialog.fault.isVisible)
    assert not dialog.done_now.isEnabled()
    dialog.close()
