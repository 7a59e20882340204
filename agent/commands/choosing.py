"""Finds the command that was named and hands it the other arguments.

A command is a function from its own arguments to an exit code, and reads them itself. It is loaded
when it is run, so that `wingbeat --help` and each command start quickly.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from agent.commands import exits
from agent.commands.columns import HelpFormatter
from agent.commands.exits import raise_again
from agent.commands.parsing import KNOWN, PROGRAM, CommandParser, epilog

Run = Callable[[list[str]], int]
"""Reads the arguments of a command and does it; its exit code."""


class Command(NamedTuple):
    """What a command does in a few words, the function that does it, and where that is known."""

    summary: str
    run: Run
    place: tuple[str, str] = ("", "")


def commands_of(*rows: tuple[str, str, str], group: str = "") -> Mapping[str, Command]:
    """Return the commands of these rows by their names: each with the module of ``agent.commands``
    that knows it, loaded only when it is run, and what it does. Those of a group have its name
    before theirs, those of no group (empty) have none."""
    places = {name: (f"{group} {name}".strip(), module) for name, module, _ in rows}
    return {
        name: Command(summary, partial(_run, *places[name]), places[name])
        for name, _, summary in rows
    }


def group_of(name: str, description: str, commands: Mapping[str, Command], *examples: str) -> Run:
    """Return the command of this name, which runs the one of these that is named behind it, and
    enter it into ``KNOWN``, in the place of one of the same name."""
    parser = choosing_parser(f"{PROGRAM} {name}", description, commands, *examples)
    KNOWN[name] = run = partial(run_chosen, parser, commands)
    return run


def loaded(name: str, module: str) -> Run:
    """Load the module of ``agent.commands`` that knows a command, and return the command; raise
    ``KeyError`` where the module has none of this name."""
    importlib.import_module(f"agent.commands.{module}")
    return KNOWN[name]


def _run(name: str, module: str, arguments: list[str]) -> int:
    run = loaded(name, module)
    raise_again()
    return run(arguments)


def choosing_parser(
    program: str, description: str, commands: Mapping[str, Command], *examples: str
) -> CommandParser:
    """Return a parser for the name of a command and the arguments behind it, whose help lists these
    commands and examples; whether a command has that name is not looked at. Raises ``ValueError``
    without any commands."""
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
    """Run the command that is named, in full or by a beginning that no other has, and return its
    exit code; without a name, print what commands there are. ``arguments``: those of this process
    if None. Raises ``SystemExit`` with 2 where none is meant, or several, and with 0 after
    ``--help``."""
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
