"""`wingbeat done`: a person has done the step that a gate waits for."""

from __future__ import annotations

from agent.api.methods import GATE
from agent.api.values import Dataset
from agent.api.work import Gate
from agent.commands.asking import ask
from agent.commands.parsing import command_parser
from agent.commands.showing import show_lines


def run(arguments: list[str]) -> int:
    """Mark it done."""
    parser = command_parser(
        "done",
        "Mark a gate done, so that the tasks behind it go on.",
        "wingbeat done survey/check",
        "wingbeat done survey/check --attach checked-list-7",
    )
    parser.add_argument("task", metavar="GATE", help="its name, or workflow/name")
    parser.add_argument(
        "--attach",
        action="append",
        default=[],
        metavar="DATASET",
        help="identifier of a dataset that the tasks behind it get; may be given again",
    )
    options = parser.parse_args(arguments)
    params = Gate(options.task, tuple(Dataset(each, external=True) for each in options.attach))
    return ask(options, GATE, params, lambda _: show_lines([f"{options.task} is marked done"]))
