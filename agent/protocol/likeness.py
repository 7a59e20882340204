"""By what tasks are compared that take about as long.

A task is known by what its program is (its content, else its name), by how long somebody said that it
takes, by its step and parameters, and by the size of its inputs in powers of two. Those that agree in
all of that are asked first (``lengths``). Steps are many, and few of them run often, so what is the
same whatever the step is found once for all of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from agent.protocol.identity import PROGRAM, TOLD, text_in
from agent.protocol.records import EXPECTED_MS, NodeId, TaskId, TaskSpec
from agent.protocol.sketch import bin_end_ms, quarter_octave

LOOKED_UP_MAX = 4_096
Likeness = tuple[object, ...]
Scaled = tuple[tuple[Likeness, float], ...]


class Kind(NamedTuple):
    """What tasks have in common that take about as long: the content of the program and its name,
    what was told (0: nothing), step with parameters (0: any), and the octave of the size of its
    inputs (-1: not known yet). Of tasks that were told about the same, lengths are to what was
    told."""

    content: str
    name: str
    told_ms: int
    step: int
    size: int

    @property
    def scale(self) -> float:
        """What lengths of tasks like it are multiplied by, as this one was told a little more or
        less than they."""
        return self.told_ms / bin_end_ms(quarter_octave(self.told_ms)) if self.told_ms else 1.0

    def whatever(self) -> Kind:
        """Return the same whatever the step."""
        return Kind(self.content, self.name, self.told_ms, 0, self.size)

    def steps(self) -> Scaled:
        """Return the likenesses under which lengths of this very step are kept, each with the
        factor to multiply them by: among those submitted with a like expected length, if one was
        told, then among all."""
        among_all: Likeness = (self.content, "step", self.size, self.step)
        if not self.told_ms:
            return ((among_all, 1.0),)
        told = quarter_octave(self.told_ms)
        return ((self.content, told, self.size, self.step), self.scale), (among_all, 1.0)

    def asked(self) -> Scaled:
        """Return the likenesses by which to look for lengths of earlier tasks, the closest first,
        each with the factor to multiply those lengths by."""
        steps, wide = self.steps(), _wide(*self[:3], self.size)
        if self.told_ms:
            return (steps[0], *wide[:2], steps[1])
        return (*steps, *wide)

    def wide(self) -> Scaled:
        """Return what a run is alike by whatever its step, those that were told as much first."""
        return _wide(*self[:3], self.size)


@lru_cache(LOOKED_UP_MAX)
def _wide(content: str, name: str, told_ms: int, size: int) -> Scaled:
    whatever: Scaled = (((content,), 1.0), ((name, "by name"), 1.0))
    if not told_ms:
        return (((content, -1, size), 1.0), *whatever)
    scale, told = Kind(content, name, told_ms, 0, size).scale, quarter_octave(told_ms)
    return ((content, told, size), scale), ((content, told), scale), *whatever


class PastRun(NamedTuple):
    """A run that ended well, as it is remembered elsewhere."""

    task: TaskId
    kind: Kind
    host: NodeId
    ran_ms: int


def told_ms(spec: TaskSpec) -> int:
    """Return how long somebody said that the task takes; 0 where nobody did."""
    return spec.expected_ms if spec.expected_ms != EXPECTED_MS or TOLD in spec.more else 0


def kind_of(spec: TaskSpec, size: int) -> Kind:
    """Return by what a task is compared with earlier ones: its program, its step with parameters,
    its told length, and ``size``, the octave of its inputs' size (-1: not known yet)."""
    name = spec.program.partition("@")[0]
    content = spec.published.dataset if spec.published else text_in(spec.more, PROGRAM)
    step = crc32(f"{spec.name}\0{spec.parameters}".encode())
    return Kind(content or spec.program, name, told_ms(spec), step, size)
