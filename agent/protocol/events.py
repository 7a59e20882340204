"""What a node is told. Times come with ``Node.handle``; everything else is in the event."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct

from agent.protocol.effects import Effect, OfRun, Persist
from agent.protocol.likeness import PastRun
from agent.protocol.messages import Capabilities, Message
from agent.protocol.reasons import NO_REASON, Reason
from agent.protocol.records import (
    Dataset,
    DatasetId,
    More,
    NodeId,
    Priority,
    RequestId,
    ShortText,
    TaskId,
    TaskSpec,
    WorkflowId,
)
from agent.protocol.signing import Trust
from agent.protocol.times import Took


@dataclass(frozen=True, slots=True)
class Started:
    """The agent runs. First event of an incarnation; the journal came with the constructor."""


@dataclass(frozen=True, slots=True)
class PeerLinked:
    """A link to an authenticated peer stands, as far as this side can tell."""

    peer: NodeId


@dataclass(frozen=True, slots=True)
class PeerUnlinked:
    """The link is gone. ``reset``: the other side said so; else it was found broken here."""

    peer: NodeId
    reset: bool = True


class Received(Struct, frozen=True):
    """A message arrived on the link of a peer."""

    peer: NodeId
    message: Message


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that was to be sent to a linked peer was dropped: its queue was full."""

    peer: NodeId


@dataclass(frozen=True, slots=True)
class Due:
    """``next_deadline`` has come. Waiting messages are handed in before this."""


@dataclass(frozen=True, slots=True)
class PersistFailed:
    """The disk refused a ``Persist``; ``dropped`` followed it and was not carried out."""

    refused: Persist
    dropped: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class DiskUsable:
    """The disk takes records again."""


@dataclass(frozen=True, slots=True)
class PresenceChanged:
    """May this machine help now? ``owner_present`` suspends what runs for others.

    ``own_only``: it helps only with what was submitted here. ``lets_end_ms``: what expects to end
    within this time after the owner has come is let end. ``paused``: nothing begins, not even
    what was submitted here and somebody waits for; nor is that spared when others give way.
    ``people``: it helps only these by name, besides with what was submitted here; none is everybody.
    ``lasts``: how likely it stays free (``policy.lasting``), empty where that is not known.
    ``stays``: who is back mostly stays for longer than a run is kept for him to leave again.
    ``bans``: it takes no work of these people and machines, and runs none of these programs for others.
    """

    volunteering: bool
    owner_present: bool
    reason: Reason = NO_REASON
    load_percent: int = 0
    own_only: bool = False
    lets_end_ms: int = 0
    paused: bool = False
    people: tuple[str, ...] = ()
    lasts: tuple[int, ...] = ()
    stays: bool = False
    bans: tuple[str, ...] = ()

    @property
    def willing(self) -> bool:
        """Whether work may begin here, be it only what was submitted here."""
        return self.volunteering and not self.owner_present

    @property
    def helps(self) -> bool:
        """Whether work of others may begin here."""
        return self.willing and not self.own_only


@dataclass(frozen=True, slots=True)
class CapabilitiesChanged:
    """The machine or its programs changed."""

    capabilities: Capabilities


@dataclass(frozen=True, slots=True)
class MembersChanged:
    """Who belongs to the flock. Who does not any more is not waited for and not believed. ``trust``
    tells whose word counts for what, None that this is as before."""

    members: tuple[NodeId, ...]
    trust: Trust | None = None


@dataclass(frozen=True, slots=True)
class PolicyChosen:
    """An administrator wants the flock to go by these rules, one of ``policy.CHOSEN`` by name."""

    name: ShortText


@dataclass(frozen=True, slots=True)
class RunsRemembered:
    """What runs took of which this node knows nothing but that, the oldest first."""

    runs: tuple[PastRun, ...]


@dataclass(frozen=True, slots=True)
class InputsFetched(OfRun):
    """All inputs of the run are on this disk; so many bytes came from peers, in so long."""

    came_bytes: int = 0
    took_ms: int = 0


@dataclass(frozen=True, slots=True)
class FetchFailed(OfRun):
    """An input could not be had from any of its holders, or there is no room for it here."""

    dataset: DatasetId
    why: Reason | None = None


@dataclass(frozen=True, slots=True)
class ChildStarted(OfRun):
    """The program of the run is running."""


