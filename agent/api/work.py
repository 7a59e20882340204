"""Workflows and tasks: what clients ask and are told of them.

A submission calls its tasks as its author does; the flock gives it, and each of them, an id, made of
who asks, of a key that the client draws for each click or command, and of what is asked for: a request
that is told twice is one. The name of a workflow is a label, and may repeat; where it stands for one,
the newest of that name is meant, of the asker's own where that is known.

Views of which a client keeps tens of thousands are hidden from the collector of cycles (``gc=False``).
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct, field

from agent.api.programs import PathText
from agent.api.reasons import no_why
from agent.api.rpc import Method
from agent.api.update import UpdateView
from agent.api.values import (
    Capabilities,
    Count,
    Dataset,
    Limits,
    LongText,
    Millis,
    NamedPriority,
    Page,
    Position,
    Priority,
    Reference,
    Requirements,
    SharedWith,
    ShortText,
    TaskState,
    WorkflowId,
    WorkflowState,
)
from agent.api.volunteering import OwnWork

TaskName = Annotated[str, Meta(min_length=1, max_length=128, pattern="^[^/]+$")]
"""What the author of a workflow calls a task; without a slash, which parts it from the workflow."""
ATTACHED_MAX = 100
AttachNames = Annotated[tuple[ShortText, ...], Meta(max_length=ATTACHED_MAX)]
Permille = Annotated[int, Meta(ge=0, le=1_000)]
PENDING = "pending:"
"""What the name of a dataset begins with that lies with the client until the submission."""


class Input(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The n-th output (from 0) of another task; of this workflow, if none is named."""

    task: TaskName
    output: Annotated[int, Meta(ge=0, le=9_999)] = 0
    workflow: Annotated[str, Meta(max_length=128)] = ""


