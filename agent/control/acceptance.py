"""Machines that run a published program only after somebody there has accepted it.

Whoever submits work with programs of its own waits for people, and should hear so at once: on this
machine it runs without being asked for, elsewhere it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.control.dry_run import Machine, to_come
from agent.protocol.records import TaskSpec

MACHINES_NAMED_MAX = PROGRAMS_NAMED_MAX = 4


def unaccepted(spec: TaskSpec, machine: Machine) -> bool:
    """Tell whether somebody at that machine has to accept the program of this task first."""
    capabilities = machine.capabilities
    taken = spec.program in capabilities.programs or capabilities.takes_published
    return spec.published is not None and not taken


def acceptances(
    specs: Iterable[TaskSpec], machines: Sequence[Machine], *, far: bool = False
) -> list[str]:
    """Return a sentence for each set of programs that the same machines do not run yet. The first
    of the machines is this one; ``far``: another member asks, so that it publishes nothing here."""
    programs = {spec.program: spec for spec in specs if spec.published is not None}
    waiting: dict[tuple[str, ...], list[str]] = {}
    for program, spec in programs.items():
        own = to_come(spec) and not far  # its own are always taken
        others = machines[1:] if own else machines
        names = tuple(machine.name for machine in others if unaccepted(spec, machine))
        if names:
            waiting.setdefault(names, []).append(program)
    return [_sentence(names, found) for names, found in waiting.items()]


def listed(names: Sequence[str]) -> str:
    """Return the names as ``a, b and c``, with how many more there are beyond a few."""
    shown = [*names[:MACHINES_NAMED_MAX]]
    if len(names) > len(shown):
        shown[-1:] = [f"{len(names) - len(shown) + 1} others"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def _sentence(machines: tuple[str, ...], programs: list[str]) -> str:
    bare = [program.partition("@")[0] for program in programs]
    run, them = "runs" if len(machines) == 1 else "run", "it" if len(bare) == 1 else "them"
    return (
        f"{listed(machines)} {run} {listed(bare)} only when somebody there accepts {them}: "
        f"`wingbeat programs accept {' '.join(bare[:PROGRAMS_NAMED_MAX])}`"
    )
