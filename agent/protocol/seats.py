"""The places of the nodes in one plan, and whose a short task is.

Where machines are alike tasks go to the least busy node first, then to the one that most likely stays
free until they end (``policy.lasting``), then to the one that ended what they need, then by id. Who has
just ended a task knows of the next one before anybody else, and has its inputs. Where machines differ,
or data lie on some, they go to where they end first (``placing``).

That is all there is to it where a task takes a seat for a while. Short tasks are claimed many at a
time, in a row, and the rows of others are seen late, for nobody hurries to tell of every short
task. Nodes that dealt them out by rows would reach for the same tasks all the time. So while there
are plenty of them each short task is *for* one node, drawn by its id among those that could take
it, and every node fills its row with its own; only who has none left looks at those of others. Who
is slow keeps no task for long: what it leaves lying is dealt out without it (``planning``).

**Matching** says which node can run which task: requirements against capabilities, and who failed
it before. It is done by every node for every node, from the statuses, so that all come to the same
plan; it is therefore a pure function of what was told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast, get_args
from zlib import crc32

from agent.protocol.core import Core
from agent.protocol.lengths import ROW_MAX, share_of
from agent.protocol.messages import Capabilities
from agent.protocol.needs import needs_key, parted, seats_of, version_meets, versions_of
from agent.protocol.placing import Placing
from agent.protocol.policy.lasting import Curve, in_steps, survival
from agent.protocol.reading import effective_generation
from agent.protocol.reasons import (
    LacksExtra,
    LacksProgram,
    LacksTag,
    NotAccepted,
    OtherArchitecture,
    OtherSystem,
    OwnerRefuses,
    Reason,
    TooFewCores,
    TooLittleDisk,
    TooLittleMemory,
    WithheldKind,
    Withholds,
)
from agent.protocol.records import (
    Evicted,
    Failed,
    Life,
    NodeId,
    Requirements,
    TaskId,
    TaskSpec,
    WorkflowSpec,
)
from agent.protocol.sharing_reasons import OtherVersion
from agent.protocol.table import Table

SHORT_TASKS_PER_SLOT_FIRST = 16
"""A row of this length is claimed until short tasks are seen to be as short as is said of them."""
PLENTY_PER_NODE = 4
"""Of so many short tasks for each node, there is one for everybody."""
LOOKED_AT_PER_SEAT = 2
"""For its own tasks a node looks through so many for each task that all could hold."""


@dataclass(slots=True, eq=False)
class Seats:
    """The places of one node in a plan. ``active``: taken by what cannot be overtaken."""

    node: NodeId
    capabilities: Capabilities
    slots: int
    busy: int
    active: int
    willing: bool
    own_only: bool = False
    paused: bool = False
    """Not even what was submitted there and somebody waits for begins."""
    people: tuple[str, ...] = ()
    """Whom it helps, by name; none is everybody."""
    lasts: Curve = ()
    """How likely it stays free, by its own word."""
    bans: tuple[str, ...] = ()
    """Of whom it takes no work: people and machines, by name."""
    had: int = 0
    """Busy before anything was dealt out."""
    in_a_row_max: int = ROW_MAX
    for_rows: int = 0
    """Slots that rows may wait for; of others it is not known that long tasks keep some."""

    def __post_init__(self) -> None:
        self.had = self.busy
        self.for_rows = self.slots

    @property
    def level(self) -> tuple[int, int]:
        """How busy the node is, for the common order of free seats."""
        return (self.busy // max(self.slots, 1), self.busy)

    @property
    def open(self) -> bool:
        """Whether something could start there now."""
        return self.busy < self.slots

    def take(self) -> None:
        """Count one more task as dealt to the node."""
        self.busy += 1
        self.active += 1

    def leave(self) -> None:
        """Count one of the node's tasks as over."""
        self.busy -= 1
        self.active -= 1

    def fills_up(self, in_a_row: int) -> bool:
        """Tell whether to claim more short tasks for these seats. A full row is ``in_a_row``, at most
        ``in_a_row_max``, for each slot that rows may wait for (``for_rows``): at most half of it may have
        been there before this plan (``had``), and what is dealt by now (``busy``) must not fill it."""
        row = self.for_rows * min(in_a_row, self.in_a_row_max)
        return self.had <= row // 2 and self.busy < row


