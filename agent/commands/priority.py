"""`wingbeat priority`: a workflow is to go before others, or after them."""

from __future__ import annotations

from agent.api.methods import PRIORITY
from agent.api.values import NamedPriority
from agent.api.work import SetPriority, Wished
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.showing import show_lines
from agent.commands.submit import priority


def run(arguments: list[str]) -> int:
    """Change it."""
    parser = client_parser(
        "priority",
        "Change the priority of a workflow: low (50), interactive (100), or 0 to 100.",
        "wingbeat priority survey interactive",
        "wingbeat priority survey 10",
    )
    parser.add_argument("workflow", metavar="WORKFLOW", help="its name, or the beginning of it")
    parser.add_argument(
        "priority", type=priority, metavar="PRIORITY", help="low, interactive, or 0 to 100"
    )
    options = parser.parse_args(arguments)
    params = SetPriority(options.workflow, options.priority)
    return ask(options, PRIORITY, params, lambda wished: _show(options.priority, wished))


def _show(priority: NamedPriority, wished: Wished) -> None:
    show_lines([f"{wished.workflow} is of priority {priority} now"])
