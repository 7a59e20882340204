"""The one door to a live node: what clients' server asks of it, and no more.

A question takes one snapshot and looks at nothing else; a wish goes in and its answer comes back;
changes are told to whoever subscribed. What a room does for people is asked of that room: a protocol
for each, so that tests hold the server against another node, with real sockets and no disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent.api.admission import (
    AskChanged,
    JoinRequested,
    JoinRequestEnded,
)
from agent.api.datasets import CopiesView, DatasetsReply, FileView
from agent.api.flock import (
    ConfinementView,
    Finding,
    HandedOver,
    PeerView,
)
from agent.api.history import History, HistoryReply, StatisticsReply, TaskRuns
from agent.api.logs import AgentLog, AgentLogReply
from agent.api.past import Past, PastReply
from agent.api.reasons import Reason
from agent.api.session import (
    FlockChanged,
    PeerChanged,
    ProgramWaiting,
    VolunteeringChanged,
    WorkflowEnded,
)
from agent.api.settings import SettingsView
from agent.api.update import StartAnew
from agent.api.volunteering import AtHand, Pause, VolunteeringView, VolunteerRules
from agent.api.work import NodeView
from agent.control.flock_rooms import AuditRoom, FlockRoom
from agent.control.program_rooms import GrantRoom, ProgramRoom, SecretRoom
from agent.protocol.effects import (
    Answer,
    CancelFinished,
    OutcomeChanged,
    TaskMoved,
    TaskProgressed,
    WorkflowGone,
    WorkflowSafe,
)
from agent.protocol.events import Cancel, MarkGate, Prioritise, Remove, Retry, Submit
from agent.protocol.lengths import Lengths
from agent.protocol.reasons import StoryEntry
from agent.protocol.records import (
    Dataset,
    DatasetId,
    NodeId,
    Run,
    TaskId,
    TaskSpec,
    WorkflowSpec,
)
from agent.protocol.table import Table

Notice = (
    TaskMoved
    | TaskProgressed
    | OutcomeChanged
    | WorkflowSafe
    | WorkflowGone
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
Wish = Submit | Cancel | Retry | Prioritise | Remove | MarkGate
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class PresenceRoom(Protocol):
    """Whether this machine helps; ``agent.presence.volunteering.Volunteering``."""

    def view(self) -> VolunteeringView:
        """Return it as it was seen last."""

    async def look(self) -> VolunteeringView:
        """Return it after a look at every source."""

    async def running(self) -> tuple[str, ...]:
        """Return which programs its owner runs here. Raises ``ServiceError`` where nobody tells."""

    def heard(self, person: str, said: AtHand) -> float:
        """Note what the desktop of a person shows of them, and return for how long it counts."""

    async def pause(self, wanted: Pause) -> VolunteeringView:
        """Give the machine back now, or when what runs has ended."""

    async def resume(self) -> VolunteeringView:
        """Let the rules count again."""

    async def set_rules(self, told: VolunteerRules) -> VolunteeringView:
        """Help by other rules from now on. Raises ``ServiceError`` for rules that are wrong or
        cannot be kept."""


class DatasetRoom(Protocol):
    """What is kept for tasks; ``agent.data.node_datasets.NodeDatasets``."""

    async def add(self, path: Path, name: str = ..., *, move: bool = ...) -> Dataset:
        """Keep a file or folder; raises ``OSError``."""

    async def deliver(self, workflow: str, folder: Path) -> None:
        """Put its last results into a folder as they end. Raises ``OSError``."""

    async def bring(self, dataset: DatasetId) -> None:
        """Bring a dataset to this disk. Raises ``OSError``."""

    async def named(self, dataset: DatasetId) -> str:
        """Return the name under which it is kept here."""

    async def files(self, dataset: DatasetId) -> tuple[FileView, ...]:
        """Return the files of a dataset that is here."""

    async def read(self, dataset: DatasetId, path: str, offset: int, limit: int) -> bytes:
        """Return a piece of one of a dataset's files; empty behind its end."""

    async def listing(self) -> DatasetsReply:
        """Return all that are here, and how full the store is."""

    async def hand_over(self, within_s: float) -> HandedOver:
        """Have others take what only this node keeps, and return what is left of it."""

    def may_have(self, peer: NodeId, dataset: DatasetId) -> bool:
        """Tell whether another member may read the dataset."""

    def brought(self, peer: NodeId, dataset: DatasetId) -> None:
        """Note that a member has brought the dataset here."""

    async def not_for(
        self, asker: NodeId, given: Collection[DatasetId], tasks: Collection[TaskId]
    ) -> WorkflowSpec | None:
        """Return whose data or results a submission names that are not for who submits it."""

    async def shown(self, asker: NodeId, given: Collection[DatasetId], whose: str) -> bytes:
        """Return what shows with a record of this name that its author has these data."""

    def holders(self, dataset: DatasetId) -> tuple[NodeId, ...]:
        """Return the peers that have the dataset."""

    async def only_of(self, workflows: Collection[str]) -> dict[DatasetId, int]:
        """Return the datasets here that nothing but these workflows has, with their sizes."""

    async def let_go(self, datasets: Collection[DatasetId]) -> None:
        """Delete those of these datasets that nobody needs any more. Raises ``OSError``."""


class Recalled(Protocol):
    """A workflow that is not in the table any more; ``agent.history.past.Recalled``."""

    @property
    def table(self) -> Table:
        """Return a table with it alone."""

    @property
    def names(self) -> Mapping[NodeId, str]:
        """Return what machines were called then."""

    @property
    def home(self) -> NodeId:
        """Return the node on which its own person submitted it; empty where it is nobody's own."""


