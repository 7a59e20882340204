"""All records of one node, joined and read off, with the indexes that decisions need.

The table is the only place where records change. ``join`` takes parts of records, from peers or
from this node itself alike, and returns what was new (``News``): what to persist, what to pass
on, and which tasks read differently now. A changed reading may change its dependants' readings;
they are read again in order of their depth, so that each is read once per join.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from agent.protocol.digest import DigestTree, life_version, pruning_version, workflow_version
from agent.protocol.merge import join_lives, join_prunings, join_workflows
from agent.protocol.reading import Reading, read_off
from agent.protocol.records import (
    NO_LIFE,
    Life,
    Pruning,
    Run,
    TaskId,
    TaskLife,
    TaskSpec,
    Workflow,
    WorkflowId,
)
from agent.protocol.settings import Settings
from agent.protocol.states import ENDED, TaskState

_REREADINGS_MAX = 16


@dataclass(slots=True)
class News:
    """What a join changed. ``moved``: task, reading before, reading now."""

    workflows: list[Workflow] = field(default_factory=list)
    lives: list[TaskLife] = field(default_factory=list)
    prunings: list[Pruning] = field(default_factory=list)
    forgotten_workflows: list[WorkflowId] = field(default_factory=list)
    forgotten_tasks: list[TaskId] = field(default_factory=list)
    unknown_tasks: list[TaskId] = field(default_factory=list)
    moved: list[tuple[TaskId, Reading | None, Reading]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.workflows or self.lives or self.prunings or self.forgotten_workflows)


class Table:
    """Workflows, lives and prunings by id; readings and the sets of tasks that matter."""

    def __init__(self, settings: Settings) -> None:
        self.workflows: dict[WorkflowId, Workflow] = {}
        self.lives: dict[TaskId, Life] = {}
        self.prunings: dict[WorkflowId, Pruning] = {}
        self.specs: dict[TaskId, TaskSpec] = {}
        self.workflow_of: dict[TaskId, WorkflowId] = {}
        self.ready: dict[TaskId, None] = {}
        self.owned: dict[TaskId, Run] = {}
        self.unfinished: dict[WorkflowId, dict[TaskId, None]] = {}
        self.digest = DigestTree()
        self.changes = 0
        self._readings: dict[TaskId, Reading] = {}
        self._dependants: dict[TaskId, list[TaskId]] = {}
        self._depths: dict[TaskId, int] = {}
        self._orphans: dict[TaskId, Life] = {}
        self._pruned_tasks: dict[TaskId, WorkflowId] = {}
        self._settings = settings

    @property
    def hash(self) -> int:
        """Equal for equal tables."""
        return self.digest.total

    def reading(self, task: TaskId) -> Reading | None:
        """How the task reads, None when its workflow is not known."""
        return self._readings.get(task)

    def life(self, task: TaskId) -> Life:
        """The life of a task of this table, as far as anything happened to it."""
        return self.lives.get(task, NO_LIFE)

    def lives_of(self, workflow: WorkflowId) -> list[TaskLife]:
        """What happened to its tasks. No workflow is told to a peer without this: a workflow
        whose lives are under way would look as if nothing of it had run."""
        specs = self.workflows[workflow].spec.tasks
        return [TaskLife(s.task, self.lives[s.task]) for s in specs if s.task in self.lives]

    def dependants(self, task: TaskId) -> list[TaskId]:
        """Tasks that name this one as producer."""
        return self._dependants.get(task, [])

    def closure(self, tasks: Iterable[TaskId]) -> list[TaskId]:
        """The tasks and all that depends on them, each once, nearest first."""
        found: dict[TaskId, None] = dict.fromkeys(tasks)
        queue = list(found)
        for task in queue:
            for dependant in self.dependants(task):
                if dependant not in found:
                    found[dependant] = None
                    queue.append(dependant)
        return list(found)

    def pruning_of_task(self, task: TaskId) -> Pruning | None:
        """The pruning that lately removed this task from the table."""
        workflow = self._pruned_tasks.get(task)
        return None if workflow is None else self.prunings.get(workflow)

    def join(
        self,
        workflows: Iterable[Workflow] = (),
        lives: Iterable[TaskLife] = (),
        prunings: Iterable[Pruning] = (),
    ) -> News:
        """Take in parts of records; say what was new."""
        news = News()
        dirty: dict[TaskId, None] = {}
        for pruning in prunings:
            self._join_pruning(pruning, news, dirty)
        for workflow in workflows:
            self._join_workflow(workflow, news, dirty)
        for part in lives:
            self._join_life(part, news, dirty)
        self._read_again(dirty, news)
        if news:
            self.changes += 1
        return news

    def forget_pruning(self, workflow: WorkflowId) -> None:
        """A pruning has been kept long enough."""
        del self.prunings[workflow]
        self.digest.remove("p" + workflow)
        self.changes += 1

    def withdraw(self, workflow: WorkflowId) -> None:
        """A workflow that could not be kept on disk, and was never told to anybody."""
        self._forget(workflow, News(), {})
        self.changes += 1

    def _join_pruning(self, theirs: Pruning, news: News, dirty: dict[TaskId, None]) -> None:
        mine = self.prunings.get(theirs.workflow)
        joined = theirs if mine is None else join_prunings(mine, theirs)
        if joined is mine:
            return
        self.prunings[theirs.workflow] = joined
        key = "p" + theirs.workflow
        self.digest.put(key, pruning_version(key, joined))
        news.prunings.append(joined)
        workflow = self.workflows.get(theirs.workflow)
        if workflow is not None and workflow.generation <= joined.generation:
            self._forget(theirs.workflow, news, dirty)

    def _join_workflow(self, theirs: Workflow, news: News, dirty: dict[TaskId, None]) -> None:
        workflow_id = theirs.spec.workflow
        pruning = self.prunings.get(workflow_id)
        mine = self.workflows.get(workflow_id)
        if mine is None and pruning is not None and theirs.generation <= pruning.generation:
            return
        joined = theirs if mine is None else join_workflows(mine, theirs)
        if joined is mine:
            return
        self.workflows[workflow_id] = joined
        key = "w" + workflow_id
        self.digest.put(key, workflow_version(key, joined))
        news.workflows.append(joined)
        if mine is None or mine.spec is not joined.spec:
            if mine is not None:
                self._keep_lives(mine)
                self._unlist_tasks(mine, news, dirty)
            self._list_tasks(joined, news, dirty)

    def _keep_lives(self, workflow: Workflow) -> None:
        """Another submission of this name stands; what happened to tasks of both still counts."""
        for spec in workflow.spec.tasks:
            life = self.lives.get(spec.task)
            if life is not None and self.workflow_of.get(spec.task) == workflow.spec.workflow:
                self._orphans[spec.task] = life

    def _list_tasks(self, workflow: Workflow, news: News, dirty: dict[TaskId, None]) -> None:
        workflow_id = workflow.spec.workflow
        open_tasks = self.unfinished.setdefault(workflow_id, {})
        for spec in workflow.spec.tasks:
            task = spec.task
            if self.workflow_of.get(task, workflow_id) != workflow_id:
                continue  # another workflow has a task of this id: contradictory, the first stands
            self.specs[task] = spec
            self.workflow_of[task] = workflow_id
            open_tasks[task] = None
            producers = [ref.task for ref in spec.inputs] + list(spec.after)
            for producer in dict.fromkeys(producers):
                self._dependants.setdefault(producer, []).append(task)
            depths = [self._depths.get(producer, 0) for producer in producers]
            self._depths[task] = 1 + max(depths, default=0)
            dirty[task] = None
            orphan = self._orphans.pop(task, None)
            if orphan is not None:
                self._join_life(TaskLife(task, orphan), news, dirty)

    def _unlist_tasks(self, workflow: Workflow, news: News, dirty: dict[TaskId, None]) -> None:
        workflow_id = workflow.spec.workflow
        self.unfinished.pop(workflow_id, None)
        for spec in workflow.spec.tasks:
            task = spec.task
            if self.workflow_of.get(task) != workflow_id:
                continue
            for producer in dict.fromkeys([*(ref.task for ref in spec.inputs), *spec.after]):
                self._dependants[producer].remove(task)
            for index in (self.specs, self.workflow_of, self.ready, self.owned, self._depths):
                index.pop(task, None)
            self._readings.pop(task, None)
            dirty.pop(task, None)
            dirty.update(dict.fromkeys(self.dependants(task)))
            if self.lives.pop(task, None) is not None:
                self.digest.remove("t" + task)
            news.forgotten_tasks.append(task)

    def _forget(self, workflow_id: WorkflowId, news: News, dirty: dict[TaskId, None]) -> None:
        workflow = self.workflows.pop(workflow_id)
        self.digest.remove("w" + workflow_id)
        self._unlist_tasks(workflow, news, dirty)
        news.forgotten_workflows.append(workflow_id)
        for spec in workflow.spec.tasks:
            self._pruned_tasks[spec.task] = workflow_id
        while len(self._pruned_tasks) > self._settings.orphans_max:
            del self._pruned_tasks[next(iter(self._pruned_tasks))]

    def _join_life(self, part: TaskLife, news: News, dirty: dict[TaskId, None]) -> None:
        task = part.task
        if task not in self.specs:
            self._keep_orphan(part, news)
            return
        mine = self.lives.get(task)
        joined = join_lives(NO_LIFE if mine is None else mine, part.life)
        if joined is mine or (mine is None and joined == NO_LIFE):
            return
        self.lives[task] = joined
        key = "t" + task
        self.digest.put(key, life_version(key, joined))
        news.lives.append(part)
        dirty[task] = None

    def _keep_orphan(self, part: TaskLife, news: News) -> None:
        if part.task in self._pruned_tasks:
            return
        known = self._orphans.get(part.task)
        if known is None and len(self._orphans) >= self._settings.orphans_max:
            return
        self._orphans[part.task] = part.life if known is None else join_lives(known, part.life)
        news.unknown_tasks.append(part.task)

    def _read_again(self, dirty: dict[TaskId, None], news: News) -> None:
        heap = [(self._depths.get(task, 0), task) for task in dirty]
        heap.sort()
        queued = dict.fromkeys(dirty, 1)
        waiting = set(dirty)
        while heap:
            _, task = heappop(heap)
            waiting.discard(task)
            if not self._read(task, news):
                continue
            for dependant in self.dependants(task):
                times = queued.get(dependant, 0)
                if dependant not in waiting and times < _REREADINGS_MAX:
                    queued[dependant] = times + 1
                    waiting.add(dependant)
                    heappush(heap, (self._depths.get(dependant, 0), dependant))

    def _read(self, task: TaskId, news: News) -> bool:
        """Read the task off again; True when that changed anything."""
        spec = self.specs.get(task)
        if spec is None:
            return False
        before = self._readings.get(task)
        now = read_off(spec, self.life(task), self._readings.get, self._settings.deaths_max)
        if now == before:
            return False
        self._readings[task] = now
        self._index(task, before, now)
        news.moved.append((task, before, now))
        return True

    def _index(self, task: TaskId, before: Reading | None, now: Reading) -> None:
        if now.state is TaskState.READY:
            self.ready[task] = None
        elif before is not None and before.state is TaskState.READY:
            self.ready.pop(task, None)
        if now.owner is not None:
            self.owned[task] = now.owner
        else:
            self.owned.pop(task, None)
        open_tasks = self.unfinished.setdefault(self.workflow_of[task], {})
        if now.state in ENDED:
            open_tasks.pop(task, None)
        else:
            open_tasks[task] = None
