"""How answers read: tables, times and colours on a terminal, plain lines elsewhere.

Names and reasons come from other machines, so whatever could steer a terminal is taken out of them
before they are shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from agent.api.reasons import reason_of
from agent.api.values import TaskState, WorkflowState
from agent.api.volunteering import VolunteeringView
from agent.api.work import MEANT, NodeView, TaskView, WorkflowView
from agent.commands.columns import (
    GAP,
    column_widths,
    padded,
    stacked_rows,
    window_of,
    wrapped_lines,
)
from agent.commands.columns import plain as plain  # noqa: PLC0414 - for all who show
from agent.wording.english import HELPING, HELPS_NOBODY, PAUSED
from agent.wording.speech import Speech, counts_in_words, state_word

UNITS_S = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
TYPED_BYTES_MAX = 200
STYLES = {
    "running": "green",
    "done": "green",
    "linked": "green",
    "failed": "bold red",
    "away": "yellow",
    "waiting": "yellow",
    "waits for a person": "yellow",
    "suspended": "yellow",
    "cancelled": "dim",
}

Row = Sequence[str]
T = TypeVar("T")


def show_json(answer: Struct, options: object = None) -> None:
    """Print an answer as one JSON document, at once, for it may be one of many to come. Where these
    options name something by a name that several have, ``meant`` in it tells which it is; nothing
    is added for None."""
    document: object = answer
    meant = getattr(options, MEANT.name, None)
    if meant is not None:
        document = {**msgspec.json.decode(msgspec.json.encode(answer)), MEANT.name: meant}
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")
    sys.stdout.flush()


def show_lines(lines: Iterable[str]) -> None:
    """Print each sentence as a line, on a terminal wrapped at its width between words, with a mark
    in the place of what could steer it."""
    told = [plain(line) for line in lines]
    window = window_of(sys.stdout)
    show_verbatim(told if window is None else wrapped_lines(told, window))


def show_verbatim(lines: Iterable[str]) -> None:
    """Print lines that people copy, or that other programs read, at once and never wrapped; a mark
    stands in the place of what could steer a terminal."""
    sys.stdout.writelines(f"{plain(line)}\n" for line in lines)
    sys.stdout.flush()


def show_table(header: Row, rows: Sequence[Row]) -> None:
    """Print rows in columns under their names, in a narrow window line by line; words of states
    have colours. Where nobody watches, each row is a line, however long. Raises ``ValueError`` for
    a row of another length than the header."""
    # Here, for an agent says lines only and should not carry what draws.
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    window = window_of(sys.stdout)
    shown = [[plain(cell) for cell in row] for row in rows]
    natural = [max(map(cell_len, cells)) for cells in zip(header, *shown, strict=True)]
    if window is None:
        show_verbatim(padded([header, *shown], natural, cell_len))
        return
    widths = column_widths(natural, window)
    if widths is None:
        show_verbatim(stacked_rows(header, shown, window))
        return
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
    for name, width in zip(header, widths, strict=True):
        table.add_column(name, width=width, overflow="fold")
    for row in shown:
        table.add_row(*(Text(cell, STYLES.get(cell, "")) for cell in row))
    console = Console(file=sys.stdout, width=window, highlight=False, emoji=False, markup=False)
    with console.capture() as drawn:
        console.print(table)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in drawn.get().splitlines())


def show_rows(rows: Sequence[T], **columns: Callable[[T], str]) -> None:
    """Print a table with a row for each of these and a column for each name, in which ``_`` becomes
    a blank, with what its function returns for a row."""
    header = [name.replace("_", " ") for name in columns]
    show_table(header, [[cell(row) for cell in columns.values()] for row in rows])


def show_text(text: str) -> None:
    """Print what a program has printed, as it is and at once; on a terminal with a mark in the
    place of each character that could steer it."""
    if sys.stdout.isatty():
        text = "".join(each if each in "\n\t" or each.isprintable() else "\ufffd" for each in text)
    sys.stdout.write(text)
    sys.stdout.flush()


def standing(state: WorkflowState) -> str:
    """Return how a workflow stands, as it is said behind its name."""
    return "has failed" if state == "failed" else f"is {state_word(state)}"


def state_of(task: TaskView) -> str:
    """Return the state of a task in words, those of the window: what a machine has in hand that is gone
    does not run, and what was given up before it ran has not failed itself."""
    if task.gone_ms:
        return "its machine is gone"
    never_ran = task.state is TaskState.ABORTED and not task.attempt and not task.begun_ms
    return "did not run" if never_ran else state_word(task.state.value)


def counts_told(workflow: WorkflowView) -> str:
    """Return how a workflow stands, and how many of its tasks are in which state."""
    return f"{workflow.name} {standing(workflow.state)}: {counts_in_words(workflow.counts)}"


def counted(count: int, thing: str) -> str:
    """Return a number of things, such as "2 tasks"."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def ago(then_ms: int, now_s: float | None = None) -> str:
    """Return how long ago a moment was, in words, such as "5 minutes ago"; "just now" below a
    second and for one to come; empty for 0, one that is not known. ``now_s`` is the time now unless
    given."""
    if not then_ms:
        return ""
    passed_s = (time.time() if now_s is None else now_s) - then_ms / 1000
    return f"{duration(passed_s)} ago" if passed_s >= 1 else "just now"


