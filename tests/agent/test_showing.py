"""How answers read: plainly into a file, with colours on a terminal, never steering it."""

from __future__ import annotations

import io
import sys

import pytest

from agent.commands.drawing import transfer_bar
from agent.commands.questions import clock_told as clock
from agent.commands.showing import ago, confirm, duration, plain, show_lines, show_table

HOSTILE = "a\x1b[2Jb\nc\u202ed\x07"


class Terminal(io.StringIO):
    """Takes colours."""

    def isatty(self) -> bool:
        return True


def test_names_from_elsewhere_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert plain("Bärbel's 2nd 工作站") == "Bärbel's 2nd 工作站"
    assert plain(HOSTILE) == "a\ufffd[2Jb\ufffdc\ufffdd\ufffd"
    show_table(("NAME",), [(HOSTILE,)])
    show_lines([HOSTILE])
    assert capsys.readouterr().out.splitlines() == ["NAME", plain(HOSTILE), plain(HOSTILE)]


def test_into_a_file_lines_are_plain_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    reason = "why " * 100
    show_table(("NAME", "STATE", "REASON"), [("birch", "running", reason), ("elm", "away", "")])
    assert capsys.readouterr().out.splitlines() == [
        "NAME   STATE    REASON",
        f"birch  running  {reason.rstrip()}",
        "elm    away",
    ]


def test_on_a_terminal_states_have_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show_table(("NAME", "STATE"), [("birch", "running")])
    assert "\x1b[32mrunning" in terminal.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    show_table(("NAME", "STATE"), [("birch", "running")])
    assert terminal.getvalue().count("\x1b[32m") == 1


def test_colours_that_are_forced_make_no_terminal_of_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with transfer_bar() as bar:
        bar.add_task("survey", total=1)
        sys.stderr.write("one sentence\n")
        sys.stdout.write('{"bytes": 1}\n')
    assert capsys.readouterr() == ('{"bytes": 1}\n', "one sentence\n")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "less than a second"),
        (1, "a second"),
        (2, "2 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7_200, "2 hours"),
        (172_800, "2 days"),
    ],
)
def test_durations_are_in_their_largest_unit(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_moments_are_told_by_how_long_ago_they_were() -> None:
    assert ago(1_000_000, 1_090.0) == "90 seconds ago"
    assert ago(1_000_000, 1_000.5) == "just now"
    assert ago(1_000_000, 900.0) == "just now"
    assert ago(0) == ""


@pytest.mark.parametrize(
    ("ahead_ms", "words"),
    [(None, ""), (-999, "right"), (61_000, "61 seconds ahead"), (-7_300_000, "2 hours behind")],
)
def test_a_clock_is_right_or_said_to_be_wrong(ahead_ms: int | None, words: str) -> None:
    assert clock(ahead_ms) == words


def test_whatever_is_typed_is_an_answer_or_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for typed, told in ((b"\xff yes\nyes\n", True), (b"perhaps\n No \n", False), (b"maybe", None)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), "utf-8"))
        assert confirm("do it?") is told
    monkeypatch.setattr(sys, "stdin", None)
    assert confirm("do it?") is None