Kind = tuple[str, bool, Requirements, bytes, int, NodeId, str, NodeId]
"""Tasks of one kind fit the same seats: program, whether it was published with them, requirements and
what else they need, how many may wait in a row (0: they are not short), and where and by whom they
were submitted if that matters to anybody."""


class SeatPlan:
    """All seats of one plan, this node's first."""

    def __init__(
        self,
        core: Core,
        seats: list[Seats],
        passed: Mapping[TaskId, Mapping[NodeId, None]],
        placing: Placing,
        taken: Callable[[str], int],
    ) -> None:
        self._core, self.seats, self._passed, self._taken = core, seats, passed, taken
        self._placing = placing
        self.weighs = placing.weighs
        """Something is known in which nodes differ."""
        self._seats_taken: dict[str, int] = {}
        """Seats of the flock by name, with those that this plan deals out."""
        self._choosy = any(each.own_only or each.people or each.bans for each in seats)
        self._fitting: dict[Kind, list[Seats]] = {}
        self.mine = seats[0]
        self.held_back = False
        """Low tasks have to wait: an interactive one is to be seen taken first."""
        self.plenty = len(core.table.ready) >= PLENTY_PER_NODE * len(seats)
        """Of tasks: there is one for everybody."""
        slots = sum(each.slots for each in seats)
        self._share = share_of(len(core.table.ready), slots)
        self.looked_at_max = LOOKED_AT_PER_SEAT * ROW_MAX * slots

    def kind(self, spec: TaskSpec) -> Kind:
        """Return what decides which seats a task fits, a key: tasks of one kind fit the same
        seats."""
        whose = whose_is(self._core, spec.task) if self._choosy else ("", "")
        host = _workflow_of(self._core, spec.task).host if self._choosy else ""
        published = spec.published is not None
        needs = (spec.program, published, spec.requirements, needs_key(spec))
        return (*needs, self._in_a_row(spec), *whose, host)

    def _in_a_row(self, spec: TaskSpec) -> int:
        return self._core.lengths.in_a_row(spec, self._share)

    def has_seats(self, spec: TaskSpec) -> bool:
        """Tell whether the flock has every seat left that the task needs, after what was dealt."""
        return all(self._taken_of(each.name) < each.most for each in seats_of(spec))

    def take_seats(self, spec: TaskSpec) -> None:
        """Count the seats of the flock that the task needs as taken."""
        for each in seats_of(spec):
            self._seats_taken[each.name] = self._taken_of(each.name) + 1

    def _taken_of(self, name: str) -> int:
        if name not in self._seats_taken:
            self._seats_taken[name] = self._taken(name)
        return self._seats_taken[name]

    def fitting(self, spec: TaskSpec) -> list[Seats]:
        """Return the seats that the task may be dealt to once they are free, sorted by node: those that
        meet its requirements and whose owners allow it, also where it failed or was left lying. Empty
        when there are none. Tasks of one kind share the list: it must not be changed."""
        kind = self.kind(spec)
        found = self._fitting.get(kind)
        if found is None:
            found = self._fitting[kind] = sorted(
                (
                    each
                    for each in self.seats
                    if not misfit(spec, each.capabilities) and self._willing(each, spec.task)
                ),
                key=lambda each: each.node,
            )
        return found

    def free(self, spec: TaskSpec) -> list[Seats]:
        """Return the seats that could take the task now, in the order to ask them: those with the fewest
        tasks for each slot, then who most likely stays free for it, who has the fewest tasks, who made what
        it needs. Left out are those that left it lying and, while others fit, those where it failed."""
        room = self.room(spec)
        if len(room) < 2:
            return room
        makers = made_by(self._core.table, spec.task)
        return sorted(
            room, key=lambda each: (self.rank(each, spec), each.node not in makers, each.node)
        )

    def room(self, spec: TaskSpec) -> list[Seats]:
        """Return the same seats as ``free``, by node."""
        return [each for each in self._candidates(spec) if self.has_room(each, spec)]

    def rank(self, seats: Seats, spec: TaskSpec) -> tuple[int, int, int]:
        """Return how soon the seats are asked to take the task, the least first."""
        rows, busy = seats.level
        return rows, -in_steps(self.survives(seats, spec)), busy

    def survives(self, seats: Seats, spec: TaskSpec, after_s: float = 0.0) -> float:
        """Return how likely the machine stays free from now until the task has ended on it, should it
        take long and begin in ``after_s``; less where its owner threw away lately what it ran."""
        seconds = self.length_s(spec, seats.node)
        keeps = self._core.thrown_away.keeps(seats.node, seconds)
        return keeps * survival(seats.lasts, after_s + seconds)

    def lasts(self, node: NodeId, seconds: float) -> float:
        """Return how likely a machine stays free for so long; as likely as of one that tells nothing
        where it is not in the plan."""
        curves = (each.lasts for each in self.seats if each.node == node)
        return self._core.thrown_away.keeps(node, seconds) * survival(next(curves, ()), seconds)

    def length_s(self, spec: TaskSpec, host: NodeId) -> float:
        """Return how long the task may take on a machine: nine of ten take no longer."""
        return self._core.lengths.of(spec, host).q90_ms / 1000

    def differs(self, spec: TaskSpec) -> bool:
        """Tell whether it matters on which of the nodes that fit a longer task runs."""
        if not self.weighs or self.short(spec):
            return False
        return self._placing.differs(spec, self.kind(spec), self.fitting(spec))

    def first_to_end(self, spec: TaskSpec) -> list[Seats]:
        """Return the seats that fit, free or not, the one on which the task ends first in front; for an interactive
        task only those with room now. Left out are those that left it lying and, while others fit, those where it
        failed."""
        seats = self._candidates(spec)
        if self._core.table.interactive(spec.task):
            seats = [each for each in seats if self.has_room(each, spec)]
        makers = made_by(self._core.table, spec.task)
        return self._placing.best(spec, self.kind(spec), seats, makers)

    def keep_place(self, spec: TaskSpec) -> None:
        """Give a task that is not ready to the seats on which it will end first, so that they look
        the busier for what comes behind it. Nothing is kept where it is not known when it is
        ready."""
        placing, reading_of = self._placing, self._core.table.reading
        ready_ms = 0
        for need in self._core.table.producers[spec.task]:
            reading = reading_of(need)
            if reading is None or reading.outcome is None:
                if need not in placing.ends_ms:
                    return
                ready_ms = max(ready_ms, placing.ends_ms[need])
        kind = self.kind(spec)
        for seats in placing.best(spec, kind, self.fitting(spec), (), ready_ms)[:1]:
            placing.take(spec, kind, seats.node, ready_ms)

    def take(self, seats: Seats, spec: TaskSpec) -> None:
        """Count the task as dealt to these seats, or as left for them where they are not free."""
        seats.take()
        if self.weighs:
            self._placing.take(spec, self.kind(spec), seats.node)

    def drawn(self, spec: TaskSpec) -> Seats | None:
        """Return the seats that draw a short task by lot, from its id, so that all nodes agree;
        with or without room now. None when no seats fit, or all that do left it lying."""
        candidates = self._candidates(spec)
        if not candidates:
            return None
        return candidates[crc32(spec.task.encode()) % len(candidates)]

    def home(self, spec: TaskSpec) -> Seats | None:
        """Return the seats where an interactive task was submitted, as it runs there at once, owner
        or not; None for other tasks, and where that node is not in the plan, is paused, cannot run
        it or left it lying."""
        if not self._core.table.interactive(spec.task):
            return None
        node = self._core.own.home(spec.task)
        for each in self.seats:
            if each.node == node and not misfit(spec, each.capabilities):
                return None if each.paused or self._is_passed(spec.task, node) else each
        return None

    def has_place(self, spec: TaskSpec) -> bool:
        """Tell whether any task of this kind could go somewhere now."""
        return any(self.has_room(each, spec) for each in self.fitting(spec))

    def has_room(self, seats: Seats, spec: TaskSpec) -> bool:
        """Tell whether the seats have room for the task: a free slot, for interactive work also one
        for which tasks are only queued, for short tasks also a place in a row that is to be filled
        up."""
        if self._core.table.interactive(spec.task):
            return seats.active < seats.slots
        if seats.open:
            return True
        in_a_row = self._in_a_row(spec)
        return in_a_row > 0 and seats.fills_up(in_a_row)

    def short(self, spec: TaskSpec) -> bool:
        """Tell whether tasks like this one are claimed several at once."""
        return self._core.lengths.short(spec)

    def by_lot(self, spec: TaskSpec) -> bool:
        """Tell whether tasks like this one are drawn where there are plenty: short ones, and those
        of which nobody knows how long they take, be they long or short."""
        return self.short(spec) or not (self._core.lengths.known(spec) or seats_of(spec))

    def _candidates(self, spec: TaskSpec) -> list[Seats]:
        """Those that fit, without those that have had their chance."""
        fitting = self.fitting(spec)
        life = self._core.table.lives.get(spec.task)
        failed = failed_on(life) if life is not None else ()
        if failed:
            fitting = [each for each in fitting if each.node not in failed] or fitting
        passed = self._passed.get(spec.task)
        return [each for each in fitting if each.node not in passed] if passed else fitting

    def _is_passed(self, task: TaskId, node: NodeId) -> bool:
        return node in self._passed.get(task, ())

    def _willing(self, seats: Seats, task: TaskId) -> bool:
        """Its owner lets it take this task; some take only what was submitted there, or by some."""
        if not seats.willing or not (seats.own_only or seats.people or seats.bans):
            return seats.willing
        if whose_is(self._core, task)[0] == seats.node:
            return True
        banned = banned_in(self._core, seats.bans, task)
        return not (banned or seats.own_only) and helps_with(self._core, seats.people, task)


