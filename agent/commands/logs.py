"""`wingbeat logs`: what a task has printed, wherever it runs or ran."""

from __future__ import annotations

import argparse

from agent.api.logs import WAIT_S_MAX, TaskLog
from agent.api.methods import TASK_LOG
from agent.client import Client
from agent.commands import exits
from agent.commands.asking import ask_with
from agent.commands.parsing import client_parser
from agent.commands.showing import show_json, show_text

PIECE_BYTES = 256 * 1024
FOLLOW_S = WAIT_S_MAX / 2


def run(arguments: list[str]) -> int:
    """Print what a task has printed; return the exit code."""
    parser = client_parser(
        "logs",
        "Print what a task has printed, from whichever machine runs it or ran it; of its latest\n"
        "run, unless one of `wingbeat show TASK` is named.",
        "wingbeat logs survey/merge",
        "wingbeat logs -f merge",
    )
    parser.add_argument("task", metavar="TASK", help="its name, or workflow/name")
    parser.add_argument("-f", "--follow", action="store_true", help="go on until the run is over")
    parser.add_argument("--run", default="", metavar="RUN", help="of this run")
    options = parser.parse_args(arguments)
    return ask_with(options, lambda client: _print(options, client))


async def _print(options: argparse.Namespace, client: Client) -> int:
    offset, run_id = 0, options.run
    wait_s = FOLLOW_S if options.follow else 0.0
    while True:
        part = await client.call(
            TASK_LOG, TaskLog(options.task, run_id, offset, PIECE_BYTES, wait_s)
        )
        run_id = part.run or run_id
        if options.json:
            show_json(part)
        else:
            show_text(part.text)
        more = part.next_offset < part.size_bytes and part.next_offset > offset
        offset = part.next_offset
        if part.over or not (more or options.follow):
            return exits.DONE
