"""`wingbeat history`: what has ended, what became of each task, and what this machine gave."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime, timedelta

from agent.api.history import (
    HISTORY,
    STATISTICS,
    BalanceView,
    History,
    HistoryReply,
    Statistics,
    StatisticsReply,
)
from agent.api.past import MS_MAX, PAST, EndState, Past, PastReply, PastWorkflow
from agent.api.values import TaskState
from agent.client import Client
from agent.client.own_agent import own_name
from agent.client.past import past_csv, whole_past
from agent.commands import exits
from agent.commands.asking import ask, with_loop
from agent.commands.parsing import ALL, Options, argument, command, misuse
from agent.commands.showing import (
    clock,
    counted,
    duration,
    moment,
    show_json,
    show_lines,
    show_rows,
    size,
)
from agent.wording.speech import state_word

LATEST = 30
LATEST_MAX = 2_000
WEEKS = 8
STATES: dict[str, tuple[EndState, TaskState]] = {
    "done": ("finished", TaskState.TERMINATED),
    "finished": ("finished", TaskState.TERMINATED),
    "failed": ("failed", TaskState.ABORTED),
    "cancelled": ("cancelled", TaskState.CANCELLED),
    "terminated": ("finished", TaskState.TERMINATED),
    "aborted": ("failed", TaskState.ABORTED),
}


def day(text: str) -> int:
    """Return when a day of this machine's calendar begins that is typed as 2026-03-31, ``today`` or
    ``yesterday``, in milliseconds since 1970, 0 for one before; raise ``ArgumentTypeError`` when
    the text is none."""
    back = {"today": 0, "yesterday": 1}.get(text)
    try:
        if back is not None:
            midnight = datetime.combine(datetime.now().date(), datetime.min.time())  # noqa: DTZ005
            return round((midnight - timedelta(days=back)).astimezone().timestamp() * 1000)
        found = datetime.strptime(text, "%Y-%m-%d")  # noqa: DTZ007 - the day of this machine
        return max(0, round(found.astimezone().timestamp() * 1000))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no day like 2026-03-31, nor today or yesterday"
        ) from None


@command(
    "history",
    "Show workflows that have ended, the latest first, also those that the flock has forgotten:\n"
    "whose they were, how long they waited and ran, where, and why they failed. Of a WORKFLOW, or\n"
    "with --tasks, it shows the tasks. --weeks: what this machine gave to others, and took.",
    "wingbeat history",
    "wingbeat history --failed --since 2026-03-01",
    "wingbeat history --search 'north birch' --mine",
    "wingbeat history --all --csv > past.csv",
    "wingbeat history survey --state failed",
    "wingbeat history --weeks",
    argument("workflow", nargs="?", default="", metavar="WORKFLOW", help="the tasks of this one"),
    argument("--tasks", action="store_true", help="tasks, of all workflows"),
    argument("--search", default="", metavar="WORDS", help="only what has all these words"),
    argument("--mine", action="store_true", help="only what I have submitted here"),
    argument("--failed", action="store_true", help="only what failed"),
    argument("--program", default="", help="only of this program"),
    argument("--on", default="", metavar="MACHINE", help="only what ran there"),
    argument("--state", choices=STATES, help="only what ended so"),
    argument("--since", type=day, default=0, metavar="DAY", help="only what ended from then on"),
    argument("--until", type=day, default=0, metavar="DAY", help="only what ended before that day"),
    ALL,
    argument("--csv", action="store_true", help="comma-separated values, for spreadsheets"),
    argument("--weeks", action="store_true", help="sums of each week"),
)
def run(options: Options) -> int:
    """Show workflows that have ended, the latest first and not more than a limit, with ``--all``
    every one, only those that the options describe, with ``--csv`` as a table for spreadsheets; of
    one that is named, or with ``--tasks``, their tasks, and with ``--weeks`` what this machine gave
    in each of the last weeks. Return the exit code: of misuse for options that do not go together,
    of failure when the agent cannot be asked, which is told and not raised."""
    if options.csv and options.json:
        return misuse("history: --csv and --json are two ways to write; choose one")
    if options.weeks:
        return ask(options, STATISTICS, Statistics(WEEKS), _show_weeks)
    if options.workflow or options.tasks:
        if options.csv or options.search or options.mine:
            return misuse("history: --csv, --search and --mine are for workflows, not for tasks")
        return ask(options, HISTORY, _tasks_wanted(options), _show_tasks)
    return _workflows(options)


def _state(options: Options) -> tuple[EndState, TaskState] | tuple[None, None]:
    return STATES.get("failed" if options.failed else options.state, (None, None))


def _tasks_wanted(options: Options) -> History:
    return History(
        options.workflow,
        options.program,
        options.on,
        _state(options)[1],
        options.since,
        options.until or 2**53,
        limit=LATEST_MAX if options.all else LATEST,
    )


@with_loop
async def _workflows(options: Options, client: Client) -> int:
    wanted = Past(
        options.search,
        options.mine,
        own_name() if options.mine else "",
        _state(options)[0],
        options.program,
        options.on,
        options.since,
        options.until or MS_MAX,
        limit=LATEST,
        summed=True,
    )
    reply = await (whole_past(client, wanted) if options.all else client.call(PAST, wanted))
    if options.csv:
        sys.stdout.write(past_csv(reply.workflows))
    elif options.json:
        show_json(reply)
    else:
        _show(reply)
    return exits.DONE


def _show(reply: PastReply) -> None:
    if not reply.workflows:
        show_lines(["nothing has ended so far that fits, as far as this machine saw"])
        return
    show_rows(
        reply.workflows,
        ENDED=lambda each: moment(each.ended_ms)[:16],
        WORKFLOW=lambda each: each.name,
        STATE=lambda each: state_word(each.state),
        BY=_whose,
        WAITED=lambda each: clock(each.waited_s),
        RAN=lambda each: clock(each.ran_s),
        MAKESPAN=lambda each: clock(each.makespan_s),
        ATTEMPTS=lambda each: str(each.attempts),
        ON=lambda each: ", ".join(each.machines),
        WHY=lambda each: f"{each.failed}: {each.reason}" if each.failed else each.reason,
    )
    facts = [f"{counted(reply.total, 'workflow')}, {size(reply.size_bytes)} with all that is kept"]
    if len(reply.workflows) < reply.total:
        facts.append(f"{reply.total - len(reply.workflows)} earlier ones are shown with --all")
    show_lines(["; ".join(facts)])


def _whose(each: PastWorkflow) -> str:
    named = each.submitter and each.submitter != each.host
    return f"{each.submitter} on {each.host}" if named else each.host


def _show_tasks(reply: HistoryReply) -> None:
    if not reply.tasks:
        show_lines(["nothing has ended so far, as far as this machine saw"])
        return
    show_rows(
        reply.tasks,
        ENDED=lambda task: moment(task.ended_ms),
        TASK=lambda task: f"{task.workflow_name or task.workflow}/{task.name}",
        STATE=lambda task: state_word(task.state.value),
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
    show_lines([f"in all {here}, {reply.done} in the flock", *map(balance_told, reply.balance)])


def balance_told(each: BalanceView) -> str:
    """Return for how long this machine worked for others lately, and others for it, in a line."""
    thrown = f" ({_hours(each.thrown_hours)} of it thrown away)" if each.thrown_hours else ""
    gave, took = _hours(each.gave_hours), _hours(each.took_hours)
    return f"last {each.days} days: gave {gave} to others{thrown}, took {took}"


def _hours(value: float) -> str:
    """Hours also where there are days of them; below one in the words of other lengths."""
    if value and value < 1:
        return duration(value * 3600)
    return f"{value:.0f} h" if value >= 10 or not value else f"{value:.1f} h"
