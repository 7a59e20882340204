"""All records of one node, joined and read off, with the indexes that decisions need.

The table is the only place where records change. ``join`` takes parts of records, from peers or
from this node itself alike, and returns what was new (``News``): what to persist, what to pass
on, and which tasks read differently now. A changed reading may change its dependants' readings;
they are read again in order of their depth (producers first), so that each is read once per join.

Records of peers that contradict themselves (tasks that need each other in a circle, numbers that
no honest node reaches) are counted and left out; two workflows that name the same task are told
apart by which was submitted first.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush

from agent.protocol.digest import DigestTree, life_version, pruning_version, workflow_version
from agent.protocol.identity import Asked, asked_in
from agent.protocol.news import News
from agent.protocol.priorities import Priorities
from agent.protocol.reading import DerivedState, read_off
from agent.protocol.records import (
    ENDED,
    NO_LIFE,
    PRIORITY_INTERACTIVE,
    Dataset,
    Life,
    NodeId,
    Pruning,
    Run,
    RunName,
    TaskId,
    TaskLife,
    TaskSpec,
    TaskState,
    Workflow,
    WorkflowId,
    WorkflowSpec,
    join_lives,
    join_prunings,
    join_workflows,
    run_name,
    without_runs,
)
from agent.protocol.sanity import (
    contradiction,
    life_by_itself,
    producers_of,
    sane_life,
    sane_workflow,
    with_last_words,
    workflow_by_itself,
)
from agent.protocol.settings import Settings

CIRCLE_REREADINGS_MAX = 4
"""Two workflows of hostile making can need each other; their tasks are read so often, no more."""


class Table:
    """Workflows, lives and prunings by id; readings and the sets of tasks that matter."""

    def __init__(self, settings: Settings) -> None:
        self.workflows: dict[WorkflowId, Workflow] = {}
        self.lives: dict[TaskId, Life] = {}
        self.prunings: dict[WorkflowId, Pruning] = {}
        self.specs: dict[TaskId, TaskSpec] = {}
        self.workflow_of: dict[TaskId, WorkflowId] = {}
        self.producers: dict[TaskId, list[TaskId]] = {}
        self.ready: dict[TaskId, None] = {}
        self.owned: dict[TaskId, Run] = {}
        self.owned_by: dict[NodeId, int] = {}
        """How many tasks are owned by runs of each host that has any."""
        self.unfinished: dict[WorkflowId, dict[TaskId, None]] = {}
        self.priorities = Priorities(self.workflows)
        self.digest = DigestTree()
        self.changes = 0
        self._readings: dict[TaskId, DerivedState] = {}
        self._dependants: dict[TaskId, dict[TaskId, None]] = {}
        self._depths: dict[TaskId, int] = {}
        self._orphans: dict[TaskId, Life] = {}
        self._pruned_tasks: dict[TaskId, WorkflowId] = {}
        self._asked: dict[Asked, dict[WorkflowId, None]] = {}
        self._settings = settings

    @property
    def hash(self) -> int:
        """A number that is equal for equal tables."""
        return self.digest.total

    def reading(self, task: TaskId) -> DerivedState | None:
        """Return how the task reads, None when its workflow is not known."""
        return self._readings.get(task)

    def is_needed(self, task: TaskId) -> bool:
        """Tell whether other tasks need this one."""
        return bool(self._dependants.get(task))

    def asked_before(self, asked: Asked) -> WorkflowId:
        """Return the newest workflow of this content that the same person submitted on the same
        machine; empty when there is none."""
        found = self._asked.get(asked, ())
        return max(found, key=lambda each: self.workflows[each].spec.submitted, default="")

    def holds_or_hides(self, workflow: WorkflowId) -> bool:
        """Tell whether the workflow is here, or was removed for good."""
        return workflow in self.workflows or workflow in self.prunings

    def counts(self, workflow: WorkflowId) -> dict[TaskState, int]:
        """Return how many tasks of a known workflow are in each state that occurs, in the order of
        states; one that is not read here counts as submitted."""
        readings = (self._readings.get(each.task) for each in self.workflows[workflow].spec.tasks)
        found = Counter(each.state if each else TaskState.SUBMITTED for each in readings)
        return {state: found[state] for state in TaskState if found[state]}

    def life(self, task: TaskId) -> Life:
        """Return the life of a task of this table, empty as long as nothing happened to it."""
        return self.lives.get(task, NO_LIFE)

    def lives_of(self, workflow: WorkflowId) -> list[TaskLife]:
        """Return the lives of a known workflow's tasks, without those to which nothing has
        happened. Whoever is told a workflow must be told these with it, else it looks as if nothing
        of it had run."""
        specs = self.workflows[workflow].spec.tasks
        return [TaskLife(s.task, self.lives[s.task]) for s in specs if s.task in self.lives]

    def dependants(self, task: TaskId) -> list[TaskId]:
        """Return the tasks that name this one as producer."""
        return list(self._dependants.get(task, ()))

    def interactive(self, task: TaskId) -> bool:
        """Tell whether somebody waits for the task; False when it is unknown."""
        return self.priority(task) >= PRIORITY_INTERACTIVE

    def priority(self, task: TaskId) -> int:
        """Return how urgent the task is, by its own word or its workflow's; 0 when it is unknown."""
        return self.priorities.of(task, self.workflow_of.get(task, ""))

    def bringing(self) -> Iterator[tuple[TaskSpec, Dataset, str]]:
        """Yield, for each task of the table whose program comes with it, ended or not, that task,
        the program's folder, and who submitted it."""
        for workflow in self.unfinished:
            spec = self.workflows[workflow].spec
            for task in spec.tasks:
                if task.published is not None:
                    yield task, task.published, spec.submitter

    def closure(self, tasks: Iterable[TaskId]) -> list[TaskId]:
        """Return the tasks and all that depends on them, in whatever workflow and directly or not,
        each once, nearest first."""
        found: dict[TaskId, None] = dict.fromkeys(tasks)
        queue = list(found)
        for task in queue:
            for dependant in self.dependants(task):
                if dependant not in found:
                    found[dependant] = None
                    queue.append(dependant)
        return list(found)

    def pruning_of_task(self, task: TaskId) -> Pruning | None:
        """Return the pruning that lately removed this task from the table; None when none did."""
        workflow = self._pruned_tasks.get(task)
        return None if workflow is None else self.prunings.get(workflow)

    def join(
        self,
        workflows: Iterable[Workflow] = (),
        lives: Iterable[TaskLife] = (),
        prunings: Iterable[Pruning] = (),
    ) -> News:
        """Join records into the table, prunings first, read the tasks concerned off again, and
        return what was new. Records that contradict themselves are only counted, those that a
        pruning hides are left out; lives of unknown tasks are kept aside."""
        news = News()
        dirty: dict[TaskId, None] = {}
        for pruning in prunings:
            self._join_pruning(pruning, news, dirty)
        if news.gone:
            lives = tuple(lives)
            news.gone = [(each, with_last_words(each, before, lives)) for each, before in news.gone]
        for workflow in workflows:
            self._join_workflow(workflow, news, dirty)
        for part in lives:
            self._join_life(part, news, dirty)
        self._read_again(dirty, news)
        if news:
            self.changes += 1
        return news

    def put_proven(
        self, workflows: Iterable[Workflow], lives: Iterable[TaskLife], prunings: Iterable[Pruning]
    ) -> None:
        """Keep these versions of records that are here, which differ by the proofs that they carry:
        nothing reads otherwise, and nobody is told."""
        self.workflows.update((each.spec.workflow, each) for each in workflows)
        self.lives.update((part.task, part.life) for part in lives)
        self.prunings.update((each.workflow, each) for each in prunings)

    def forget_pruning(self, workflow: WorkflowId) -> None:
        """Forget a pruning that has been kept long enough, so that it hides its workflow no more;
        raise ``KeyError`` when there is none."""
        del self.prunings[workflow]
        self.digest.remove("p" + workflow)
        self.changes += 1

    def withdraw(self, workflow: WorkflowId) -> News:
        """Forget a workflow that could not be kept on disk and was never told to anybody, with what
        happened to its tasks; return what changed, without the workflow among the forgotten
        ones, for the disk never had it. Raise ``KeyError``, with nothing changed, for an unknown one."""
        news = self.let_go([workflow], {})
        news.forgotten_workflows.clear()  # the disk never had it
        news.gone.clear()
        return news

    def let_go(self, workflows: Iterable[WorkflowId], runs: Mapping[TaskId, set[RunName]]) -> News:
        """Forget these workflows, and these runs of tasks, as if nobody had told of them; return what
        changed. Raise ``KeyError``, with nothing more changed, for an unknown workflow."""
        news, dirty = News(), dict[TaskId, None]()
        for workflow in workflows:
            self._forget(workflow, news, dirty)
        for task, names in runs.items():
            self._drop_runs(task, names, news, dirty)
        self._read_again(dirty, news)
        self.changes += 1
        return news

    def _drop_runs(
        self, task: TaskId, names: set[RunName], news: News, dirty: dict[TaskId, None]
    ) -> None:
        """Of what is kept aside, too. A life without runs is on disk as an empty one."""
        if task in self._orphans:
            self._orphans[task] = without_runs(self._orphans[task], names)
        mine = self.lives.get(task, NO_LIFE)
        left = without_runs(mine, names)
        if left is mine:
            return
        self.lives[task] = left
        key = "t" + task
        if left == NO_LIFE:
            self.digest.remove(key)
        else:
            self.digest.put(key, life_version(key, left))
        news.lives.append(TaskLife(task, left))
        dirty[task] = None

    def all_lives(self) -> Iterator[TaskLife]:
        """Yield what happened to all tasks, also to those whose workflow is not known yet."""
        for lives in (self.lives, self._orphans):
            yield from (TaskLife(task, life) for task, life in lives.items())

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
        relisted = mine is None or mine.spec is not joined.spec
        if not sane_workflow(joined) or (relisted and contradiction(joined.spec.tasks)):
            news.contradictions += 1
            return
        if relisted:
            joined = workflow_by_itself(joined)
            self._index_asked(None if mine is None else mine.spec, joined.spec)
        self.workflows[workflow_id] = joined
        self.priorities.take(joined)
        key = "w" + workflow_id
        self.digest.put(key, workflow_version(key, joined))
        news.workflows.append(joined)
        if mine is None:
            news.listed.append(workflow_id)
        if relisted:
            if mine is not None:
                news.replaced.append(workflow_id)
                self._keep_lives(mine)
                self._unlist_tasks(mine, news, dirty)
            self._list_tasks(joined, news, dirty)

    def _index_asked(self, before: WorkflowSpec | None, now: WorkflowSpec | None) -> None:
        for spec in (before, now):
            asked = None if spec is None else asked_in(spec)
            if spec is None or asked is None:
                continue
            found = self._asked.setdefault(asked, {})
            if spec is now:
                found[spec.workflow] = None
            else:
                found.pop(spec.workflow, None)
            if not found:
                del self._asked[asked]

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
            other = self.workflow_of.get(task)
            if other is not None and not self._stands_before(workflow, self.workflows[other]):
                news.contradictions += 1
                continue
            if other is not None:
                self._unlist_task(self.specs[task], news, dirty)
            self.specs[task] = spec
            self.workflow_of[task] = workflow_id
            self.producers[task] = producers_of(spec)
            self._pruned_tasks.pop(task, None)
            open_tasks[task] = None
            for producer in self.producers[task]:
                self._dependants.setdefault(producer, {})[task] = None
            dirty[task] = None
            orphan = self._orphans.pop(task, None)
            if orphan is not None:
                self._join_life(TaskLife(task, orphan), news, dirty)
        self._deepen([spec.task for spec in workflow.spec.tasks])

    def _stands_before(self, one: Workflow, other: Workflow) -> bool:
        """Of two workflows that name the same task, the one submitted first has it."""

        def rank(workflow: Workflow) -> tuple[object, ...]:
            return (workflow.spec.submitted, workflow.spec.host, workflow.spec.workflow)

        return rank(one) < rank(other)

    def _deepen(self, tasks: list[TaskId]) -> None:
        """Every task lies deeper than its producers, also when those are told later."""
        queue: deque[TaskId] = deque()
        for task in tasks:
            if task not in self.specs:
                continue
            if self.producers[task] or task in self._dependants:
                queue.append(task)
            else:
                self._depths[task] = 1  # as most, it has nothing to do with any other
        deepest = len(self.specs)
        while queue:
            task = queue.popleft()
            producers = self.producers[task]
            depth = 1 + max((self._depths.get(producer, 0) for producer in producers), default=0)
            if depth <= self._depths.get(task, 0) or depth > deepest:
                continue
            self._depths[task] = depth
            queue.extend(self.dependants(task))

    def _unlist_tasks(self, workflow: Workflow, news: News, dirty: dict[TaskId, None]) -> None:
        for spec in workflow.spec.tasks:
            if self.workflow_of.get(spec.task) == workflow.spec.workflow:
                self._unlist_task(spec, news, dirty)
        self.unfinished.pop(workflow.spec.workflow, None)

    def _unlist_task(self, spec: TaskSpec, news: News, dirty: dict[TaskId, None]) -> None:
        task = spec.task
        for producer in self.producers.pop(task):
            self._dependants.get(producer, {}).pop(task, None)
        self.unfinished.get(self.workflow_of[task], {}).pop(task, None)
        self._own(task, None)
        for index in (self.specs, self.workflow_of, self.ready, self._depths):
            index.pop(task, None)
        self._readings.pop(task, None)
        dirty.pop(task, None)
        dirty.update(dict.fromkeys(self.dependants(task)))
        if self.lives.pop(task, None) is not None:
            self.digest.remove("t" + task)
        news.forgotten_tasks.append(task)

    def _forget(self, workflow_id: WorkflowId, news: News, dirty: dict[TaskId, None]) -> None:
        workflow, lives = self.workflows[workflow_id], self.lives_of(workflow_id)
        del self.workflows[workflow_id]
        self.priorities.forget(workflow)
        news.gone.append((workflow, lives))
        self._index_asked(workflow.spec, None)
        self.digest.remove("w" + workflow_id)
        self._unlist_tasks(workflow, news, dirty)
        news.forgotten_workflows.append(workflow_id)
        if workflow_id in self.prunings:
            self._pruned_tasks.update((spec.task, workflow_id) for spec in workflow.spec.tasks)
        while len(self._pruned_tasks) > self._settings.orphans_max:
            del self._pruned_tasks[next(iter(self._pruned_tasks))]

    def _join_life(self, part: TaskLife, news: News, dirty: dict[TaskId, None]) -> None:
        task = part.task
        if task not in self.specs:
            self._keep_orphan(part, news)
            return
        if not sane_life(part.life):
            news.contradictions += 1
            return
        mine = self.lives.get(task)
        joined = join_lives(NO_LIFE if mine is None else mine, life_by_itself(part.life))
        if joined is mine or (mine is None and joined == NO_LIFE):
            return
        self.lives[task] = joined
        key = "t" + task
        self.digest.put(key, life_version(key, joined))
        news.lives.append(part)
        news.ended += _ended_by(task, mine, joined)
        dirty[task] = None

    def _keep_orphan(self, part: TaskLife, news: News) -> None:
        """A life whose workflow is not known yet; the oldest make room."""
        if part.task in self._pruned_tasks:
            return
        known = self._orphans.pop(part.task, NO_LIFE)
        self._orphans[part.task] = join_lives(known, part.life)
        while len(self._orphans) > self._settings.orphans_max:
            del self._orphans[next(iter(self._orphans))]
        news.unknown_tasks.append(part.task)

    def orphan(self, task: TaskId) -> Life:
        """Return what was told of a task whose workflow is not known yet."""
        return self._orphans.get(task, NO_LIFE)

    def _read_again(self, dirty: dict[TaskId, None], news: News) -> None:
        heap = sorted((self._depths.get(task, 0), task) for task in dirty)
        waiting = set(dirty)
        upwards: dict[TaskId, int] = {}
        while heap:
            depth, task = heappop(heap)
            waiting.discard(task)
            if not self._read(task, news):
                continue
            for dependant in self._dependants.get(task, ()):
                deeper = self._depths.get(dependant, 0)
                if deeper <= depth:
                    upwards[dependant] = upwards.get(dependant, 0) + 1
                if dependant not in waiting and upwards.get(dependant, 0) <= CIRCLE_REREADINGS_MAX:
                    waiting.add(dependant)
                    heappush(heap, (deeper, dependant))

    def _read(self, task: TaskId, news: News) -> bool:
        """Read the task off again; True when that can change how its dependants read."""
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
        return before is None or _seen_by_dependants(before) != _seen_by_dependants(now)

    def _index(self, task: TaskId, before: DerivedState | None, now: DerivedState) -> None:
        if now.state is TaskState.READY:
            self.ready[task] = None
        elif before is not None and before.state is TaskState.READY:
            self.ready.pop(task, None)
        self._own(task, now.owner)
        open_tasks = self.unfinished.setdefault(self.workflow_of[task], {})
        if now.state in ENDED:
            open_tasks.pop(task, None)
        else:
            open_tasks[task] = None

    def _own(self, task: TaskId, owner: Run | None) -> None:
        before = self.owned.pop(task, None) if owner is None else self.owned.get(task)
        if before is not None and (owner is None or owner.host != before.host):
            left = self.owned_by[before.host] - 1
            if left:
                self.owned_by[before.host] = left
            else:
                del self.owned_by[before.host]
        if owner is not None:
            self.owned[task] = owner
            if before is None or before.host != owner.host:
                self.owned_by[owner.host] = self.owned_by.get(owner.host, 0) + 1


def _ended_by(task: TaskId, before: Life | None, now: Life) -> list[tuple[TaskId, Run]]:
    known = {run_name(run) for run in before.runs if not run.live} if before is not None else ()
    return [(task, run) for run in now.runs if not run.live and run_name(run) not in known]


def _seen_by_dependants(reading: DerivedState) -> tuple[TaskState | None, Run | None]:
    return (reading.state if reading.state in ENDED else None, reading.outcome)
