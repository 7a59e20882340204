"""`wingbeat datasets`: what the flock keeps, where, and what made it."""

from __future__ import annotations

import argparse
from pathlib import Path

from agent.api.datasets import AddDataset, DatasetAdded, Datasets, DatasetsReply, DatasetView
from agent.api.methods import ADD_DATASET, DATASETS
from agent.client import Client
from agent.commands import exits
from agent.commands.asking import ask, ask_with
from agent.commands.parsing import client_parser, misuse
from agent.commands.showing import ago, show_json, show_lines, show_table, size
from agent.workflow.uploading import add

ADD = "add"
LATEST = 50
LATEST_MAX = 2_000
ID_LETTERS = 20


def run(arguments: list[str]) -> int:
    """Show the datasets of the flock, or add one; return the exit code."""
    parser = client_parser(
        "datasets",
        "Show datasets, the newest first: their size, which machines hold them, which task made\n"
        "them. `add` takes a file or folder into the flock's keeping and prints its identifier.",
        "wingbeat datasets",
        "wingbeat datasets survey --all",
        "wingbeat datasets add scans/",
    )
    parser.add_argument(
        "workflow", nargs="?", default="", metavar="WORKFLOW|add", help="only of this; or add one"
    )
    parser.add_argument("path", nargs="?", metavar="PATH", help="the file or folder to add")
    parser.add_argument("--add", metavar="PATH", help=argparse.SUPPRESS)
    parser.add_argument("--all", action="store_true", help="not only the latest")
    options = parser.parse_args(arguments)
    if options.path is not None:
        if options.workflow != ADD:
            return misuse(f"{options.path} does not belong there: `datasets add PATH` adds a file")
        options.add = options.path
    if options.add:
        options.add = Path(options.add).absolute()
        return ask_with(options, lambda client: _add(options, client))
    limit = LATEST_MAX if options.all else LATEST
    return ask(options, DATASETS, Datasets(options.workflow, limit=limit), _show)


async def _add(options: argparse.Namespace, client: Client) -> int:
    path = options.add
    if options.node:
        dataset = await add(client, path, far=True)
        added = DatasetAdded(dataset, path.name)
    else:
        added = await client.call(ADD_DATASET, AddDataset(str(path)))
    show_json(added) if options.json else show_lines([added.dataset.dataset])
    return exits.DONE


def _show(reply: DatasetsReply) -> None:
    quota = f" of {size(reply.quota_bytes)}" if reply.quota_bytes else ""
    show_lines([f"{size(reply.used_bytes)}{quota} are kept here"])
    if reply.datasets:
        header = ("DATASET", "NAME", "SIZE", "SINCE", "MADE BY", "MACHINES")
        show_table(header, [_row(each) for each in reply.datasets])
    hidden = reply.total - len(reply.datasets)
    if hidden:
        show_lines([f"{hidden} earlier ones are not shown; --all shows them"])


def _row(each: DatasetView) -> tuple[str, ...]:
    made = f"{each.workflow}/{each.task}" if each.task else each.workflow and f"({each.workflow})"
    kind = each.dataset if each.external else each.dataset[:ID_LETTERS]
    where = "elsewhere" if each.external else ", ".join(each.nodes) or "nowhere"
    amount = size(each.size_bytes) if each.size_bytes else ""
    return (kind, each.name, amount, ago(each.kept_since_ms), made, where)
