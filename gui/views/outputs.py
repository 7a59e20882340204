"""The results of a task: each dataset with its size, opened or saved with one press.

A result may lie on another machine and be large: it is fetched in pieces, in the background, into
the folder of results of this home or where the person wants it; external ones are names only.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget

from agent.api.datasets import DATASET_FILES, DatasetFiles, ReadDataset
from agent.api.values import Dataset, TaskState
from agent.api.work import TaskView
from agent.client import Client, ClientError, pieces_of
from gui.model.graph import short_dataset
from gui.model.times import size
from gui.theme.look import GRID
from gui.views.choosing import folder_to_fill
from gui.views.pieces import PLAIN, button, clear, column, held, quiet, row, set_up, strong
from gui.views.view_context import ViewContext
from gui.words import tr

SHOWN_MAX = 8
FILES_MAX = 10_000


class Outputs(QWidget):
    """The results of a task, a row for each dataset."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        self._shown: tuple[tuple[Dataset, str], ...] = ()
        self._lay = column(on=set_up(self, "outputs"), spacing=GRID // 2)

    def tell(self, task: TaskView | None) -> None:
        """Show the results of this task, a row for each, ``SHOWN_MAX`` at the most and then how
        many more; of a step for a person that waits, those of the steps before it, which it is
        about. Hide where there is none, or no task."""
        look_at = task is not None and task.state is TaskState.WAITING
        of = [] if task is None else self._before(task) if look_at else [task]
        names = self._context.screen.dataset_names
        shown = tuple((each, names.get(each.dataset, "")) for task in of for each in task.outputs)
        self.setVisible(bool(shown))
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._lay)
        if shown:
            self._lay.addWidget(strong(tr("To look at") if look_at else tr("Results")))
        for place, (dataset, named) in enumerate(shown[:SHOWN_MAX]):
            self._lay.addWidget(self._row(dataset, named, place))
        if len(shown) > SHOWN_MAX:
            self._lay.addWidget(quiet(tr("and {number} more", number=len(shown) - SHOWN_MAX)))

    def _before(self, gate: TaskView) -> list[TaskView]:
        """The steps that a gate waited for, in their order."""
        self._context.want_names(gate.workflow)
        every = self._context.screen.tasks_of(gate.workflow)
        return [task for task in every if task.task in gate.needs]

    def _row(self, dataset: Dataset, named: str, place: int) -> QWidget:
        text = named or (dataset.dataset if dataset.external else short_dataset(dataset.dataset))
        if dataset.size_bytes:
            text += f" · {size(dataset.size_bytes)}"
        acts = (
            (("copy", tr("Copy"), _copy),)
            if dataset.external
            else (("open", tr("Open"), self._open), ("save", tr("Save …"), self._save))
        )
        said = set_up(QLabel(text), textFormat=PLAIN, toolTip=dataset.dataset)
        buttons = (
            button(words, f"{name}Output{place}", partial(act, dataset), flat=True)
            for name, words, act in acts
        )
        return held(row(said, "stretch", *buttons))

    def open_first(self, task: TaskView) -> None:
        """Begin to fetch the first result that is more than a name, and open it when it is here;
        does nothing if there is none. A failure is told by the context."""
        for each in task.outputs:
            if not each.external:
                self._open(each)
                return

    def _open(self, dataset: Dataset) -> None:
        digest = dataset.dataset.partition(":")[2][:16]
        self._fetch(dataset, self._context.home.cache / "results" / digest, show=True)

    def _save(self, dataset: Dataset) -> None:
        folder = folder_to_fill(self, "results", tr("Where shall it be kept?"))
        if folder is not None:
            self._fetch(dataset, folder, show=False)

    def _fetch(self, dataset: Dataset, folder: Path, *, show: bool) -> None:
        def done(path: Path) -> None:
            if show:
                QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
            else:
                self._context.said.emit(tr("Kept as {path}", path=path))

        context = self._context
        context.bridge.client_work(
            self, lambda client: fetch_dataset(client, dataset, folder), done, context.failed.emit
        )


async def fetch_dataset(client: Client, dataset: Dataset, folder: Path) -> Path:
    """Write a dataset's first ``FILES_MAX`` files into a folder, which is made if need be, over
    files of the same name; return the path of the file or folder there. Raises ``ClientError``,
    also where a file ends too early, or ``OSError``; files that were whole before that stay."""
    reply = await client.call(DATASET_FILES, DatasetFiles(dataset.dataset, limit=FILES_MAX))
    name = _plain_name(reply.name) or short_dataset(dataset.dataset)
    top = folder / name
    for file in reply.files:
        path = top / _inside(file.path) if reply.folder else top
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".unfinished")
        try:
            await _fetch_file(client, ReadDataset(dataset.dataset, file.path), unfinished)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    return top


async def _fetch_file(client: Client, wanted: ReadDataset, path: Path) -> None:
    try:
        with path.open("wb") as out:
            async for data in pieces_of(client, wanted):
                out.write(data)
    except EOFError:
        raise ClientError(tr("Only a part of {name} came: try again.", name=path.stem)) from None


def _plain_name(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name


def _inside(path: str) -> Path:
    """Never out of the folder, whatever another machine calls its files."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("..", "/", ".")]
    return Path(*parts)


def _copy(dataset: Dataset) -> None:
    QGuiApplication.clipboard().setText(dataset.dataset)
