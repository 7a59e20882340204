"""What a node wants done, in the order in which it must be done.

A ``Persist`` comes before everything that depends on it. When it cannot be done, the host
carries out none of the effects behind it in the same list and tells the node ``PersistFailed``.

**Overtaking.** Words about claims need not wait for the disk. A claim, a consent and a release rely
on no record. Promises are not kept on disk, for a node that starts anew claims nothing until it has
met the others again, and a claim becomes a run only when the winner has it on disk. What a peer
must have on disk before it says so (that a workflow is stored, that a run moved) waits as ever. So
these words go ahead of records that are merely being learned, or every dispatch would wait for the
slowest disk of the flock; and a node whose task has just ended claims the next one while the record
of that end is still being written.

What a word about claims says of a task's life is a record like any other, and may be one that is
still being written: such a word waits. Those that say nothing of the kind overtake news of runs,
and the like, that is to be told to the same peer: whoever hears of a claim before it hears what
made the task ready promises the task all the same. They do not overtake the workflow, for a peer
should know what is claimed, nor each other, nor anything else. Only the receipt for a workflow may
arrive later than any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated

from msgspec import Meta, Struct

from agent.protocol.capabilities import WakeAddress
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import (
    ClaimAnswers,
    Heartbeat,
    Holdings,
    Message,
    Progress,
    Release,
    State,
    Stored,
    TryDequeue,
)
from agent.protocol.phrases import Phrase
from agent.protocol.records import (
    NO_LIFE,
    Dataset,
    DatasetId,
    NodeId,
    Pruning,
    RequestId,
    RunName,
    ShortText,
    Stamp,
    TaskId,
    TaskLife,
    TaskSpec,
    TaskState,
    Workflow,
    WorkflowId,
)

CLAIM_WORDS = (TryDequeue, ClaimAnswers, Release)
BEHIND = (State, Progress, Holdings, Heartbeat, Stored)
"""What they do not wait for."""


class PolicyChoice(Struct, frozen=True, array_like=True):
    """By which rules an administrator wants the flock to go, since when; no name is the default."""

    name: Annotated[str, Meta(max_length=64)] = ""
    stamp: Stamp = (0, 0)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a node must remember of itself beyond its records. ``notes``: what was submitted here is
    noted beside it, as versions before did not."""

    incarnation: int
    reputation: int
    stamp: Stamp
    notes: bool = False
    chosen: PolicyChoice = field(default_factory=PolicyChoice)


