"""How long things still take, and on what each guess stands: one place that everybody asks.

A length is never made up. It stands on earlier runs and on what somebody told, as ``lengths`` of the
protocol learns it; what a running program says of its own progress goes before all of them. Where
there is none of these there is no guess, and nothing that is reckoned from it: an end that has to wait for
something unknown is unknown. So it is with whatever no machine that helps could run, with what is held
until somebody leaves, and with a guess that has long been passed.

When something ends is reckoned as a person would do it: each task goes to the machine that ends it first
among those that help and fit (``forecast``), the longest remaining path first, after the work that is there
already. It knows of nothing that is still to come.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import islice
from math import inf

import msgspec
from msgspec import Raw

from agent.api.work import Basis
from agent.control.fitting import FitTable, Machine, Whose, seen, slots_of, takes_work, whose_work
from agent.control.forecast import CERTAIN, NEVER, NOW, Layout, Length, Step, joint, later
from agent.control.port import Notice, Snapshot
from agent.protocol.effects import TaskMoved, TaskProgressed
from agent.protocol.identity import TOLD
from agent.protocol.lengths import NONE, RUNS
from agent.protocol.reading import DerivedState
from agent.protocol.records import (
    ENDED,
    EXPECTED_MS,
    PRIORITY_INTERACTIVE,
    More,
    NodeId,
    TaskId,
    TaskSpec,
    TaskState,
    Workflow,
    WorkflowId,
)
from agent.protocol.sketch import Length as Learned
from agent.protocol.table import Table

AT_IT = (TaskState.RUNNING, TaskState.SUSPENDED)
PERMILLE_MAX = 1_000
RECKONED_PERMILLE_MAX = 990
OVERDUE_MS = 5_000
"""A guess that was passed by so much, and by half of it, was wrong."""
SAMPLED_MAX = 64
"""Of a workflow that goes before, so many tasks are looked at; the others are taken to be like them."""
PLANNED_MAX = 200
"""The end of a workflow with more open tasks is reckoned without a place for each of them."""
NOT_READ = DerivedState(TaskState.SUBMITTED)
ONLY_TOLD, BY_ITSELF = Basis(told=True), Basis(progress=True)


def with_told(expected_s: float) -> tuple[int, More]:
    """Return the length in milliseconds, at least 1, to put into a task's record, the default for 0
    seconds or less (not known), and what to add to the record: a mark where the told length equals
    the default, else nothing."""
    expected_ms = max(1, round(expected_s * 1000)) if expected_s > 0 else EXPECTED_MS
    like_none = expected_s > 0 and expected_ms == EXPECTED_MS
    return expected_ms, {TOLD: Raw(msgspec.msgpack.encode(expected_ms))} if like_none else {}


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """The last word: of which machine, how far, how long still, and when it was heard."""

    host: NodeId
    permille: int
    left_ms: int
    at_ms: int


class TaskProgress:
    """The last word of each task that runs somewhere, as the node heard it."""

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self._wall = wall
        self._told: dict[TaskId, ProgressReport] = {}

    def note(self, notice: Notice) -> None:
        """Keep how far a running task says that it is, 1000 thousandths at most, with the machine
        and the time, and forget it when the task moves on from running or suspended; other notices
        change nothing. A progress of 0 is no word: machines repeat it for programs that say
        nothing."""
        match notice:
            case TaskProgressed(task, host, permille, left_ms) if permille:
                known = min(permille, PERMILLE_MAX)
                self._told[task] = ProgressReport(host, known, left_ms, self.now_ms())
            case TaskMoved(task, _, after) if after not in AT_IT:
                self._told.pop(task, None)
            case _:
                pass

    def of(self, task: TaskId, host: NodeId) -> ProgressReport | None:
        """Return the last word on the task if it was this machine's; None where it was another's,
        or there is none."""
        told = self._told.get(task)
        return told if told is not None and told.host == host else None

    def now_ms(self) -> int:
        """Return the time by which words are stamped."""
        return int(self._wall() * 1000)


class Estimates:
    """Of a node at one moment. What is found out for one row is kept for the next."""

    def __init__(self, now: Snapshot, progress: TaskProgress) -> None:
        self._now, self._progress = now, progress
        self._waiting: dict[WorkflowId, dict[frozenset[NodeId], Length]] = {}
        self._said: dict[Learned, Length] = {}

    # -- one task --------------------------------------------------------------------------

    def length(self, spec: TaskSpec, host: NodeId = "") -> Length:
        """Return how long a whole run of the task takes on this host, without one on any, as the
        node has learned or was told. ``NEVER`` where nothing is known, and for a step that a person
        does."""
        if spec.gate:
            return NEVER
        found = self._now.lengths.of(spec, host)
        known = self._said.get(found)
        if known is None:
            known = self._said[found] = _said(found)
        return known

    def left(self, spec: TaskSpec, reading: DerivedState) -> Length:
        """Return how long a task still takes; ``NOW`` where it has ended."""
        return self.progress(spec, reading)[1]

    def progress(self, spec: TaskSpec, reading: DerivedState) -> tuple[int, Length]:
        """Return how far a task is, in thousandths, and how long it still takes. A running one is
        asked by its own last word, else reckoned from its length, to 990 at most. One that has not
        begun is at 0 and takes a whole run; so long takes one whose machine is gone, too. A
        suspended one (until somebody leaves) and one whose guess was passed long ago take
        ``NEVER``. One that has ended takes no time, and is at 1000 only where it ended well, else
        at 0."""
        if reading.state in ENDED:
            return (PERMILLE_MAX if reading.state is TaskState.TERMINATED else 0), NOW
        length, run = self.length(spec), reading.owner
        if run is None:
            return 0, length
        told = self._progress.of(spec.task, run.host)
        if self._now.gone_ms(run):  # another machine has to begin anew
            return (told.permille if told else 0), length
        if reading.state is TaskState.SUSPENDED:  # until whoever sits there leaves
            return (told.permille if told else 0), NEVER
        if told is not None:
            return told.permille, self._rest(told.left_ms, told.at_ms, BY_ITSELF)
        length = self.length(spec, run.host)
        if reading.state is TaskState.SCHEDULED or not length.known:
            return 0, length
        passed_ms = max(0, self._progress.now_ms() - run.stamp[0])
        permille = min(PERMILLE_MAX * passed_ms // max(1, length.ms), RECKONED_PERMILLE_MAX)
        rest = self._rest(length.ms, run.stamp[0], length.basis)
        if rest.known:
            left_ms = self._now.lengths.left_ms(spec, passed_ms, run.host)
            rest = Length(left_ms / 1000, length.basis)
        return (permille if rest.known else 0), rest

    def _is_at_it(self, reading: DerivedState) -> bool:
        """Whether a machine has the task in hand that is there."""
        return reading.owner is not None and not self._now.gone_ms(reading.owner)

    def _rest(self, length_ms: int, since_ms: int, basis: Basis) -> Length:
        left_ms = length_ms - max(0, self._progress.now_ms() - since_ms)
        if -left_ms > max(OVERDUE_MS, length_ms // 2):
            return NEVER
        return Length(max(0, left_ms) / 1000, basis)

    # -- a workflow ------------------------------------------------------------------------

    def done_permille(self, workflow: Workflow) -> int:
        """Return how much of a workflow is done, in thousandths: its tasks weighed by their
        lengths, one of unknown length by the mean of the known ones, steps of people left out. 0
        for a workflow of such steps alone."""
        reading_of, count = self._now.table.reading, 0
        known_s = done_s = others = done_others = 0.0
        for spec in workflow.spec.tasks:
            if spec.gate:
                continue
            reading, length = reading_of(spec.task) or NOT_READ, self.length(spec)
            permille = PERMILLE_MAX if reading.outcome else self._far(spec, reading)
            if length.s < inf:
                known_s, done_s, count = known_s + length.s, done_s + length.s * permille, count + 1
            else:
                others, done_others = others + 1, done_others + permille
        usual_s = known_s / count if known_s else 1.0
        whole_s = known_s + others * usual_s
        return int((done_s + done_others * usual_s) / whole_s) if whole_s else 0

    def _far(self, spec: TaskSpec, reading: DerivedState) -> int:
        return self.progress(spec, reading)[0] if reading.owner is not None else 0

    def rest(self, workflow: Workflow) -> Length:
        """Return how long it takes until the last task of a workflow has ended, behind the
        workflows that go before it and without what people do, ``NOW`` where no such task is open;
        with more than ``PLANNED_MAX`` open tasks reckoned from their sum. ``NEVER`` where one of
        them is suspended, of unknown length, or fits no machine that takes it."""
        table, steps = self._now.table, list[Step]()
        for task in table.unfinished.get(workflow.spec.workflow, ()):
            spec, reading = table.specs[task], table.reading(task) or NOT_READ
            if not spec.gate:
                steps.append(Step(spec, self.left(spec, reading), self._is_at_it(reading)))
        rank = _rank(workflow)
        before = [
            each
            for each in table.unfinished
            if each in table.workflows and _rank(table.workflows[each]) < rank
        ]
        free = self.free(before, self._whose(workflow), workflow.priority.value)
        if len(steps) > PLANNED_MAX:
            return self._shared(steps, free)
        return later(ends for _, ends in self.lay(steps, free, self._fits).values())

    def _shared(self, steps: Sequence[Step], free: Mapping[NodeId, list[Length]]) -> Length:
        """By how much there is to do, and by its longest path."""
        nodes = {self._fits.of(step.spec).nodes for step in steps if not step.in_hand}
        fitting = frozenset[NodeId]().union(*nodes).intersection(free)
        places = [each for node in fitting for each in free[node] if each.known]
        if not places or any(each.isdisjoint(free) for each in nodes):
            return NEVER
        work_s = sum(step.left.s for step in steps) + sum(each.s for each in places)
        longest_s = _longest_path_s(steps, self._now.table)
        basis = CERTAIN
        for each in {each.basis for each in (*places, *(step.left for step in steps))}:
            basis = joint(basis, each)
        return Length(max(work_s / len(places), longest_s), basis)

    # -- places and times ------------------------------------------------------------------

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        """Those that are seen, this one first."""
        return seen(self._now)

    @cached_property
    def _fits(self) -> FitTable:
        return FitTable(self.machines)

    @cached_property
    def _hands(self) -> dict[NodeId, list[Length]]:
        """How long each machine still has what it has in hand."""
        table, found = self._now.table, dict[NodeId, list[Length]]()
        for task, run in table.owned.items():
            left = self.left(table.specs[task], table.reading(task) or NOT_READ)
            found.setdefault(run.host, []).append(left)
        return found

    @cached_property
    def _in_hand(self) -> Counter[WorkflowId]:
        table = self._now.table
        return Counter(table.workflow_of[task] for task in table.owned)

    def free(
        self, before: Iterable[WorkflowId], whose: Whose, priority: int
    ) -> dict[NodeId, list[Length]]:
        """Return by machine when each of its places is free, of those that take work of this
        ``priority`` that is ``whose``: after what it has in hand, and after an equal share of what
        nobody has in hand yet of the workflows ``before``, as far as it could run that. A place
        that holds a task of unknown length is left out."""
        free = {
            each.node: _after_hands(slots_of(each), self._hands.get(each.node, ()))
            for each in self.takers(whose, priority)
        }
        waiting = dict[frozenset[NodeId], Length]()
        for workflow in before:
            for nodes, length in self._waits(workflow).items():
                waiting[nodes] = waiting.get(nodes, NOW).plus(length)
        for nodes, length in waiting.items():
            places = sum(len(slots) for node, slots in free.items() if node in nodes)
            for node in nodes.intersection(free):
                free[node] = [each.plus(length.shared(places)) for each in free[node]]
        return free

    def takers(self, whose: Whose, priority: int) -> list[Machine]:
        """Return the machines that let work of this priority begin that is ``whose``, free or not;
        of one who submits from afar, those that help."""
        interactive = priority == PRIORITY_INTERACTIVE
        return [each for each in self.machines if takes_work(each, whose, interactive=interactive)]

    def _whose(self, workflow: Workflow) -> Whose:
        return whose_work(self._now, workflow.spec)

    def _waits(self, workflow: WorkflowId) -> dict[frozenset[NodeId], Length]:
        """How long takes what nobody has in hand of it, as far as it waits for nobody but machines, by
        those that could run it."""
        found = self._waiting.get(workflow)
        if found is None:
            found = self._waiting[workflow] = self._sampled(workflow)
        return found

    def _sampled(self, workflow: WorkflowId) -> dict[frozenset[NodeId], Length]:
        table, found, looked = self._now.table, dict[frozenset[NodeId], Length](), 0
        tasks, in_hand = table.unfinished[workflow], self._in_hand[workflow]
        for_person = bool(table.counts(workflow).get(TaskState.WAITING))
        for task in islice(tasks, SAMPLED_MAX + in_hand):
            reading, spec = table.reading(task) or NOT_READ, table.specs[task]
            if reading.owner is not None:
                continue
            looked += 1
            if not (spec.gate or (for_person and reading.state is TaskState.SUBMITTED)):
                nodes = self._fits.of(spec).nodes
                found[nodes] = found.get(nodes, NOW).plus(self.length(spec))
        scale = (len(tasks) - in_hand) / max(1, looked)
        return {nodes: Length(each.s * scale, each.basis) for nodes, each in found.items()}

    def lay(
        self, steps: Sequence[Step], free: Mapping[NodeId, Sequence[Length]], fits: FitTable
    ) -> dict[TaskId, tuple[Length, Length]]:
        """Return for each task in how long it begins and ends, when these steps are dealt to places
        free at the times in ``free``, which stays unchanged. What no place fits begins and ends
        ``NEVER``; tasks in a circle are left out."""
        return Layout(free, fits, self._now.lengths).lay(steps)


def _said(found: Learned) -> Length:
    if found.source == NONE:
        return NEVER
    if found.source != RUNS:
        return Length(found.q50_ms / 1000, ONLY_TOLD)
    basis = Basis(runs=found.runs, low_ms=found.q10_ms, high_ms=found.q90_ms)
    return Length(found.q50_ms / 1000, basis)


def _after_hands(slots: int, hands: Sequence[Length]) -> list[Length]:
    """The places of a machine, when they are free: what is in hand is shared out among them. A task that
    nobody knows the length of keeps its place."""
    busy, kept = NOW, 0
    for each in hands:
        if each.known:
            busy = busy.plus(each)
        else:
            kept += 1
    places = max(0, slots - kept)
    return [busy.shared(places)] * places if places else []


def _longest_path_s(steps: Sequence[Step], table: Table) -> float:
    """Along the longest chain of what is left; what is needed that has ended takes no time."""
    ends = {step.spec.task: step.left.s for step in steps}
    needs = {
        task: open_needs
        for task in ends
        if (open_needs := [each for each in table.producers[task] if each in ends])
    }
    for task in TopologicalSorter(needs).static_order():
        ends[task] += max((ends[need] for need in needs.get(task, ())), default=0.0)
    return max(ends.values(), default=0.0)


def _rank(workflow: Workflow) -> tuple[int, tuple[int, int], str]:
    """In which order work is taken."""
    return -workflow.priority.value, workflow.spec.submitted, workflow.spec.workflow
