"""`wingbeat why`: what a task waits for, and how it came to where it is."""

from __future__ import annotations

from agent.api.methods import WHY
from agent.api.work import Story, Why
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.showing import moment, show_lines


def run(arguments: list[str]) -> int:
    """Tell it."""
    parser = client_parser(
        "why",
        "Tell in sentences why a task waits or moved, as far as this machine saw it.",
        "wingbeat why survey/merge",
        "wingbeat why merge",
    )
    parser.add_argument("task", metavar="TASK", help="its name, or workflow/name")
    options = parser.parse_args(arguments)
    return ask(options, WHY, Why(options.task), _show)


def _show(story: Story) -> None:
    show_lines([story.now, *(f"- {each}" for each in story.machines)])
    show_lines(f"  {moment(move.at_ms)}  {move.what} ({move.cause})" for move in story.moves)