class PastRoom(Protocol):
    """Workflows that have ended; ``agent.history.past.Past``."""

    async def page(self, wanted: Past) -> PastReply:
        """Return a page of them, with their sums if these are wanted."""

    async def recall(self, workflow: str, task: str = ...) -> Recalled | None:
        """Return one as it was, by its id or name, or that of a task; None where it is not kept."""

    async def settle(self) -> None:
        """Wait until everything that has ended is kept."""

    async def forget(self, workflows: list[str]) -> list[str]:
        """Forget some; return which were there."""


class HistoryRoom(Protocol):
    """What was, as far as it is kept; ``agent.history.task_history.TaskHistory``."""

    @property
    def past(self) -> PastRoom:
        """Return the workflows that have ended."""

    async def tasks(self, wanted: History) -> HistoryReply:
        """Return a page of what became of tasks."""

    async def statistics(self, weeks: int) -> StatisticsReply:
        """Return what this machine gave in each week, and what the flock did."""

    async def runs(
        self, tasks: Sequence[TaskSpec], table: Table, name_of: Callable[[NodeId], str]
    ) -> tuple[TaskRuns, ...]:
        """Return the runs of these tasks of the table, with machines by these names."""

    async def story(self, task: TaskId, table: Table) -> list[StoryEntry]:
        """Return why a task of this table moved, as far as is known."""

    async def printed(self, task: TaskId, run: Run, offset: int, limit: int) -> tuple[bytes, int]:
        """Return some of what a run has printed on this machine, and how much there is."""

    async def log_lines(self, wanted: AgentLog) -> AgentLogReply:
        """Return lines of the agent's own log, as far as there are any."""


class CopyRoom(Protocol):
    """Logs of other machines, kept for them; ``agent.data.log_copies.LogCopies``."""

    async def kept(self, task: TaskId, run: Run, offset: int, limit: int) -> KeptLog | None:
        """Return some of what a run of another machine has printed, where that is kept here."""

    def keepers(self, host: NodeId, nodes: Iterable[NodeId]) -> list[NodeId]:
        """Return these machines in the order in which they may keep the logs of that one."""

    async def size_of(self, tasks: Collection[TaskId]) -> int:
        """Return what all logs of these tasks take here. Raises ``OSError``."""

    async def let_go(self, tasks: Collection[TaskId]) -> None:
        """Delete all logs of these tasks that lie here. Raises ``OSError``."""


class KeptLog(Protocol):
    """Some of a log from ``offset`` on; there is something from ``begins`` until ``size``, as it was
    at ``at_ms``."""

    @property
    def data(self) -> bytes: ...

    @property
    def offset(self) -> int: ...

    @property
    def begins(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def at_ms(self) -> int: ...


class SettingsRoom(Protocol):
    """What the owner of this machine has set; ``agent.settings.editing.OwnerSettings``."""

    async def view(self) -> SettingsView:
        """Return what the file says, and what of it waits for a restart."""

    async def change(self, given: Mapping[str, str | int | float | list[str]]) -> SettingsView:
        """Keep these in the file, and return what it says then."""


class UpdateRoom(Protocol):
    """Versions that are installed; ``agent.node.updating.Updates``."""

    def start_anew(self, wanted: StartAnew) -> str:
        """Begin with the one that is installed, and return which; raises ``ServiceError`` where
        that is what runs and no setting waits for it."""


class ConfinementRoom(Protocol):
    """What holds programs back; ``agent.node.running.RunningNode``."""

    async def confined(self) -> ConfinementView:
        """Return what holds here, found out by trying when nobody has asked before."""


class UptimeRoom(Protocol):
    """How long machines were up; ``agent.history.uptimes.Uptimes``."""

    def view(self) -> CopiesView:
        """Return what that comes to for the copies of results."""


@dataclass(frozen=True, slots=True)
class Rooms:
    """All rooms of a node, for the verbs."""

    flock: FlockRoom
    presence: PresenceRoom
    datasets: DatasetRoom
    programs: ProgramRoom
    history: HistoryRoom
    settings: SettingsRoom
    copies: CopyRoom
    updates: UpdateRoom
    confinement: ConfinementRoom
    grants: GrantRoom
    secrets: SecretRoom
    uptimes: UptimeRoom
    audit: AuditRoom


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
    def warning(self) -> Reason | None:
        """Return what is wrong with this node's own place among the others; None when nothing is."""

    def findings(self) -> tuple[Finding, ...]:
        """Return all that is wrong, what explains most first."""

    @property
    def shared_with(self) -> tuple[str, ...]:
        """Return who may act on what is submitted here, where its person names nobody."""

    @property
    def overruled(self) -> tuple[Reason, ...]:
        """Return which of the owner's settings the policy of this machine overrules."""

    def name_of(self, node: NodeId) -> str:
        """Return what people call a node."""

    def home_of(self, spec: WorkflowSpec) -> NodeId:
        """Return the node on which its own person submitted a workflow, this one only where that
        was noted here; empty where it is nobody's own."""

    def others_of_person(self, home: NodeId) -> list[str]:
        """Return the other machines of the person for whom one speaks, by their ids and by what they
        are called."""

    def gone_ms(self, run: Run) -> int:
        """Return since when the machine of a run is gone, as far as this node knows; 0 while it may
        still be running."""

    def left_for(self, task: TaskId) -> NodeId:
        """Return the machine to which a ready task was left by the latest plan, as it ends there
        sooner than where a place is free; empty where it was left to none."""

    @property
    def lengths(self) -> Lengths:
        """What the node has learned of how long tasks take."""


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

    async def reach(self, member: NodeId) -> Streams:
        """Return a connection to the client protocol of another member."""

    async def stop(self, why: str) -> None:
        """Hand everything back, and end the node."""
