"""`wingbeat resume`: the pause is over."""

from __future__ import annotations

from agent.api.methods import RESUME
from agent.api.volunteering import Resume
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.volunteering import show_state


def run(arguments: list[str]) -> int:
    """Let the rules decide again."""
    parser = client_parser(
        "resume", "End a pause: this machine helps again by its rules.", "wingbeat resume"
    )
    return ask(parser.parse_args(arguments), RESUME, Resume(), show_state)
