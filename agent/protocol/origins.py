"""Whose data a dataset is: of the workflow that was the first here to name it.

Who may read data is whose work they belong to; a hash can be named by anybody who has read the table. So
what counts is who named it first, as this node heard of it, which is also the order on its disk: whoever
names the data of others later, as what a task is given or has made, does not make them its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.protocol.core import Core, Part
from agent.protocol.news import News
from agent.protocol.records import (
    Dataset,
    DatasetId,
    Life,
    TaskId,
    TaskSpec,
    Terminated,
    WorkflowId,
)


class Origins(Part):
    """Remembers which workflow named a dataset first."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._first: dict[DatasetId, WorkflowId] = {}
        self._of: dict[WorkflowId, dict[DatasetId, None]] = {}
        for workflow in core.table.workflows:
            self._list(workflow)
            self._take_lives(each.task for each in core.table.workflows[workflow].spec.tasks)

    def of(self, dataset: DatasetId) -> WorkflowId:
        """Return the workflow whose data it is; empty for what no workflow here names."""
        first = self._first.get(dataset, "")
        if first and first not in self.core.table.workflows:  # it was withdrawn
            self._forget([first])
        return self._first.get(dataset, "")

    def on_news(self, news: News) -> None:
        """Learn of workflows that were not known, and of what runs have made."""
        self._forget(news.forgotten_workflows)
        for workflow in news.listed:
            if workflow in self.core.table.workflows:
                self._list(workflow)
        self._take_lives(part.task for part in news.lives)

    def _list(self, workflow: WorkflowId) -> None:
        for spec in self.core.table.workflows[workflow].spec.tasks:
            if spec.raw or spec.published is not None:
                self._take(workflow, (each.dataset for each in _given(spec)))

    def _take_lives(self, tasks: Iterable[TaskId]) -> None:
        table = self.core.table
        for task in tasks:
            workflow = table.workflow_of.get(task, "")
            if workflow:
                self._take(workflow, _made(table.life(task)))

    def _take(self, workflow: WorkflowId, datasets: Iterable[DatasetId]) -> None:
        for dataset in datasets:
            if dataset not in self._first:
                self._first[dataset] = workflow
                self._of.setdefault(workflow, {})[dataset] = None

    def _forget(self, workflows: Iterable[WorkflowId]) -> None:
        """What others name too is theirs from now on."""
        left = {dataset for each in workflows for dataset in self._of.pop(each, ())}
        for dataset in left:
            self._first.pop(dataset, None)
        for workflow in self.core.table.workflows.values() if left else ():
            for spec in workflow.spec.tasks:
                named = {each.dataset for each in _given(spec)}
                named.update(_made(self.core.table.life(spec.task)))
                self._take(workflow.spec.workflow, named & left)


def _given(spec: TaskSpec) -> tuple[Dataset, ...]:
    given = spec.raw if spec.published is None else (*spec.raw, spec.published)
    return tuple(each for each in given if not each.external)


def _made(life: Life) -> Iterator[DatasetId]:
    for run in life.runs:
        if isinstance(run.phase, Terminated):
            yield from (each.dataset for each in run.phase.outputs if not each.external)
        if run.checkpoint is not None:
            yield run.checkpoint.dataset