class Persist(Struct, frozen=True):
    """Put on disk: whole records, each replacing the one of the same id. ``noted`` and ``unnoted``
    are workflows that were submitted here, and count as that no more; nobody else is told."""

    identity: Identity
    workflows: tuple[Workflow, ...] = ()
    lives: tuple[TaskLife, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    forgotten_workflows: tuple[WorkflowId, ...] = ()
    forgotten_tasks: tuple[TaskId, ...] = ()
    forgotten_prunings: tuple[WorkflowId, ...] = ()
    noted: tuple[WorkflowId, ...] = ()
    unnoted: tuple[WorkflowId, ...] = ()


class Send(Struct, frozen=True):
    """Send one message to each of these linked peers."""

    peers: tuple[NodeId, ...]
    message: Message


@dataclass(frozen=True, slots=True)
class Unlink:
    """Close the link to a peer; it may be linked again."""

    peer: NodeId
    why: NoLink


@dataclass(frozen=True, slots=True)
class OfRun:
    """About one run of this node."""

    task: TaskId
    run: RunName


@dataclass(frozen=True, slots=True)
class Fetch(OfRun):
    """Bring these inputs here, each from any of its holders: InputsFetched or FetchFailed."""

    inputs: tuple[tuple[DatasetId, tuple[NodeId, ...]], ...]


@dataclass(frozen=True, slots=True)
class StartChild(OfRun):
    """Start the program: ChildStarted, then one of ChildSucceeded, ChildFailed.

    ``checkpoint`` is what an earlier attempt has saved and is on this disk; empty: there is none.
    ``workflow`` is what people call it.
    """

    spec: TaskSpec
    inputs: tuple[DatasetId, ...]
    checkpoint: DatasetId = ""
    workflow: ShortText = ""
    interactive: bool = False


@dataclass(frozen=True, slots=True)
class SuspendChild(OfRun):
    """Stop the program's processes where they are, at once."""


@dataclass(frozen=True, slots=True)
class ResumeChild(OfRun):
    """Let the suspended processes of the program go on."""


@dataclass(frozen=True, slots=True)
class StopChild(OfRun):
    """End fetching, program and processes of a run: ChildStopped when nothing is left."""

    reason: str


@dataclass(frozen=True, slots=True)
class CopyOutputs(OfRun):
    """Put outputs on the disks of peers until ``copies`` hold them: OutputsCopied."""

    outputs: tuple[Dataset, ...]
    peers: tuple[NodeId, ...]
    copies: int


@dataclass(frozen=True, slots=True)
class CopyCheckpoint(OfRun):
    """Put a checkpoint on the disk of one of these peers, the first that can. Nobody waits."""

    checkpoint: Dataset
    peers: tuple[NodeId, ...]


class Verdict(Enum):
    """What became of a client's request."""

    ACCEPTED = "accepted"
    ALREADY_KNOWN = "already known"
    DONE = "done"
    CANCELLING = "cancelling"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request. ``disks``: on how many disks the workflow is now; ``fault``: what
    is wrong with a submission, instead of a text; ``workflow``: which one it is, where it was
    submitted before by another request."""

    request: RequestId
    verdict: Verdict
    text: str = ""
    disks: int = 0
    fault: Phrase | None = None
    workflow: WorkflowId = ""


class TaskMoved(Struct, frozen=True):
    """Notice: a task is in another state, or has another owner, as seen from this node."""

    task: TaskId
    before: TaskState | None
    after: TaskState
    cause: str


@dataclass(frozen=True, slots=True)
class TaskProgressed:
    """Notice: how far a running task is, by its own word. A hint, at most one a second a task."""

    task: TaskId
    host: NodeId
    permille: int
    left_ms: int


@dataclass(frozen=True, slots=True)
class OutcomeChanged:
    """Notice: another success counts now; two sides of a partition had both finished."""

    task: TaskId
    before: RunName
    after: RunName
    cause: str


@dataclass(frozen=True, slots=True)
class WorkflowSafe:
    """Notice: a workflow that was "here only" is on another disk too."""

    workflow: WorkflowId


@dataclass(frozen=True, slots=True)
class WorkflowGone:
    """Notice: a workflow left the table, because its time was over or somebody removed it. It comes
    with its records, which nobody can look up any more, and the machine that it was of
    (``own_work``)."""

    workflow: Workflow
    lives: tuple[TaskLife, ...]
    home: NodeId


@dataclass(frozen=True, slots=True)
class CancelFinished:
    """Notice: the owner of a cancelled task stopped, or is down."""

    task: TaskId


@dataclass(frozen=True, slots=True)
class Stopped:
    """Everything is handed back; the agent may exit."""


@dataclass(frozen=True, slots=True)
class WakeMachine:
    """Send what wakes a machine to these addresses, those of networks that this machine is on."""

    node: NodeId
    addresses: tuple[WakeAddress, ...]


@dataclass(frozen=True, slots=True)
class WasWoken:
    """This machine is awake because that peer has called it, for work."""

    by: NodeId


Effect = (
    Persist
    | Send
    | Unlink
    | Fetch
    | StartChild
    | SuspendChild
    | ResumeChild
    | StopChild
    | CopyOutputs
    | CopyCheckpoint
    | Answer
    | TaskMoved
    | TaskProgressed
    | OutcomeChanged
    | WorkflowSafe
    | WorkflowGone
    | CancelFinished
    | Stopped
    | WakeMachine
    | WasWoken
)


class Overtaking:
    """Knows what waits, and tells what may go ahead of it."""

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first: dict[NodeId, int] = {}
        """How many words wait for each peer that no other word to it may overtake."""

    def may_go_ahead(self, effect: Effect) -> bool:
        """Tell whether the effect may go ahead of the disk: it is a word about claims, says nothing
        of a life, and nothing that has to come first waits for its peers."""
        return (
            isinstance(effect, Send)
            and isinstance(effect.message, CLAIM_WORDS)
            and _tells_no_life(effect.message)
            and not any(peer in self._first for peer in effect.peers)
        )

    def hold(self, effect: Effect) -> None:
        """Count a message that waits for the disk, which words to its peers must not overtake; do
        nothing for other effects and for messages that may be overtaken (``BEHIND``)."""
        if isinstance(effect, Send) and not isinstance(effect.message, BEHIND):
            for peer in effect.peers:
                self._first[peer] = self._first.get(peer, 0) + 1

    def free(self, effect: Effect) -> None:
        """Count a message that waited as done with, sent or not, so that words to its peers may
        overtake again. Raise ``KeyError`` for one that was not held; effects that ``hold`` does not
        count are ignored."""
        if isinstance(effect, Send) and not isinstance(effect.message, BEHIND):
            for peer in effect.peers:
                left = self._first[peer] - 1
                if left:
                    self._first[peer] = left
                else:
                    del self._first[peer]


def _tells_no_life(message: Message) -> bool:
    """Nothing in it has to be on disk before it is said."""
    if isinstance(message, TryDequeue):
        return all(offer.life == NO_LIFE for offer in message.claims)
    return not (isinstance(message, ClaimAnswers) and message.known)


def parted(effects: list[Effect]) -> tuple[list[Effect], list[Effect]]:
    """Return the effects that need not wait for the disk, and the rest, each in their order."""
    ahead: list[Effect] = []
    behind: list[Effect] = []
    overtaking = Overtaking()
    for effect in effects:
        if overtaking.may_go_ahead(effect):
            ahead.append(effect)
        else:
            overtaking.hold(effect)
            behind.append(effect)
    return ahead, behind
