"""The one door to a live node: what clients' server asks of it, and no more.

A question takes one snapshot and looks at nothing else; a wish goes in and its answer comes back;
changes are told to whoever subscribed. What a room of the agent does for people (``rooms``) is asked
of that room. Written down as protocols, so that the server can be held against another node in
tests, with real sockets and neither network nor disk behind them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from agent.api.admission import AskChanged, JoinRequested, JoinRequestEnded
from agent.api.flock import Finding, PeerView
from agent.api.session import (
    FlockChanged,
    PeerChanged,
    ProgramWaiting,
    VolunteeringChanged,
    WorkflowEnded,
)
from agent.api.work import NodeView
from agent.control.rooms import Rooms
from agent.protocol.effects import (
    Answer,
    CancelFinished,
    OutcomeChanged,
    TaskMoved,
    TaskProgressed,
    WorkflowSafe,
)
from agent.protocol.events import Cancel, MarkGate, Prioritise, Retry, Submit
from agent.protocol.reasons import StoryEntry
from agent.protocol.records import NodeId, TaskId
from agent.protocol.table import Table

Notice = (
    TaskMoved
    | TaskProgressed
    | OutcomeChanged
    | WorkflowSafe
    | WorkflowEnded
    | CancelFinished
    | PeerChanged
    | FlockChanged
    | VolunteeringChanged
    | ProgramWaiting
    | JoinRequested
    | JoinRequestEnded
    | AskChanged
)
"""What a node tells whoever has subscribed."""
Wish = Submit | Cancel | Retry | Prioritise | MarkGate
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Belonging(Protocol):
    """The flock of a node."""

    @property
    def name(self) -> str:
        """Return what people call it."""

    @property
    def keeper(self) -> bool:
        """Return whether this node lets others in."""

    @property
    def expelled(self) -> bool:
        """Return whether this node does not belong any more."""


class Snapshot(Protocol):
    """A node at one moment. What takes long to find out is found out when it is first asked for."""

    @property
    def node(self) -> NodeId:
        """Return the id of the node."""

    @property
    def name(self) -> str:
        """Return what people call the node."""

    @property
    def table(self) -> Table:
        """Return all records, to be read only. It is ahead of the notices, and goes on changing."""

    @property
    def flock(self) -> Belonging | None:
        """Return the flock that it belongs to."""

    @property
    def status(self) -> NodeView:
        """Return how it is itself; what it runs is not told."""

    @property
    def peers(self) -> tuple[PeerView, ...]:
        """Return the linked machines; what they run is not told."""

    @property
    def away(self) -> tuple[PeerView, ...]:
        """Return the members without a link, with what is known of why."""

    @property
    def warning(self) -> str:
        """Return what is wrong with this node's own place among the others."""

    def findings(self) -> tuple[Finding, ...]:
        """Return all that is wrong, what explains most first."""

    def name_of(self, node: NodeId) -> str:
        """Return what people call a node."""


class NodePort(Protocol):
    """A live node. Whatever fails for a reason that a person can mend raises ``ServiceError``."""

    @property
    def rooms(self) -> Rooms:
        """Return who does what people ask for; asked anew each time, for a node may begin anew."""

    def now(self) -> Snapshot:
        """Return the node as it is now."""

    async def ask(self, wish: Wish) -> Answer:
        """Hand in a wish, and wait for what became of it. It is named anew."""

    def subscribe(self, notify: Callable[[Notice], None]) -> Callable[[], None]:
        """Tell of changes from now on; return what ends that."""

    def story(self, task: TaskId) -> list[StoryEntry]:
        """Return why a task moved, as far as this node saw it."""

    async def reach(self, member: NodeId) -> Streams:
        """Return a connection to the client protocol of another member."""

    async def stop(self, why: str) -> None:
        """Hand everything back, and end the node."""
