"""What the flock replicates: workflows, the lives of their tasks, and prunings.

Every record is a join: nobody revises what another wrote, so two versions always have one
merged version and the order in which news arrives does not matter (``reading`` says
what a merged record means). Records are frozen values; a change is a new value.

A later version of the program adds what it needs under ``more``, by name. Every version keeps
what it finds there and passes it on, so old and new nodes can share a flock.

Integers only: durations in milliseconds, progress in thousandths. A NaN has no order.

No record can refer back to itself, so Python's search for circles is spared all of them: a table
has hundreds of thousands.

**The join** of two versions of a record is commutative, associative, idempotent.
A run has one writer, so of two versions the one with the higher revision is newer; everything
else is a maximum. Two rules go beyond the revision, so that the join stays a join when a disk
comes back older than what its host had already said: ``Terminated`` absorbs (a success once
seen stays a success), and equal revisions with different content are ordered by their bytes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

NodeId = Annotated[str, Meta(min_length=1, max_length=64)]
TaskId = Annotated[str, Meta(min_length=1, max_length=64)]
WorkflowId = Annotated[str, Meta(min_length=1, max_length=128)]
DatasetId = Annotated[str, Meta(min_length=1, max_length=256)]
ShortText = Annotated[str, Meta(max_length=256)]
LongText = Annotated[str, Meta(max_length=65_536)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Size = Annotated[int, Meta(ge=0, le=2**60)]
Milliseconds = Annotated[int, Meta(ge=0, le=2**53)]
Incarnation = Annotated[int, Meta(ge=0, le=2**53)]
Generation = Annotated[int, Meta(ge=0, le=1_000_000)]
Stamp = tuple[Annotated[int, Meta(ge=0, le=2**62)], Annotated[int, Meta(ge=0, le=2**62)]]
"""A reading of the hybrid logical clock: wall milliseconds, then a counter."""

RequestId = str

More = dict[str, Raw]
FAR = "far"
SUBMITTED_FAR: More = {FAR: Raw(b"\xc3")}
"""Of a submission that came from another machine than the one that made it a record."""

SIGNED = "signed"
"""By which name runs and specs carry the proof of who wrote them."""

SHORT_TEXT_MAX = 256
COUNTER_SANE_MAX = 500_000
"""Generations, attempts and revisions beyond this come from no honest node. What is read may be
higher, so that what is written above the highest that was accepted can still be read."""
_content = msgspec.msgpack.Encoder().encode


def short_text(text: str) -> str:
    """Return a text that fits into a record and can be encoded, whatever it came from."""
    return text.encode("utf-8", "replace").decode("utf-8")[:SHORT_TEXT_MAX]


EXPECTED_MS = 60_000
"""The length by which work is shared out of which nobody says how long it takes. It is never shown."""
PRIORITY_LOW = 50
PRIORITY_INTERACTIVE = 100
Priority = Annotated[int, Meta(ge=0, le=PRIORITY_INTERACTIVE)]


class Proof(Struct, frozen=True, array_like=True, gc=False):
    """That a record is of whom it names (``signing``): the signature of a batch, and the way there.

    ``signer`` is empty, or who counter-signed what was written before the flock signed."""

    signature: Annotated[bytes, Meta(min_length=1, max_length=128)]
    place: Annotated[int, Meta(ge=0, lt=2**20)] = 0
    path: Annotated[bytes, Meta(max_length=20 * 20)] = b""
    signer: Annotated[str, Meta(max_length=64)] = ""


RETRY, FLOOR, CANCEL = range(3)


class Wish(Struct, frozen=True, array_like=True, gc=False):
    """Who wished a number of a life to be so high: the generation, the floor, or the cancel. Kinds
    of later versions are kept and passed on."""

    kind: Annotated[int, Meta(ge=0, le=7)]
    value: Generation
    by: NodeId
    proof: Proof | None = None


class Dataset(Struct, frozen=True, array_like=True, gc=False):
    """An output or raw input. ``external`` ones live in somebody's database: always there."""

    dataset: DatasetId
    size_bytes: Size = 0
    external: bool = False


class InputRef(Struct, frozen=True, array_like=True, gc=False):
    """The n-th output (from 0) of another task, of this workflow or of another one."""

    task: TaskId
    output: Annotated[int, Meta(ge=0, le=9_999)]


class Requirements(Struct, frozen=True, array_like=True, gc=False):
    """What a node must have to run the task; empty and zero mean: anything."""

    system: ShortText = ""
    architecture: ShortText = ""
    memory_mb: Count = 0
    disk_mb: Count = 0
    cores: Count = 0
    tags: tuple[ShortText, ...] = ()


