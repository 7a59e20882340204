"""`wingbeat datasets`: what the flock keeps, where, and what made it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from agent.api.datasets import (
    ADD_DATASET,
    DATASETS,
    AddDataset,
    CopiesView,
    DatasetAdded,
    Datasets,
    DatasetsReply,
    DatasetView,
)
from agent.client import Client
from agent.commands.asking import ask, is_far, tell, with_loop
from agent.commands.parsing import ALL, Options, argument, command, misuse
from agent.commands.showing import ago, show_lines, show_rows, size
from agent.wording.copies import copies_said, percent
from agent.workflow.submission import add

ADD = "add"
LATEST = 50
LATEST_MAX = 2_000
ID_LETTERS = 20


@command(
    "datasets",
    "Show datasets, the newest first: their size, which machines hold them, which task made\n"
    "them. `add` takes a file or folder into the flock's keeping and prints its identifier.",
    "wingbeat datasets",
    "wingbeat datasets survey --all",
    "wingbeat datasets add scans/",
    argument(
        "workflow", nargs="?", default="", metavar="WORKFLOW|add", help="only of this; or add one"
    ),
    argument("path", nargs="?", metavar="PATH", help="the file or folder to add"),
    argument("--add", metavar="PATH", help=argparse.SUPPRESS),
    ALL,
)
def run(options: Options) -> int:
    """Show the datasets of the flock or of a workflow, or add a file or folder and print its
    identifier; return the exit code, that of misuse for a path without ``add``."""
    if options.path is not None and options.workflow != ADD:
        return misuse(f"{options.path} does not belong there: `datasets add PATH` adds a file")
    if options.path or options.add:
        options.path = Path(options.path or options.add).absolute()
        return _add(options)
    limit = LATEST_MAX if options.all else LATEST
    return ask(options, DATASETS, Datasets(options.workflow, limit=limit), _show)


@with_loop
async def _add(options: Options, client: Client) -> int:
    if is_far(options):
        added = DatasetAdded(await add(client, options.path, far=True), options.path.name)
    else:
        added = await client.call(ADD_DATASET, AddDataset(str(options.path)))
    return tell(options, added, [added.dataset.dataset])


def _show(reply: DatasetsReply) -> None:
    quota = f" of {size(reply.quota_bytes)}" if reply.quota_bytes else ""
    show_lines([f"{size(reply.used_bytes)}{quota} are kept here"])
    if reply.copies is not None:
        show_lines([copies_said(reply.copies), *_advice(reply.copies)])
    if reply.datasets:
        show_rows(
            reply.datasets,
            DATASET=lambda each: each.dataset if each.external else each.dataset[:ID_LETTERS],
            NAME=lambda each: each.name,
            SIZE=lambda each: size(each.size_bytes) if each.size_bytes else "",
            SINCE=lambda each: ago(each.kept_since_ms),
            MADE_BY=_maker,
            MACHINES=lambda each: (
                "elsewhere" if each.external else ", ".join(each.nodes) or "nowhere"
            ),
        )
    hidden = reply.total - len(reply.datasets)
    if hidden:
        show_lines([f"{hidden} earlier ones are not shown; --all shows them"])


def _advice(copies: CopiesView) -> Iterator[str]:
    """What is advised where it is something else, and on what it stands."""
    if copies.available and copies.advised != copies.copies:
        yield f"{copies.advised} are advised: `wingbeat settings --copies {copies.advised}` on each machine"
    if copies.available:
        times = (f"{name} {percent(share)}" for name, share in copies.up.items())
        yield f"up in working hours, of {copies.hours:.0f} h: {', '.join(times)}"


def _maker(each: DatasetView) -> str:
    workflow = each.workflow_name or each.workflow
    return f"{workflow}/{each.task}" if each.task else workflow and f"({workflow})"
