"""Records as clients see them: one snapshot, read off where the question is answered.

How far something is comes from what programs say of themselves; where they say nothing it is
reckoned from the expected length, and never called done before it is. The end of a workflow is an
estimate: what is left on its longest path, or all that is left shared among those who help,
whichever is more.

Machines stand below: this one, those that are linked, those that are away.

How far running tasks are goes by their own last word. Progress is a hint that travels beside the table and is not kept there, so whoever shows tasks
remembers the last word of each. A task that has moved on has said it of an earlier time: its word
is forgotten as soon as it is not running any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TypeVar

from msgspec.structs import replace

from agent.api import flock, values, work
from agent.api.reasons import NO_REASON, Cancelled, CancelledStopping, Reason, as_why, reason_of
from agent.api.values import UNDER_WAY, workflow_state
from agent.api.volunteering import VolunteeringView
from agent.control.gates import attach_names
from agent.control.port import Notice, Snapshot
from agent.protocol.effects import TaskMoved, TaskProgressed
from agent.protocol.reading import DerivedState, effective_generation
from agent.protocol.records import (
    ENDED,
    Dataset,
    NodeId,
    Run,
    TaskId,
    TaskSpec,
    TaskState,
    Workflow,
)
from agent.protocol.sanity import producers_of
from agent.protocol.table import Table
from agent.wording.run_ends import named
from agent.wording.speech import english

AT_IT = (TaskState.RUNNING, TaskState.SUSPENDED)
PERMILLE_MAX = 1_000
RECKONED_PERMILLE_MAX = 990
_NOT_READ = DerivedState(TaskState.SUBMITTED)
TASKS_SHOWN_MAX = 64
_Machine = TypeVar("_Machine", work.NodeView, flock.PeerView)
Machine = work.NodeView | flock.PeerView
Hands = dict[NodeId, list[tuple[TaskId, Run]]]


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
        """Keep how far a task says that it is, with the time, and forget it when the task has moved
        on from running; other notices change nothing."""
        match notice:
            case TaskProgressed(task, host, permille, left_ms):
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


class Views:
    """Of a node at one moment, with what it has heard of progress."""

    def __init__(self, now: Snapshot, progress: TaskProgress) -> None:
        self.now, self._progress = now, progress

    def task(self, spec: TaskSpec) -> work.TaskView:
        """Return a task of the table as clients see it, the last run shown where it has ended
        without success. Raises ``KeyError`` for one that is not in the table."""
        table, name_of = self.now.table, self.now.name_of
        reading = table.reading(spec.task) or _NOT_READ
        run = reading.owner or reading.outcome or self._given_up(spec.task, reading)
        reason = self._reason(spec.task, reading)
        permille, left_ms = self.progress(spec, reading)
        now_ms = self._progress.now_ms()
        return work.TaskView(
            spec.task,
            spec.name,
            table.workflow_of[spec.task],
            spec.program,
            reading.state,
            english(reason),
            name_of(run.host) if run else "",
            run.attempt if run else 0,
            run.stamp[0] if run else 0,
            spec.expected_ms / 1000,
            spec.gate,
            spec.asks,
            tuple(producers_of(spec)),
            tuple(map(dataset_view, reading.outputs)),
            reading.mixed_inputs,
            permille,
            left_ms,
            begun_ms=run.claim.stamp[0] if run else 0,
            ended_ms=run.stamp[0] if run and run is not reading.owner else 0,
            expected_end_ms=now_ms + left_ms if reading.state in UNDER_WAY else 0,
            host_node=run.host if run else "",
            generation=max(1, effective_generation(table.life(spec.task))),
            attach=attach_names(spec) if spec.gate else (),
            why=as_why(reason),
        )

    def workflow(self, workflow: Workflow) -> work.WorkflowView:
        """Return a workflow as clients see it: how many of its tasks are in which state, how far it
        is, and, while it runs, when it may end."""
        spec, table = workflow.spec, self.now.table
        counts = table.counts(spec.workflow)
        state = workflow_state(counts)
        permille, left_ms = self._far(workflow, state)
        return work.WorkflowView(
            spec.workflow,
            spec.name,
            state,
            workflow.priority.value,
            spec.submitter,
            self.now.name_of(spec.host),
            spec.submitted[0],
            len(spec.tasks),
            counts,
            permille,
            left_ms,
            self._progress.now_ms() + left_ms if left_ms else 0,
            0 if table.unfinished.get(spec.workflow) else _last_end(table, workflow),
            counts.get(TaskState.WAITING, 0),
            host_node=spec.host,
        )

    def now_ms(self) -> int:
        """Return the time by which all of this is told."""
        return self._progress.now_ms()

    def current(self, task: TaskId, run: Run) -> work.CurrentTask:
        """Return a task that a machine has in hand as clients see it there; ``run`` is its run on
        that machine."""
        table = self.now.table
        spec, reading = table.specs[task], table.reading(task) or _NOT_READ
        permille, left_ms = self.progress(spec, reading)
        name = table.workflow_of[task]
        return work.CurrentTask(
            *(task, spec.name, name, spec.program, reading.state),
            *(permille, left_ms, run.claim.stamp[0]),
        )

    def progress(self, spec: TaskSpec, reading: DerivedState) -> tuple[int, int]:
        """Return how far a task is in thousandths, and how many milliseconds it expects still to
        need: by its own word, else reckoned from what its program usually takes. Both are 0 where
        it ended without success, and for a gate that is not done."""
        if reading.state is TaskState.TERMINATED:
            return 1_000, 0
        run = reading.owner
        if run is None:
            return 0, spec.expected_ms if reading.state not in ENDED and not spec.gate else 0
        now_ms = self._progress.now_ms()
        told = self._progress.of(spec.task, run.host)
        if told is not None:
            return told.permille, max(0, told.left_ms - max(0, now_ms - told.at_ms))
        if reading.state is TaskState.SCHEDULED:
            return 0, spec.expected_ms
        passed_ms = max(0, now_ms - run.stamp[0])
        permille = 1_000 * passed_ms // spec.expected_ms if spec.expected_ms else 0
        return min(permille, RECKONED_PERMILLE_MAX), max(0, spec.expected_ms - passed_ms)

    # -- inside ----------------------------------------------------------------------------

    def _reason(self, task: TaskId, reading: DerivedState) -> Reason:
        """Why it is where it is. What was cancelled may take a while to stop, and takes a slot."""
        table, name_of = self.now.table, self.now.name_of
        if reading.reason is None:
            return NO_REASON
        if isinstance(reading.reason, Cancelled):
            hosts = dict.fromkeys(name_of(run.host) for run in table.life(task).runs if run.live)
            return CancelledStopping(tuple(hosts)) if hosts else reading.reason
        return named(reading.reason, table)

    def _given_up(self, task: TaskId, reading: DerivedState) -> Run | None:
        """The last run of a task that ended without an outcome: people ask where it failed."""
        if reading.state not in ENDED:
            return None
        return max(
            self.now.table.life(task).runs,
            key=lambda run: (run.generation, run.attempt, run.stamp),
            default=None,
        )

    def _far(self, workflow: Workflow, state: values.WorkflowState) -> tuple[int, int]:
        """How much of the expected work is done, and when the last of it may be."""
        table = self.now.table
        left = dict[TaskId, int]()
        done_ms = whole_ms = 0
        for spec in workflow.spec.tasks:
            weight_ms = _weight(spec)
            whole_ms += weight_ms
            reading = table.reading(spec.task) or _NOT_READ
            if reading.outcome is not None:
                done_ms += weight_ms
            elif reading.state not in ENDED:
                permille, left[spec.task] = self.progress(spec, reading)
                done_ms += weight_ms * permille // 1_000
        permille = 1_000 * done_ms // max(1, whole_ms)
        if state != "running":
            return permille, 0
        shared_ms = sum(left.values()) // self._helpers()
        return permille, max(1, shared_ms, _longest_path(left, table))

    def _helpers(self) -> int:
        own = self.now.status
        others = sum(max(1, peer.slots) for peer in self.now.peers if peer.volunteering)
        return max(1, others + own.slots * own.volunteering)


def dataset_view(dataset: Dataset) -> values.Dataset:
    """Return an output or raw input as clients name it."""
    return values.Dataset(dataset.dataset, dataset.size_bytes, dataset.external)


def tasks_by_host(table: Table) -> dict[NodeId, list[tuple[TaskId, Run]]]:
    """Return by machine the tasks that it has in hand, with their runs; a machine that has none is
    left out."""
    found: dict[NodeId, list[tuple[TaskId, Run]]] = {}
    for task, run in table.owned.items():
        found.setdefault(run.host, []).append((task, run))
    return found


def _weight(spec: TaskSpec) -> int:
    return 0 if spec.gate else max(1, spec.expected_ms)


def _last_end(table: Table, workflow: Workflow) -> int:
    """When the last of its runs said its last word; nothing may have run at all."""
    lives = (table.lives.get(spec.task) for spec in workflow.spec.tasks)
    return max((run.stamp[0] for life in lives if life for run in life.runs), default=0)


def _longest_path(left: dict[TaskId, int], table: Table) -> int:
    """Along the longest chain of what is left; gates cost a person's time, which nobody knows."""
    needs = {task: open_needs for task in left if (open_needs := _open_needs(task, left, table))}
    ends = dict(left)
    for task in TopologicalSorter(needs).static_order():
        ends[task] += max((ends[need] for need in needs.get(task, ())), default=0)
    return max(ends.values(), default=0)


