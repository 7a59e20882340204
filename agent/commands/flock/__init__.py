"""`wingbeat flock`: make one, invite, join or ask, see who belongs, send away, leave.

What is one question to the agent is a row of ``agent.commands.questions``; the others have a file.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent.commands.choosing import Command, choosing_parser, command_in, run_chosen

QUESTIONS = ("create", "nearby", "refuse", "members", "expel", "leave")

COMMANDS: Mapping[str, Command] = {
    name: command_in("agent.commands.questions", summary, f"flock {name}")
    if name in QUESTIONS
    else command_in(f"agent.commands.flock.{name}", summary)
    for name, summary in (
        ("create", "make a flock with this machine as its first"),
        ("invite", "let other machines join"),
        ("join", "join the flock of an invitation"),
        ("nearby", "show the flocks on this network"),
        ("ask", "ask a flock nearby to let this machine in"),
        ("requests", "show which machines ask to be let in"),
        ("admit", "let a machine in that asks"),
        ("refuse", "do not let it in"),
        ("members", "show who belongs, and who did"),
        ("expel", "send a machine away, for ever"),
        ("leave", "leave the flock; what this machine runs is handed back"),
    )
}


def run(arguments: list[str]) -> int:
    """Run the command about the flock that is named; return its exit code."""
    parser = choosing_parser(
        "wingbeat flock",
        "Make a flock of machines, or see to the one that this machine belongs to.",
        COMMANDS,
        "wingbeat flock create workshop",
        "wingbeat flock invite",
        "wingbeat flock join wingbeat-ahk7...",
    )
    return run_chosen(parser, COMMANDS, arguments)
