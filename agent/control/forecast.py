"""When tasks begin and end that are laid out over the places of the flock, as far as lengths are known.

Each task goes to the machine on which it ends first, not to the one that is free first: machines take
unequally long for the same, and a fast one that is still at work may end it sooner than a slow one that
is idle. Where all are alike the two are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from math import inf
from operator import itemgetter
from typing import NamedTuple

from msgspec import structs

from agent.api.work import Basis
from agent.control.fitting import FitTable
from agent.protocol.lengths import Lengths
from agent.protocol.needs import seats_of
from agent.protocol.policy.forecast import lay_out
from agent.protocol.policy.view import Stage, TaskView, WorkflowView
from agent.protocol.records import EXPECTED_MS, NodeId, TaskId, TaskSpec
from agent.protocol.sanity import producers_of

TICKS = 1024
"""Of about a millisecond: parts of a second that floats add up exactly, so that ties stay ties."""
CERTAIN = Basis()
"""Nothing had to be guessed."""


class Length(NamedTuple):
    """So many seconds, on this basis; infinite where nobody knows."""

    s: float
    basis: Basis = CERTAIN

    @property
    def known(self) -> bool:
        """Whether there is a guess."""
        return self.s < inf

    @property
    def ms(self) -> int:
        """The same in milliseconds; 0 where nobody knows."""
        return round(self.s * 1000) if self.known else 0

    @property
    def told(self) -> Basis | None:
        """What clients are told that it stands on; None where nobody knows."""
        return self.basis if self.known else None

    def plus(self, other: Length) -> Length:
        """Return both, one after the other."""
        return Length(self.s + other.s, joint(self.basis, other.basis))

    def times(self, factor: float) -> Length:
        """Return this length multiplied by ``factor``, its bounds too; itself where it is not
        known."""
        if factor == 1.0 or not self.known:
            return self
        low_ms, high_ms = (round(each * factor) for each in (self.basis.low_ms, self.basis.high_ms))
        return Length(self.s * factor, structs.replace(self.basis, low_ms=low_ms, high_ms=high_ms))

    def shared(self, count: float) -> Length:
        """Return a part of it; ``count`` is at least one."""
        return Length(self.s / count, self.basis)


NOW = Length(0.0)
NEVER = Length(inf)


@lru_cache(4_096)
def joint(one: Basis, other: Basis) -> Basis:
    """Return the basis of a length made of two lengths, from their bases: told or progress if
    either was, the fewer runs of the two (0 does not count), without bounds. A certain one adds
    nothing: the other is returned as it is."""
    if CERTAIN in (one, other):
        return other if one == CERTAIN else one
    fewest = min(filter(None, (one.runs, other.runs)), default=0)
    return Basis(one.told or other.told, fewest, one.progress or other.progress)


def later(lengths: Iterable[Length]) -> Length:
    """Return the longest of these lengths, ``NOW`` for none. Its basis is that of all of them
    together, since each might have been the longest."""
    found = NOW
    for each in lengths:
        found = Length(max(found.s, each.s), joint(found.basis, each.basis))
    return found


class Step(NamedTuple):
    """A task that is still to be done: how long, and whether a machine has it in hand."""

    spec: TaskSpec
    left: Length
    in_hand: bool = False

    @property
    def usual_ms(self) -> int:
        """What is left of it, and of one of unknown length what is taken for that."""
        return self.left.ms if self.left.known else EXPECTED_MS


Place = tuple[float, float, float, NodeId, int]
"""When a task ends there, when it is free, how many times as long the machine takes, which it is, and
which of its places."""


class Layout:
    """Lays tasks out over places that are free from some moment on.

    ``free`` says when each place is, by machine, and is not changed; ``fits`` which machines could
    run a task. Seats of the flock are shared among the tasks of one layout alone.
    """

    def __init__(
        self, free: Mapping[NodeId, Sequence[Length]], fits: FitTable, lengths: Lengths
    ) -> None:
        self._free = {node: list(slots) for node, slots in free.items()}
        self._fits, self._lengths = fits, lengths
        self._unequal = lengths.speeds_differ()
        self._factors: dict[str, dict[NodeId, float]] = {}
        self._seats: dict[str, list[Length]] = {}

    def lay(self, steps: Sequence[Step]) -> dict[TaskId, tuple[Length, Length]]:
        """Return by task when it begins and ends, from now on: in the order of ``in_order``, after
        what it needs, each on the machine that fits and ends it first, which is busy for so long
        then, in later calls too. What is in hand has begun; a step of a person takes no time; what
        no machine fits begins and ends ``NEVER``; tasks in a circle are left out."""
        times = dict[TaskId, tuple[Length, Length]]()
        for step in in_order(steps):
            spec = step.spec
            needs = later(times[each][1] for each in producers_of(spec) if each in times)
            if spec.gate:
                times[spec.task] = needs, needs
            elif step.in_hand:
                times[spec.task] = NOW, step.left
            else:
                times[spec.task] = self._seated(step, needs)
        return times

    def _seated(self, step: Step, needs: Length) -> tuple[Length, Length]:
        """When it begins and ends that also waits for its seats of the flock."""
        wanted = [
            (self._seats.setdefault(each.name, []), each.most) for each in seats_of(step.spec)
        ]
        needs = later((needs, *(_seat_free(*each) for each in wanted)))
        times = self._placed(step, needs)
        for ends, _ in wanted:
            ends.append(times[1])
        return times

    def _placed(self, step: Step, needs: Length) -> tuple[Length, Length]:
        """The same on the machine on which it ends first; of several the one that is free first."""
        best = min(self._places(step, needs), key=itemgetter(0, 1), default=None)
        if best is None:
            return NEVER, NEVER
        _, _, factor, node, number = best
        slots = self._free[node]
        begins = later((needs, slots[number]))
        slots[number] = begins.plus(step.left.times(factor))
        return begins, slots[number]

    def _places(self, step: Step, needs: Length) -> Iterator[Place]:
        """Each place where the task could run."""
        factors, needs_s, left_s = self._factors_of(step.spec), needs.s, step.left.s
        for machine in self._fits.of(step.spec).machines:
            node = machine.node
            factor = factors.get(node, 1.0)
            for number, slot in enumerate(self._free.get(node, ())):
                free_s = slot.s
                ends_s = max(needs_s, free_s) + left_s * factor
                yield ends_s, free_s, factor, node, number

    def _factors_of(self, spec: TaskSpec) -> dict[NodeId, float]:
        """How many times as long each machine takes as others; empty where all are alike."""
        if not self._unequal:
            return {}
        content = self._lengths.kind(spec).content
        if content not in self._factors:
            self._factors[content] = {
                node: self._lengths.host_factor(spec, node) for node in self._free
            }
        return self._factors[content]


def _seat_free(ends: Sequence[Length], most: int) -> Length:
    """When one of so many seats is free, whose holders end then."""
    return NOW if len(ends) < most else sorted(ends, key=lambda end: end.s)[len(ends) - most]


def in_order(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield these tasks so that each comes after those of them that it needs, and of those that
    could begin the one with the longest remaining path first. Tasks in a circle are left out."""
    work = lay_out([WorkflowView("", 0, (0, 0), 0.0, tuple(_unstarted(steps)))])
    missing = work.missing.copy()
    startable = [(-work.paths_s[number], number) for number in work.ready]
    heapify(startable)
    while startable:
        number = heappop(startable)[1]
        yield steps[number]
        for dependant in work.dependants[number]:
            missing[dependant] -= 1
            if not missing[dependant]:
                heappush(startable, (-work.paths_s[dependant], dependant))


def _unstarted(steps: Sequence[Step]) -> Iterator[TaskView]:
    """The tasks as a policy sees them; what they need of other workflows is taken for there."""
    own = {step.spec.task for step in steps}
    for step in steps:
        needs = tuple(each for each in producers_of(step.spec) if each in own)
        stage = Stage.WAITING if needs else Stage.READY
        yield TaskView(step.spec.task, step.usual_ms / TICKS, needs, stage)