class _Because(Speech):
    """Says why a machine helps or not behind words that say whether it does."""

    def filled(self, template: str, values: dict[str, Any]) -> str:
        begins = (each for each in (HELPING, PAUSED, HELPS_NOBODY) if template.startswith(each))
        return super().filled(template.removeprefix(next(begins, "")), values)


def helping(view: NodeView | VolunteeringView, *, helps: bool) -> str:
    """Return "helps" or "does not help", as ``helps`` says, and behind it why, where the view tells
    that."""
    verb = "helps" if helps else "does not help"
    because = _Because().say(reason_of(view.why, view.reason))
    return f"{verb}: {because}" if because else verb


def duration(seconds: float) -> str:
    """Return a duration, rounded down, in the largest unit that fits at least twice, so that it is
    not too coarse; below that "a second" or "less than a second"."""
    for unit, length_s in UNITS_S:
        count = int(seconds // length_s)
        if count >= 2:
            return f"{count} {unit}s"
    return "a second" if seconds >= 1 else "less than a second"


def going(view: TaskView | WorkflowView, now_s: float | None = None) -> str:
    """Return how long what runs still needs, or where nobody knows that for how long it has run;
    empty for what has not begun, has ended, or is held. ``now_s`` is the time now unless given."""
    if isinstance(view, TaskView) and view.gone_ms:
        return ""
    if view.state not in ("running", TaskState.RUNNING, TaskState.SCHEDULED) or not view.begun_ms:
        return ""
    if view.expected_end_ms:
        return f"{clock(view.left_ms / 1000)} left"
    passed_s = (time.time() if now_s is None else now_s) - view.begun_ms / 1000
    return f"running for {clock(max(0.0, passed_s))}"


def clock(seconds: float) -> str:
    """Return a length of time as a clock shows it, ``m:ss``, or from an hour on ``h:mm:ss``."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def size(count: int) -> str:
    """Return a number of bytes as people read it, such as "1.5 GB", in units of 1,000 up to TB."""
    amount, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 1_000 and len(units) > 1:
        amount /= 1_000
        units.pop(0)
    return f"{amount:.{0 if amount >= 10 or units[0] == 'B' else 1}f} {units[0]}"


def moment(then_ms: int) -> str:
    """Return a moment in the time of this machine, as ``2026-01-31 18:30:00``."""
    return datetime.fromtimestamp(then_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def confirm(question: str) -> bool | None:
    """Ask a person, wait for a line on standard input, and tell whether the answer is yes; None
    when the input has ended or there is none. Anything but yes or no is asked again."""
    while True:
        sys.stdout.write(f"{plain(question)} (yes/no) ")
        sys.stdout.flush()
        answer = typed_line()
        if not answer:
            sys.stdout.write("\n")
            return None
        word = answer.strip().casefold()
        if word in ("yes", "no"):
            return word == "yes"


def is_typed() -> bool:
    """Tell whether a person at a terminal can be asked; not where standard input is a file or a pipe,
    or there is none."""
    return sys.stdin is not None and sys.stdin.isatty()


def typed_line(bytes_max: int = TYPED_BYTES_MAX) -> str:
    """Wait for a line on standard input and return it with its end, cut if it is too long; what is
    no UTF-8 is replaced. Empty when the input has ended or there is none."""
    if sys.stdin is None:
        return ""
    return sys.stdin.buffer.readline(bytes_max).decode("utf-8", "replace")


def phrase_lines(phrase: str) -> list[str]:
    """Return the lines to print with a recovery phrase: the phrase, and that it is shown only now
    and has to be kept."""
    return [
        f"its recovery phrase is: {phrase}",
        "write it down and keep it apart from this machine: it is shown only now; it is the missing",
        "voice where there are not two administrators, and whoever has it can take the flock",
    ]
