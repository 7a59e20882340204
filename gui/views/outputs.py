"""The results of a task: each dataset with its size, opened or saved with one press.

A result may lie on another machine and be large: it is fetched in pieces, in the background, into
the folder of results of this home or where the person wants it; external ones are names only.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget

from agent.api.datasets import FilesReply
from agent.api.values import Dataset, TaskState
from agent.api.work import TaskView
from agent.client import Client, ClientError
from agent.client.fetching import all_files, fetch_files, is_there, plain
from gui.model.graph import short_dataset
from gui.model.times import size
from gui.theme.look import GRID
from gui.views.choosing import folder_to_fill
from gui.views.pieces import PLAIN, button, clear, column, held, quiet, row, set_up, strong
from gui.views.questions import ask_to_replace
from gui.views.view_context import ViewContext
from gui.words import tr

SHOWN_MAX = 8
Result = TypeVar("Result")


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
        shown = tuple(
            (each, names.get(each.dataset) or (task.name if look_at else ""))
            for task in of
            for each in task.outputs
        )
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
        folder = self._context.home.cache / "results" / digest

        def show(path: Path) -> None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))

        async def fetch(client: Client) -> Path:
            listing = await all_files(client, dataset.dataset)
            return await fetch_to(client, listing, folder / _name_of(listing), over=True)

        self._work(fetch, show)

    def _save(self, dataset: Dataset) -> None:
        folder = folder_to_fill(self, "results", tr("Where shall it be kept?"))
        if folder is None:
            return

        def listed(listing: FilesReply) -> None:
            path = folder / _name_of(listing)
            if is_there(path):
                ask_to_replace(self, path, partial(self._keep, listing))
            else:
                self._keep(listing, path, over=False)

        self._work(lambda client: all_files(client, dataset.dataset), listed)

    def _keep(self, listing: FilesReply, path: Path, *, over: bool) -> None:
        def kept(path: Path) -> None:
            self._context.said.emit(tr("Kept as {path}", path=path))

        self._work(lambda client: fetch_to(client, listing, path, over=over), kept)

    def _work(
        self, begin: Callable[[Client], Coroutine[Any, Any, Result]], done: Callable[[Result], None]
    ) -> None:
        context = self._context
        context.bridge.client_work(self, begin, done, context.failed.emit)


async def fetch_to(client: Client, listing: FilesReply, path: Path, *, over: bool) -> Path:
    """Write all of a dataset to this path, over files of the same name only if ``over`` says so,
    and return the path. Raises ``ClientError``, also where a file ends too early, or ``OSError``;
    files that were whole before that stay."""
    try:
        await fetch_files(client, listing, path, over=over)
    except EOFError as error:
        raise ClientError(
            tr("Only a part of {name} came: try again.", name=Path(str(error)).name)
        ) from None
    return path


def _name_of(listing: FilesReply) -> str:
    return plain(listing.name) or short_dataset(listing.dataset)


def _copy(dataset: Dataset) -> None:
    QGuiApplication.clipboard().setText(dataset.dataset)
