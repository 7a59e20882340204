"""A live node from outside: started, asked, told of changes, stopped.

This is the composition root: the only place that knows the protocol, the network, the disk and
the programs at once. It decides nothing about tasks (``agent.protocol`` does) and words nothing
for people (whoever shows it does); it wires, and keeps the wiring right when this node joins or
leaves a flock while it runs.

All methods are for the loop in which the service was started; ``agent.service_thread`` bridges
from other threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.paths import Home
from agent.protocol.effects import Answer
from agent.protocol.events import Cancel, MarkGate, Prioritise, Retry, Submit
from agent.protocol.records import NodeId, TaskId
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.service_facts import (
    Facts,
    FlockFacts,
    InvitationFacts,
    MemberFacts,
    Notice,
    PeerFacts,
)

Request = Submit | Cancel | Retry | Prioritise | MarkGate
INVITATION_VALID_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever starts a node decides; what a person decides is in ``settings.toml``."""

    discovery: bool = True
    protocol: Settings = field(default_factory=Settings)
    stop_within_s: float = 10.0
    """How long handing back may take before the node ends all the same."""


class Service:
    """One live node, from ``start`` to ``stop``."""

    @classmethod
    async def start(cls, home: Home, options: Options | None = None) -> Service:
        """Start the node of this home.

        Raises ``AlreadyRunningError`` when an agent runs on it, ``ServiceError`` with one
        sentence for anything else that a person can mend.
        """
        raise NotImplementedError

    async def stop(self, reason: str = "stopped") -> None:
        """Hand everything back, say goodbye, close. Can be called again."""
        raise NotImplementedError

    async def wait_stopped(self) -> str:
        """Until the node has stopped, for whatever reason; the reason."""
        raise NotImplementedError

    # -- work ------------------------------------------------------------------------------

    async def request(self, event: Request) -> Answer:
        """Hand in what a client wants; its ``request`` id is replaced by a new one.

        An accepted submission is on this disk, and with peers present on one more. Raises
        ``ServiceError`` when the node stops before it could answer.
        """
        raise NotImplementedError

    def subscribe(self, callback: Callable[[Notice], None]) -> Callable[[], None]:
        """Be told of changes, in the loop and in order; returns what ends that.

        The callback must not block. If it raises, that is logged, and it is told further on.
        """
        raise NotImplementedError

    @property
    def table(self) -> Table:
        """The table, to be read only, and only in the loop."""
        raise NotImplementedError

    def story(self, task: TaskId) -> list[str]:
        """Why the task moved, as far as this node saw it."""
        raise NotImplementedError

    # -- this node and its peers -----------------------------------------------------------

    @property
    def home(self) -> Home:
        """Where this node keeps its files."""
        raise NotImplementedError

    @property
    def node_id(self) -> NodeId:
        """This node; a new one after it has left a flock."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What people call this node."""
        raise NotImplementedError

    @property
    def port(self) -> int:
        """Where members reach this node; 0 without a flock."""
        raise NotImplementedError

    def peers(self) -> list[PeerFacts]:
        """The linked peers, those that have been linked longest first."""
        raise NotImplementedError

    def name_of(self, node: NodeId) -> str:
        """What people call a node: from its link, else the roster, else its id."""
        raise NotImplementedError

    def facts(self) -> Facts:
        """Everything that ``doctor`` needs to explain what is seen and what is not."""
        raise NotImplementedError

    def set_volunteering(self, mode: str) -> None:
        """``always`` or ``paused``, until the next start; raises ``ServiceError`` otherwise."""
        raise NotImplementedError

    def look_for_programs(self) -> tuple[str, ...]:
        """Programs were installed or removed; the ones that are there now."""
        raise NotImplementedError

    # -- the flock -------------------------------------------------------------------------

    @property
    def flock(self) -> FlockFacts | None:
        """The flock that this node belongs to; None when it runs alone."""
        raise NotImplementedError

    async def create_flock(self, name: str) -> FlockFacts:
        """Make a flock with this node as its first member. Raises ``ServiceError``."""
        raise NotImplementedError

    async def invite(
        self, uses: int = 1, valid_for_s: float = INVITATION_VALID_S
    ) -> InvitationFacts:
        """An invitation to this node's flock. Raises ``ServiceError``."""
        raise NotImplementedError

    async def join(self, text: str) -> FlockFacts:
        """Join the flock of an invitation; its text, or that of its file.

        What this node has in its table goes with it. Raises ``ServiceError``.
        """
        raise NotImplementedError

    def members(self) -> list[MemberFacts]:
        """Who belongs; nobody without a flock."""
        raise NotImplementedError

    async def expel(self, name_or_id: str) -> str:
        """Expel a member for ever; a warning or nothing. Raises ``ServiceError``."""
        raise NotImplementedError

    async def leave(self, *, even_as_last_keeper: bool = False) -> str:
        """Leave the flock: what runs here is handed back, and the flock's table stays there.

        The table that this node had is set aside in its data folder; it goes on alone, as a new
        node with an empty one. Returns what could not be done, or nothing. Raises
        ``ServiceError``.
        """
        raise NotImplementedError