class Task(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One execution of a program, or a gate: a step that a person does, told by ``asks``.

    ``raw`` are datasets given now, ``inputs`` outputs of other tasks, ``after`` tasks of this
    workflow that only have to be finished first. ``published`` is the folder of the program, where
    it comes with the workflow instead of being installed. ``attach`` names what a person may attach
    to a gate, in the order of its outputs. ``expected_s`` is 0 where nobody says how long it takes.
    ``priority`` is its own, in the place of the workflow's; what is for ``once`` never runs beside
    another run of itself, to be done sooner.
    """

    id: TaskName
    program: ShortText = ""
    inputs: tuple[Input, ...] = ()
    raw: tuple[Dataset, ...] = ()
    after: tuple[TaskName, ...] = ()
    parameters: LongText = ""
    requirements: Requirements = Requirements()
    expected_s: Annotated[float, Meta(ge=0, le=31_536_000)] = 0.0
    failures_max: Annotated[int, Meta(ge=1, le=100)] = 3
    gate: bool = False
    asks: ShortText = ""
    limits: Limits = Limits()
    published: Dataset | None = None
    attach: AttachNames = ()
    priority: NamedPriority | None = None
    once: bool = False


class Origin(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where the client read a workflow, on the machine that submitted it, and what its person said
    beside it: enough to read it again. ``start`` is where typed names of files begin; ``allowed`` is
    what may go along from elsewhere. The four behind ``name`` are of a program that came alone."""

    path: PathText
    start: Annotated[str, Meta(max_length=4_096)] = ""
    variables: dict[ShortText, LongText] = {}
    name: ShortText = ""
    files: Annotated[tuple[PathText, ...], Meta(max_length=1_000)] = ()
    each: bool = False
    times: int = 1
    parameters: LongText = ""
    allowed: Annotated[tuple[PathText, ...], Meta(max_length=1_000)] = ()


class Submit(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Have the flock run a workflow. What the same person has had run is answered, and not run
    twice, unless it is wanted ``again``; other contents under the same name are other work.

    ``key`` names the request, so that telling it twice does no harm; without one the node draws it.
    ``deliver`` is a folder of the machine that is asked, into which the last results go as they end.
    ``shared_with``: members, "operators", "everybody" or "nobody", who may act on it as its submitter
    does; who says nothing goes by the setting of the machine that is asked.
    """

    name: WorkflowId
    tasks: Annotated[tuple[Task, ...], Meta(min_length=1, max_length=100_000)]
    priority: NamedPriority = "low"
    submitter: ShortText = ""
    key: ShortText = ""
    again: bool = False
    origin: Origin | None = None
    deliver: Annotated[str, Meta(max_length=4_096)] = ""
    shared_with: SharedWith = ()


class Cancel(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Cancel tasks and all that depends on them; none named means the whole workflow."""

    workflow: Reference
    tasks: tuple[Reference, ...] = ()


class Retry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Try failed or cancelled tasks again; none named means all of the workflow."""

    workflow: Reference
    tasks: tuple[Reference, ...] = ()


class SetPriority(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Change the priority of a workflow, or of these tasks of it alone."""

    workflow: Reference
    priority: NamedPriority
    tasks: tuple[Reference, ...] = ()


class Gate(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A person has done the step that a gate asks for, and may attach datasets."""

    task: Reference
    outputs: tuple[Dataset, ...] = ()


class Wished(Struct, frozen=True):
    """The wish is kept. ``cancelling``: something still runs; an event tells when it stopped."""

    workflow: WorkflowId
    verdict: Literal["done", "cancelling"]
    text: str = ""
    name: str = ""


class Meant(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is meant by that word, if ``submitter`` says it: a workflow, or with ``task`` a task?"""

    reference: Reference
    task: bool = False
    submitter: ShortText = ""


class MeantReply(Struct, frozen=True):
    """The id of what is meant, and its workflow's name. ``why``: which of several of that name it is."""

    id: str
    name: str
    text: str = ""
    why: Raw = field(default_factory=no_why)


class Status(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is this node, and which workflows are there? The newest first, a page at a time."""

    first: Count = 0
    limit: Page = 200


class Basis(Struct, frozen=True, gc=False, omit_defaults=True):
    """On what a guess stands: lengths that somebody ``told``, so many earlier ``runs`` (the fewest of
    several), ``progress``; of one task, one of ten took ``low_ms``, nine of ten ``high_ms``."""

    told: bool = False
    runs: Count = 0
    progress: bool = False
    low_ms: Millis = 0
    high_ms: Millis = 0


class CurrentTask(Struct, frozen=True, gc=False):
    """A task that a machine has in hand, ``permille`` done as it says itself. ``left_ms`` and
    ``expected_end_ms`` are guesses, on this ``basis``; there are none without one."""

    task: str
    name: str
    workflow: WorkflowId
    program: str
    state: TaskState
    permille: Permille = 0
    left_ms: Millis = 0
    begun_ms: Millis = 0
    expected_end_ms: Millis = 0
    basis: Basis | None = None
    workflow_name: str = ""


class NodeView(Struct, frozen=True):
    """The node that answers; ``flock`` is empty while it belongs to none. Work that was submitted here
    may begin as ``own_work`` says; else it helps ``people``, but for ``bans``. It goes by ``rules``."""

    node: str
    name: str
    version: str
    flock: str = ""
    volunteering: bool = False
    reason: str = ""
    owner_present: bool = False
    slots: Count = 0
    running: Count = 0
    tasks: tuple[CurrentTask, ...] = ()
    capabilities: Capabilities = Capabilities()
    load_percent: Count = 0
    why: Raw = field(default_factory=no_why)
    own_work: OwnWork = "none"
    update: UpdateView | None = None
    people: tuple[ShortText, ...] = ()
    bans: tuple[ShortText, ...] = ()
    rules: ShortText = ""


class WorkflowView(Struct, frozen=True, gc=False):
    """A workflow as this node sees it; ``counts`` has the states that occur.

    ``permille`` is how much of its work is done, ``left_ms`` a guess of how long the rest takes, without
    what people do, and ``expected_end_ms`` of when it ends; 0 is none. ``basis`` is what they stand on.
    ``begun_ms``, ``ended_ms``: when the first of it began and the last of it ended. ``gates`` wait for a
    person; ``gone`` tasks are in hand of machines that are gone. Whose it is: ``submitter``, a person, on
    the machine ``host``, whose id is ``host_node``, empty from an agent of before. ``shared_with`` are
    names of machines, or "operators" or "everybody", whose people may act on it as well.
    """

    workflow: WorkflowId
    name: str
    state: WorkflowState
    priority: Priority
    submitter: str
    host: str
    submitted_ms: Millis
    tasks: Count
    counts: dict[TaskState, Count]
    permille: Permille = 0
    left_ms: Millis = 0
    expected_end_ms: Millis = 0
    ended_ms: Millis = 0
    gates: Count = 0
    host_node: str = ""
    begun_ms: Millis = 0
    basis: Basis | None = None
    gone: Count = 0
    shared_with: tuple[str, ...] = ()


class Submitted(Struct, frozen=True):
    """The workflow is kept on so many disks. One disk: an event tells when it is on another.

    ``known``: another request of the same person has had the same run, and nothing new was made;
    ``there`` is how that stands. ``waits`` says, a sentence each, which machines run none of its
    published programs yet. ``meant`` says which of several workflows of one name its inputs are from.
    """

    workflow: WorkflowId
    known: bool
    disks: Count
    text: str = ""
    waits: tuple[str, ...] = ()
    whys: tuple[Raw, ...] = ()
    there: WorkflowView | None = None
    meant: tuple[Raw, ...] = ()


class StatusReply(Struct, frozen=True):
    """This node and a page of the workflows. ``position`` is where to subscribe so that no event is
    missed and none seen twice."""

    node: NodeView
    workflows: tuple[WorkflowView, ...]
    total: Count
    position: Position


class Show(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The tasks of a workflow, in the order of its author, a page at a time."""

    workflow: Reference
    first: Count = 0
    limit: Page = 1_000


class TaskView(Struct, frozen=True, gc=False):
    """A task as this node sees it.

    ``host`` is the name of the machine that runs it or ran it, ``needs`` the ids of the tasks
    it waits for or waited for, ``changed_ms`` when the run last changed. ``permille`` and
    ``left_ms`` are what the program says of itself, or reckoned from the length ``expected_s``;
    ``basis`` is what both lengths stand on, and 0 is a length that nobody knows.
    ``attach`` names what a person may attach to a gate, in the order of its outputs, and
    ``output_names`` what a program calls its own, where that is known. ``gone_ms`` is since when the
    machine that has it in hand is gone, as far as this node knows; 0 while it is there.
    ``priority`` is the task's own, null where it is as urgent as its workflow. ``copies`` are machines
    on which a second run of it goes on.
    """

    task: str
    name: str
    workflow: WorkflowId
    program: str
    state: TaskState
    reason: str = ""
    host: str = ""
    attempt: Count = 0
    changed_ms: Millis = 0
    expected_s: float = 0.0
    gate: bool = False
    asks: str = ""
    needs: tuple[str, ...] = ()
    outputs: tuple[Dataset, ...] = ()
    mixed_inputs: bool = False
    permille: Permille = 0
    left_ms: Millis = 0
    begun_ms: Millis = 0
    ended_ms: Millis = 0
    expected_end_ms: Millis = 0
    host_node: str = ""
    generation: Count = 1
    attach: tuple[str, ...] = ()
    why: Raw = field(default_factory=no_why)
    basis: Basis | None = None
    gone_ms: Millis = 0
    output_names: tuple[str, ...] = ()
    kept: bool = False
    priority: Priority | None = None
    copies: tuple[str, ...] = ()


class ShowReply(Struct, frozen=True):
    """A workflow and a page of its tasks; ``workflow.tasks`` says how many there are in all."""

    workflow: WorkflowView
    tasks: tuple[TaskView, ...]
    first: Count
    position: Position


class Why(Struct, frozen=True, forbid_unknown_fields=True):
    """Why does a task wait, or why did it move?"""

    task: Reference


class Move(Struct, frozen=True):
    """What became of a task, when by the clock of the node that tells it, and what set it off."""

    at_ms: Millis
    what: str
    cause: str
    why: Raw = field(default_factory=no_why)
    by: Raw = field(default_factory=no_why)


class Story(Struct, frozen=True):
    """``now`` in a sentence, and what this node remembers of the way there, the oldest first.

    ``machines`` tells of each machine that is seen, while a task waits for one, whether it could
    run it, and why it does not.
    """

    task: TaskView
    now: str
    moves: tuple[Move, ...]
    machines: tuple[str, ...] = ()
    why: Raw = field(default_factory=no_why)
    whys: tuple[Raw, ...] = ()
    workflow_name: str = ""


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """What if this were submitted now?"""

    workflow: Submit


class Misfit(Struct, frozen=True):
    """A machine that cannot run a task, and why."""

    node: str
    name: str
    reason: str
    why: Raw = field(default_factory=no_why)


class TaskPlan(Struct, frozen=True):
    """Where a task could run; ``begins_s`` and ``ends_s`` from now on, as things are at present.

    ``begins`` and ``ends`` are what they stand on; nobody knows one without.
    """

    task: str
    fits: tuple[str, ...]
    misfits: tuple[Misfit, ...]
    begins_s: float
    ends_s: float
    begins: Basis | None = None
    ends: Basis | None = None


class PlanReply(Struct, frozen=True):
    """``known``: the same person has had the same run already, and it would not run twice; files and
    programs that are still to be added may make it the same, or another. ``namesake`` is the newest
    workflow of this name, of the same person where there is one.

    ``faults`` are what the node would refuse it for, a sentence each, and ``wrong`` the same as
    values, for whoever says them in another language; without any, the ends are an
    estimate from lengths as ``basis`` tells, the machines that help now, and what else is to be done.
    Without a basis nobody knows the end, and ``expected_end_ms`` is 0.
    ``missing`` says which programs nobody has described, so that lengths and outputs are guesses;
    ``waits`` which machines run none of its published programs yet.
    """

    known: bool
    faults: tuple[str, ...]
    tasks: tuple[TaskPlan, ...]
    helping: Count
    expected_end_ms: Millis
    missing: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    wrong: tuple[Raw, ...] = ()
    whys: tuple[Raw, ...] = ()
    basis: Basis | None = None
    namesake: WorkflowView | None = None


# -- what is asked, and what is answered ----------------------------------------------------------

SUBMIT = Method("submit", Submit, Submitted)
CANCEL = Method("cancel", Cancel, Wished, repeatable=False)
RETRY = Method("retry", Retry, Wished, repeatable=False)
PRIORITY = Method("priority", SetPriority, Wished)
GATE = Method("gate", Gate, Wished, repeatable=False)
STATUS = Method("status", Status, StatusReply)
SHOW = Method("show", Show, ShowReply)
MEANT = Method("meant", Meant, MeantReply)
WHY = Method("why", Why, Story)
PLAN = Method("plan", Plan, PlanReply)
