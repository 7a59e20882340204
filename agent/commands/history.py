"""`wingbeat history`: what became of tasks, and what this machine gave in each week."""

from __future__ import annotations

from agent.api.history import (
    HISTORY,
    STATISTICS,
    History,
    HistoryReply,
    Statistics,
    StatisticsReply,
)
from agent.api.values import TaskState
from agent.commands.asking import ask
from agent.commands.parsing import ALL, Options, argument, command
from agent.commands.showing import clock, counted, moment, show_lines, show_rows

LATEST = 30
LATEST_MAX = 2_000
WEEKS = 8
STATES = {
    state.value.lower(): state
    for state in (TaskState.TERMINATED, TaskState.ABORTED, TaskState.CANCELLED)
}


@command(
    "history",
    "Show tasks that have ended, the latest first, also those that the flock has forgotten:\n"
    "how long they waited and ran, where, and why they moved. --weeks: what this machine gave.",
    "wingbeat history",
    "wingbeat history survey --state aborted",
    "wingbeat history --program merge --all",
    "wingbeat history --weeks",
    argument("workflow", nargs="?", default="", metavar="WORKFLOW", help="only of this one"),
    argument("--program", default="", help="only of this program"),
    argument("--on", default="", metavar="MACHINE", help="only what ended there"),
    argument("--state", choices=STATES, help="only what ended so"),
    ALL,
    argument("--weeks", action="store_true", help="sums of each week"),
)
def run(options: Options) -> int:
    """Show tasks that have ended, the latest first and not more than a limit, only of the workflow,
    program, machine and state that the options name; or with ``--weeks`` what this machine gave in
    each of the last weeks. Return the exit code."""
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
    show_rows(
        reply.tasks,
        ENDED=lambda task: moment(task.ended_ms),
        TASK=lambda task: f"{task.workflow}/{task.name}",
        STATE=lambda task: task.state.value,
        ON=lambda task: task.host,
        WAITED=lambda task: clock(task.waited_s),
        RAN=lambda task: clock(task.ran_s),
        ATTEMPTS=lambda task: str(task.attempts),
        WHY=lambda task: "; ".join([*task.moved, task.reason] if task.reason else task.moved),
    )
    hidden = reply.total - len(reply.tasks)
    if hidden > 0:
        show_lines([f"{hidden} earlier ones are not shown; --all shows more"])


def _show_weeks(reply: StatisticsReply) -> None:
    show_rows(
        reply.weeks,
        WEEK_FROM=lambda week: moment(week.begins_ms)[:10],
        HOURS_GIVEN=lambda week: f"{week.hours_given:.1f}",
        DONE_HERE=lambda week: str(week.done_here),
        DONE_IN_ALL=lambda week: str(week.done),
        FAILED=lambda week: str(week.failed),
        MOVED=lambda week: str(week.moved),
        WAITED=lambda week: clock(week.waited_median_s),
        LONGEST=lambda week: clock(week.waited_longest_s),
    )
    done_here = counted(reply.done_here, "task")
    here = f"{reply.hours_given:.1f} hours given, {done_here} done here"
    show_lines([f"in all {here}, {reply.done} in the flock"])
