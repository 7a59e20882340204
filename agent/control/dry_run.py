"""What would become of a submission: where each task could run, and when it might end.

The end is an estimate as a person would make it: each task goes to the machine that is free first
among those that fit, the longest remaining path first, after the work that is there already. It
knows of nothing that is still to come, and takes expected lengths for true.

Some machines run a published program only after somebody there has accepted it. Whoever submits
work with programs of its own waits for people, and should hear so at once: on this machine it runs
without being asked for, elsewhere it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import msgspec

from agent.api.reasons import AcceptanceNeeded, as_why
from agent.api.work import PENDING, Misfit, TaskPlan
from agent.control.views import Machine, Views, seen
from agent.protocol.policy.default import lay_out
from agent.protocol.policy.view import Stage, TaskView, WorkflowView
from agent.protocol.reading import DerivedState
from agent.protocol.records import NodeId, TaskId, TaskSpec, TaskState
from agent.protocol.sanity import producers_of
from agent.protocol.seats import misfit
from agent.wording.speech import english

TICKS = 1024
"""Of about a millisecond: parts of a second that floats add up exactly, so that ties stay ties."""
_NOT_READ = DerivedState(TaskState.SUBMITTED)


@dataclass(slots=True)
class Fits:
    """Which machines can run tasks of one kind, and why the others cannot."""

    machines: list[Machine] = field(default_factory=list)
    misfits: list[Misfit] = field(default_factory=list)


def slots_of(machine: Machine) -> int:
    """Return how many tasks a machine runs at a time; one that does not say runs one."""
    return max(1, machine.slots)


def to_come(spec: TaskSpec) -> bool:
    """Tell whether the task's program is published only with the submission that is planned."""
    return spec.published is not None and spec.published.dataset.startswith(PENDING)


class FitTable:
    """Answers which machines fit a task; tasks of one kind are looked at once. This one first.

    ``far``: another machine of the flock asks. What it brings is published there and not here.
    """

    def __init__(self, machines: Sequence[Machine], *, far: bool = False) -> None:
        self._machines, self._far = machines, far
        self._known: dict[object, Fits] = {}

    def of(self, spec: TaskSpec) -> Fits:
        """Return the machines that fit a task by its program and requirements, and those that do
        not with the reason; whether they help or are busy plays no part."""
        kind = (spec.program, spec.requirements, spec.published)
        found = self._known.get(kind)
        if found is None:
            found = self._known[kind] = Fits()
            for machine in self._machines:
                published = self._publishes(spec, machine)
                why = None if published else misfit(spec, machine.capabilities)
                if why is None:
                    found.machines.append(machine)
                else:
                    told = Misfit(machine.node, machine.name, english(why), as_why(why))
                    found.misfits.append(told)
        return found

    def _publishes(self, spec: TaskSpec, machine: Machine) -> bool:
        """Whether the program is still to be published here, where its own are always taken."""
        if self._far or not to_come(spec) or machine is not self._machines[0]:
            return False
        taking = msgspec.structs.replace(machine.capabilities, takes_published=True)
        return not misfit(spec, taking)


def plan_tasks(
    views: Views,
    specs: tuple[TaskSpec, ...],
    priority: int,
    *,
    far: bool = False,
) -> tuple[list[TaskPlan], float]:
    """Return each task's plan in the order of the author, and the end of the last one in seconds
    from now; a task that no machine fits takes no time in it. Nothing is changed. ``far``: another
    member asks."""
    machines = seen(views.now)
    fits = FitTable(machines, far=far)
    helping = [each for each in machines if each.volunteering] or machines
    busy_s = _busy_s(views, machines, helping, priority)
    free = {each.node: [busy_s[each.node]] * slots_of(each) for each in machines}
    begins, ends = dict[TaskId, float](), dict[TaskId, float]()
    for spec in _in_order(specs):
        needs_s = max((ends.get(need, 0.0) for need in producers_of(spec)), default=0.0)
        begins[spec.task], ends[spec.task] = needs_s, needs_s
        chosen = _first_free(fits.of(spec), free) if not spec.gate else None
        if chosen is not None:
            slots = free[chosen.node]
            place = slots.index(min(slots))
            begins[spec.task] = max(needs_s, slots[place])
            ends[spec.task] = slots[place] = begins[spec.task] + spec.expected_ms / 1000
    plans = [_plan(spec, fits, begins[spec.task], ends[spec.task]) for spec in specs]
    return plans, max(ends.values(), default=0.0)


