"""A dataset comes into a folder of this machine: file by file, each whole or not there.

What lies there already is somebody's: nothing takes its place unless whoever asks says so. Names are
other machines' words, so none leads out of the folder, and every system takes what becomes of it.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from agent.api.datasets import DATASET_FILES, DatasetFiles, FilesReply, ReadDataset
from agent.api.values import TaskState
from agent.api.wording import plain
from agent.api.work import TaskView
from agent.client.connected import Client, pieces_of
from agent.client.errors import ClientError
from agent.paths import Home
from agent.regular_files import mark_as_foreign

FILES_PAGE = 10_000
EXECUTABLE = 0o755


async def all_files(client: Client, dataset: str) -> FilesReply:
    """Return what a dataset is made of, all its files, bringing it to the agent's machine first.
    Raises ``ClientError``, also where the agent tells of fewer files than it said."""
    listing = await client.call(DATASET_FILES, DatasetFiles(dataset, limit=FILES_PAGE))
    files = list(listing.files)
    while len(files) < listing.total:
        asked = DatasetFiles(listing.dataset, len(files), FILES_PAGE)
        page = (await client.call(DATASET_FILES, asked)).files
        if not page:
            raise ClientError(f"only {len(files)} of {listing.total} files are told of: try again")
        files += page
    return replace(listing, files=tuple(files))


def last_results(tasks: Sequence[TaskView]) -> list[TaskView]:
    """Return the tasks of a workflow that have ended well and that no other one needs."""
    needed = {need for task in tasks for need in task.needs}
    return [t for t in tasks if t.state is TaskState.TERMINATED and t.task not in needed]


async def fetch_files(
    client: Client,
    listing: FilesReply,
    target: Path,
    *,
    over: bool = False,
    came: Callable[[int], object] = lambda _: None,
) -> None:
    """Write the one file of a dataset to ``target``, or all files of a folder below it, under names
    that every system takes, one after the other, making folders as need be; ``came`` hears the
    bytes of each piece. With ``over`` files of the same name are replaced, else the first that is
    there already ends it with ``FileExistsError``. Raises ``ClientError``, another ``OSError``, or
    ``EOFError`` with the path of a file of which only a part came; the files that were written
    until then stay, the unfinished one is deleted."""
    home = Home.of()
    for file in listing.files:
        place = _within(target, file.path) if listing.folder else target
        _check_place(place, home)
        unfinished = _begun(place, over=over)
        try:
            with unfinished.open("wb") as out:
                async for data in pieces_of(client, ReadDataset(listing.dataset, file.path)):
                    out.write(data)
                    came(len(data))
            if file.executable:
                unfinished.chmod(EXECUTABLE)
            mark_as_foreign(unfinished)
            (unfinished.replace if over else unfinished.rename)(place)
        except EOFError:
            raise EOFError(str(place)) from None
        finally:
            unfinished.unlink(missing_ok=True)
    if listing.folder:
        _make(target)


def is_there(path: Path) -> bool:
    """Tell whether there is anything by this path, a link that leads nowhere too."""
    return path.exists() or path.is_symlink()


def _begun(place: Path, *, over: bool) -> Path:
    """Where it is written until it is whole."""
    if is_there(place) and not over:
        raise FileExistsError(17, "it is there already", str(place))
    _make(place.parent)
    return place.with_name(f"{place.name}.unfinished")


def _check_place(place: Path, home: Home) -> None:
    """Programs that lie in the folders of Wingbeat itself run without a question."""
    if home.own_folder(place, holding=False) is not None:
        raise PermissionError(errno.EPERM, "it is in a folder of Wingbeat itself", str(place))


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


def _within(folder: Path, path: str) -> Path:
    """A file of a dataset has a path that stays inside, whoever made it."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise OSError(22, "a file of the dataset has a path that leads out of it", path)
    return folder.joinpath(*map(plain, parts))
