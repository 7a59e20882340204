"""What commands print: tables and help in windows of any width, and sentences that say a thing once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.api.presence_reasons import HelpsAlways, PausedUntilResumed
from agent.api.reasons import Cancelled, NeedsCancelled, NotAccepted, Opaque, Reason, as_why
from agent.api.rpc import ErrorCode
from agent.api.session import TaskMoved
from agent.api.values import TaskState
from agent.api.work import Basis, Misfit, NodeView, PlanReply, TaskPlan, TaskView
from agent.cli import COMMANDS, main
from agent.commands import exits
from agent.commands.asking import fail
from agent.commands.columns import column_widths, folded, stacked_rows, wrapped_lines
from agent.commands.parsing import Options
from agent.commands.planned import show_plan
from agent.commands.showing import going, helping, state_of
from agent.commands.waiting import ending
from agent.wording.speech import english
from gui.model.marks import task_words


@pytest.mark.parametrize(
    ("natural", "window", "widths"),
    [
        ([28, 10, 5], 200, [28, 10, 5]),
        ([28, 10, 5], 47, [28, 10, 5]),
        ([28, 10, 5], 46, [27, 10, 5]),
        ([28, 10, 5, 13, 18, 70], 80, [14, 10, 5, 13, 14, 14]),
        ([33, 7, 4, 8, 14, 4, 5], 80, [26, 7, 4, 8, 14, 4, 5]),
        ([33, 7, 4, 8, 14, 4, 5], 50, None),
        ([4], 80, [4]),
        ([], 80, []),
    ],
)
def test_widths(natural: list[int], window: int, widths: list[int] | None) -> None:
    assert column_widths(natural, window) == widths


def test_where_a_table_is_too_wide_rows_are_told_line_by_line() -> None:
    header = ("TASK", "STATE", "REASON")
    rows = [("first", "Terminated", ""), ("check", "Waiting", "look at the pylons of the line")]
    assert list(stacked_rows(header, rows, 30)) == [
        "first",
        "  STATE   Terminated",
        "",
        "check",
        "  STATE   Waiting",
        "  REASON  look at the pylons",
        "          of the line",
    ]


INDENTED = "  "


@pytest.mark.parametrize("columns", [50, 80])
@pytest.mark.parametrize("command", ["", *sorted(COMMANDS)])
def test_help_fits_the_window(
    command: str, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    wide = [line for line in said.splitlines() if len(line) > columns]
    assert [line for line in wide if not line.startswith(INDENTED)] == []
    assert said.count("exit codes:") == 1


def test_paragraphs_are_filled_and_lists_keep_their_columns() -> None:
    text = (
        "Show what goes on,\nuntil somebody ends it.\n\nexamples:\n"
        "  wingbeat show a-very-long-name-of-a-workflow\n\nexit codes:\n"
        "  0   done\n  10  it was told something that makes no sense"
    )
    assert list(folded(text, 34)) == [
        "Show what goes on, until somebody",
        "ends it.",
        "",
        "examples:",
        "  wingbeat show a-very-long-name-of-a-workflow",
        "",
        "exit codes:",
        "  0   done",
        "  10  it was told something that",
        "      makes no sense",
    ]


def test_sentences_break_between_words_and_points_stay_points() -> None:
    lines = [
        "copy has all that it needs; no machine helps now",
        "- alder could run it, and its slot is taken",
        "  12:00  Running on birch (the program started again)",
        "a time that is long  it breaks as it comes",
        "",
        "sha256:" + "0" * 40,
    ]
    assert list(wrapped_lines(lines, 30)) == [
        "copy has all that it needs; no",
        "machine helps now",
        "- alder could run it, and its",
        "  slot is taken",
        "  12:00  Running on birch (the",
        "         program started",
        "         again)",
        "a time that is long  it breaks",
        "as it comes",
        "",
        "sha256:" + "0" * 40,
    ]


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
        (Cancelled(), "segment cancelled"),
        (NeedsCancelled("import"), "segment cancelled: needs import, which was cancelled"),
    ],
)
def test_an_end_says_no_more_than_its_state_where_that_says_it(reason: Reason, said: str) -> None:
    moved = (TaskState.RUNNING, TaskState.CANCELLED, "", "", english(reason))
    assert ending(TaskMoved("t", "segment", "line", *moved, why=as_why(reason))) == said


BASIS = Basis(runs=12)
UNKNOWN = (
    "2 machines help now; how long it takes is not known: nobody has told it of a (`expected:` in the "
    "file), and nothing like it has ended here before"
)
WAITS = "birch and cedar run count only when somebody there accepts it"


def plan(task: str) -> TaskPlan:
    unaccepted = "does not take the published program count"
    why = as_why(NotAccepted("count"))
    misfits = [Misfit(name, name, unaccepted, why=why) for name in ("birch", "cedar")]
    return TaskPlan(
        task,
        ("alder",),
        (*misfits, Misfit("elm", "elm", "has no tag gpu")),
        0.0,
        60.0,
        Basis(),
        BASIS,
    )


def test_machines_that_wait_for_a_person_are_told_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tasks = plan("a"), plan("b")
    show_plan(PlanReply(False, (), tasks, 1, 1_700_000_000_000, waits=(WAITS,), basis=BASIS))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "TASK  COULD RUN ON  BEGINS   ENDS",
        "a     alder         in 0:00  in 1:00",
        "b     alder         in 0:00  in 1:00",
        "elm has no tag gpu (a, b)",
        WAITS,
    ]
    assert lines[5].startswith("1 machine helps now; it would end about ")
    assert lines[5].endswith(", from 12 earlier runs")


@pytest.mark.parametrize(
    ("helping", "begins", "ends", "said"),
    [
        (0, None, None, "no machine helps now; it would begin as soon as one does"),
        (
            2,
            Basis(),
            None,
            UNKNOWN,
        ),
        (
            2,
            None,
            None,
            "2 machines help now; when it would begin is not known: other work goes before it",
        ),
    ],
)
def test_where_nobody_knows_no_end_is_told(
    capsys: pytest.CaptureFixture[str],
    helping: int,
    begins: Basis | None,
    ends: Basis | None,
    said: str,
) -> None:
    task = TaskPlan("a", ("alder",), (), 0.0, 0.0, begins, ends)
    show_plan(PlanReply(False, (), (task,), helping, 0))
    _, row, told = capsys.readouterr().out.splitlines()
    assert row.split() == ["a", "alder", *(["in", "0:00"] if begins else [])]
    assert told == said


@pytest.mark.parametrize(
    ("state", "told", "said"),
    [
        (TaskState.TERMINATED, {"attempt": 1}, "done"),
        (TaskState.ABORTED, {"attempt": 1}, "failed"),
        (TaskState.ABORTED, {}, "did not run"),
        (TaskState.SUBMITTED, {}, "waiting"),
        (TaskState.RUNNING, {"attempt": 1, "gone_ms": 1}, "its machine is gone"),
    ],
)
def test_states_are_called_as_in_the_window(
    state: TaskState, told: dict[str, Any], said: str
) -> None:
    each = TaskView("t", "t", "w", "p", state, **told)
    assert state_of(each) == task_words(each) == said


@pytest.mark.parametrize(
    ("state", "told", "said"),
    [
        (TaskState.RUNNING, {}, "running for 3:00"),
        (TaskState.RUNNING, {"expected_end_ms": 1, "left_ms": 61_000}, "1:01 left"),
        (TaskState.RUNNING, {"begun_ms": 0}, ""),
        (TaskState.RUNNING, {"gone_ms": 1_100_000}, ""),
        (TaskState.SUSPENDED, {}, ""),
        (TaskState.TERMINATED, {}, ""),
    ],
)
def test_what_goes_on_is_told_with_its_rest_or_its_age(
    state: TaskState, told: dict[str, Any], said: str
) -> None:
    each = TaskView("t", "t", "w", "p", state, **{"begun_ms": 1_000_000, **told})
    assert going(each, 1_180.0) == said


@pytest.mark.parametrize(
    ("kind", "reason"), [(ErrorCode.UNKNOWN, "UNKNOWN"), (None, None), (4_711, None)]
)
def test_scripts_are_told_by_name_why_something_was_refused(
    capsys: pytest.CaptureFixture[str], kind: int | None, reason: str | None
) -> None:
    """One of a later version has its number alone."""
    assert fail(Options(json=True), "no task is called x", kind=kind) == exits.FAILED
    told = {"error": "no task is called x", "code": kind, "reason": reason}
    assert json.loads(capsys.readouterr().out) == told
