"""`wingbeat program`: write one to begin with, and run one by hand; a file each."""

from __future__ import annotations

from collections.abc import Mapping

from agent.commands.choosing import Command, choosing_parser, command_in, run_chosen

COMMANDS: Mapping[str, Command] = {
    name: command_in(f"agent.commands.program.{name}", summary)
    for name, summary in (
        ("new", "write a program that works, to begin with"),
        ("check", "run a program by hand, as a machine of the flock would"),
    )
}


def run(arguments: list[str]) -> int:
    """Run the command about programs that is named; return its exit code."""
    parser = choosing_parser(
        "wingbeat program",
        "Make programs that the machines of the flock can run.",
        COMMANDS,
        "wingbeat program new count",
        "wingbeat program check count -i survey.las",
    )
    return run_chosen(parser, COMMANDS, arguments)
