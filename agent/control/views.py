"""Records as clients see them: one snapshot, read off where the question is answered.

How far something is, and how long it still takes, is asked of ``estimates``. Machines stand below: this
one, those that are linked, those that are away.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TypeVar

from msgspec.structs import replace

from agent.api import flock, values, work
from agent.api.reasons import (
    NO_REASON,
    Cancelled,
    CancelledStopping,
    MachineGone,
    Reason,
    as_why,
    reason_of,
)
from agent.api.values import UNDER_WAY, workflow_state
from agent.api.volunteering import VolunteeringView
from agent.control.colleagues import for_colleagues
from agent.control.estimates import NOT_READ, Estimates, TaskProgress
from agent.control.fitting import Machine, seats_taken
from agent.control.forecast import NEVER
from agent.control.gates import attach_names
from agent.control.port import Snapshot
from agent.protocol.identity import KEPT, shared_in
from agent.protocol.names import visible
from agent.protocol.output_names import output_names
from agent.protocol.reading import DerivedState, effective_generation
from agent.protocol.reasons import WaitsFor, WaitsForMany, WaitsForSeveral, WaitsForUnknown
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
from agent.protocol.second_runs import hosts_beside
from agent.protocol.table import Table
from agent.protocol.times import end_of_run_ms, span_of_workflow_ms
from agent.wording.run_ends import named
from agent.wording.speech import NAMED_MAX, english

TASKS_SHOWN_MAX = 64
_Machine = TypeVar("_Machine", work.NodeView, flock.PeerView)
Hands = dict[NodeId, list[tuple[TaskId, Run]]]


class Views:
    """Of a node at one moment, with what it has heard of progress."""

    def __init__(self, now: Snapshot, progress: TaskProgress, *, far: bool = False) -> None:
        self.now, self._progress, self.far = now, progress, far
        """``far``: for a client of another member, who does not see what its owner does."""

    @cached_property
    def estimates(self) -> Estimates:
        """How long things take, as it is when this is first asked for."""
        return Estimates(self.now, self._progress)

    def task(self, spec: TaskSpec) -> work.TaskView:
        """Return a task of the table as clients see it, with the run that counts, or the last one
        where it has ended without success; that the machine which has it is gone goes before any
        other reason. Raises ``KeyError`` for one that is not in the table."""
        table, name_of = self.now.table, self.now.name_of
        reading = table.reading(spec.task) or NOT_READ
        run = reading.owner or reading.outcome or self._given_up(spec.task, reading)
        gone_ms = self.now.gone_ms(reading.owner) if reading.owner else 0
        reason = self._reason(spec, reading)
        if reading.owner and gone_ms:
            reason = MachineGone(name_of(reading.owner.host), gone_ms)
        permille, left = self.estimates.progress(spec, reading)
        under_way = reading.state in UNDER_WAY and not gone_ms
        return work.TaskView(
            spec.task,
            visible(spec.name),
            table.workflow_of[spec.task],
            visible(spec.program),
            reading.state,
            english(reason),
            name_of(run.host) if run else "",
            run.attempt if run else 0,
            run.stamp[0] if run else 0,
            self.estimates.length(spec).ms / 1000,
            *(spec.gate, spec.asks),
            tuple(producers_of(spec)),
            tuple(map(dataset_view, reading.outputs)),
            reading.mixed_inputs,
            permille,
            left.ms,
            begun_ms=run.claim.stamp[0] if run else 0,
            ended_ms=self._ended_ms(run, spec.task, reading) if run else 0,
            expected_end_ms=self.now_ms() + left.ms if under_way and left.known else 0,
            host_node=run.host if run else "",
            generation=max(1, effective_generation(table.life(spec.task))),
            attach=attach_names(spec) if spec.gate else (),
            output_names=output_names(reading.outcome) if reading.outcome else (),
            kept=reading.outcome is not None and KEPT in reading.outcome.more,
            priority=table.priorities.own(spec.task),
            copies=self._copies(spec.task, reading),
            why=as_why(reason),
            basis=left.told if reading.state not in ENDED else None,
            gone_ms=gone_ms,
        )

    def workflow(self, workflow: Workflow) -> work.WorkflowView:
        """Return a workflow as clients see it: how many of its tasks are in which state, how far it
        is, and, while it runs, when it may end, unless a person has to do something before."""
        spec, table = workflow.spec, self.now.table
        counts = table.counts(spec.workflow)
        state = workflow_state(counts)
        begun_ms, ended_ms = span_of_workflow_ms(workflow, table)
        finished, open_tasks = state == "finished", table.unfinished.get(spec.workflow, ())
        left = self.estimates.rest(workflow) if state == "running" else NEVER
        for_person = any(table.specs[task].gate for task in open_tasks) if left.known else False
        return work.WorkflowView(
            spec.workflow,
            visible(spec.name),
            state,
            workflow.priority.value,
            visible(spec.submitter),
            self.now.name_of(spec.host),
            spec.submitted[0],
            len(spec.tasks),
            counts,
            1_000 if finished else self.estimates.done_permille(workflow),
            left.ms,
            self.now_ms() + left.ms if left.known and not for_person else 0,
            ended_ms,
            counts.get(TaskState.WAITING, 0),
            host_node=spec.host,
            begun_ms=begun_ms,
            basis=left.told,
            gone=self._gone(open_tasks) if state == "running" else 0,
            shared_with=tuple(map(self.now.name_of, shared_in(spec.more))),
        )

    def now_ms(self) -> int:
        """Return the time by which all of this is told."""
        return self._progress.now_ms()

    def current(self, task: TaskId, run: Run) -> work.CurrentTask:
        """Return a task that a machine has in hand as clients see it there: which it is, its state,
        how far it is and how long it still takes; ``run`` is its run on that machine. Raises
        ``KeyError`` for one that is not in the table."""
        table = self.now.table
        spec, reading = table.specs[task], table.reading(task) or NOT_READ
        permille, left = self.estimates.progress(spec, reading)
        name = table.workflow_of[task]
        return work.CurrentTask(
            *(task, visible(spec.name), name, visible(spec.program), reading.state),
            *(permille, left.ms, run.claim.stamp[0]),
            self.now_ms() + left.ms if left.known else 0,
            left.told,
            visible(table.workflows[name].spec.name),
        )

    # -- inside ----------------------------------------------------------------------------

    def _reason(self, spec: TaskSpec, reading: DerivedState) -> Reason:
        """Why it is where it is. What was cancelled may take a while to stop, and takes a slot."""
        table, name_of, task = self.now.table, self.now.name_of, spec.task
        if reading.state is TaskState.READY:
            return seats_taken(spec, self.now) or NO_REASON
        if reading.reason is None:
            return NO_REASON
        if isinstance(reading.reason, Cancelled):
            hosts = dict.fromkeys(name_of(run.host) for run in table.life(task).runs if run.live)
            return CancelledStopping(tuple(hosts)) if hosts else reading.reason
        if isinstance(reading.reason, WaitsFor | WaitsForUnknown):
            return self._waits(task) or named(reading.reason, table)
        return named(reading.reason, table)

    def _copies(self, task: TaskId, reading: DerivedState) -> tuple[str, ...]:
        """Where runs go on beside the one that is shown."""
        if reading.owner is None:
            return ()
        beside = hosts_beside(self.now.table.life(task).runs, reading.owner)
        return tuple(map(self.now.name_of, beside))

    def _waits(self, task: TaskId) -> Reason | None:
        """What it waits for, by name, where that is more than one."""
        table = self.now.table
        needs = [each for each in table.producers[task] if not _has_outcome(table.reading(each))]
        if len(needs) < 2:
            return None
        if len(needs) > NAMED_MAX:
            return WaitsForMany(len(needs))
        return WaitsForSeveral(
            tuple(table.specs[each].name if each in table.specs else each for each in needs)
        )

    def _gone(self, tasks: Iterable[TaskId]) -> int:
        """How many of these are in hand of a machine that is gone."""
        owned = (self.now.table.owned.get(task) for task in tasks)
        return sum(bool(run and self.now.gone_ms(run)) for run in owned)

    def _ended_ms(self, run: Run, task: TaskId, reading: DerivedState) -> int:
        """When the run that is shown came to its end."""
        return 0 if run is reading.owner else end_of_run_ms(run, self.now.table.life(task), reading)

    def _given_up(self, task: TaskId, reading: DerivedState) -> Run | None:
        """The last run of a task that ended without an outcome: people ask where it failed."""
        if reading.state not in ENDED:
            return None
        return max(
            self.now.table.life(task).runs,
            key=lambda run: (run.generation, run.attempt, run.stamp),
            default=None,
        )


def _has_outcome(reading: DerivedState | None) -> bool:
    return reading is not None and reading.outcome is not None


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


def node_view(views: Views) -> work.NodeView:
    """Return the row of the node that answers."""
    status = for_colleagues(views.now.status) if views.far else views.now.status
    return _row(status, tasks_by_host(views.now.table), views)


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
    """Return the view with English sentences filled in for its reasons and its sources."""
    sources = tuple(
        replace(each, text=english(reason_of(each.why, each.text))) for each in view.sources
    )
    return replace(view, reason=english(reason_of(view.why, view.reason)), sources=sources)


def _row(machine: _Machine, hands: Hands, views: Views) -> _Machine:
    """A machine with what it has in hand: of many tasks only so many rows, but all are counted."""
    hand, reading_of = hands.get(machine.node, []), views.now.table.reading
    states = ((reading_of(task) or NOT_READ).state for task, _ in hand)
    return replace(
        machine,
        reason=reason_said(machine),
        running=sum(each is not TaskState.SCHEDULED for each in states),
        tasks=tuple(views.current(task, run) for task, run in hand[:TASKS_SHOWN_MAX]),
    )
