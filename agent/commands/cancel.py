"""`wingbeat cancel`: tasks with all that depends on them, or a whole workflow."""

from __future__ import annotations

from collections.abc import Sequence

from agent.api.methods import CANCEL
from agent.api.work import Cancel, Wished
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.showing import show_lines


def run(arguments: list[str]) -> int:
    """Cancel it."""
    parser = client_parser(
        "cancel",
        "Cancel a workflow, or some of its tasks with all that depends on them.",
        "wingbeat cancel survey",
        "wingbeat cancel survey merge check",
    )
    parser.add_argument("workflow", metavar="WORKFLOW", help="its name, or the beginning of it")
    parser.add_argument(
        "tasks", nargs="*", default=(), metavar="TASK", help="all of them if none is named"
    )
    options = parser.parse_args(arguments)
    params = Cancel(options.workflow, tuple(options.tasks))
    return ask(options, CANCEL, params, lambda wished: _show(options.tasks, wished))


def _show(tasks: Sequence[str], wished: Wished) -> None:
    """Of some tasks the rest of the workflow goes on."""
    what = f"{' and '.join(tasks)} of {wished.workflow}" if tasks else wished.workflow
    are = "are" if len(tasks) > 1 else "is"
    if wished.verdict == "cancelling":
        show_lines([f"{what} {are} being cancelled: what still runs is stopped now"])
    else:
        show_lines([f"{what} {are} cancelled{f' ({wished.text})' if wished.text else ''}"])
