"""No member fills the tables and disks of others: what one may have in a table is bounded.

Each has room for workflows that it has submitted, for what it says of runs, in all and in one workflow,
and for prunings that it wrote. It is so much that no office comes near it: 200,000 tasks of one machine,
where 20,000 of all are many. Whoever submits is refused by the machine that it asks, in words, long
before others would leave out what it tells.

**All leave out the same.** What came first here came last elsewhere, so that does not decide: of all that
is known of a member, what stands first in an order that the records themselves give has room, and what
does not fit is as if it had never been told. Of workflows the earliest submitted, so none gives way to a
later one; of runs those that succeeded and then the latest claims, so what a machine says now counts; of
prunings the latest, as the oldest are forgotten anyway. Whoever dates back what it floods others with
displaces its own alone. Tables that are compared become equal by it: the first in the order stays wherever
it is known, then the second beside it, and so on.

**What it costs.** As long as all of a member fits, an addition for each record; each change counts, also
one of what is here, until the sum seems too much and is counted anew. Who has too much is counted anew
every few seconds at most, and until then nothing that needs room is taken in of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from agent.protocol.phrases import Phrase, said
from agent.protocol.records import (
    FAR,
    SIGNED,
    More,
    NodeId,
    Pruning,
    Run,
    RunName,
    TaskId,
    TaskLife,
    Terminated,
    Workflow,
    WorkflowId,
    WorkflowSpec,
    run_name,
    without_runs,
)
from agent.protocol.table import Table

WORKFLOWS_BYTES_MAX = 256 * 1024 * 1024
"""Of one member, as they are encoded, and for each task what it takes in memory besides."""
TASK_BYTES = 1_024
FAR_SHARE = 0.5
"""Of its room a machine gives so much, at most, to what was submitted on it from other machines."""
RUNS_BYTES_MAX = 256 * 1024 * 1024
RUN_BYTES = 256
SHORT_RUN_BYTES, DATASET_BYTES = 2_048 + RUN_BYTES, 1_100
"""No less than a run without datasets takes, and each dataset that it names."""
RUNS_OF_A_WORKFLOW_BYTES = 1024 * 1024
RUNS_OF_A_TASK_BYTES = 4 * 1024
RUNS_OF_AN_INPUT_BYTES = 256
"""What one member says in one workflow: it has to go to newcomers in one message with all others' words."""
PRUNINGS_BYTES_MAX = 64 * 1024 * 1024
COUNTED_ANEW_S = 10.0
SCOPES_MAX = 20_000
HELD_BACK_MAX = 20_000

_encode = msgspec.msgpack.Encoder().encode

LetGo = Callable[[list[WorkflowId], dict[TaskId, set[RunName]]], None]
Named = tuple[Any, ...]
"""A record: its kind, and by which names it is found."""


class Told(NamedTuple):
    """Records that count by themselves."""

    workflows: list[Workflow]
    lives: list[TaskLife]
    prunings: list[Pruning]


class Scope(NamedTuple):
    """Whose records of which kind share a room; those of runs also within one workflow."""

    kind: str
    author: NodeId
    workflow: WorkflowId = ""


class Item(NamedTuple):
    """A record by its place in the order of those that share a room, and what it takes of that."""

    rank: tuple[Any, ...]
    name: Named
    bytes: int


@dataclass(slots=True)
class Room:
    """How much there is, how much of it is taken at most, and until when that is not counted anew."""

    limit: int
    taken: int
    settled_s: float = -1e9


