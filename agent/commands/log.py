"""`wingbeat log`: the agent's own log."""

from __future__ import annotations

import argparse

from agent.api.logs import LOG_LINES_MAX, WAIT_S_MAX, AgentLog, LogLine
from agent.api.methods import AGENT_LOG
from agent.client import Client
from agent.commands import exits
from agent.commands.asking import ask_with
from agent.commands.parsing import client_parser
from agent.commands.showing import moment, plain, show_json, show_lines, show_verbatim

SEVERITIES = ("debug", "info", "normal", "warning", "error")
LINES = 50


def run(arguments: list[str]) -> int:
    """Print lines of the agent's log; return the exit code."""
    parser = client_parser(
        "log",
        "Print the last lines of the agent's log, filtered; with -f those that come too.",
        "wingbeat log",
        "wingbeat log -f --severity warning",
        "wingbeat log --containing alder -n 200 --node alder",
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on until Ctrl-C")
    parser.add_argument("-n", "--lines", type=_count, default=LINES, help=f"how many ({LINES})")
    parser.add_argument("--severity", choices=SEVERITIES, default="info", help="at least (info)")
    parser.add_argument("--containing", default="", metavar="TEXT", help="with this in them")
    options = parser.parse_args(arguments)
    return ask_with(options, lambda client: _print(options, client))


async def _print(options: argparse.Namespace, client: Client) -> int:
    asked = AgentLog("", options.severity, options.containing, options.lines)
    reply = await client.call(AGENT_LOG, asked)
    show_json(reply) if options.json else show_verbatim(map(_line, reply.lines))
    while options.follow:
        asked = AgentLog(
            reply.after, options.severity, options.containing, LOG_LINES_MAX, WAIT_S_MAX / 2
        )
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


def _count(text: str) -> int:
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= LOG_LINES_MAX:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {LOG_LINES_MAX}")
