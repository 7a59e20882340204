"""`wingbeat doctor`: why a machine is not seen, and what to do."""

from __future__ import annotations

import argparse

from agent.api.flock import Doctor, DoctorReply
from agent.api.methods import DOCTOR
from agent.client import BlockingClient
from agent.commands import exits
from agent.commands.asking import with_client
from agent.commands.parsing import client_parser
from agent.commands.showing import show_json, show_lines


def run(arguments: list[str]) -> int:
    """Show what is wrong with this machine or its flock; return the exit code, which is 1 when
    something is."""
    parser = client_parser(
        "doctor",
        "Explain why machines are not seen or this one does not work, each with what to do about\n"
        "it, and tell which machines ask to be let in. The exit code is 1 when something is wrong.",
        "wingbeat doctor",
        "wingbeat doctor --json",
    )
    options = parser.parse_args(arguments)
    return with_client(options, lambda client: _examine(options, client))


def _examine(options: argparse.Namespace, client: BlockingClient) -> int:
    reply = client.call(DOCTOR, Doctor())
    if options.json:
        show_json(reply)
    else:
        _show(reply)
    return exits.FAILED if reply.findings else exits.DONE


def _show(reply: DoctorReply) -> None:
    others = _others(reply)
    if reply.findings:
        show_lines(f"- {finding.text}" for finding in reply.findings)
        show_lines([others])
    else:
        show_lines([f"nothing is wrong here: {others}"])
    show_lines(reply.waiting)


def _others(reply: DoctorReply) -> str:
    count = reply.seen + reply.missing
    if not count:
        return "no other machines are known here"
    if count == 1:
        return f"the other machine is {'linked' if reply.seen else 'not linked'}"
    return f"{reply.seen} of {count} other machines are linked"