class Limits(Struct, frozen=True, array_like=True, gc=False):
    """What one run may take; zero means: what the program or the machine allows.

    ``silent_s`` is how long it may neither progress nor print anything.
    """

    memory_mb: Count = 0
    disk_mb: Count = 0
    wall_s: Count = 0
    silent_s: Count = 0


class TaskSpec(Struct, frozen=True, array_like=True, gc=False):
    """One execution of a program, or a gate: a step that a person does. Immutable.

    ``raw`` are datasets given at submission, ``inputs`` outputs of other tasks, ``after`` tasks
    that only have to be finished first. A gate's program is empty and ``asks`` says what the
    person is to do. ``published`` is the folder of a program that came with the submission.
    """

    task: TaskId
    name: ShortText
    program: ShortText
    inputs: tuple[InputRef, ...] = ()
    raw: tuple[Dataset, ...] = ()
    after: tuple[TaskId, ...] = ()
    parameters: LongText = ""
    requirements: Requirements = Requirements()
    expected_ms: Milliseconds = EXPECTED_MS
    failures_max: Annotated[int, Meta(ge=1, le=100)] = 3
    gate: bool = False
    asks: ShortText = ""
    more: More = {}
    limits: Limits = Limits()
    published: Dataset | None = None


class WorkflowSpec(Struct, frozen=True, array_like=True, gc=False):
    """All tasks and gates of one submission, named by the client that submits it.

    ``more`` has ``far`` where that client is on another machine than ``host``.
    """

    workflow: WorkflowId
    name: ShortText
    submitted: Stamp
    host: NodeId
    submitter: ShortText
    tasks: Annotated[tuple[TaskSpec, ...], Meta(min_length=1, max_length=100_000)]
    more: More = {}

    @property
    def home(self) -> NodeId:
        """The node that it was submitted on by whoever sits there; empty where that was done from
        another machine."""
        return "" if FAR in self.more else self.host


class PriorityWish(Struct, frozen=True, array_like=True, gc=False):
    """A register: the highest revision holds, then the higher host, then the higher value."""

    revision: Generation
    host: NodeId
    value: Priority
    proof: Proof | None = None


class TaskPriority(Struct, frozen=True, array_like=True, gc=False):
    """A register of the same kind for one task alone (``priorities``)."""

    task: TaskId
    wish: PriorityWish


class Workflow(Struct, frozen=True, array_like=True, gc=False):
    """A workflow as replicated: its spec, and what people wished for it since.

    ``generation`` is the highest retry of any of its tasks; it decides whether a pruning of an
    earlier generation still hides the workflow; ``retried`` tells who wished it. ``tasks`` are those
    that were given a priority of their own later, sorted.
    """

    spec: WorkflowSpec
    priority: PriorityWish
    generation: Generation = 1
    tasks: tuple[TaskPriority, ...] = ()
    retried: Wish | None = None


class Claim(Struct, frozen=True, array_like=True, gc=False):
    """A claim on a task. The better of two: higher score, then older stamp, then lower host."""

    score: Annotated[int, Meta(ge=0, le=1_000_000)]
    stamp: Stamp
    host: NodeId


ClaimRank = tuple[int, Stamp, str]


def claim_rank(claim: Claim) -> ClaimRank:
    """Return the key that sorts claims, the best first."""
    return (-claim.score, claim.stamp, claim.host)


class Scheduled(Struct, frozen=True, array_like=True, gc=False, tag="S"):
    """The claim is won; inputs are being fetched."""


class Running(Struct, frozen=True, array_like=True, gc=False, tag="R"):
    """The program was started."""


class Suspended(Struct, frozen=True, array_like=True, gc=False, tag="U"):
    """The owner of the machine is back. ``offered``: another node may start the task anew."""

    offered: bool = False


class Terminated(Struct, frozen=True, array_like=True, gc=False, tag="T"):
    """The program succeeded. ``holders`` had a copy of the outputs when it was written."""

    outputs: tuple[Dataset, ...] = ()
    holders: tuple[NodeId, ...] = ()


class Failed(Struct, frozen=True, array_like=True, gc=False, tag="F"):
    """The program itself failed; the only end that counts against the task."""

    error: ShortText = ""


class Evicted(Struct, frozen=True, array_like=True, gc=False, tag="E"):
    """The node gave the task back: it shuts down, or could not get or keep what it needs."""

    reason: ShortText = ""


class Yielded(Struct, frozen=True, array_like=True, gc=False, tag="Y"):
    """The run was not read off any more: cancelled, superseded, or decided elsewhere."""

    reason: ShortText = ""


