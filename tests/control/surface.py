"""A node for the server to serve: the real state machine, alone, without disk, network, programs.

What clients wish goes through the protocol as it does in an agent, so answers, refusals and events
are the real ones. The flock is a few plain values that tests set.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from agent.api.datasets import CopiesView
from agent.api.errors import ServiceError
from agent.api.flock import (
    ConfinementView,
    DepartureView,
    Expelled,
    Finding,
    Invitation,
    Joined,
    MemberView,
    PeerView,
)
from agent.api.permissions import AskedFor, WantingProgram
from agent.api.reasons import Opaque, Reason, as_why
from agent.api.values import Capabilities
from agent.api.work import NodeView, Submit
from agent.control.naming import task_id
from agent.control.port import Notice, Rooms, Streams, Wish
from agent.control.verbs.submitting import specs_of, submission
from agent.data.secrets import SecretValues
from agent.flock.operations import FlockFacts
from agent.history.task_history import TaskHistory
from agent.net.link_refusals import Cause, LinkRefusal
from agent.node.diagnosis import Facts, findings
from agent.node.report import away_of
from agent.node.workflow_ends import WorkflowEnds
from agent.paths import Home
from agent.presence.volunteering import Volunteering
from agent.protocol import events, messages
from agent.protocol.clock import Instant
from agent.protocol.effects import (
    Answer,
    CancelFinished,
    Effect,
    Fetch,
    OutcomeChanged,
    StartChild,
    StopChild,
    TaskMoved,
    TaskProgressed,
    WorkflowGone,
    WorkflowSafe,
)
from agent.protocol.events import (
    ChildFailed,
    ChildStarted,
    ChildStopped,
    ChildSucceeded,
    Event,
    InputsFetched,
    OutputsCopied,
    PresenceChanged,
    Started,
)
from agent.protocol.lengths import Lengths
from agent.protocol.link_reasons import NoLink
from agent.protocol.node import Node, NodeSetup
from agent.protocol.policy.availability import by_copies
from agent.protocol.reasons import EndCause, NobodyUsesIt
from agent.protocol.records import Dataset, NodeId, Run, RunName, TaskId, WorkflowSpec
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.settings.editing import OwnerSettings
from agent.settings.layers import Settled
from agent.settings.node_settings import NodeSettings
from tests.control.key_store import FakeStore
from tests.control.parts import (
    FakeAdministration,
    FakeAdmission,
    FakeAudit,
    FakeCopies,
    FakeDatasets,
    FakePairing,
    FakePublished,
    FakeUpdates,
    presence_of,
)

NODE = "birchnode"
NAME = "birch"
INVITATION = "wingbeat-right"
WALL_MS = 1_700_000_000_000
NOTICES = (TaskMoved, TaskProgressed, OutcomeChanged, WorkflowSafe, WorkflowGone, CancelFinished)

FLOCK = FlockFacts("flockid", "meadow", True, 4e9, 3e9, False)
ALDER = PeerView(
    "aldernode",
    "alder",
    "linked",
    "10.0.0.2:29464",
    "1.0",
    round_trip_ms=1.0,
    clock_ahead_ms=50,
    volunteering=True,
    load_percent=7,
    slots=4,
    linked_since_ms=10**12,
    bytes_in=10,
    bytes_out=20,
    why=as_why(NobodyUsesIt()),
)
MEMBERS = (
    MemberView("aldernode", "alder", True, False, 4 * 10**12, "administrator"),
    MemberView(NODE, NAME, True, True, 4 * 10**12, "administrator"),
    MemberView("cedarnode", "cedar", False, False, 4 * 10**12),
    MemberView("cedarother", "cedar", False, False, 4 * 10**12),
)
NAMES = {member.node: member.name for member in MEMBERS}
REFUSAL = LinkRefusal(
    "cedarnode",
    "10.0.0.3:29464",
    Cause.UNREACHABLE,
    NoLink("NobodyAnswers"),
    1e9,
)


HELPS = NobodyUsesIt()


@dataclass(frozen=True)
class Known:
    """Satisfies ``Snapshot``: what a node tells of itself, as tests set it."""

    node: NodeId = NODE
    name: str = NAME
    flock: FlockFacts | None = FLOCK
    members: tuple[MemberView, ...] = MEMBERS
    departures: tuple[DepartureView, ...] = (DepartureView("elmnode", "elm", True, 10**12),)
    peers: tuple[PeerView, ...] = (ALDER,)
    refusals: tuple[LinkRefusal, ...] = (REFUSAL,)
    port: int = 29464
    volunteering: bool = True
    presence_reason: Reason = HELPS
    programs: tuple[str, ...] = ("copy",)
    shared_with: tuple[str, ...] = ()
    slots: int = 1
    rules: str = "look-ahead"
    data_folder: str = "/data"
    log_folder: str = "/log"
    warning: Reason | None = None
    overruled: tuple[Reason, ...] = ()
    table: Table = field(default_factory=lambda: Table(Settings()))
    lengths: Lengths = field(default_factory=lambda: Lengths(Table(Settings())))
    gone_ms: Callable[[Run], int] = lambda _: 0
    home_of: Callable[[WorkflowSpec], NodeId] = lambda spec: spec.home
    others_of_person: Callable[[NodeId], list[str]] = lambda _: []
    left_for: Callable[[TaskId], NodeId] = lambda _: ""

    def facts(self) -> Facts:
        """What explains why something is wrong, which nothing is but for who is away."""
        return Facts(
            node=self.node,
            name=self.name,
            port=self.port,
            listen=("0.0.0.0",),
            flock=self.flock,
            members=self.members,
            peers=self.peers,
            refusals=self.refusals,
            static_addresses=(),
            discovers=False,
            multicast_trouble=None,
            foreign_flocks=(),
            keeping_up_error="",
            journal_notices=(),
            disk_usable=True,
            data_folder=self.data_folder,
        )

    @property
    def away(self) -> tuple[PeerView, ...]:
        return away_of(self.facts())

    def findings(self) -> tuple[Finding, ...]:
        return tuple(findings(self.facts()))

    def name_of(self, node: NodeId) -> str:
        return NAMES.get(node, node)

    @property
    def status(self) -> NodeView:
        reason = self.presence_reason
        return NodeView(
            self.node,
            self.name,
            "1.0",
            self.flock.name if self.flock else "",
            self.volunteering,
            reason.text if isinstance(reason, Opaque) else "",
            slots=self.slots,
            capabilities=Capabilities(programs=self.programs),
            why=as_why(reason),
            rules=self.rules,
        )


KNOWN = Known()
FACTS = KNOWN.facts()


class FakeNode:
    """Satisfies ``agent.control.port.NodePort``."""

    def __init__(self, folder: Path, *, flock: bool = True) -> None:
        capabilities = messages.Capabilities(programs=("copy",))
        self.node = Node(NodeSetup(NODE, NAME, 1, capabilities))
        self.runs: dict[TaskId, RunName] = {}
        known = KNOWN if flock else replace(KNOWN, flock=None, members=(), peers=(), port=0)
        self.known = replace(known, log_folder=str(folder), data_folder=str(folder))
        self.presence, self.datasets = presence_of(folder), FakeDatasets(NODE)
        self.history = TaskHistory(
            folder,
            folder,
            lambda: self.node.table,
            lambda: NODE,
            KNOWN.name_of,
            self.node.story,
        )
        self.copies = FakeCopies()
        self.updates = FakeUpdates()
        self.home = Home.at(folder)
        self.settings = OwnerSettings(self.home.settings_file, Settled(NodeSettings(name=NAME)))
        self.published = FakePublished(self.datasets, self.home.programs)
        self.flock = FakeFlock(self)
        self.elsewhere: dict[NodeId, int] = {}
        """Ports at which other members take clients of members in."""
        self.stopped: list[str] = []
        self.held = asyncio.Event()
        self.held.set()
        """Wishes are answered while this is set."""
        self.wished = asyncio.Event()
        """A wish has come."""
        self.broken = False
        self.granted = False
        self.audit = FakeAudit()
        self.secrets = SecretValues(folder / "secrets", FakeStore(), None)
        self.stopping = asyncio.Event()
        """A program was asked to stop."""
        self._elapsed_s = 0.0
        self._answers: dict[str, Answer] = {}
        self._ends = WorkflowEnds()
        self._callbacks: list[Callable[[Notice], None]] = []
        self.handle(Started())

    # -- what a host of the protocol does --------------------------------------------------

    def handle(self, event: Event) -> None:
        """One event, and what follows from it without a clock."""
        self._elapsed_s += 0.001
        now = Instant(self._elapsed_s, WALL_MS + round(self._elapsed_s * 1000))
        for effect in self.node.handle(event, now):
            self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Answer():
                self._answers[effect.request] = effect
            case Fetch(task, run, _):
                self.handle(InputsFetched(task, run))
            case StartChild(task, run):
                self.runs[task] = run
                self.handle(ChildStarted(task, run))
            case StopChild():
                self.stopping.set()
            case _ if isinstance(effect, NOTICES):
                self.tell(effect)
            case _:
                pass

    def volunteer(self) -> None:
        """Take tasks from now on."""
        self.handle(PresenceChanged(volunteering=True, owner_present=False))

    def succeed(self, task: TaskId) -> None:
        """The program of a task ends well."""
        run = self.runs.pop(task)
        self.handle(ChildSucceeded(task, run, (Dataset(f"made-by-{task}", 5),)))
        self.handle(OutputsCopied(task, run, (NODE,)))

    def succeed_all(self) -> None:
        """All programs end well, those too that begin because others did."""
        while self.runs:
            self.succeed(next(iter(self.runs)))

    def fail(self, task: TaskId) -> None:
        """The program of a task fails."""
        self.handle(
            ChildFailed(
                task, self.runs.pop(task), EndCause("SaidError", error="no film in the camera")
            )
        )

    def stop_program(self, task: TaskId) -> None:
        """The program of a task has ended as it was asked to."""
        self.handle(ChildStopped(task, self.runs.pop(task)))

    def handle_submission(self, told: dict[str, Any]) -> None:
        """A workflow that somebody else has submitted; without a key by a version before, which
        takes the name for the id."""
        name, wanted = told["name"], msgspec.convert(told, Submit)
        if wanted.key:
            self.handle(replace(submission(wanted, "birch", NODE, {}), request="1"))
        else:
            specs = specs_of(wanted, partial(task_id, name))
            self.handle(events.Submit("1", name, name, "", 50, specs))

    def tell(self, notice: Notice) -> None:
        """Something is noticed."""
        self.history.noticed(notice)
        for callback in list(self._callbacks):
            callback(notice)
        ended = self._ends.after(notice, self.node.table) if isinstance(notice, TaskMoved) else None
        if ended is not None:
            self.tell(ended)

    # -- the port --------------------------------------------------------------------------

    @property
    def table(self) -> Table:
        """What this node knows."""
        return self.node.table

    @property
    def rooms(self) -> Rooms:
        """Fakes, but for those that need neither network nor store."""
        return Rooms(
            self.flock,
            Volunteering(self.presence, self.settings.attributed),
            self.datasets,
            self.published,
            self.history,
            self.settings,
            self.copies,
            self.updates,
            self,
            self,
            self.secrets,
            self,
            self.audit,
        )

    def view(self) -> CopiesView:
        """Two machines, of which one is mostly up."""
        up = {NODE: 0.9, "aldernode": 0.97}
        return CopiesView(2, 2, by_copies(list(up.values()), 5), up, 40.0)

    def wanting(self) -> tuple[WantingProgram, ...]:
        """One program asks for the network and a place that nobody opens."""
        wants = AskedFor("network", "lan", self.granted), AskedFor("reads", "/etc", refused=True)
        return (WantingProgram("report", wants),)

    async def grant(self, name: str) -> tuple[AskedFor, ...]:
        """As it is asked for."""
        assert name == "report"
        self.granted = True
        return (AskedFor("network", "lan", granted=True),)

    async def revoke(self, name: str) -> tuple[AskedFor, ...]:
        """Back to nothing."""
        assert name == "report"
        self.granted = False
        return (AskedFor("network", "lan"),)

    async def confined(self) -> ConfinementView:
        """As it was tried on a machine of today."""
        return ConfinementView("on", True, True, True, True, True, ("Landlock 7", "seccomp"))

    def now(self) -> Known:
        """As tests have set it."""
        if self.broken:
            raise RuntimeError("a fault of ours")
        return replace(
            self.known,
            table=self.node.table,
            lengths=self.node.lengths,
            gone_ms=self.node.gone_since_ms,
            home_of=self.node.home_of,
        )

    async def ask(self, wish: Wish) -> Answer:
        """Through the protocol, as in an agent."""
        self.wished.set()
        await self.held.wait()
        self.handle(replace(wish, request="1"))
        return self._answers.pop("1")

    def subscribe(self, notify: Callable[[Notice], None]) -> Callable[[], None]:
        """Tell of what is told."""
        self._callbacks.append(notify)
        return lambda: self._callbacks.remove(notify)

    async def reach(self, member: NodeId) -> Streams:
        """Other members are servers in this process, reached by loopback."""
        if member not in self.elsewhere:
            raise ServiceError(f"{member} cannot be asked: it is switched off")
        return await asyncio.open_connection("127.0.0.1", self.elsewhere[member])

    async def stop(self, why: str) -> None:
        """Only remembered."""
        self.stopped.append(why)


class FakeFlock(FakeAdmission):
    """Satisfies ``FlockRoom``: what is done changes what the node tells of itself."""

    def __init__(self, node: FakeNode) -> None:
        super().__init__()
        self._node, self.asking, self.administration = node, self, FakeAdministration()
        self.pairing = FakePairing()

    def members(self) -> list[MemberView]:
        return list(self._node.known.members)

    def audit_heads(self, node: NodeId) -> dict[int, str]:
        del node
        return {}

    def role_of(self, node: NodeId) -> str:
        return next((each.role for each in self._node.known.members if each.node == node), "helper")

    def departures(self) -> list[DepartureView]:
        return list(self._node.known.departures)

    async def create(self, name: str) -> Joined:
        node = self._node
        if node.known.flock is not None:
            raise ServiceError("this machine belongs to the flock meadow already: leave that first")
        flock = replace(FLOCK, name=name)
        node.known = replace(node.known, flock=flock, members=MEMBERS[1:2], port=29464)
        return Joined(name, NODE, NAME)

    def choose_rules(self, name: str) -> None:
        self._node.known = replace(self._node.known, rules=name)

    async def invite(self, uses: int, valid_for_s: float, role: str) -> Invitation:
        del role
        file = f"Keep it.\n{INVITATION}\n"
        return Invitation(INVITATION, file, FLOCK.name, uses, round((1e9 + valid_for_s) * 1000))

    async def join(self, text: str) -> Joined:
        if text != INVITATION:
            raise ServiceError('this is no invitation: it begins with "wingbeat-"; copy all of it')
        return await self.create(FLOCK.name)

    async def expel(self, name_or_id: str, phrase: str) -> Expelled:
        del phrase
        known = self._node.known
        members = tuple(each for each in known.members if each.node != name_or_id)
        self._node.known = replace(known, members=members)
        warning = f"{name_or_id} was a keeper" if name_or_id == "aldernode" else ""
        (name,) = [each.name for each in MEMBERS if each.node == name_or_id]
        return Expelled(name_or_id, name, warning)

    async def leave(self, *, even_as_last_keeper: bool) -> str:
        if not even_as_last_keeper:
            raise ServiceError("this machine is the flock's only keeper: appoint another one first")
        self._node.known = replace(self._node.known, flock=None, members=())
        return "nobody could be told"
