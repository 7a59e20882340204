"""Machines that run a published program only after somebody there has accepted it.

Whoever submits work with programs of its own waits for people, and should hear so at once: on this
machine it runs without being asked for, elsewhere it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.api.reasons import AcceptanceNeeded
from agent.control.dry_run import Machine, to_come
from agent.protocol.records import TaskSpec


def unaccepted(spec: TaskSpec, machine: Machine) -> bool:
    """Tell whether somebody at that machine has to accept the program of this task first."""
    capabilities = machine.capabilities
    taken = spec.program in capabilities.programs or capabilities.takes_published
    return spec.published is not None and not taken


def acceptances(
    specs: Iterable[TaskSpec], machines: Sequence[Machine], *, far: bool = False
) -> list[AcceptanceNeeded]:
    """Return which machines have yet to accept which published programs, those of the same
    machines together. The first machine is this one: it takes what it is about to publish itself,
    unless another member asks (``far``)."""
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
