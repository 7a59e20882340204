"""The results of a task, or of a whole workflow: each with its name and size, opened or saved with
one press.

A result may lie on another machine and be large: it is fetched in pieces, in the background, into
the folder of results of this home or where the person wants it; external ones are names only.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget

from agent.api.datasets import FilesReply
from agent.api.values import Dataset, TaskState
from agent.api.wording import plain
from agent.api.work import TaskView
from agent.client import Client, ClientError
from agent.client.fetching import all_files, fetch_files, is_there, last_results
from gui.model.graph import output_name
from gui.model.results import Kind, kind_of
from gui.model.times import size
from gui.theme.look import GRID
from gui.views.choosing import folder_to_fill
from gui.views.pieces import PLAIN, button, clear, column, held, quiet, row, set_up, strong
from gui.views.questions import ask_to_replace
from gui.views.result_view import show_result
from gui.views.view_context import ViewContext
from gui.words import tr

SHOWN_MAX = 8
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Output:
    """One result, and what it is called; of which task, where several have results."""

    dataset: Dataset
    name: str
    task: str = ""

    @property
    def says(self) -> str:
        """What stands in its row."""
        name = f"{self.task}: {self.name}" if self.task else self.name
        return f"{name} · {size(self.dataset.size_bytes)}" if self.dataset.size_bytes else name


def outputs_of(tasks: Sequence[TaskView]) -> tuple[Output, ...]:
    """Return the results of these tasks, in their order, each by the name that it has, else by its
    number; with the name of its task where several have results."""
    several = sum(bool(task.outputs) for task in tasks) > 1
    return tuple(
        Output(
            dataset,
            output_name(task, place) or tr("result {number}", number=place + 1),
            task.name if several else "",
        )
        for task in tasks
        for place, dataset in enumerate(task.outputs)
    )


def worth_opening(outputs: Sequence[Output]) -> Output | None:
    """Return the result that a person wants to see first: a page or document, else what can be
    looked at here, else the first that is here at all; None where there is none."""
    here = [each for each in outputs if not each.dataset.external]
    ranks = {Kind.PAGE: 0, Kind.DOCUMENT: 0, Kind.OTHER: 2}
    return min(here, key=lambda each: ranks.get(kind_of(each.name), 1), default=None)


def looked_at_first(outputs: Sequence[Output]) -> tuple[Output, ...]:
    """Return the results with those first that show most to whoever is asked about them: pages, then
    pictures and maps, tables, texts; last what other programs open. Of one sort they stay in order."""
    order = (Kind.PAGE, Kind.PICTURE, Kind.MAP, Kind.TABLE, Kind.TEXT, Kind.DOCUMENT, Kind.OTHER)
    return tuple(sorted(outputs, key=lambda each: order.index(kind_of(each.name))))


class Outputs(QWidget):
    """Results, a row for each."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        self._shown: tuple[tuple[Output, ...], str] = ((), "")
        self._lay = column(on=set_up(self, "outputs"), spacing=GRID // 2)

    def tell(self, task: TaskView | None) -> None:
        """Show the results of this task, a row for each, ``SHOWN_MAX`` at the most and then how
        many more; of a step for a person that waits, those of the steps before it, which it is
        about. Hide where there is none, or no task (None)."""
        if task is not None and task.state is TaskState.WAITING:
            every = self._context.screen.tasks_of(task.workflow)
            before = [each for each in every if each.task in task.needs]
            self._show(looked_at_first(outputs_of(before)), tr("To look at"))
        else:
            self._show(outputs_of([task] if task is not None else []), tr("Results"))

    def tell_last(self, tasks: Sequence[TaskView]) -> None:
        """Show what the last tasks of a workflow have made, as ``tell`` does."""
        self._show(outputs_of(last_results(tasks)), tr("Results"))

    def _show(self, shown: tuple[Output, ...], heading: str) -> None:
        self.setVisible(bool(shown))
        if self._shown == (shown, heading):
            return
        self._shown = shown, heading
        clear(self._lay)
        if shown:
            self._lay.addWidget(strong(heading))
        for place, each in enumerate(shown[:SHOWN_MAX]):
            self._lay.addWidget(self._row(each, place))
        if len(shown) > SHOWN_MAX:
            self._lay.addWidget(quiet(tr("and {number} more", number=len(shown) - SHOWN_MAX)))

    def _row(self, output: Output, place: int) -> QWidget:
        acts = (
            (("copy", tr("Copy"), _copy),)
            if output.dataset.external
            else (("open", tr("Open"), self._open), ("save", tr("Save …"), self._save))
        )
        said = set_up(QLabel(output.says), textFormat=PLAIN, toolTip=output.dataset.dataset)
        buttons = (
            button(words, f"{name}Output{place}", partial(act, output), flat=True)
            for name, words, act in acts
        )
        return held(row(said, "stretch", *buttons))

    def open_first(self, tasks: Sequence[TaskView]) -> None:
        """Begin to fetch the result of these tasks that is worth opening, and show it when it is
        here; does nothing if there is none. A failure is told by the context."""
        if (first := worth_opening(outputs_of(tasks))) is not None:
            self._open(first)

    def _open(self, output: Output) -> None:
        digest = output.dataset.dataset.partition(":")[2][:16]
        folder = self._context.home.cache / "results" / digest

        def show(path: Path) -> None:
            try:
                show_result(path, self.window())
            except OSError as error:
                self._context.failed.emit(
                    tr("{name} cannot be shown: {why}", name=path.name, why=error.strerror)
                )

        async def fetch(client: Client) -> Path:
            listing = await all_files(client, output.dataset.dataset)
            return await fetch_to(client, listing, folder / plain(output.name), over=True)

        self._work(fetch, show)

    def _save(self, output: Output) -> None:
        folder = folder_to_fill(self, "results", tr("Where shall it be kept?"))
        if folder is None:
            return

        def listed(listing: FilesReply) -> None:
            path = folder / plain(output.name)
            if is_there(path):
                ask_to_replace(self, path, partial(self._keep, listing))
            else:
                self._keep(listing, path, over=False)

        self._work(lambda client: all_files(client, output.dataset.dataset), listed)

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


def _copy(output: Output) -> None:
    QGuiApplication.clipboard().setText(output.dataset.dataset)
