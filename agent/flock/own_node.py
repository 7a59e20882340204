"""This node as the flock's room sees it: what is asked of it, and no more.

A flock is created, joined and left while the node goes on, so this room needs to begin and end
parts of it; what else the node is made of stays unknown here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from agent.api.admission import AskChanged
from agent.flock.network import FlockNetwork, FlockNotice
from agent.net.transfer_words import Pipe
from agent.paths import Home
from agent.protocol.events import Event, PresenceChanged
from agent.protocol.records import NodeId
from agent.settings.node_settings import NodeSettings


class OwnNode(Protocol):
    """One live node; in the loop only."""

    network: FlockNetwork | None
    """While it belongs to a flock. Set and unset by ``operations``."""
    settings: NodeSettings

    @property
    def home(self) -> Home:
        """Where this node keeps its files."""

    @property
    def node_id(self) -> NodeId:
        """The node's id; another one after it has left a flock."""

    @property
    def name(self) -> str:
        """What people call this node."""

    @property
    def discovers(self) -> bool:
        """Whether this node looks for peers by multicast."""

    @property
    def told_presence(self) -> PresenceChanged:
        """What the node was told last of whether this machine helps."""

    def name_of(self, node: NodeId) -> str:
        """Return what people call a node: by its own word, else by the roster, else its id."""

    def notify(self, notice: FlockNotice | AskChanged) -> None:
        """Tell everybody who subscribed of this notice."""

    @property
    def hand(self) -> Callable[[Event], None]:
        """What hands an event to the protocol's node, as long as that lives."""

    def set_presence(self, presence: PresenceChanged) -> None:
        """Tell it whether this machine works for others now."""

    def serve_bulk(self, peer: NodeId, pipe: Pipe) -> None:
        """Serve a transfer of data that a peer has begun, in a thread, until it ends."""

    async def hand_back(self, reason: str) -> None:
        """Wait until everything is handed back, or the time for it is over."""

    async def end_network(self) -> None:
        """Close the links, if there are any."""

    async def begin_again(self, between: Callable[[], Awaitable[None]]) -> None:
        """Close the protocol's node, wait for ``between``, begin with what the home holds then."""
