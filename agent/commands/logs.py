"""`wingbeat logs`: what a task has printed, wherever it runs or ran; `log`: the agent's own log."""

from __future__ import annotations

import sys
from typing import get_args

from msgspec.structs import replace

from agent.api.history import RUNS, Runs, RunsReply
from agent.api.logs import (
    AGENT_LOG,
    LOG_LINES_MAX,
    TASK_LOG,
    WAIT_S_MAX,
    AgentLog,
    LogLine,
    Severity,
    TaskLog,
    TaskLogPart,
)
from agent.client import Client
from agent.commands import exits
from agent.commands.asking import tell, with_loop
from agent.commands.parsing import Options, argument, command, number_of
from agent.commands.showing import (
    moment,
    plain,
    show_json,
    show_lines,
    show_text,
    show_verbatim,
    size,
)

PIECE_BYTES = 256 * 1024
FOLLOW_S = WAIT_S_MAX / 2
LINES = 50


@command(
    "logs",
    "Print what a task has printed, from whichever machine runs it or ran it; of its latest\n"
    "attempt, unless another one is named. Of a machine that is off, another one keeps the end.",
    "wingbeat logs survey/merge",
    "wingbeat logs -f merge",
    "wingbeat logs survey/merge --attempts",
    argument("task", metavar="TASK", help="its name, or workflow/name"),
    argument("-f", "--follow", action="store_true", help="go on until the run is over"),
    argument("--run", default="", metavar="RUN", help="of this attempt"),
    argument("--attempts", action="store_true", help="list the attempts, the first one first"),
)
@with_loop
async def logs(options: Options, client: Client) -> int:
    """Print all that a task has printed so far in its latest run, or in the one that is named; with
    ``--follow`` go on until that run is over; with ``--attempts`` print only which there are. What
    a copy lacks is said on standard error. Return the exit code."""
    if options.attempts:
        reply = await client.call(RUNS, Runs(task=options.task))
        return tell(options, reply, _attempts(reply))
    wait_s = FOLLOW_S if options.follow else 0.0
    asked = TaskLog(options.task, options.run, 0, PIECE_BYTES, wait_s)
    noted = options.json
    while True:
        part = await client.call(TASK_LOG, asked)
        if part.copy_on and not noted:
            noted = True
            sys.stderr.write(f"{plain(_of_copy(part))}\n")
        show_json(part, options) if options.json else show_text(part.text)
        more = part.next_offset < part.size_bytes and part.next_offset > asked.offset
        asked = replace(asked, run=part.run or asked.run, offset=part.next_offset)
        if part.over or not (more or options.follow):
            return exits.DONE


def _of_copy(part: TaskLogPart) -> str:
    cut = f" without its first {size(part.begins)}" if part.begins else ""
    at = moment(part.copied_ms)
    return f"({part.host} cannot be asked: this is the copy on {part.copy_on} of {at}{cut})"


def _attempts(reply: RunsReply) -> list[str]:
    return [
        f"{run.run}  {moment(run.begun_ms)}  {run.phase} on {run.host}"
        + (f": {run.text}" if run.text else "")
        for task in reply.tasks
        for run in task.runs
    ] or ["nobody has begun it so far"]


@command(
    "log",
    "Print the last lines of the agent's log, filtered; with -f those that come too.",
    "wingbeat log",
    "wingbeat log -f --severity warning",
    "wingbeat log --containing alder -n 200 --node alder",
    argument("-f", "--follow", action="store_true", help="go on until Ctrl-C"),
    argument(
        "-n",
        "--lines",
        type=number_of("number", 1, LOG_LINES_MAX),
        default=LINES,
        help=f"how many ({LINES})",
    ),
    argument("--severity", choices=get_args(Severity), default="info", help="at least (info)"),
    argument("--containing", default="", metavar="TEXT", help="with this in them"),
)
@with_loop
async def log(options: Options, client: Client) -> int:
    """Print the last lines of the agent's log that fit the options; with ``--follow`` go on with
    those that come, until Ctrl-C. Return the exit code."""
    asked = AgentLog("", options.severity, options.containing, options.lines)
    reply = await client.call(AGENT_LOG, asked)
    show_json(reply) if options.json else show_verbatim(map(_line, reply.lines))
    while options.follow:
        asked = replace(asked, after=reply.after, limit=LOG_LINES_MAX, wait_s=FOLLOW_S)
        reply = await client.call(AGENT_LOG, asked)
        if reply.skipped and not options.json:
            show_lines(["(older lines were removed before they could be read)"])
        if reply.lines:
            show_json(reply) if options.json else show_verbatim(map(_line, reply.lines))
    return exits.DONE


def _line(line: LogLine) -> str:
    first, *rest = line.text.split("\n")
    more = "".join(f" | {plain(each.strip())}" for each in rest)
    return f"[{moment(line.at_ms)}]: <{line.severity}> {first}{more}"
