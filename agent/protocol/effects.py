"""What a node wants done, in the order in which it must be done.

A ``Persist`` comes before everything that depends on it. When it cannot be done, the host
carries out none of the effects behind it in the same list and tells the node ``PersistFailed``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from msgspec import Struct

from agent.protocol.messages import Message
from agent.protocol.phrases import Phrase
from agent.protocol.records import (
    Dataset,
    DatasetId,
    NodeId,
    Pruning,
    RequestId,
    RunName,
    Stamp,
    TaskId,
    TaskLife,
    TaskSpec,
    Workflow,
    WorkflowId,
)
from agent.protocol.states import TaskState


@dataclass(frozen=True, slots=True)
class Identity:
    """What a node must remember of itself beyond its records."""

    incarnation: int
    reputation: int
    stamp: Stamp


class Persist(Struct, frozen=True):
    """Put on disk: whole records, each replacing the one of the same id."""

    identity: Identity
    workflows: tuple[Workflow, ...] = ()
    lives: tuple[TaskLife, ...] = ()
    prunings: tuple[Pruning, ...] = ()
    forgotten_workflows: tuple[WorkflowId, ...] = ()
    forgotten_tasks: tuple[TaskId, ...] = ()
    forgotten_prunings: tuple[WorkflowId, ...] = ()


class Send(Struct, frozen=True):
    """Send one message to each of these linked peers."""

    peers: tuple[NodeId, ...]
    message: Message


@dataclass(frozen=True, slots=True)
class Unlink:
    """Close the link to a peer; it may be linked again."""

    peer: NodeId
    reason: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """Bring these inputs here, each from any of its holders: InputsFetched or FetchFailed."""

    task: TaskId
    run: RunName
    inputs: tuple[tuple[DatasetId, tuple[NodeId, ...]], ...]


@dataclass(frozen=True, slots=True)
class StartChild:
    """Start the program: ChildStarted, then one of ChildSucceeded, ChildFailed.

    ``checkpoint`` is what an earlier attempt has saved and is on this disk; empty: there is none.
    """

    task: TaskId
    run: RunName
    spec: TaskSpec
    inputs: tuple[DatasetId, ...]
    checkpoint: DatasetId = ""
    workflow: WorkflowId = ""
    interactive: bool = False


@dataclass(frozen=True, slots=True)
class SuspendChild:
    """Stop the program's processes where they are, at once."""

    task: TaskId
    run: RunName


@dataclass(frozen=True, slots=True)
class ResumeChild:
    """Let the suspended processes of the program go on."""

    task: TaskId
    run: RunName


@dataclass(frozen=True, slots=True)
class StopChild:
    """End fetching, program and processes of a run: ChildStopped when nothing is left."""

    task: TaskId
    run: RunName
    reason: str


@dataclass(frozen=True, slots=True)
class CopyOutputs:
    """Put outputs on the disks of peers until ``copies`` hold them: OutputsCopied."""

    task: TaskId
    run: RunName
    outputs: tuple[Dataset, ...]
    peers: tuple[NodeId, ...]
    copies: int


@dataclass(frozen=True, slots=True)
class CopyCheckpoint:
    """Put a checkpoint on the disk of one of these peers, the first that can. Nobody waits."""

    task: TaskId
    run: RunName
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
    is wrong with a submission, instead of a text."""

    request: RequestId
    verdict: Verdict
    text: str = ""
    disks: int = 0
    fault: Phrase | None = None


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
class CancelFinished:
    """Notice: the owner of a cancelled task stopped, or is down."""

    task: TaskId


@dataclass(frozen=True, slots=True)
class Stopped:
    """Everything is handed back; the agent may exit."""


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
    | CancelFinished
    | Stopped
)
