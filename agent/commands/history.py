"""`wingbeat history`: what became of tasks, and what this machine gave in each week."""

from __future__ import annotations

from datetime import datetime

from agent.api.history import (
    History,
    HistoryReply,
    Statistics,
    StatisticsReply,
    TaskHistory,
    WeekView,
)
from agent.api.methods import HISTORY, STATISTICS
from agent.api.values import TaskState
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.showing import clock, counted, moment, show_lines, show_table

LATEST = 30
LATEST_MAX = 2_000
WEEKS = 8
STATES = {
    state.value.lower(): state
    for state in (TaskState.TERMINATED, TaskState.ABORTED, TaskState.CANCELLED)
}


def run(arguments: list[str]) -> int:
    """Show tasks that have ended, or what this machine gave in each week; return the exit code."""
    parser = client_parser(
        "history",
        "Show tasks that have ended, the latest first, also those that the flock has forgotten:\n"
        "how long they waited and ran, where, and why they moved. --weeks: what this machine gave.",
        "wingbeat history",
        "wingbeat history survey --state aborted",
        "wingbeat history --program merge --all",
        "wingbeat history --weeks",
    )
    parser.add_argument(
        "workflow", nargs="?", default="", metavar="WORKFLOW", help="only of this one"
    )
    parser.add_argument("--program", default="", help="only of this program")
    parser.add_argument("--on", default="", metavar="MACHINE", help="only what ended there")
    parser.add_argument("--state", choices=STATES, help="only what ended so")
    parser.add_argument("--all", action="store_true", help="not only the latest")
    parser.add_argument("--weeks", action="store_true", help="sums of each week")
    options = parser.parse_args(arguments)
    if options.weeks:
        return ask(options, STATISTICS, Statistics(WEEKS), _show_weeks)
    asked = History(
        options.workflow,
        options.program,
        options.on,
        STATES.get(options.state),
        limit=LATEST_MAX if options.all else LATEST,
    )
    return ask(options, HISTORY, asked, _show)


def _show(reply: HistoryReply) -> None:
    if not reply.tasks:
        show_lines(["nothing has ended so far, as far as this machine saw"])
        return
    header = ("ENDED", "TASK", "STATE", "ON", "WAITED", "RAN", "ATTEMPTS", "WHY")
    show_table(header, [_row(task) for task in reply.tasks])
    hidden = reply.total - len(reply.tasks)
    if hidden > 0:
        show_lines([f"{hidden} earlier ones are not shown; --all shows more"])


def _row(task: TaskHistory) -> tuple[str, ...]:
    return (
        moment(task.ended_ms),
        f"{task.workflow}/{task.name}",
        task.state.value,
        task.host,
        clock(task.waited_s),
        clock(task.ran_s),
        str(task.attempts),
        "; ".join([*task.moved, task.reason] if task.reason else task.moved),
    )


def _show_weeks(reply: StatisticsReply) -> None:
    header = (
        "WEEK FROM",
        "HOURS GIVEN",
        "DONE HERE",
        "DONE IN ALL",
        "FAILED",
        "MOVED",
        "WAITED",
        "LONGEST",
    )
    show_table(header, [_week(each) for each in reply.weeks])
    done_here = counted(reply.done_here, "task")
    here = f"{reply.hours_given:.1f} hours given, {done_here} done here"
    show_lines([f"in all {here}, {reply.done} in the flock"])


def _week(week: WeekView) -> tuple[str, ...]:
    day = datetime.fromtimestamp(week.begins_ms / 1000).astimezone().strftime("%Y-%m-%d")
    return (
        day,
        f"{week.hours_given:.1f}",
        str(week.done_here),
        str(week.done),
        str(week.failed),
        str(week.moved),
        clock(week.waited_median_s),
        clock(week.waited_longest_s),
    )