def whose_is(core: Core, task: TaskId) -> tuple[NodeId, str]:
    """Return where a task of the table was submitted by its own person, and as whose."""
    spec = _workflow_of(core, task)
    return core.own.home_of(spec), spec.submitter


def helps_with(core: Core, people: tuple[str, ...], task: TaskId) -> bool:
    """Tell whether an owner who has named these people helps whoever submitted a task of the table: by
    name, or by another machine of his."""
    if not people:  # as nearly everywhere, and this is asked of each task
        return True
    spec = _workflow_of(core, task)
    return helps(people, spec.submitter, *others_of_person(core, spec.host))


def others_of_person(core: Core, home: NodeId) -> list[str]:
    """Return the other machines of the person for whom one speaks, by their ids and by what they are
    called."""
    others = core.checking.trust.people.others(home)
    return [name for each in others for name in (each, core.name_of(each))]


def banned_in(core: Core, bans: tuple[str, ...], task: TaskId) -> str:
    """Return the first of an owner's banned names (of a person, machine or program) that applies to
    a task of the table; empty where none does."""
    if not bans:
        return ""
    spec = _workflow_of(core, task)
    program = core.table.specs[task].program
    names = (spec.submitter, spec.host, core.name_of(spec.host), program.partition("@")[0])
    return banned(bans, (*names, *others_of_person(core, spec.host)))


