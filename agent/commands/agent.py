"""`wingbeat agent`: run the agent of this machine here, until it is asked to end.

The one command that is no client: it starts what clients talk to (``agent.node.hosting``).
"""

from __future__ import annotations

import argparse
import sys

from agent.commands import exits
from agent.commands.asking import fail
from agent.commands.parsing import command_parser
from agent.commands.showing import show_json, show_lines

PORT_MAX = 65_535
NAME_LENGTH_MAX = 60


def run(arguments: list[str]) -> int:
    """Run the agent of this machine until Ctrl-C, `wingbeat stop`, logoff or shutdown; return the
    exit code."""
    parser = command_parser(
        "agent",
        "Run the agent of this machine here, without a window, until Ctrl-C or `wingbeat stop`.\n"
        "WINGBEAT_HOME names a folder to keep everything in, so that several can run at once.",
        "wingbeat agent",
        "wingbeat agent --name workshop-3 --port 0",
        "WINGBEAT_HOME=/tmp/second wingbeat agent --name second --port 0",
    )
    kept = "kept in settings.toml"
    parser.add_argument("--name", type=_name, help=f"what people call this machine; {kept}")
    parser.add_argument("--port", type=_port, help=f"where others reach it, 0 for any; {kept}")
    parser.add_argument("--foreground", action="store_true", help="stay here; it does anyway")
    parser.add_argument(
        "--until-input-ends",
        action="store_true",
        help="end when standard input does, so with whoever holds its other end",
    )
    options = parser.parse_args(arguments)
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from agent.node import hosting

    def started(running: hosting.Running) -> None:
        if options.json:
            show_json(running)
        else:
            flock = f"in flock {running.flock}" if running.flock else "in no flock"
            show_lines([f"{running.name} runs {flock}; its log is in {running.log_folder}"])
        sys.stdout.flush()

    try:
        reason = hosting.run(
            options.name, options.port, started, until_input_ends=options.until_input_ends
        )
    except hosting.NotStartedError as error:
        return fail(options, str(error))
    if not options.json:
        show_lines([f"ended: {reason}"])
    return exits.DONE


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > NAME_LENGTH_MAX:
        raise argparse.ArgumentTypeError(f"a name has 1 to {NAME_LENGTH_MAX} letters")
    return text.strip()


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= PORT_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 0 to {PORT_MAX}")
    return int(text)
