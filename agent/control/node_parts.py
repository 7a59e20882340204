"""Parts of a live node that verbs reach into, as far as they do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

from agent.data.node_datasets import DatasetFacts
from agent.data.publishing import WaitingProgram
from agent.flock.facts import AskFacts, JoinRequestFacts, NearbyFacts
from agent.history.task_history import Span
from agent.presence.rules import Rules
from agent.presence.watching import PresenceState
from agent.protocol.records import Dataset, DatasetId, NodeId, TaskId
from agent.storage.datasets.manifest import Entry
from agent.storage.datasets.room import Quota
from agent.storage.datasets.store import Kept
from agent.storage.history import Sums, TaskRow, Wanted

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
MemberAcceptor = Callable[
    [str, asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]
]
"""Serves a client of the member of this name; the streams are closed when it returns."""


class MembersPart(Protocol):
    """Clients of other members, and asking them; ``agent.flock.member_clients.MemberClients``."""

    async def open(self, node: NodeId) -> Streams:
        """A connection to the client protocol of a member; raises ``ServiceError``."""

    def serve(self, accept: MemberAcceptor | None) -> None:
        """Serve clients of members from now on, or nobody any more."""


class PresencePart(Protocol):
    """Whether this machine helps; ``agent.presence.watching.PresenceWatcher``."""

    def state(self) -> PresenceState:
        """As it is."""

    async def look(self) -> PresenceState:
        """After a look at every source."""

    def pause(self, until_s: float | None = ...) -> None:
        """Give the machine back now."""

    def finish_then_pause(self, until_s: float | None = ...) -> None:
        """Let what runs end before."""

    def resume(self) -> None:
        """The rules count again."""

    async def kept(self) -> None:
        """Wait until what was asked for last is found again after a restart."""

    def tomorrow_s(self) -> float:
        """When a pause until tomorrow ends."""

    async def set_rules(self, rules: Rules) -> None:
        """Other rules; raises ``ServiceError``."""


class DatasetsPart(Protocol):
    """What is kept; ``agent.data.node_datasets.NodeDatasets``."""

    async def add(self, path: Path, name: str = ..., *, move: bool = ...) -> Dataset:
        """Keep a file or folder; raises ``OSError``."""

    async def bring(self, dataset: DatasetId) -> None:
        """Have it here; raises ``OSError``."""

    async def kept(self, dataset: DatasetId) -> Kept | None:
        """One that is here."""

    async def files(self, dataset: DatasetId) -> tuple[Entry, ...]:
        """Of one that is here."""

    async def read(self, dataset: DatasetId, path: str, offset: int, limit: int) -> bytes:
        """A piece of one of its files."""

    async def listing(self) -> list[DatasetFacts]:
        """All that are here."""

    async def quota(self) -> Quota:
        """How full the store is."""

    def holders(self, dataset: DatasetId) -> tuple[NodeId, ...]:
        """Peers that have it."""


class PublishedPart(Protocol):
    """Programs that come with the work; ``agent.data.publishing.PublishedPrograms``."""

    async def publish(self, folder: Path) -> tuple[str, Dataset]:
        """Its name for tasks, and its folder; raises ``ServiceError``."""

    def waiting(self) -> list[WaitingProgram]:
        """Those that nobody has decided about here."""

    def decision(self, name: str) -> str:
        """``accepted``, ``refused`` or ``waiting``."""

    async def accept(self, name: str) -> None:
        """Run it here; raises ``ServiceError``."""

    async def refuse(self, name: str) -> None:
        """Never run it here; raises ``ServiceError``."""


class AskingPart(Protocol):
    """Joining without an invitation, from outside; ``agent.flock.own_join_request.OwnJoinRequest``."""

    async def nearby(self) -> tuple[list[NearbyFacts], str]:
        """The flocks on this network, and why none can be heard."""

    async def ask(self, reference: str) -> AskFacts:
        """Ask one; raises ``ServiceError`` or ``MembershipError``."""

    def asked(self) -> AskFacts:
        """What has become of it."""

    def confirm(self, code: str) -> AskFacts:
        """The keeper shows the same code; raises ``ServiceError``."""

    async def withdraw(self) -> AskFacts:
        """Ask no more."""


class AdmissionPart(Protocol):
    """The same from inside; ``agent.flock.admission.Admission``."""

    def requests(self) -> list[JoinRequestFacts]:
        """The machines that ask to be let in."""

    async def decide(self, request: str, code: str, *, admit: bool) -> JoinRequestFacts:
        """Let one in, or not; raises ``ServiceError``."""


class HistoryPart(Protocol):
    """What was; ``agent.history.task_history.TaskHistory``."""

    async def tasks(self, wanted: Wanted, first: int, limit: int) -> tuple[list[TaskRow], int]:
        """A page and how many there are."""

    async def sums(self, spans: list[tuple[int, int]]) -> tuple[list[Sums], int]:
        """Of spans of time, and since when anything is remembered."""

    async def spans_of(self, tasks: list[TaskId]) -> dict[TaskId, list[Span]]:
        """The phases that were seen."""

    def ready_ms(self, task: TaskId) -> int:
        """Since when an open task could run."""
