"""What the server needs of a node: ``agent.node.agent.Agent`` as seen from here, and no more.

Written down so that the server can be held against another surface in tests, with real sockets
and no node behind them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from agent.control.node_parts import (
    AdmissionPart,
    AskingPart,
    DatasetsPart,
    HistoryPart,
    MembersPart,
    PresencePart,
    PublishedPart,
)
from agent.flock.facts import FlockFacts, InvitationFacts, MemberFacts, PeerFacts
from agent.node.facts import Facts, Notice
from agent.paths import Home
from agent.protocol.effects import Answer
from agent.protocol.events import Cancel, MarkGate, Prioritise, Retry, Submit
from agent.protocol.records import NodeId, TaskId
from agent.protocol.table import Table
from agent.settings.node_settings import NodeSettings

Wish = Submit | Cancel | Retry | Prioritise | MarkGate


class NodePort(Protocol):
    """A live node. Whatever fails for a reason that a person can mend raises ``ServiceError``."""

    @property
    def table(self) -> Table:
        """All records, to be read only."""

    @property
    def node_id(self) -> NodeId:
        """This node."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def flock(self) -> FlockFacts | None:
        """The flock it belongs to."""

    async def request(self, event: Wish) -> Answer:
        """Hand in a wish, wait for what became of it."""

    def subscribe(self, callback: Callable[[Notice], None]) -> Callable[[], None]:
        """Be told of changes; returns what ends that."""

    def story(self, task: TaskId) -> list[str]:
        """Why a task moved."""

    def peers(self) -> list[PeerFacts]:
        """The linked peers."""

    def name_of(self, node: NodeId) -> str:
        """What people call a node."""

    @property
    def presence(self) -> PresencePart:
        """Whether this machine helps."""

    @property
    def datasets(self) -> DatasetsPart:
        """What is kept here."""

    @property
    def published(self) -> PublishedPart:
        """Programs that come with the work."""

    @property
    def asking(self) -> AskingPart:
        """Joining without an invitation."""

    @property
    def admission(self) -> AdmissionPart:
        """Who asks to be let in."""

    @property
    def history(self) -> HistoryPart:
        """What was."""

    @property
    def settings(self) -> NodeSettings:
        """With what this node was started."""

    @property
    def changing_settings(self) -> asyncio.Lock:
        """Held while somebody changes the settings file."""

    @property
    def home(self) -> Home:
        """Where it keeps its files."""

    @property
    def member_clients(self) -> MembersPart:
        """The way in for clients of other members, and out to them."""

    def facts(self) -> Facts:
        """Everything that explains what is seen and what is not."""

    def members(self) -> list[MemberFacts]:
        """Who belongs to the flock."""

    async def create_flock(self, name: str) -> FlockFacts:
        """Make a flock."""

    async def invite(self, uses: int = ..., valid_for_s: float = ...) -> InvitationFacts:
        """Invite machines."""

    async def join(self, text: str) -> FlockFacts:
        """Join a flock."""

    async def expel(self, name_or_id: str) -> str:
        """Send a member away; a warning or nothing."""

    async def leave(self, *, even_as_last_keeper: bool = ...) -> str:
        """Leave the flock; a warning or nothing."""
