"""`wingbeat cancel`: tasks with all that depends on them, or a whole workflow."""

from __future__ import annotations

from agent.api.methods import CANCEL
from agent.api.work import Cancel
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.wishes import show_wished


def run(arguments: list[str]) -> int:
    """Cancel it."""
    parser = client_parser(
        "cancel",
        "Cancel a workflow, or some of its tasks with all that depends on them.",
        "wingbeat cancel survey",
        "wingbeat cancel survey merge check",
    )
    parser.add_argument("workflow", metavar="WORKFLOW", help="its name, or the beginning of it")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="all of them if none is named")
    options = parser.parse_args(arguments)
    params = Cancel(options.workflow, tuple(options.tasks))
    return ask(options, CANCEL, params, lambda wished: show_wished("cancelled", wished))