class Quotas:
    """Knows how much of each member is in the table, and leaves out what has no room."""

    def __init__(
        self,
        table: Table,
        let_go: LetGo,
        forget_pruning: Callable[[WorkflowId], None],
        now_s: Callable[[], float],
    ) -> None:
        self._table, self._now_s = table, now_s
        self._let_go, self._forget_pruning = let_go, forget_pruning
        self._rooms: dict[Scope, Room] = {}
        self._counted: dict[WorkflowId, None] = {}
        """Of which workflows the runs were counted; an empty id stands for all."""
        self._held_back: dict[WorkflowId, float] = {}
        self._new: dict[WorkflowId, WorkflowSpec] = {}
        """What is being told and is in no table yet."""

    def within(self, told: Told) -> tuple[Told, list[NodeId]]:
        """Return those of the records that fit into their authors' quotas, counted as taken from now on, and
        the author of each one left out, as often as it was. What is here is let go where what is new goes
        before it. For ``COUNTED_ANEW_S`` after an author had too much, all that needs room is left out."""
        if not (told.workflows or told.prunings) and self._have_room(told.lives):
            return told, []
        known, wanted = self._table.workflows, dict[Scope, list[Item]]()
        specs = (each.spec for each in told.workflows if each.spec.workflow not in known)
        self._new = {spec.workflow: spec for spec in specs}
        for scope, item in self._items(told):
            wanted.setdefault(scope, []).append(item)
        excess: dict[Named, NodeId] = {}
        for scope, items in wanted.items():
            room = self._room(scope)
            room.taken += sum(item.bytes for item in items)
            if room.taken > room.limit:
                left_out = self._squeezed(scope, room, items)
                excess.update(dict.fromkeys(left_out, scope.author))
        if not excess:
            return told, []
        return self._without(told, excess), list(excess.values())

    def _have_room(self, lives: Iterable[TaskLife]) -> bool:
        """Count what these take at most; False, with nothing counted, where that may be too much."""
        most, homes = dict[tuple[NodeId, WorkflowId], int](), self._table.workflow_of
        for part in lives:
            home = homes.get(part.task, "")
            for run in part.life.runs:
                most[run.host, home] = most.get((run.host, home), 0) + _at_most(run)
        taken: list[tuple[Room, int]] = []
        for (host, home), size in most.items():
            for within in ("", home) if home else ("",):
                room = self._room(Scope("runs", host, within))
                if room.taken + size > room.limit:
                    return False
                taken.append((room, size))
        for room, size in taken:
            room.taken += size
        return True

    def is_held_back(self, key: str) -> bool:
        """Tell whether the workflow of this key was left out a moment ago, so that it need not be
        asked for again."""
        return self._held_back.get(key[1:], -1e9) > self._now_s()

    def fault_of(self, spec: WorkflowSpec, host_name: str) -> Phrase | None:
        """Return why this machine has no room for what is submitted on it; None when it has: then
        the room counts as taken."""
        limits = {Scope("workflows", spec.host): WORKFLOWS_BYTES_MAX}
        if FAR in spec.more:
            limits[Scope("far", spec.host)] = int(WORKFLOWS_BYTES_MAX * FAR_SHARE)
        needed = _bytes_of(spec)
        for scope, limit in limits.items():
            room = self._room(scope)
            if room.taken + needed > limit:
                room.taken = sum(item.bytes for item in self._known(scope))
            if room.taken + needed > limit:
                return said(
                    "{host} has {taken} MB of work in the table, and one machine may have {most} MB:"
                    " remove work that has ended (wingbeat remove), or submit on another machine",
                    host=host_name,
                    taken=room.taken // 2**20,
                    most=limit // 2**20,
                )
        for scope in limits:
            self._rooms[scope].taken += needed
        return None

    # -- rooms ---------------------------------------------------------------------------

    def _room(self, scope: Scope) -> Room:
        room = self._rooms.get(scope)
        if room is None:
            if len(self._rooms) >= SCOPES_MAX:
                self._rooms.clear()
                self._counted.clear()
            runs = scope.kind == "runs"
            if runs and scope.workflow not in self._counted:
                self._count_runs(scope.workflow)
                return self._room(scope)
            taken = 0 if runs else sum(item.bytes for item in self._known(scope))
            room = self._rooms[scope] = Room(self._limit(scope), taken)
        return room

    def _count_runs(self, workflow: WorkflowId) -> None:
        """Those of all hosts at once, of one workflow or in all, with what they take at most."""
        self._counted[workflow] = None
        most: dict[NodeId, int] = {}
        for part in self._parts(workflow):
            for run in part.life.runs:
                most[run.host] = most.get(run.host, 0) + _at_most(run)
        for host, taken in most.items():
            scope = Scope("runs", host, workflow)
            self._rooms[scope] = Room(self._limit(scope), taken)

    def _limit(self, scope: Scope) -> int:
        if scope.workflow:
            known = self._table.workflows.get(scope.workflow)
            tasks = (self._new[scope.workflow] if known is None else known.spec).tasks
            inputs = sum(len(task.inputs) + len(task.raw) for task in tasks)
            many = RUNS_OF_A_TASK_BYTES * len(tasks) + RUNS_OF_AN_INPUT_BYTES * inputs
            return RUNS_OF_A_WORKFLOW_BYTES + many
        limits = {"runs": RUNS_BYTES_MAX, "prunings": PRUNINGS_BYTES_MAX}
        return limits.get(scope.kind, WORKFLOWS_BYTES_MAX)

    def _squeezed(self, scope: Scope, room: Room, items: list[Item]) -> Iterable[Named]:
        """Those of the items that have no room; what is here and has none any more is let go."""
        told = {item.name: item for item in items}
        if room.settled_s > self._now_s():
            room.taken -= sum(item.bytes for item in items)
            return told
        known = {item.name: item for item in self._known(scope)}
        room.taken, kept = 0, set()
        for item in sorted({**known, **told}.values()):
            if room.taken + item.bytes <= room.limit:
                room.taken += item.bytes
                kept.add(item.name)
        gone = [name for name in known if name not in kept]
        left_out = [name for name in told if name not in kept]
        if gone or left_out:
            room.settled_s = self._now_s() + COUNTED_ANEW_S
            self._drop([*gone, *(each for each in left_out if each[0] == "runs")])
        return left_out

    def _drop(self, gone: list[Named]) -> None:
        workflows: list[WorkflowId] = []
        runs: dict[TaskId, set[RunName]] = {}
        for kind, name, *run in gone:
            if kind == "workflows":
                workflows.append(name)
            elif kind == "prunings":
                self._forget_pruning(name)
            else:
                runs.setdefault(name, set()).add(run[0])
        if workflows or runs:
            self._let_go(workflows, runs)

    def _without(self, told: Told, excess: dict[Named, NodeId]) -> Told:
        left_out = [each for each in told.workflows if _name_of(each) in excess]
        until_s = self._now_s() + COUNTED_ANEW_S
        for each in left_out:
            while len(self._held_back) >= HELD_BACK_MAX:
                del self._held_back[next(iter(self._held_back))]
            self._held_back[each.spec.workflow] = until_s
        tasks = {spec.task for each in left_out for spec in each.spec.tasks}
        lives = [_life_without(part, excess) for part in told.lives if part.task not in tasks]
        return Told(
            [each for each in told.workflows if _name_of(each) not in excess],
            lives,
            [each for each in told.prunings if ("prunings", each.workflow) not in excess],
        )

    # -- what is in them -----------------------------------------------------------------

    def _items(self, told: Told) -> Iterator[tuple[Scope, Item]]:
        """What needs room, each in every room where it does."""
        table, homes = self._table, dict[TaskId, WorkflowId]()
        for workflow, spec in self._new.items():
            yield Scope("workflows", spec.host), _workflow_item(spec)
            for task in (each.task for each in spec.tasks):
                homes[task] = workflow
                for run in table.orphan(task).runs:
                    yield Scope("runs", run.host, workflow), _run_item(task, run)
        for part in told.lives:
            home = homes.get(part.task) or table.workflow_of.get(part.task, "")
            for run in part.life.runs:
                item = _run_item(part.task, run)
                yield Scope("runs", run.host), item
                if home:
                    yield Scope("runs", run.host, home), item
        for pruning in told.prunings:
            yield Scope("prunings", pruning.by), _pruning_item(pruning)

    def _known(self, scope: Scope) -> Iterator[Item]:
        """What the table has of it."""
        table, author = self._table, scope.author
        if scope.kind == "prunings":
            prunings = table.prunings.values()
            yield from (_pruning_item(each) for each in prunings if each.by == author)
        elif scope.kind == "runs":
            for part in self._parts(scope.workflow):
                runs = (run for run in part.life.runs if run.host == author)
                yield from (_run_item(part.task, run) for run in runs)
        else:
            far = scope.kind == "far"
            for workflow in table.workflows.values():
                if workflow.spec.host == author and (not far or FAR in workflow.spec.more):
                    yield _workflow_item(workflow.spec)

    def _parts(self, workflow: WorkflowId) -> Iterable[TaskLife]:
        if not workflow:
            return self._table.all_lives()
        return self._table.lives_of(workflow) if workflow in self._table.workflows else ()


