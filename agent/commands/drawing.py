"""What stays on a screen while something goes on: bars, marks of states, times left.

Only on a terminal; elsewhere the same facts are plain lines, each told once.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable

from rich.console import Console, JustifyMethod
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from agent.api.values import TaskState
from agent.api.work import TaskView, WorkflowView
from agent.commands.showing import STYLES, going, plain, state_of
from agent.wording.speech import state_word

BAR_CELLS, BAR_CELLS_MIN, WORDS_CELLS = 24, 4, 58
"""In a narrow window the bar gives way to the words beside it."""
ROWS_MAX = 30
"""More tasks than fit on a screen are summed up."""
FIRST = (
    TaskState.RUNNING,
    TaskState.SUSPENDED,
    TaskState.SCHEDULED,
    TaskState.WAITING,
    TaskState.ABORTED,
    TaskState.READY,
    TaskState.SUBMITTED,
    TaskState.CANCELLED,
    TaskState.TERMINATED,
)
"""What goes on is seen first."""


def on_terminal() -> bool:
    """Tell whether a terminal shows what is printed."""
    return sys.stdout.isatty()


def console(*, shown: bool = True) -> Console:
    """Return a console on standard output, or one that prints nothing: before rich 14.3 a bar that is
    not shown ends with an empty line. Words of others are never taken for markup."""
    return Console(file=sys.stdout, highlight=False, emoji=False, markup=False, quiet=not shown)


def bar(permille: int, cells: int = BAR_CELLS) -> Text:
    """Return a bar of so many cells that shows how many thousandths of something are done; below 0
    it is empty, above 1,000 full."""
    full = max(0, min(cells, round(cells * permille / 1_000)))
    return Text("━" * full, "green") + Text("━" * (cells - full), "dim")


def workflow_lines(workflows: Iterable[WorkflowView]) -> Table:
    """Return a table for the terminal's width with a line for each workflow: its name and state,
    how far it is, how many tasks are done, and of a running one the time left."""
    lines = Table.grid(padding=(0, 2, 0, 0))
    justified: tuple[JustifyMethod, ...] = ("left", "left", "left", "right", "right", "left")
    for justify in justified:
        lines.add_column(no_wrap=True, overflow="ellipsis", justify=justify)
    window = shutil.get_terminal_size().columns
    cells = max(BAR_CELLS_MIN, min(BAR_CELLS, window - WORDS_CELLS))
    for workflow in workflows:
        lines.add_row(
            Text(plain(workflow.name), "bold"),
            _state(workflow.state),
            bar(workflow.permille, cells),
            f"{workflow.permille // 10}%",
            f"{workflow.counts.get(TaskState.TERMINATED, 0)}/{workflow.tasks} done",
            going(workflow),
        )
    return lines


def task_table(tasks: Iterable[TaskView], rows_max: int = ROWS_MAX) -> Table:
    """Return a table of a workflow's tasks, what goes on first, at most ``rows_max`` of them; of
    more, a last row says how many."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("TASK", "STATE", "ON", "", "TIME", "WHY"):
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    ordered = sorted(tasks, key=lambda task: FIRST.index(task.state))
    for task in ordered[:rows_max]:
        table.add_row(*_task_cells(task))
    if len(ordered) > rows_max:
        table.add_row(Text(f"and {len(ordered) - rows_max} more", "dim"))
    return table


def _task_cells(task: TaskView) -> tuple[Text | str, ...]:
    under_way = task.state in (TaskState.RUNNING, TaskState.SUSPENDED)
    why = task.asks if task.state is TaskState.WAITING else task.reason
    return (
        Text(plain(task.name)),
        _state(state_of(task)),
        Text(plain(task.host)),
        bar(task.permille, 12) if under_way else "",
        going(task),
        Text(plain(why)),
    )


def _state(state: str) -> Text:
    word = state_word(state)
    return Text(word, STYLES.get(word, ""))


class _OfWork(ProgressColumn):
    """The time left as the node reckons it."""

    def render(self, task: Task) -> Text:
        return Text(str(task.fields.get("left", "")))


def work_bar(*, shown: bool) -> Progress:
    """Return a bar for the work of one workflow, not started yet, which is removed from the
    terminal at its end; without ``shown`` it draws nothing."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        _OfWork(),
        console=console(shown=shown),
        transient=True,
        disable=not shown,
    )


def transfer_bar() -> Progress:
    """Return a bar for bytes on their way, not started yet, which is removed at its end; it shows
    nothing where nobody watches, whatever colours are wanted there."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console(shown=on_terminal()),
        transient=True,
        disable=not on_terminal(),
    )
