"""`wingbeat fetch`: the results of a workflow or task, into a folder of this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from msgspec import Struct

from agent.api.values import TaskState
from agent.api.wording import plain
from agent.api.work import WHY, TaskView, Why
from agent.client import Client, RequestError
from agent.client.connected import whole_workflow
from agent.client.fetching import all_files, fetch_files, last_results
from agent.commands.asking import fail, tell, typed_for, with_loop
from agent.commands.drawing import transfer_bar
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import size


class Fetched(Struct, frozen=True):
    """One result, and where it is now; ``external`` ones are only named."""

    task: str
    dataset: str
    path: str = ""
    size_bytes: int = 0
    external: bool = False


@command(
    "fetch",
    "Fetch results into a folder: of a workflow what its last tasks have made, of a task its\n"
    "outputs, or one dataset by its identifier. What is there already is not replaced.",
    "wingbeat fetch survey",
    "wingbeat fetch survey --all --into results",
    "wingbeat fetch survey/merge",
    argument("what", metavar="WORKFLOW|TASK|DATASET", help="whose results"),
    argument("--into", default=".", metavar="FOLDER", help="where to put them (here)"),
    argument("--all", action="store_true", help="of a workflow, what every task made"),
)
@with_loop
async def run(options: Options, client: Client) -> int:
    """Fetch results into a folder and print where each is; return the exit code. What is there
    already is not replaced but a failure, as is a workflow that has made nothing (not with
    ``--json``); what was fetched before stays."""
    folder = Path(options.into)
    try:
        if options.what.startswith(("sha256:", "tree:")):
            short = options.what.partition(":")[2][:16]
            fetched = [await _save(client, options.what, folder, short, None)]
        else:
            fetched = await _save_results(client, options, folder)
    except OSError as error:
        where = error.filename or folder
        if isinstance(error, FileExistsError):
            return fail(options, f"{where} is there already: --into names another folder")
        return fail(options, f"{where} cannot be written: {error.strerror or error}")
    if not fetched and not options.json:
        return fail(options, _nothing(options))
    return tell(options, _Answer(tuple(fetched)), map(_line, fetched))


def _nothing(options: Options) -> str:
    what = typed_for(options, options.what)
    if options.all or "/" in what:
        return f"{what} has made nothing so far"
    return f"the last tasks of {what} have made nothing so far; --all fetches what others made"


class _Answer(Struct, frozen=True):
    """What `--json` shows."""

    fetched: tuple[Fetched, ...]


def _line(fetched: Fetched) -> str:
    if fetched.external:
        return f"{fetched.task}: {fetched.dataset} (lies elsewhere; only its identifier is known)"
    return f"{fetched.task}: {fetched.path} ({size(fetched.size_bytes)})"


async def _save_results(client: Client, options: Options, folder: Path) -> list[Fetched]:
    tasks = await _tasks(client, options.what)
    if options.all:
        wanted = [task for task in tasks if task.state is TaskState.TERMINATED]
    else:
        wanted = last_results(tasks)
    fetched = []
    for task in wanted:
        for number, made in enumerate(task.outputs, 1):
            fallback = f"{task.name}-{number}" if len(task.outputs) > 1 else task.name
            named = task.output_names[number - 1] if task.output_names else ""
            fetched.append(
                Fetched(task.name, made.dataset, external=True)
                if made.external
                else await _save(
                    client, made.dataset, folder / plain(task.name), named or fallback, task
                )
            )
    return fetched


async def _tasks(client: Client, what: str) -> list[TaskView]:
    """Of the workflow that is called so, or the one task."""
    try:
        return list((await whole_workflow(client, what)).tasks)
    except RequestError as unknown:
        try:
            return [(await client.call(WHY, Why(what))).task]
        except RequestError as error:
            raise (error if "/" in what else unknown) from error


async def _save(
    client: Client, dataset: str, folder: Path, fallback: str, task: TaskView | None
) -> Fetched:
    """All files of one dataset; a folder's under its name."""
    listing = await all_files(client, dataset)
    target = folder / (plain(listing.name) or plain(fallback))
    name = task.name if task else listing.name or dataset
    with transfer_bar() as progress:
        line = progress.add_task(name, total=listing.size_bytes)
        try:
            came = partial(progress.advance, line)
            await fetch_files(client, listing, target, came=came)
        except EOFError as error:
            raise OSError(5, "only a part of it came: try again", str(error)) from None
    return Fetched(name, listing.dataset, str(target), listing.size_bytes)