def _bytes_of(spec: WorkflowSpec) -> int:
    return len(_encode(spec)) - _proof_bytes(spec.more) + TASK_BYTES * len(spec.tasks)


def _name_of(workflow: Workflow) -> Named:
    return ("workflows", workflow.spec.workflow)


def _workflow_item(spec: WorkflowSpec) -> Item:
    return Item((spec.submitted, spec.workflow), ("workflows", spec.workflow), _bytes_of(spec))


def _run_item(task: TaskId, run: Run) -> Item:
    name = run_name(run)
    (at_ms, count), done = run.claim.stamp, isinstance(run.phase, Terminated)
    rank = (not done, -at_ms, -count, task, name)
    return Item(rank, ("runs", task, name), len(_encode(run)) - _proof_bytes(run.more) + RUN_BYTES)


def _at_most(run: Run) -> int:
    """No less than what ``_run_item`` says, for less work."""
    phase, size = run.phase, SHORT_RUN_BYTES + DATASET_BYTES * len(run.inputs)
    if isinstance(phase, Terminated):
        size += DATASET_BYTES * (len(phase.outputs) + len(phase.holders))
    for raw in run.more.values():
        size += memoryview(raw).nbytes
    return size


def _pruning_item(pruning: Pruning) -> Item:
    rank = (-pruning.stamp[0], -pruning.stamp[1], pruning.workflow)
    return Item(rank, ("prunings", pruning.workflow), len(pruning.workflow) + RUN_BYTES)


def _proof_bytes(more: More) -> int:
    """Two copies may differ by how they are proven, and have to take the same room."""
    proof = more.get(SIGNED)
    return 0 if proof is None else memoryview(proof).nbytes + len(SIGNED) + 1


def _life_without(part: TaskLife, excess: dict[Named, NodeId]) -> TaskLife:
    names = {name for run in part.life.runs if ("runs", part.task, name := run_name(run)) in excess}
    return TaskLife(part.task, without_runs(part.life, names)) if names else part