@dataclass(frozen=True, slots=True)
class ChildNotStarted(OfRun):
    """This machine lacks what it takes to start the program, or to keep it running (disk, memory,
    handles), just now."""

    why: Reason


@dataclass(frozen=True, slots=True)
class ChildProgressed(OfRun):
    """The program told how far it is."""

    permille: int
    left_ms: int


@dataclass(frozen=True, slots=True)
class ChildCheckpointed(OfRun):
    """The program saved its state, which is on this disk; a later attempt may begin with it. ``shown``
    shows that (``agent.protocol.origins``)."""

    checkpoint: Dataset
    shown: bytes = b""


@dataclass(frozen=True, slots=True)
class ChildSucceeded(OfRun):
    """The program ended well; its outputs are on this disk, which ``shown`` shows. ``names`` are what it
    calls them."""

    outputs: tuple[Dataset, ...]
    names: tuple[str, ...] = ()
    shown: bytes = b""
    took: Took | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ChildFailed(OfRun):
    """The program failed."""

    why: Reason
    took: Took | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ChildStopped(OfRun):
    """The program was ended on request; nothing of it runs any more."""

    took: Took | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class OutputsCopied(OfRun):
    """The outputs of the run are on the disks of ``holders`` (this one among them)."""

    holders: tuple[NodeId, ...]


RunWord = (
    InputsFetched
    | FetchFailed
    | ChildStarted
    | ChildNotStarted
    | ChildProgressed
    | ChildCheckpointed
    | ChildSucceeded
    | ChildFailed
    | ChildStopped
    | OutputsCopied
)
"""What is told of a run of this node."""


@dataclass(frozen=True, slots=True)
class DatasetsChanged:
    """Datasets came to this disk or left it."""

    added: tuple[DatasetId, ...] = ()
    removed: tuple[DatasetId, ...] = ()


@dataclass(frozen=True, slots=True)
class AboutWorkflow:
    """What a client asks of a workflow."""

    request: RequestId
    workflow: WorkflowId


@dataclass(frozen=True, slots=True)
class Submit(AboutWorkflow):
    """A client submits a workflow, which it calls by a name of its own choice; ``more`` goes with it.
    ``far``: the client is on another machine.

    Where the same person has asked for the same content before (``identity``), that is the answer,
    unless it is wanted ``again``. ``keeps`` names tasks of it with earlier ones, whose outcomes they
    have from the start.
    """

    name: ShortText
    submitter: ShortText
    priority: Priority
    tasks: tuple[TaskSpec, ...]
    far: bool = False
    more: More = field(default_factory=dict)
    again: bool = False
    keeps: tuple[tuple[TaskId, TaskId], ...] = ()


@dataclass(frozen=True, slots=True)
class Cancel(AboutWorkflow):
    """A client cancels tasks with all that depends on them; none named means all."""

    tasks: tuple[TaskId, ...] = ()


@dataclass(frozen=True, slots=True)
class Retry(AboutWorkflow):
    """A client retries failed or cancelled tasks; none named means all of them."""

    tasks: tuple[TaskId, ...] = ()


@dataclass(frozen=True, slots=True)
class Prioritise(AboutWorkflow):
    """A client changes the priority of a workflow; of these tasks alone, where some are named."""

    priority: Priority
    tasks: tuple[TaskId, ...] = ()


@dataclass(frozen=True, slots=True)
class Remove(AboutWorkflow):
    """A client has a workflow that has ended leave the table before its time."""


@dataclass(frozen=True, slots=True)
class MarkGate:
    """A person has done the step that a gate asks for, and may attach datasets."""

    request: RequestId
    task: TaskId
    outputs: tuple[Dataset, ...] = ()
    shown: bytes = b""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The agent is asked to stop: hand everything back, say goodbye."""

    reason: ShortText = ""


Event = (
    Started
    | PeerLinked
    | PeerUnlinked
    | Received
    | Dropped
    | Due
    | PersistFailed
    | DiskUsable
    | PresenceChanged
    | CapabilitiesChanged
    | MembersChanged
    | PolicyChosen
    | RunsRemembered
    | RunWord
    | DatasetsChanged
    | Submit
    | Cancel
    | Retry
    | Prioritise
    | Remove
    | MarkGate
    | Shutdown
)