class Lost(Struct, frozen=True, array_like=True, gc=False, tag="L"):
    """The agent died under the run. ``ran``: the program had been started (see poison)."""

    ran: bool = True


Phase = Scheduled | Running | Suspended | Terminated | Failed | Evicted | Yielded | Lost
LIVE_PHASES = (Scheduled, Running, Suspended)


class Run(Struct, frozen=True, array_like=True, gc=False):
    """One attempt at a task, named (generation, attempt, host, incarnation).

    Only that incarnation of that host writes it (its successor may end it as ``Lost``). Claim
    and first expected length are fixed when it begins, so ties between runs never move.
    ``stamp`` tells people when this revision was written; nothing is ordered by it.
    ``checkpoint`` is the newest state that its program has saved for a later attempt.
    """

    generation: Generation
    attempt: Generation
    host: NodeId
    incarnation: Incarnation
    claim: Claim
    expected_ms: Milliseconds
    inputs: tuple[DatasetId, ...] = ()
    revision: Generation = 1
    phase: Phase = Scheduled()
    stamp: Stamp = (0, 0)
    more: More = {}
    checkpoint: Dataset | None = None

    @property
    def live(self) -> bool:
        """Whether the run has not ended, as far as its record tells."""
        return isinstance(self.phase, LIVE_PHASES)


RunName = tuple[int, int, str, int]


def run_name(run: Run) -> RunName:
    """Return the name of a run within its task."""
    return (run.generation, run.attempt, run.host, run.incarnation)


class Life(Struct, frozen=True, array_like=True, gc=False):
    """What happened to a task. Any part of a life is a life: news travels as small parts.

    ``generation`` counts the retries of people, from 1; ``floor`` is the least generation whose
    outcome counts (outputs of older ones are lost); ``cancel`` is the generation that somebody
    wished cancelled. ``runs`` are sorted by name. ``wishes`` tell who wished those numbers, of each
    kind the highest.
    """

    generation: Generation = 1
    floor: Generation = 0
    cancel: Generation = 0
    runs: tuple[Run, ...] = ()
    wishes: Annotated[tuple[Wish, ...], Meta(max_length=8)] = ()


NO_LIFE = Life()


class TaskLife(Struct, frozen=True, array_like=True, gc=False):
    """A life, or a part of one, with the task it belongs to."""

    task: TaskId
    life: Life


class Pruning(Struct, frozen=True, array_like=True, gc=False):
    """Hides all records of the workflow up to this generation; kept for 400 days."""

    workflow: WorkflowId
    generation: Generation
    stamp: Stamp
    by: Annotated[str, Meta(max_length=64)] = ""
    proof: Proof | None = None


class TaskState(StrEnum):
    """What people see of a task or gate; read off its life and those of its producers."""

    SUBMITTED = "Submitted"
    READY = "Ready"
    WAITING = "Waiting"
    SCHEDULED = "Scheduled"
    RUNNING = "Running"
    SUSPENDED = "Suspended"
    TERMINATED = "Terminated"
    CANCELLED = "Cancelled"
    ABORTED = "Aborted"

    __hash__ = object.__hash__
    """Each is there once. The hash of ``Enum`` is reckoned anew at every look into a dictionary."""


ENDED = (TaskState.TERMINATED, TaskState.CANCELLED, TaskState.ABORTED)


def join_runs(mine: Run, theirs: Run) -> Run:
    """Return the newer of two versions of one run: one that terminated rather than one that did
    not, else that of the higher revision, else that of the greater bytes."""
    if mine is theirs:
        return mine
    my_rank = (isinstance(mine.phase, Terminated), mine.revision)
    their_rank = (isinstance(theirs.phase, Terminated), theirs.revision)
    if my_rank != their_rank:
        return mine if my_rank > their_rank else theirs
    return mine if _content(mine) >= _content(theirs) else theirs


def join_lives(mine: Life, theirs: Life) -> Life:
    """Return the union of the runs, of each the newer version, and the maximum of everything else;
    ``mine`` itself when ``theirs`` adds nothing, so that callers can see it cheaply."""
    runs = _join_run_sets(mine.runs, theirs.runs)
    generation = max(mine.generation, theirs.generation)
    floor = max(mine.floor, theirs.floor)
    cancel = max(mine.cancel, theirs.cancel)
    wishes = _join_wishes(mine.wishes, theirs.wishes)
    unmoved = runs is mine.runs and wishes == mine.wishes
    if unmoved and (generation, floor, cancel) == (mine.generation, mine.floor, mine.cancel):
        return mine
    return Life(generation, floor, cancel, runs, wishes)


