"""`wingbeat flock refuse`: a machine that asks is not let in."""

from __future__ import annotations

from agent.api.admission import Answered, Refuse
from agent.api.methods import REFUSE
from agent.commands.asking import ask
from agent.commands.parsing import command_parser
from agent.commands.showing import show_lines


def run(arguments: list[str]) -> int:
    """It is told so."""
    parser = command_parser(
        "flock refuse",
        "Do not let a machine in that asks. It is told so, and may ask again.",
        'wingbeat flock refuse "418 230"',
        "wingbeat flock refuse laptop-7",
    )
    parser.add_argument("who", nargs="+", metavar="CODE|NAME", help="its code, or its name")
    options = parser.parse_args(arguments)
    return ask(options, REFUSE, Refuse(" ".join(options.who)), _show)


def _show(answered: Answered) -> None:
    show_lines([f"{answered.name} is not let in"])