def banned(bans: tuple[str, ...], names: Iterable[str]) -> str:
    """Return the first of these names that is banned, as it was banned; empty where none is. Small
    and capital letters are the same. A person's name is not proven by anything."""
    called = set(map(str.casefold, names))
    return next((each for each in bans if each.casefold() in called), "")


def _workflow_of(core: Core, task: TaskId) -> WorkflowSpec:
    return core.table.workflows[core.table.workflow_of[task]].spec


def helps(people: tuple[str, ...], *person: str) -> bool:
    """Tell whether an owner who has named these people helps one who has these names; one who has named
    nobody helps everybody. Small and capital letters are the same."""
    return not people or not set(map(str.casefold, person)).isdisjoint(map(str.casefold, people))


def made_by(table: Table, task: TaskId) -> list[NodeId]:
    """Return who ended what the task needs: its inputs are there, and it is the first to know."""
    readings = [table.reading(producer) for producer in table.producers[task]]
    return [each.outcome.host for each in readings if each is not None and each.outcome]


EXTRA = "wingbeat["
"""How a tag begins that is what pip installs beside Wingbeat."""


def misfit(spec: TaskSpec, capabilities: Capabilities) -> Reason | None:
    """Return the first reason why a node with these capabilities cannot run the task, naming no
    host; None when it can. Whether its owner allows it is not asked, but for published programs."""
    needs, has = spec.requirements, capabilities
    missing = next((tag for tag in needs.tags if tag not in has.tags), None)
    if (unable := _program_misfit(spec, has)) is not None:
        return unable
    if needs.system and needs.system != has.system:
        return OtherSystem(has.system, needs.system)
    if needs.architecture and needs.architecture != has.architecture:
        return OtherArchitecture(has.architecture, needs.architecture)
    for kind, needed, given in (
        (TooLittleMemory, needs.memory_mb, has.memory_mb),
        (TooLittleDisk, needs.disk_mb, has.disk_mb),
        (TooFewCores, needs.cores, has.cores),
    ):
        if needed > given:
            return kind(given, needed)
    if (older := _version_misfit(spec, has)) is not None:
        return older
    if missing is None:
        return None
    return LacksExtra(missing) if missing.startswith(EXTRA) else LacksTag(missing)


