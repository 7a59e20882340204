"""`wingbeat flock nearby`: which flocks are on this network."""

from __future__ import annotations

from agent.api.admission import Nearby, NearbyFlock, NearbyReply
from agent.api.methods import NEARBY
from agent.commands.asking import ask
from agent.commands.parsing import command_parser
from agent.commands.showing import show_lines, show_table


def run(arguments: list[str]) -> int:
    """Show them."""
    parser = command_parser(
        "flock nearby",
        "Show the flocks that tell of themselves on this network. What they are called is their\n"
        "own word; `wingbeat flock ask` has two people compare a code.",
        "wingbeat flock nearby",
    )
    return ask(parser.parse_args(arguments), NEARBY, Nearby(), _show)


def _show(reply: NearbyReply) -> None:
    if reply.flocks:
        rows = [
            (each.name, str(each.machines or ""), _state(each), each.flock) for each in reply.flocks
        ]
        show_table(("NAME", "MACHINES", "STATE", "ID"), rows)
    else:
        show_lines(["no flock tells of itself on this network"])
    if reply.trouble:
        show_lines([reply.trouble])


def _state(flock: NearbyFlock) -> str:
    if flock.own:
        return "this machine belongs to it"
    return "can be asked" if flock.askable else "no keeper answers"
