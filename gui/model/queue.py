"""The queue: what runs where, then what waits for a person, then what waits and why, in order.

The order among what waits is the flock's: priority first, then who was submitted first. It is what
people expect to see; machines may advance a later workflow when that makes nobody wait longer. What
is kept of a workflow is made anew only when something of it changed: twenty thousand tasks are more
than can be looked through at every event.

What waits of a fan-out is one row, as it is one box in the graph: ``FOLD_MIN`` or more tasks that run the
same program behind the same programs. Whoever types looks for one of them, and sees each.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import islice
from operator import is_, itemgetter

from agent.api.values import TaskState
from agent.api.work import TaskView, WorkflowView
from gui.model.folding import is_open
from gui.model.graph import FOLD_MIN

ROWS_MAX = 1_000
"""More than anybody scrolls through; the filter finds the others."""
_STATES = (
    TaskState.RUNNING,
    TaskState.SCHEDULED,
    TaskState.SUSPENDED,
    TaskState.WAITING,
    TaskState.READY,
    TaskState.SUBMITTED,
)
FOLDED = (TaskState.READY, TaskState.SUBMITTED)
_RANKS = {id(state): rank for rank, state in enumerate(_STATES)}
"""States are single objects; their hash is computed in Python, which many thousand times is felt."""
_Key = tuple[int, int, str]


Group = tuple[TaskView, ...]
"""Tasks that stand in one row."""


@dataclass(slots=True)
class QueueRow:
    """Tasks that are alike, mostly one, with their workflow. The same object as long as all of them are
    the same."""

    tasks: Group
    workflow: WorkflowView
    place: int

    @property
    def task(self) -> TaskView:
        """The task, or the first of them."""
        return self.tasks[0]

    @property
    def priority(self) -> int:
        """How urgent they are, by their own word or their workflow's."""
        return priority_of(self.task, self.workflow)


@dataclass(slots=True)
class _Part:
    """What one workflow has in the queue. ``words`` are those of its tasks, made when needed."""

    key: _Key
    workflow: WorkflowView
    ranked: dict[int, list[TaskView]]
    folded: dict[int, list[tuple[int, Group]]]
    words: dict[int, list[str]] | None = None

    def matching(self, rank: int, typed: list[str]) -> Iterator[tuple[int, Group]]:
        """Yield the tasks of this rank that have all the typed words, each alone with its place in
        the rank; without words the rank's groups of like tasks."""
        tasks = self.ranked.get(rank, ())
        if not typed:
            yield from self.folded.get(rank, ())
            return
        if self.words is None:
            self.words = {
                each: [_words(task, self.workflow) for task in own]
                for each, own in self.ranked.items()
            }
        for place, words in enumerate(self.words.get(rank, ())):
            if has_all(words, typed):
                yield place, (tasks[place],)


class Queue:
    """Keeps its rows, so that only what changed is new; at most so many are shown at a time."""

    def __init__(self) -> None:
        self._rows: dict[str, QueueRow] = {}
        self._parts: dict[str, _Part] = {}
        self._order: list[_Key] = []
        self.total = 0
        """How many there are in all, shown or not."""

    def rows(
        self,
        workflows: Mapping[str, WorkflowView],
        tasks: Mapping[str, Mapping[str, TaskView]],
        typed: str = "",
        changed: Set[str] | None = None,
    ) -> list[QueueRow]:
        """Return rows for the tasks that are still to be done and have the typed words, empty being
        all, in the flock's order, ``ROWS_MAX`` at the most, and keep them: one in which nothing
        changed is the same object next time. ``total`` then counts all tasks, whatever was typed.

        ``changed`` names the workflows that are other ones than last time; None: all may be.
        """
        for name in workflows.keys() | self._parts if changed is None else changed:
            self._take(name, workflows.get(name), tasks.get(name, {}).values())
        found = self._found(typed.casefold().split())
        rows = {
            group[0].task: self._row(group, workflow, place)
            for place, group, workflow in islice(found, ROWS_MAX)
        }
        self._rows = rows
        return list(rows.values())

    def _take(self, name: str, workflow: WorkflowView | None, tasks: Collection[TaskView]) -> None:
        """This is what is known of a workflow now."""
        before = self._parts.pop(name, None)
        if before is not None:
            self.total -= sum(map(len, before.ranked.values()))
        ranked: dict[int, list[TaskView]] = {}
        if workflow is not None and is_open(workflow):
            for task in tasks:
                rank = _RANKS.get(id(task.state))
                if rank is not None:
                    ranked.setdefault(rank, []).append(task)
            if any(task.priority is not None for task in tasks):
                for own in ranked.values():
                    own.sort(key=lambda task: -priority_of(task, workflow))
        key = _key(workflow) if workflow is not None and ranked else None
        if before is not None and before.key != key:
            del self._order[bisect_left(self._order, before.key)]
        if workflow is None or key is None:
            return
        if before is None or before.key != key:
            insort(self._order, key)
        by_id = {task.task: task for task in tasks}
        folded = {rank: _folded(rank, own, by_id) for rank, own in ranked.items()}
        self._parts[name] = _Part(key, workflow, ranked, folded)
        self.total += sum(map(len, ranked.values()))

    def _found(self, typed: list[str]) -> Iterator[tuple[int, Group, WorkflowView]]:
        """With the place that each has in the whole queue."""
        passed = 1
        parts = [self._parts[name] for *_, name in self._order]
        for rank in range(len(_STATES)):
            for part in parts:
                own = part.ranked.get(rank)
                if own is not None:
                    for place, group in part.matching(rank, typed):
                        yield passed + place, group, part.workflow
                    passed += len(own)

    def _row(self, tasks: Group, workflow: WorkflowView, place: int) -> QueueRow:
        kept = self._rows.get(tasks[0].task)
        if kept is not None:
            same = all(map(is_, kept.tasks, tasks)) and len(kept.tasks) == len(tasks)
            if same and kept.place == place and kept.workflow.priority == workflow.priority:
                return kept
        return QueueRow(tasks, workflow, place)


def _folded(
    rank: int, tasks: list[TaskView], by_id: Mapping[str, TaskView]
) -> list[tuple[int, Group]]:
    """The rows of one rank with the place of each: what waits for machines together where it is alike."""
    if _STATES[rank] not in FOLDED or len(tasks) < FOLD_MIN:
        return [(place, (task,)) for place, task in enumerate(tasks)]
    alike: dict[object, list[int]] = {}
    for place, task in enumerate(tasks):
        behind = frozenset(by_id[need].program for need in task.needs if need in by_id)
        alike.setdefault((task.program, behind, task.priority), []).append(place)
    rows: list[tuple[int, Group]] = []
    for places in alike.values():
        if len(places) < FOLD_MIN:
            rows += [(place, (tasks[place],)) for place in places]
        else:
            rows.append((places[0], tuple(tasks[place] for place in places)))
    return sorted(rows, key=itemgetter(0))


def priority_of(task: TaskView, workflow: WorkflowView) -> int:
    """Return how urgent a task is, by its own word or its workflow's."""
    return workflow.priority if task.priority is None else task.priority


def _key(workflow: WorkflowView) -> _Key:
    return -workflow.priority, workflow.submitted_ms, workflow.workflow


def _words(task: TaskView, workflow: WorkflowView) -> str:
    return f"{task.name} {workflow.name} {task.host} {task.program}".casefold()


def has_all(text: str, words: list[str]) -> bool:
    """Tell whether the text has all the words that a person typed, in whatever order; both have to
    be case-folded."""
    return all(word in text for word in words)
