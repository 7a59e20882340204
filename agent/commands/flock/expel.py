"""`wingbeat flock expel`: a machine is sent away, for ever."""

from __future__ import annotations

from agent.api.flock import Expel, Expelled
from agent.api.methods import EXPEL
from agent.commands.asking import ask
from agent.commands.parsing import command_parser
from agent.commands.showing import show_lines


def run(arguments: list[str]) -> int:
    """Send it away."""
    parser = command_parser(
        "flock expel",
        "Send a machine away, for ever: it is cut off everywhere within seconds.",
        "wingbeat flock expel laptop-7",
    )
    parser.add_argument("name", metavar="NAME", help="its name or id")
    options = parser.parse_args(arguments)
    return ask(options, EXPEL, Expel(options.name), _show)


def _show(expelled: Expelled) -> None:
    warning = [f"warning: {expelled.warning}"] if expelled.warning else []
    show_lines([f"{expelled.name} ({expelled.node}) does not belong any more", *warning])
