"""`wingbeat remove`: finished work that nobody wants to see any more, and what that frees."""

from __future__ import annotations

from agent.api.past import REMOVE, Remove, Removed
from agent.commands.asking import ask
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import counted, show_lines, size


@command(
    "remove",
    "Remove workflows that have ended, and were submitted on this machine, from the flock: what only\n"
    "they needed, and what their tasks printed, is deleted here at once, and elsewhere as room is\n"
    "wanted. The history keeps what became of them, unless --history has this machine\n"
    "forget that, too.",
    "wingbeat remove survey",
    "wingbeat remove survey survey-2 --dry-run",
    "wingbeat remove --history survey",
    argument("workflows", nargs="+", metavar="WORKFLOW", help="which ones"),
    argument("--history", action="store_true", help="also from the history of this machine"),
    argument("--dry-run", action="store_true", help="only say what that would free"),
    node=False,
)
def run(options: Options) -> int:
    """Remove the workflows that are named, or in a dry run only say what that would free; return the
    exit code."""
    wanted = Remove(tuple(options.workflows), options.history, options.dry_run)
    return ask(options, REMOVE, wanted, lambda removed: _show(removed, trial=options.dry_run))


def _show(removed: Removed, *, trial: bool) -> None:
    frees = "would free" if trial else "freed"
    lines = []
    for what, workflows in (
        ("removed from the flock", removed.workflows),
        ("forgotten by this machine", removed.past),
    ):
        if workflows:
            named = ", ".join(removed.names[each] for each in workflows)
            are = "are" if len(workflows) > 1 else "is"
            lines.append(f"{named} {'would be' if trial else are} {what}")
    gone = f"{counted(removed.datasets, 'dataset')}, {size(removed.frees_bytes)} here"
    logs = f", and {size(removed.logs_bytes)} of logs" if removed.logs_bytes else ""
    show_lines([*lines, f"that {frees} {gone}{logs}"])
