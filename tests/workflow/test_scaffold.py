"""What a new program gets to speak with its node: each word, said and heard, as it travels."""

from __future__ import annotations

import io
import sys
import threading
import time
from pathlib import Path

import pytest

from agent.workflow.program_scaffold import wingbeat_task as task


@pytest.fixture(autouse=True)
def _as_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a node starts it, and not asked to stop yet."""
    words = ["program", "-p", "one", "-i", "two", "-p", "three", "-x", "fast", "odd"]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(task, "_cancelled", threading.Event())
    monkeypatch.setattr(task, "_listening", [])
    for name in ("WINGBEAT_SCRATCH", "WINGBEAT_CHECKPOINT"):
        monkeypatch.delenv(name, raising=False)


def test_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (task.raw(), task.inputs(), task.parameters()) == (["one", "three"], ["two"], "fast")
    (tmp_path / "long").write_text("many\nlines")
    monkeypatch.setattr(sys, "argv", ["program", "-x", str(tmp_path / "long")])
    assert (task.raw(), task.parameters()) == ([], "many\nlines")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["program", "-x", "long"])
    assert task.parameters() == "long"
    monkeypatch.setattr(sys, "argv", ["program"])
    assert task.parameters() == ""


def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (task.working_folder(), task.saved()) == (Path(), None)
    monkeypatch.setenv("WINGBEAT_SCRATCH", "/scratch")
    monkeypatch.setenv("WINGBEAT_CHECKPOINT", "/state")
    assert (task.working_folder(), task.saved()) == (Path("/scratch"), Path("/state"))


def test_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    task.progress(12.34)
    with pytest.raises(SystemExit) as ended:
        task.terminated("a", "b c")
    assert ended.value.code == 0
    with pytest.raises(SystemExit) as ended:
        task.failed("no film\n in it")
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert said == 'PROGRESS 12.3\nTERMINATED a "b c"\nERROR no film in it\n'


def test_it_stops_when_it_is_asked_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("hello\n CANCEL \nmore\n"))
    task.cancelled()
    (listening,) = task._listening
    listening.join(60)
    assert task.cancelled()
    assert task._listening == [listening]
    with pytest.raises(SystemExit) as ended:
        task.stop_if_cancelled()
    assert (ended.value.code, capsys.readouterr().out) == (0, "CANCELLED\n")


def test_it_goes_on_when_nobody_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("hello\n"))
    task.stop_if_cancelled()
    task._listening[0].join(60)
    assert (task.cancelled(), capsys.readouterr().out) == (False, "")


@pytest.mark.parametrize(("taken", "looks"), [(True, 4), (False, 31)])
def test_a_checkpoint_is_waited_for_until_it_is_taken(
    taken: bool,
    looks: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Half a minute at the most; a clock goes on by a second with each look."""
    state, now = tmp_path / "state", [0.0]
    state.touch()
    monkeypatch.setenv("WINGBEAT_SCRATCH", str(tmp_path))

    def clock() -> float:
        now[0] += 1.0
        if taken and now[0] == 4.0:
            state.unlink()
        return now[0]

    monkeypatch.setattr(time, "monotonic", clock)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    task.checkpoint(str(state))
    assert (now[0], capsys.readouterr().out) == (looks, f"CHECKPOINT {state}\n")


def test_a_checkpoint_of_a_program_that_is_tried_by_hand_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    state.touch()
    monkeypatch.setattr(time, "sleep", pytest.fail)
    task.checkpoint(str(state))