def _plan(spec: TaskSpec, fits: FitTable, begins_s: float, ends_s: float) -> TaskPlan:
    if spec.gate:
        return TaskPlan(spec.name, (), (), begins_s, ends_s)
    found = fits.of(spec)
    names = tuple(each.name for each in found.machines)
    return TaskPlan(spec.name, names, tuple(found.misfits), begins_s, ends_s)


def _first_free(fits: Fits, free: dict[NodeId, list[float]]) -> Machine | None:
    helping = [each for each in fits.machines if each.volunteering] or fits.machines
    return min(helping, key=lambda each: min(free[each.node]), default=None)


def _busy_s(
    views: Views, machines: Sequence[Machine], helping: Sequence[Machine], priority: int
) -> dict[NodeId, float]:
    """When each machine is free: what it has in hand, and its share of what goes before."""
    table = views.now.table
    left_s = {each.node: 0.0 for each in helping}
    waiting_s = 0.0
    for workflow, tasks in table.unfinished.items():
        if workflow not in table.workflows or table.workflows[workflow].priority.value < priority:
            continue
        for task in tasks:
            spec = table.specs[task]
            reading = table.reading(task) or _NOT_READ
            _, left_ms = views.progress(spec, reading)
            if reading.owner is not None and reading.owner.host in left_s:
                left_s[reading.owner.host] += left_ms / 1000
            else:
                waiting_s += left_ms / 1000
    slots = sum(map(slots_of, helping))
    shares = {each.node: left_s[each.node] / slots_of(each) + waiting_s / slots for each in helping}
    everywhere = {each.node: shares.get(each.node, 0.0) for each in machines}
    return {**everywhere, **shares}


def _in_order(specs: tuple[TaskSpec, ...]) -> Iterator[TaskSpec]:
    """Producers before what needs them, of what could begin the longest remaining path first."""
    work = lay_out([WorkflowView("", 0, (0, 0), 0.0, tuple(_unstarted(specs)))])
    missing = work.missing.copy()
    startable = [(-work.paths_s[number], number) for number in work.ready]
    heapify(startable)
    while startable:
        number = heappop(startable)[1]
        yield specs[number]
        for dependant in work.dependants[number]:
            missing[dependant] -= 1
            if not missing[dependant]:
                heappush(startable, (-work.paths_s[dependant], dependant))


def _unstarted(specs: tuple[TaskSpec, ...]) -> Iterator[TaskView]:
    """The tasks as a policy sees them; what they need of other workflows is taken for there."""
    own = {spec.task for spec in specs}
    for spec in specs:
        needs = tuple(each for each in producers_of(spec) if each in own)
        stage = Stage.WAITING if needs else Stage.READY
        yield TaskView(spec.task, spec.expected_ms / TICKS, needs, stage)


def unaccepted(spec: TaskSpec, machine: Machine) -> bool:
    """Tell whether somebody at that machine has to accept the program of this task first; False for
    a program that was not published."""
    capabilities = machine.capabilities
    taken = spec.program in capabilities.programs or capabilities.takes_published
    return spec.published is not None and not taken


def acceptances(
    specs: Iterable[TaskSpec], machines: Sequence[Machine], *, far: bool = False
) -> list[AcceptanceNeeded]:
    """Return which machines have yet to accept which published programs of these tasks, those of
    the same machines together; empty when none has to. The first machine is this one: it takes what
    it is about to publish itself, unless another member asks (``far``)."""
    programs = {spec.program: spec for spec in specs if spec.published is not None}
    waiting: dict[tuple[str, ...], list[str]] = {}
    for program, spec in programs.items():
        own = to_come(spec) and not far  # its own are always taken
        others = machines[1:] if own else machines
        names = tuple(machine.name for machine in others if unaccepted(spec, machine))
        if names:
            waiting.setdefault(names, []).append(program)
    return [
        AcceptanceNeeded(names, tuple(each.partition("@")[0] for each in found))
        for names, found in waiting.items()
    ]