def _join_wishes(mine: tuple[Wish, ...], theirs: tuple[Wish, ...]) -> tuple[Wish, ...]:
    """Of each kind the highest; the sorted bytes decide between two of one height."""
    if not theirs or mine is theirs:
        return mine
    joined: dict[int, Wish] = {}
    for wish in (*mine, *theirs):
        joined[wish.kind] = join_wishes(joined.get(wish.kind, wish), wish)
    return tuple(joined[kind] for kind in sorted(joined))


def join_wishes(mine: Wish, theirs: Wish) -> Wish:
    """Return the wish with the higher (value, author, proof)."""
    return mine if _wish_rank(mine) >= _wish_rank(theirs) else theirs


def _wish_rank(wish: Wish) -> tuple[int, str, int, bytes]:
    return (wish.value, wish.by, wish.kind, _content(wish.proof))


def _join_run_sets(mine: tuple[Run, ...], theirs: tuple[Run, ...]) -> tuple[Run, ...]:
    if not mine and len(theirs) == 1:  # nearly always: the first that is heard of a task
        return theirs
    joined: dict[RunName, Run] = {run_name(run): run for run in mine}
    changed = False
    for run in theirs:
        name = run_name(run)
        known = joined.get(name)
        newer = run if known is None else join_runs(known, run)
        if newer is not known:
            joined[name] = newer
            changed = True
    if not changed:
        return mine
    return tuple(joined[name] for name in sorted(joined))


def without_runs(life: Life, names: set[RunName]) -> Life:
    """Return the life without the runs of these names; itself where it has none of them."""
    runs = tuple(run for run in life.runs if run_name(run) not in names)
    return life if len(runs) == len(life.runs) else msgspec.structs.replace(life, runs=runs)


def join_workflows(mine: Workflow, theirs: Workflow) -> Workflow:
    """Return the workflow with the maximum of the wishes and, of two submissions under one name,
    the earlier; ``mine`` itself when ``theirs`` adds nothing. What is in a submission is never
    mixed."""
    spec = _join_specs(mine.spec, theirs.spec)
    priority = join_priorities(mine.priority, theirs.priority)
    generation = max(mine.generation, theirs.generation)
    tasks = _join_task_priorities(mine.tasks, theirs.tasks)
    wishes = [each for each in (mine.retried, theirs.retried) if each is not None]
    retried = join_wishes(wishes[0], wishes[-1]) if wishes else None
    same = spec is mine.spec and priority is mine.priority and tasks is mine.tasks
    if same and retried == mine.retried and generation == mine.generation:
        return mine
    return Workflow(spec, priority, generation, tasks, retried)


def _join_task_priorities(
    mine: tuple[TaskPriority, ...], theirs: tuple[TaskPriority, ...]
) -> tuple[TaskPriority, ...]:
    if not theirs or mine == theirs:
        return mine
    joined = {each.task: each.wish for each in mine}
    for each in theirs:
        known = joined.get(each.task)
        joined[each.task] = each.wish if known is None else join_priorities(known, each.wish)
    told = tuple(TaskPriority(task, joined[task]) for task in sorted(joined))
    return mine if told == mine else told


def _join_specs(mine: WorkflowSpec, theirs: WorkflowSpec) -> WorkflowSpec:
    if mine is theirs:
        return mine
    my_rank = (mine.submitted, mine.host, SIGNED not in mine.more)
    their_rank = (theirs.submitted, theirs.host, SIGNED not in theirs.more)
    if my_rank != their_rank:
        return mine if my_rank < their_rank else theirs
    return mine if _content(mine) <= _content(theirs) else theirs


def join_priorities(mine: PriorityWish, theirs: PriorityWish) -> PriorityWish:
    """Return the wish with the higher (revision, host, value); of equal ones that with the greater
    proof."""
    mine_first = _priority_rank(mine) >= _priority_rank(theirs)
    return mine if mine_first else theirs


def _priority_rank(wish: PriorityWish) -> tuple[int, str, int, bytes]:
    return (wish.revision, wish.host, wish.value, _content(wish.proof))


def join_prunings(mine: Pruning, theirs: Pruning) -> Pruning:
    """Return, of two prunings of one workflow, that of the higher generation; of equal ones the
    later, which is kept longer."""
    mine_first = _pruning_rank(mine) >= _pruning_rank(theirs)
    return mine if mine_first else theirs


def _pruning_rank(pruning: Pruning) -> tuple[int, Stamp, str, bytes]:
    return (pruning.generation, pruning.stamp, pruning.by, _content(pruning.proof))
