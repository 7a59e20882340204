"""Finds the command that was named and hands it the other arguments.

A command is a function from its own arguments to an exit code, and reads them itself. It is loaded
when it is run, so that `wingbeat --help` and each command start quickly.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from agent.commands import exits
from agent.commands.folding import HelpFormatter
from agent.commands.interrupting import raise_again
from agent.commands.parsing import CommandParser, epilog


class Command(NamedTuple):
    """What a command does in a few words, and the function that does it."""

    summary: str
    run: Callable[[list[str]], int]


def command_in(module: str, summary: str, *row: str) -> Command:
    """Return the command that is the function ``run`` of this module, or one row of its table."""

    def run(arguments: list[str]) -> int:
        loaded = importlib.import_module(module)
        raise_again()
        return int(loaded.run(*row, arguments))

    return Command(summary, run)


def choosing_parser(
    program: str, description: str, commands: Mapping[str, Command], *examples: str
) -> CommandParser:
    """Return a parser for the name of a command and the arguments behind it, with a list of the
    commands."""
    width = max(map(len, commands))
    listing = "\n".join(
        f"  {name:<{width}}  {command.summary}" for name, command in commands.items()
    )
    parser = CommandParser(
        prog=program,
        description=description,
        epilog=f"commands:\n{listing}\n\n{epilog(*examples)}",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("command", nargs="?", help="one of the commands below")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the command is told")
    return parser


def run_chosen(
    parser: CommandParser, commands: Mapping[str, Command], arguments: Sequence[str] | None
) -> int:
    """Run the command that is named and return its exit code; without a name, print what commands
    there are."""
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return exits.DONE
    return commands[_meant(parser, commands, options.command)].run(options.arguments)


def _meant(parser: CommandParser, commands: Mapping[str, Command], word: str) -> str:
    """A command by its name, or by the beginning of it where that is unique."""
    if not word:
        parser.error("no command is named")
    found = [word] if word in commands else [each for each in commands if each.startswith(word)]
    if not found:
        near = difflib.get_close_matches(word, commands, 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        parser.error(f"there is no command '{word}'{meant}")
    if len(found) > 1:
        parser.error(f"'{word}' may mean {', '.join(found)}")
    return found[0]
