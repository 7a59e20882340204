"""`wingbeat flock members`: who belongs, and who did."""

from __future__ import annotations

from agent.api.flock import Members, MembersReply
from agent.api.methods import MEMBERS
from agent.commands.asking import ask
from agent.commands.parsing import command_parser
from agent.commands.showing import moment, show_lines, show_table


def run(arguments: list[str]) -> int:
    """Show them."""
    parser = command_parser(
        "flock members",
        "Show who belongs to the flock, and who did. Keepers can let machines in and send them\n"
        "away.",
        "wingbeat flock members",
    )
    return ask(parser.parse_args(arguments), MEMBERS, Members(), _show)


def _show(reply: MembersReply) -> None:
    rows = [
        (
            f"{member.name} (this one)" if member.own else member.name,
            "keeper" if member.keeper else "",
            member.node,
            moment(member.valid_until_ms),
        )
        for member in reply.members
    ]
    show_lines([f"flock {reply.flock}"])
    show_table(("NAME", "ROLE", "ID", "CERTIFICATE UNTIL"), rows)
    for gone in reply.departures:
        how = "was sent away" if gone.expelled else "left"
        show_lines([f"{gone.name} ({gone.node}) {how} on {moment(gone.at_ms)}"])
