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
from msgspec import Meta, Raw, Struct, structs

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


class TaskPriority(Struct, frozen=True, array_like=True, gc=False):
    """A register of the same kind for one task alone (``priorities``)."""

    task: TaskId
    wish: PriorityWish


class Workflow(Struct, frozen=True, array_like=True, gc=False):
    """A workflow as replicated: its spec, and what people wished for it since.

    ``generation`` is the highest retry of any of its tasks; it decides whether a pruning of an
    earlier generation still hides the workflow. ``tasks`` are those that were given a priority of
    their own later, sorted.
    """

    spec: WorkflowSpec
    priority: PriorityWish
    generation: Generation = 1
    tasks: tuple[TaskPriority, ...] = ()


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


OUTPUT_NAMES, OUTPUT_NAMES_MAX = "names", 200
_names = msgspec.msgpack.Decoder(tuple[ShortText, ...]).decode


def with_output_names(run: Run, names: tuple[str, ...]) -> Run:
    """Return the run with what its program calls its outputs, in their order; of more than
    ``OUTPUT_NAMES_MAX`` no name is kept, nor where none has any."""
    if not any(names) or len(names) > OUTPUT_NAMES_MAX:
        return run
    told = Raw(_content(tuple(map(short_text, names))))
    return structs.replace(run, more={**run.more, OUTPUT_NAMES: told})


def output_names(run: Run) -> tuple[str, ...]:
    """Return what the program of a run calls its outputs, in their order, empty for one that has no
    name; nothing at all where the record does not say."""
    try:
        return _names(run.more[OUTPUT_NAMES])
    except (KeyError, msgspec.MsgspecError):
        return ()


class Life(Struct, frozen=True, array_like=True, gc=False):
    """What happened to a task. Any part of a life is a life: news travels as small parts.

    ``generation`` counts the retries of people, from 1; ``floor`` is the least generation whose
    outcome counts (outputs of older ones are lost); ``cancel`` is the generation that somebody
    wished cancelled. ``runs`` are sorted by name.
    """

    generation: Generation = 1
    floor: Generation = 0
    cancel: Generation = 0
    runs: tuple[Run, ...] = ()


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
    if runs is mine.runs and (generation, floor, cancel) == (
        mine.generation,
        mine.floor,
        mine.cancel,
    ):
        return mine
    return Life(generation, floor, cancel, runs)


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


def join_workflows(mine: Workflow, theirs: Workflow) -> Workflow:
    """Return the workflow with the maximum of the wishes and, of two submissions under one name,
    the earlier; ``mine`` itself when ``theirs`` adds nothing. What is in a submission is never
    mixed."""
    spec = _join_specs(mine.spec, theirs.spec)
    priority = join_priorities(mine.priority, theirs.priority)
    generation = max(mine.generation, theirs.generation)
    tasks = _join_task_priorities(mine.tasks, theirs.tasks)
    same = spec is mine.spec and priority is mine.priority and tasks is mine.tasks
    if same and generation == mine.generation:
        return mine
    return Workflow(spec, priority, generation, tasks)


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
    my_rank = (mine.submitted, mine.host)
    their_rank = (theirs.submitted, theirs.host)
    if my_rank != their_rank:
        return mine if my_rank < their_rank else theirs
    return mine if _content(mine) <= _content(theirs) else theirs


def join_priorities(mine: PriorityWish, theirs: PriorityWish) -> PriorityWish:
    """Return the wish with the higher (revision, host, value)."""
    my_rank = (mine.revision, mine.host, mine.value)
    return mine if my_rank >= (theirs.revision, theirs.host, theirs.value) else theirs


def join_prunings(mine: Pruning, theirs: Pruning) -> Pruning:
    """Return, of two prunings of one workflow, that of the higher generation; of equal ones the
    later, which is kept longer."""
    my_rank = (mine.generation, mine.stamp)
    return mine if my_rank >= (theirs.generation, theirs.stamp) else theirs


def let_go(life: Life) -> Life:
    """Return the life by itself: what ``more`` carries would keep the whole message that it came in."""
    if not any(run.more for run in life.runs):
        return life
    runs = tuple(structs.replace(run, more=_copied(run.more)) for run in life.runs)
    return structs.replace(life, runs=runs)


def lightened(workflow: Workflow) -> Workflow:
    """Return the workflow by itself, as ``let_go`` has a life."""
    spec = workflow.spec
    if not spec.more:
        return workflow
    return structs.replace(workflow, spec=structs.replace(spec, more=_copied(spec.more)))


def _copied(more: More) -> More:
    return {key: raw.copy() for key, raw in more.items()}
