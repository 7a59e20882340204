"""Which workflows name a dataset, as given with them or as made by what ran of them.

A hash can be named by anybody who has read the table, and told early or late, and dated back. So a record
that names data carries what only their content gives, made for this one workflow or task, and whose data
they are is decided where they lie (``agent.data.rights``). Of work of versions before, of which nothing
shows that, the first here counts: as it was heard, and after a start what was given before what was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Raw, msgpack, structs

from agent.protocol.core import Core, Part
from agent.protocol.news import News
from agent.protocol.records import (
    Dataset,
    DatasetId,
    Life,
    More,
    Run,
    TaskId,
    TaskSpec,
    Terminated,
    WorkflowId,
    WorkflowSpec,
)

HAS, HAS_SAVED = "has", "has saved"
"""By which names records carry what shows that their author had what they name: of a run its outputs, and
its checkpoint."""
SHOWN_BYTES_MAX = 128 * 1024
"""Of what a record carries so; who carries more shows nothing."""
TASKS_TOLD_MAX = 8
"""Of one workflow, that have made the same: what is empty is made by many."""


def with_shown(run: Run, shown: bytes, name: str = HAS) -> Run:
    """Return the run with what shows that its machine had what it names; the same for nothing."""
    return structs.replace(run, more={**run.more, **carrying(shown, name)}) if shown else run


def carrying(shown: bytes, name: str = HAS) -> More:
    """Return how a record carries that; nothing for nothing."""
    return {name: Raw(msgpack.encode(shown))} if shown else {}


class Origins(Part):
    """Remembers which workflows name a dataset, those first that named it first."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._naming: dict[DatasetId, dict[WorkflowId, tuple[TaskId, ...]]] = {}
        """With the tasks whose runs do; none where it was given."""
        self._named: dict[WorkflowId, dict[DatasetId, None]] = {}
        self._programs: dict[WorkflowId, frozenset[DatasetId]] = {}
        for workflow in core.table.workflows:
            self._list(workflow)
        self._take_lives(core.table.lives)

    def naming(self, dataset: DatasetId) -> list[WorkflowSpec]:
        """Return the workflows that name it, the first at first; one that was withdrawn is none."""
        known = self.core.table.workflows
        return [known[each].spec for each in self._naming.get(dataset, ()) if each in known]

    def is_alone(self, workflow: WorkflowId, dataset: DatasetId) -> bool:
        """Tell whether no other workflow names it."""
        naming = self._naming.get(dataset, {})
        return len(naming) <= (workflow in naming)

    def is_program(self, workflow: WorkflowId, dataset: DatasetId) -> bool:
        """Tell whether it came with a workflow as a program."""
        return dataset in self._programs.get(workflow, ())

    def makers(self, workflow: WorkflowId, dataset: DatasetId) -> Iterator[TaskId]:
        """Yield the tasks of a workflow that made a dataset, no more than a few of them."""
        table = self.core.table
        for task in self._naming.get(dataset, {}).get(workflow, ()):
            if table.workflow_of.get(task) == workflow:
                yield task

    def shown(self, spec: WorkflowSpec, dataset: DatasetId) -> Iterator[tuple[str, bytes]]:
        """Yield the proofs of possession that a workflow and its runs carry for a dataset, each with what
        it was made for, none above ``SHOWN_BYTES_MAX``; nobody has checked them against the content."""
        if spec.workflow in self._naming.get(dataset, ()):
            yield from _carried(spec.more, HAS, spec.workflow)
        for task in self.makers(spec.workflow, dataset):
            for run in self.core.table.life(task).runs:
                for name in (HAS, HAS_SAVED) if run.more else ():
                    yield from _carried(run.more, name, shown_for(spec.workflow, task))

    def on_news(self, news: News) -> None:
        """Take in which datasets new workflows and runs name, and forget those of workflows that
        were removed or replaced."""
        for workflow in (*news.forgotten_workflows, *news.replaced):
            self._forget(workflow)
        for workflow in (*news.listed, *news.replaced):
            if workflow in self.core.table.workflows:
                self._list(workflow)
        self._take_lives(part.task for part in news.lives)

    def _list(self, workflow: WorkflowId) -> None:
        tasks = self.core.table.workflows[workflow].spec.tasks
        published = frozenset(each.published.dataset for each in tasks if each.published)
        if published:
            self._programs[workflow] = published
        for spec in tasks:
            for each in given_to(spec):
                self._take(workflow, each.dataset)

    def _take_lives(self, tasks: Iterable[TaskId]) -> None:
        table = self.core.table
        for task in tasks:
            workflow = table.workflow_of.get(task, "")
            for dataset in _made(table.life(task)) if workflow else ():
                makers = self._take(workflow, dataset)
                if task not in makers and len(makers) < TASKS_TOLD_MAX:
                    self._naming[dataset][workflow] = (*makers, task)

    def _take(self, workflow: WorkflowId, dataset: DatasetId) -> tuple[TaskId, ...]:
        self._named.setdefault(workflow, {})[dataset] = None
        return self._naming.setdefault(dataset, {}).setdefault(workflow, ())

    def _forget(self, workflow: WorkflowId) -> None:
        """What others name too is theirs from now on."""
        self._programs.pop(workflow, None)
        for dataset in self._named.pop(workflow, ()):
            naming = self._naming[dataset]
            del naming[workflow]
            if not naming:
                del self._naming[dataset]


def shown_for(workflow: WorkflowId, task: TaskId = "") -> str:
    """Return for whom it is shown that data were there: nobody else can use it."""
    return f"{workflow}/{task}" if task else workflow


def _carried(more: More, name: str, whose: str) -> Iterator[tuple[str, bytes]]:
    if name in more and len(told := memoryview(more[name])) <= SHOWN_BYTES_MAX:
        yield whose, bytes(told)


def given_to(spec: TaskSpec) -> tuple[Dataset, ...]:
    given = spec.raw if spec.published is None else (*spec.raw, spec.published)
    return tuple(each for each in given if not each.external)


def _made(life: Life) -> Iterator[DatasetId]:
    for run in life.runs:
        if isinstance(run.phase, Terminated):
            yield from (each.dataset for each in run.phase.outputs if not each.external)
        if run.checkpoint is not None:
            yield run.checkpoint.dataset
