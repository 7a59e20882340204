"""The results of a task: each dataset with its size, opened or saved with one press.

A result may lie on another machine and be large: it is fetched in pieces, in the background, into
the folder of results of this home or where the person wants it; external ones are names only.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLabel, QVBoxLayout, QWidget

from agent.api.datasets import DATASET_FILES, READ_DATASET, DatasetFiles, ReadDataset
from agent.api.values import Dataset
from agent.api.work import TaskView
from agent.client import Client
from gui import settings
from gui.bridge.bridge import is_gone
from gui.model.graph import short_dataset
from gui.model.times import size
from gui.theme.look import GRID
from gui.views.pieces import button, clear, quiet, row, strong
from gui.views.view_context import ViewContext
from gui.words import tr

SHOWN_MAX = 8
FILES_MAX = 10_000


class Outputs(QWidget):
    """The results of a task, a row for each dataset."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        self._shown: tuple[Dataset, ...] = ()
        self._lay = QVBoxLayout(self)
        self._lay.setContentsMargins(0, 0, 0, 0)
        self._lay.setSpacing(GRID // 2)
        self.setObjectName("outputs")

    def tell(self, task: TaskView | None) -> None:
        """Show the results of this task, a row for each; hide where there is none."""
        outputs = task.outputs if task is not None else ()
        self.setVisible(bool(outputs))
        if outputs == self._shown:
            return
        self._shown = outputs
        clear(self._lay)
        if outputs:
            self._lay.addWidget(strong(tr("Results")))
        for place, dataset in enumerate(outputs[:SHOWN_MAX]):
            self._lay.addWidget(self._row(dataset, place))
        if len(outputs) > SHOWN_MAX:
            self._lay.addWidget(quiet(tr("and {number} more", number=len(outputs) - SHOWN_MAX)))

    def _row(self, dataset: Dataset, place: int) -> QWidget:
        named = self._context.screen.dataset_names.get(dataset.dataset, "")
        text = named or (dataset.dataset if dataset.external else short_dataset(dataset.dataset))
        if dataset.size_bytes:
            text += f" · {size(dataset.size_bytes)}"
        said = QLabel(text)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setToolTip(dataset.dataset)
        holder = QWidget()
        lay = row(said)
        lay.addStretch()
        if dataset.external:
            lay.addWidget(
                button(tr("Copy"), f"copyOutput{place}", lambda: _copy(dataset), flat=True)
            )
        else:
            lay.addWidget(
                button(tr("Open"), f"openOutput{place}", lambda: self._open(dataset), flat=True)
            )
            lay.addWidget(
                button(tr("Save …"), f"saveOutput{place}", lambda: self._save(dataset), flat=True)
            )
        holder.setLayout(lay)
        return holder

    def open_first(self, task: TaskView) -> None:
        """Fetch and open the first result that is more than a name; does nothing if there is
        none."""
        for each in task.outputs:
            if not each.external:
                self._open(each)
                return

    def _open(self, dataset: Dataset) -> None:
        digest = dataset.dataset.partition(":")[2][:16]
        self._fetch(dataset, self._context.home.cache / "results" / digest, show=True)

    def _save(self, dataset: Dataset) -> None:
        folder = settings.last_folder("results")
        chosen = QFileDialog.getExistingDirectory(self, tr("Where shall it be kept?"), folder)
        if chosen and not is_gone(self):
            settings.keep_folder("results", Path(chosen))
            self._fetch(dataset, Path(chosen), show=False)

    def _fetch(self, dataset: Dataset, folder: Path, *, show: bool) -> None:
        async def fetch(client: Client) -> Path:
            return await fetch_dataset(client, dataset, folder)

        def done(path: Path) -> None:
            if show:
                QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
            else:
                self._context.said.emit(tr("Kept as {path}", path=path))

        self._context.bridge.client_work(self, fetch, done, self._context.failed.emit)


async def fetch_dataset(client: Client, dataset: Dataset, folder: Path) -> Path:
    """Write a dataset into a folder, over files of the same name, and return the path of the file
    or folder there. Only the first ``FILES_MAX`` files come. Raises ``ClientError`` or
    ``OSError``."""
    reply = await client.call(DATASET_FILES, DatasetFiles(dataset.dataset, limit=FILES_MAX))
    name = _plain_name(reply.name) or short_dataset(dataset.dataset)
    top = folder / name
    for file in reply.files:
        path = top / _inside(file.path) if reply.folder else top
        path.parent.mkdir(parents=True, exist_ok=True)
        offset = 0
        unfinished = path.with_name(path.name + ".unfinished")
        with unfinished.open("wb") as out:
            while True:
                piece = await client.call(
                    READ_DATASET, ReadDataset(dataset.dataset, file.path, offset)
                )
                out.write(piece.data)
                offset += len(piece.data)
                if offset >= piece.size_bytes or not piece.data:
                    break
        unfinished.replace(path)
    return top


def _plain_name(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name


def _inside(path: str) -> Path:
    """Never out of the folder, whatever another machine calls its files."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("..", "/", ".")]
    return Path(*parts)


def _copy(dataset: Dataset) -> None:
    QGuiApplication.clipboard().setText(dataset.dataset)
