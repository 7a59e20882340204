"""`wingbeat flock leave`: this machine leaves its flock."""

from __future__ import annotations

from agent.api.flock import Leave, Left
from agent.api.methods import LEAVE
from agent.commands.asking import ask
from agent.commands.parsing import command_parser
from agent.commands.showing import show_lines


def run(arguments: list[str]) -> int:
    """Leave it."""
    parser = command_parser(
        "flock leave",
        "Leave the flock. What this machine runs is handed back, and it goes on alone.",
        "wingbeat flock leave",
    )
    parser.add_argument(
        "--even-as-last-keeper",
        action="store_true",
        help="although nobody can let machines in after that",
    )
    options = parser.parse_args(arguments)
    return ask(options, LEAVE, Leave(options.even_as_last_keeper), _show)


def _show(left: Left) -> None:
    warning = [f"warning: {left.warning}"] if left.warning else []
    show_lines([f"this machine has left the flock {left.flock}", *warning])
