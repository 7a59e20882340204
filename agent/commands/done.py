"""`wingbeat done`: a person has done the step that a gate waits for."""

from __future__ import annotations

import argparse
from pathlib import Path

from agent.api.methods import GATE
from agent.api.values import Dataset
from agent.api.work import Gate
from agent.client import Client
from agent.commands import exits
from agent.commands.asking import ask_with, fail
from agent.commands.parsing import client_parser
from agent.commands.showing import show_json, show_lines
from agent.workflow.uploading import add


def run(arguments: list[str]) -> int:
    """Mark it done."""
    parser = client_parser(
        "done",
        "Mark a gate done, so that the tasks behind it go on.",
        "wingbeat done survey/check",
        "wingbeat done survey/check --attach corrected.csv",
        "wingbeat done survey/check --attach id:checked-list-7",
    )
    parser.add_argument("task", metavar="GATE", help="its name, or workflow/name")
    parser.add_argument(
        "--attach",
        action="append",
        default=[],
        metavar="FILE|id:NAME",
        help="a file or folder, or an identifier of your own, that the tasks behind it get; may be "
        "given again",
    )
    options = parser.parse_args(arguments)
    return ask_with(options, lambda client: _done(options, client))


async def _done(options: argparse.Namespace, client: Client) -> int:
    outputs: list[Dataset] = []
    for text in options.attach:
        identifier = text.removeprefix("id:")
        path = _whole(text)
        if text != identifier:
            outputs.append(Dataset(identifier, external=True))
        elif not _there(path):
            return fail(
                options,
                f"{text} cannot be attached: there is no such file; id:{text} names it as is",
            )
        else:
            outputs.append(await add(client, path, far=bool(options.node)))
    wished = await client.call(GATE, Gate(options.task, tuple(outputs)))
    show_json(wished) if options.json else show_lines([f"{options.task} is marked done"])
    return exits.DONE


def _whole(text: str) -> Path:
    return Path(text).absolute()


def _there(path: Path) -> bool:
    return path.exists()
