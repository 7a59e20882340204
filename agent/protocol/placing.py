"""Where a task ends first, when machines differ or data lie on some of them.

Where all machines are alike the least busy takes a task, and there is nothing to weigh (``seats``).
Where they are not, one that is still at work may end a task sooner than one that is idle. So each
seat has the moment at which it falls free, as far as is known, and a task is given to the node with
the best score, when its wait is counted: if that is not free yet, the task is left for it, the
others take what comes behind, and nothing is claimed. Everything is weighed again whenever
something moves, and every second while something is left waiting; a run that takes longer than was
thought makes its place look the worse, so that nothing waits for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from heapq import heapify, heapreplace
from typing import NamedTuple, Protocol, TypeVar

from msgspec import structs

from agent.protocol.evidence import Knowledge
from agent.protocol.policy import Evidence
from agent.protocol.records import NodeId, TaskId, TaskSpec

UNKNOWN_MS = 60_000
"""What is taken to be left of something of which nothing is seen."""


class InHand(NamedTuple):
    """A task that a node has or is about to have, and how long it still takes there."""

    task: TaskId
    node: NodeId
    left_ms: int


class Seat(Protocol):
    """A node's places, as far as this has to know them."""

    node: NodeId
    slots: int
    busy: int

    @property
    def level(self) -> tuple[int, int]:
        """How busy the node is."""
        ...


SeatT = TypeVar("SeatT", bound=Seat)


class Placing:
    """When each place falls free in one plan, and which node ends a task first."""

    def __init__(
        self,
        knowledge: Knowledge,
        hands: Callable[[], Iterable[InHand]],
        seats: Sequence[Seat],
        *,
        weighs: bool,
    ) -> None:
        self._knowledge = knowledge
        self._differ: dict[Hashable, bool] = {}
        self._known: dict[tuple[Hashable, int, NodeId], Evidence] = {}
        self._free_ms: dict[NodeId, list[int]] = {}
        self.weighs = weighs
        """Something is known in which nodes differ; else all are alike, and nothing is looked at."""
        self.ends_ms: dict[TaskId, int] = {}
        """When tasks end that somebody has, or that were given to a node in this plan."""
        if weighs:
            left_ms: dict[NodeId, list[int]] = {}
            for task, node, task_ms in hands():
                self.ends_ms[task] = task_ms
                left_ms.setdefault(node, []).append(task_ms)
            self._free_ms = {
                each.node: _free_ms(each, left_ms.get(each.node, ())) for each in seats
            }

    def differs(self, spec: TaskSpec, kind: Hashable, seats: Sequence[Seat]) -> bool:
        """Tell whether some of these seats are known to be better for the task than others, apart
        from how busy they are; ``seats`` are all that fit tasks of this ``kind``."""
        if not self.weighs or len(seats) < 2:
            return False
        differ = self._differ.get(kind)
        if differ is None:
            scores = {self._knowledge.score(self._of(spec, kind, each.node)) for each in seats}
            differ = self._differ[kind] = len(scores) > 1
        return differ or self._knowledge.data_matter(spec, [each.node for each in seats])

    def best(
        self,
        spec: TaskSpec,
        kind: Hashable,
        seats: Sequence[SeatT],
        makers: Container[NodeId] = (),
        ready_ms: int = 0,
    ) -> list[SeatT]:
        """Return the seats sorted, those where the task ends earliest first, counting until they
        are free and until the task is ready (``ready_ms``). Ties: for a task not ready yet who is
        free last; then the least busy, ``makers`` of its inputs, by id."""

        def rank(seat: Seat) -> tuple[int, int, tuple[int, int], bool, NodeId]:
            evidence, free_ms = self._of(spec, kind, seat.node), self.wait_ms(seat.node)
            if wait_ms := max(ready_ms, free_ms):
                evidence = structs.replace(evidence, wait_ms=wait_ms)
            score = self._knowledge.score(evidence)
            last_free = -free_ms if ready_ms else 0
            return -score, last_free, seat.level, seat.node not in makers, seat.node

        return sorted(seats, key=rank)

    def wait_ms(self, node: NodeId) -> int:
        """Return how long the node still works at other things; 0 where a place is free."""
        free_ms = self._free_ms.get(node)
        return free_ms[0] if free_ms else 0

    def take(self, spec: TaskSpec, kind: Hashable, node: NodeId, ready_ms: int = 0) -> None:
        """Count the task as given to a place of the node from now on, which is free again when the
        task has ended there; it begins in ``ready_ms`` at the earliest. Do nothing for a node
        without places."""
        free_ms = self._free_ms.get(node)
        if free_ms:
            evidence = self._of(spec, kind, node)
            begins_ms = max(ready_ms, free_ms[0])
            self.ends_ms[spec.task] = begins_ms + evidence.fetch_ms + evidence.length_ms
            heapreplace(free_ms, self.ends_ms[spec.task])

    def _of(self, spec: TaskSpec, kind: Hashable, node: NodeId) -> Evidence:
        """Of tasks of one kind and length, whose data lie nowhere in particular, once."""
        if spec.raw or spec.inputs or spec.published:
            return self._knowledge.of(spec, node)
        key = (kind, self._knowledge.usual_ms(spec), node)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._knowledge.of(spec, node)
        return known


def _free_ms(seat: Seat, left_ms: Sequence[int]) -> list[int]:
    """When each place of a node is free, as a heap."""
    free_ms = [0] * max(1, seat.slots)
    unseen = [max(left_ms, default=UNKNOWN_MS)] * (seat.busy - len(left_ms))
    for each in (*sorted(left_ms), *unseen):
        heapreplace(free_ms, free_ms[0] + each)
    heapify(free_ms)
    return free_ms