def _program_misfit(spec: TaskSpec, has: Capabilities) -> Reason | None:
    """Why its program cannot be run, whatever the machine is like."""
    here = spec.program in has.programs
    if not here and spec.published is None:
        return LacksProgram(spec.program)
    if not here and spec.program in has.refused:
        return OwnerRefuses(spec.program)
    if not here and not has.takes_published:
        return NotAccepted(spec.program)
    for each in has.withheld:
        if each.program == spec.program and each.kind in get_args(WithheldKind):
            return Withholds(cast("WithheldKind", each.kind), each.program, each.name)
    return None


def _version_misfit(spec: TaskSpec, has: Capabilities) -> Reason | None:
    """Why the programs that it needs are not there as it needs them."""
    needed = versions_of(spec)
    versions = dict.fromkeys(has.programs, "") if needed else {}
    versions |= {each.program: each.version for each in has.versions} if needed else {}
    for need in needed:
        if not version_meets(need, versions):
            return OtherVersion(need, versions.get(parted(need)[0], ""))
    return None


def failed_on(life: Life) -> list[NodeId]:
    """Return the hosts on which the task has failed in its present generation, once for each
    failure."""
    generation = effective_generation(life)
    return [
        run.host
        for run in life.runs
        if run.generation == generation and isinstance(run.phase, Failed)
    ]


def evictions(life: Life, host: NodeId) -> int:
    """Return how often the host gave the task back in its present generation."""
    generation = effective_generation(life)
    return sum(
        run.host == host and run.generation == generation and isinstance(run.phase, Evicted)
        for run in life.runs
    )
