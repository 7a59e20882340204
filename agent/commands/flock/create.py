"""`wingbeat flock create`: a flock with this machine as its first."""

from __future__ import annotations

from agent.api.flock import FlockCreate, Joined
from agent.api.methods import FLOCK_CREATE
from agent.commands.asking import ask
from agent.commands.parsing import command_parser
from agent.commands.showing import show_lines


def run(arguments: list[str]) -> int:
    """Make it."""
    parser = command_parser(
        "flock create",
        "Make a flock with this machine as its first and its keeper.",
        "wingbeat flock create workshop",
    )
    parser.add_argument("name", metavar="NAME")
    options = parser.parse_args(arguments)
    return ask(options, FLOCK_CREATE, FlockCreate(options.name), _show)


def _show(joined: Joined) -> None:
    show_lines(
        [
            f"the flock {joined.flock} is made, with {joined.name} as its first machine",
            "`wingbeat flock invite` lets others in",
        ]
    )
