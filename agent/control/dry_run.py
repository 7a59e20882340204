"""What would become of a submission: where each task could run, and when it might end.

The end is an estimate as a person would make it: each task goes to the machine that ends it first
among those that fit, the longest remaining path first, after the work that is there already. It
knows of nothing that is still to come, and takes expected lengths for true.

Some machines run a published program only after somebody there has accepted it. Whoever submits
work with programs of its own waits for people, and should hear so at once: on this machine it runs
without being asked for, elsewhere it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.api.programs import bare_name
from agent.api.reasons import AcceptanceNeeded
from agent.api.work import TaskPlan
from agent.control.fitting import Fits, FitTable, Machine, own_work, to_come
from agent.control.forecast import NEVER, NOW, Length, Step, later
from agent.control.views import Views
from agent.protocol.records import TaskSpec


def plan_tasks(
    views: Views,
    specs: tuple[TaskSpec, ...],
    priority: int,
    submitter: str,
    *,
    far: bool = False,
) -> tuple[list[TaskPlan], Length]:
    """Return each task's plan in the order of the author, and how long it takes until the last one
    has ended, which nobody knows where no machine that helps fits one of them. Unfinished work of
    at least this priority, a greater number being more urgent, goes before. Nothing is changed.
    It is ``submitter``'s; ``far``: another member asks."""
    estimates, workflows = views.estimates, views.now.table.workflows
    whose = own_work(views.now, submitter, far=far)
    fits = FitTable(estimates.machines, far=far, whose=whose)
    before = [
        each
        for each in views.now.table.unfinished
        if each in workflows and workflows[each].priority.value >= priority
    ]
    free = estimates.free(before, whose, priority)
    steps = [Step(spec, NOW if spec.gate else estimates.length(spec)) for spec in specs]
    times = estimates.lay(steps, free, fits)
    plans = [_plan(spec, fits, *times.get(spec.task, (NEVER, NEVER))) for spec in specs]
    return plans, later(ends for _, ends in times.values())


def _plan(spec: TaskSpec, fits: FitTable, begins: Length, ends: Length) -> TaskPlan:
    found = Fits() if spec.gate else fits.of(spec)
    names, misfits = tuple(each.name for each in found.machines), tuple(found.misfits)
    told = begins.ms / 1000, ends.ms / 1000, begins.told, ends.told
    return TaskPlan(spec.name, names, misfits, *told)


def unaccepted(spec: TaskSpec, machine: Machine) -> bool:
    """Tell whether somebody at that machine has to accept the program of this task first; False for
    a program that was not published, or was refused there for good."""
    has = machine.capabilities
    decided = spec.program in (*has.programs, *has.refused) or has.takes_published
    return spec.published is not None and not decided


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
        AcceptanceNeeded(names, tuple(bare_name(each) for each in found))
        for names, found in waiting.items()
    ]
