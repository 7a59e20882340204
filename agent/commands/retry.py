"""`wingbeat retry`: what failed or was cancelled is tried again."""

from __future__ import annotations

from agent.api.methods import RETRY
from agent.api.work import Retry, Wished
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.showing import show_lines


def run(arguments: list[str]) -> int:
    """Try it again."""
    parser = client_parser(
        "retry",
        "Try failed and cancelled tasks again, with what they need of other such tasks. What "
        "finished is kept.",
        "wingbeat retry survey",
        "wingbeat retry survey merge",
    )
    parser.add_argument("workflow", metavar="WORKFLOW", help="its name, or the beginning of it")
    parser.add_argument(
        "tasks", nargs="*", default=(), metavar="TASK", help="all of them if none is named"
    )
    options = parser.parse_args(arguments)
    params = Retry(options.workflow, tuple(options.tasks))
    return ask(options, RETRY, params, _show)


def _show(wished: Wished) -> None:
    show_lines([f"{wished.workflow}: {wished.text}"])
