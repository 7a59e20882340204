"""`wingbeat stop`: the agent of this machine ends."""

from __future__ import annotations

import argparse

from agent.api.methods import STOP
from agent.api.session import Stop
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import fail, with_client
from agent.commands.parsing import command_parser
from agent.commands.showing import show_json, show_lines

STOPPED_S_MAX = 30.0


def run(arguments: list[str]) -> int:
    """End the agent of this machine and wait until it has ended; return the exit code."""
    parser = command_parser(
        "stop",
        "End the agent of this machine. It hands back what it runs and says goodbye first.",
        "wingbeat stop",
    )
    options = parser.parse_args(arguments)
    return with_client(options, lambda client: _stop(options, client))


def _stop(options: argparse.Namespace, client: BlockingClient) -> int:
    stopping = client.call(STOP, Stop("wingbeat stop"))
    if not client.wait_ended(STOPPED_S_MAX):
        return fail(options, f"the agent still runs after {STOPPED_S_MAX:g} seconds: see its log")
    if options.json:
        show_json(stopping)
    else:
        show_lines(["the agent has ended"])
    return exits.DONE