def _open_needs(task: TaskId, left: dict[TaskId, int], table: Table) -> list[TaskId]:
    return [each for each in table.producers[task] if each in left]


def seen(now: Snapshot) -> tuple[Machine, ...]:
    """Return the machines that are there now, this one first; what they run is not told."""
    return (now.status, *now.peers)


def node_view(views: Views) -> work.NodeView:
    """Return the row of the node that answers."""
    return _row(views.now.status, tasks_by_host(views.now.table), views)


def peer_views(views: Views) -> tuple[flock.PeerView, ...]:
    """Return the rows of the other machines in the order of names: linked ones with what they have
    in hand, those without a link with what is known of why."""
    now, hands = views.now, tasks_by_host(views.now.table)
    rows = [*(_row(peer, hands, views) for peer in now.peers), *now.away]
    return tuple(sorted(rows, key=lambda view: (view.name, view.node)))


def peer_view(views: Views, node: NodeId) -> flock.PeerView | None:
    """Return the row of another machine, linked or away; None where it neither is linked nor
    belongs, and for this one."""
    now = views.now
    for peer in now.peers:
        if peer.node == node:
            return _row(peer, tasks_by_host(now.table), views)
    return next((each for each in now.away if each.node == node), None)


def reason_said(machine: Machine) -> str:
    """Return why a machine helps or not, in English."""
    return english(reason_of(machine.why, machine.reason))


def volunteering_said(view: VolunteeringView) -> VolunteeringView:
    """Return the view with the sentences of its reasons and of its sources worded in English."""
    sources = tuple(
        replace(each, text=english(reason_of(each.why, each.text))) for each in view.sources
    )
    return replace(view, reason=english(reason_of(view.why, view.reason)), sources=sources)


def _row(machine: _Machine, hands: Hands, views: Views) -> _Machine:
    """A machine with what it has in hand."""
    tasks = _tasks(hands.get(machine.node, ()), views)
    reason = reason_said(machine)
    return replace(machine, reason=reason, running=_running(tasks), tasks=tasks)


def _tasks(
    hand: list[tuple[TaskId, Run]] | tuple[()], views: Views
) -> tuple[work.CurrentTask, ...]:
    return tuple(views.current(task, run) for task, run in hand[:TASKS_SHOWN_MAX])


def _running(tasks: tuple[work.CurrentTask, ...]) -> int:
    return sum(each.state is not TaskState.SCHEDULED for each in tasks)
