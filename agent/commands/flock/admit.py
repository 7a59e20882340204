"""`wingbeat flock admit`: a machine that asks is let in."""

from __future__ import annotations

import argparse

from agent.api.admission import Admit, Answered, JoinRequestView, Requests
from agent.api.methods import ADMIT, REQUESTS
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import fail, with_client
from agent.commands.parsing import command_parser
from agent.commands.showing import confirm, show_json, show_lines


def run(arguments: list[str]) -> int:
    """Let a machine in that asks, at once by its code, after a question by its name; return the
    exit code."""
    parser = command_parser(
        "flock admit",
        "Let a machine in that asks. It gets what an invitation gives. Give the code that it\n"
        "shows, as its user tells you; with its name, you are asked to compare.",
        'wingbeat flock admit "418 230"',
        "wingbeat flock admit laptop-7",
    )
    parser.add_argument(
        "who", nargs="+", metavar="CODE|NAME", help="the code it shows, or its name"
    )
    options = parser.parse_args(arguments)
    return with_client(options, lambda client: _admit(options, client))


def _admit(options: argparse.Namespace, client: BlockingClient) -> int:
    wanted = " ".join(options.who)
    named = [
        each
        for each in client.call(REQUESTS, Requests()).requests
        if each.name.casefold() == wanted.casefold()
    ]
    if len(named) != 1 or options.json:  # the agent takes no name alone, and says so
        return _told(options, client.call(ADMIT, Admit(wanted)))
    same = confirm(_question(named[0]))
    if not same:
        return fail(options, f"{wanted} was not let in; `wingbeat flock refuse` says so to it")
    return _told(options, client.call(ADMIT, Admit(named[0].request, named[0].code)))


def _question(request: JoinRequestView) -> str:
    user = f" of {request.user}" if request.user else ""
    return f"does {request.name}{user}, at {request.address}, show the code {request.code}?"


def _told(options: argparse.Namespace, answered: Answered) -> int:
    if options.json:
        show_json(answered)
    else:
        show_lines(
            [f"{answered.name} is let in; it joins as soon as its user has compared the code too"]
        )
    return exits.DONE
