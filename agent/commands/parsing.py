"""What commands are told: argparse, with one sentence for a mistake instead of a page of usage."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from agent.commands import exits
from agent.commands.complaining import complain
from agent.commands.folding import HelpFormatter

PROGRAM = "wingbeat"


class CommandParser(argparse.ArgumentParser):
    """Answers a mistake with one sentence on standard error, and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(misuse(f"{message} (`{self.prog} --help` tells what there is)"))


class MixingParser(CommandParser):
    """Takes options between the other words too: `cancel survey --json merge`."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return arguments parsed as people type them, options and others mixed; exit when they
        make no sense."""
        return self.parse_intermixed_args(args, namespace)


def misuse(reason: str) -> int:
    """Print what makes no sense; return the exit code for it."""
    complain(f"{PROGRAM}: {reason}.")
    return exits.MISUSED


def command_parser(name: str, description: str, *examples: str) -> CommandParser:
    """Return a parser for one command, with `--json` and its examples."""
    parser = MixingParser(
        prog=f"{PROGRAM} {name}",
        description=description,
        epilog=epilog(*examples),
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    add_json(parser)
    return parser


def client_parser(name: str, description: str, *examples: str) -> CommandParser:
    """Return a parser for a command that asks an agent, this machine's or with `--node` another
    member's."""
    parser = command_parser(name, description, *examples)
    parser.add_argument(
        "--node",
        default="",
        metavar="NAME",
        help="ask the agent of this other machine of the flock, by way of the one here",
    )
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option `--json`, which every command has."""
    parser.add_argument("--json", action="store_true", help="answer as JSON, for programs")


def epilog(*examples: str) -> str:
    """Return the end of a help text: examples, and what the exit codes say."""
    shown = "\n".join(f"  {example}" for example in examples)
    return f"examples:\n{shown}\n\n{exits.DESCRIPTION}" if examples else exits.DESCRIPTION
