"""One node with its disk, its programs and its driver: what belongs together from start to stop.

A node that leaves its flock becomes another one: its name is its key, and the table of the flock
stays with the flock. So all of this is built and ended as one, while the process goes on.

``Options`` are what whoever starts a node decides. What a person decides is in ``agent.settings``.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from msgspec import structs

from agent import __version__
from agent.api.errors import ServiceError
from agent.api.flock import ConfinementView
from agent.data.granting import Granting
from agent.data.log_copies import LogCopies
from agent.data.node_datasets import NodeDatasets
from agent.data.publishing import PublishedPrograms
from agent.data.secrets import SecretValues
from agent.data.transfers import Reach
from agent.driver.driver import Driver
from agent.driver.ports import Audience, Network
from agent.execution.child import GRACE_S
from agent.execution.children import Children
from agent.execution.confinement.rule import Confinement
from agent.execution.grants import Grants
from agent.execution.limits import node_limits
from agent.execution.machine import EXTRAS, capabilities
from agent.execution.programs import Programs
from agent.history.audit import AuditLog
from agent.history.uptimes import Uptimes
from agent.host.key_store import native_key_store
from agent.host.private_files import PrivateFolder
from agent.host.whose import exposed_way
from agent.net import identity
from agent.node.confining import confined
from agent.node.member_keys import MemberKeys
from agent.node.power import MachinePower
from agent.node.programs import ProgramReader, ceilings
from agent.node.suspicions import SuspicionLog
from agent.node.work_port import WorkPort
from agent.paths import TASK_LOGS, Home
from agent.presence.awake import Awake
from agent.presence.sources import SightError
from agent.protocol.effects import TaskMoved
from agent.protocol.events import (
    CapabilitiesChanged,
    ChildStarted,
    Event,
    MembersChanged,
    PresenceChanged,
    Shutdown,
    Started,
)
from agent.protocol.messages import Capabilities, ProgramVersion
from agent.protocol.node import Node, NodeSetup
from agent.protocol.reasons import FinishingThenPaused
from agent.protocol.records import ENDED, DatasetId, NodeId, TaskSpec
from agent.protocol.settings import Settings
from agent.protocol.signing import NO_TRUST
from agent.settings.node_settings import COPIES, SPARE, NodeSettings
from agent.storage import history, kept_logs
from agent.storage.database import Remembered
from agent.storage.datasets.room import GIGABYTE
from agent.storage.datasets.store import INDEX
from agent.storage.errors import JournalInUse
from agent.storage.journal import Journal
from agent.storage.later import refuse_later_data
from agent.storage.places import FolderLock, Places
from agent.wording.speech import english

MB = 1_000_000
DATASETS = "datasets"

log = logging.getLogger(__name__)

EXTRAS_LOOKED_AT_AFTER_S = 30.0
"""From the start, where no task waits for it: it takes a second of the processor."""


def program_grace_s() -> float:
    """Return how many seconds programs may take to end by themselves: fewer on Windows, which does
    not wait for us when it ends."""
    if sys.platform == "win32":
        from agent.host.stop_signals_windows import PROGRAM_GRACE_S

        return PROGRAM_GRACE_S
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        return GRACE_S


@dataclass(frozen=True, slots=True)
class Options:
    """How a node is started: with defaults for an agent of this machine's owner."""

    discovery: bool = True
    """Look for peers by multicast."""
    protocol: Settings = field(default_factory=Settings)
    stop_within_s: float = 10.0
    """How long handing back may take before the node ends all the same."""
    grace_s: float = field(default_factory=program_grace_s)
    """How long a program that is asked to stop may take."""
    log_to_files: bool = True
    log_to_terminal: bool = False
    service: bool = False
    """It is the agent of its machine, for everybody there, and sees no desktop."""
    updates_alone: bool = True
    """Begin with a version that is installed without being told to, where the settings let it; not
    where a window hosts the node."""


def refuse_second_start(home: Home) -> None:
    """Raise ``AlreadyRunningError`` when an agent runs on this home, ``OSError`` when its lock
    cannot be looked at; else do nothing, and keep no lock."""
    if not home.journal.exists():
        return
    try:
        FolderLock.take(Places(home.journal).lock).release()
    except JournalInUse as error:
        raise _runs_already(home, error) from error


def _secrets_of(home: Home, changed: Callable[[], object]) -> SecretValues:
    folder, machine = home.data / "secrets", home.machine
    laid_down = machine.secrets if machine is not None else None
    secrets = SecretValues(folder, native_key_store(folder), laid_down)
    secrets.changed = changed
    return secrets


def _grants_of(home: Home, secrets: SecretValues, settings: NodeSettings) -> Grants:
    place = home.data / "grants.json"
    return Grants(place, home.folders, secrets.has, secrets.get, settings.shares)


def _audit_of(home: Home) -> AuditLog:
    return AuditLog(home.data / "audit", lambda: identity.own_key(PrivateFolder(home.identity)))


def refuse_exposed(home: Home) -> None:
    """Raise ``ServiceError`` when another account could change or replace the folders of this home,
    of its programs or its settings file; on Windows nothing is looked at. What administrators have
    laid down is looked at where it is read: it does not count then, and the agent starts."""
    for each in (*home.folders, home.programs, home.scratch, home.settings_file):
        if exposed := exposed_way(each):
            raise ServiceError(
                f"{each} {exposed}. Nothing was started: it would run what they wrote."
            )


async def open_journal(home: Home) -> Journal:
    """Open the journal of this home, which is also the lock on it: made empty when there is none,
    mended when it is damaged. Raises ``AlreadyRunningError`` when an agent has it, ``ServiceError``
    when a later version wrote it, or what lies beside it, or the disk does not let it open."""
    beside = {
        "the history": home.data / history.FILE,
        "what is kept of other machines' logs": home.data / kept_logs.FILE,
        "the index of datasets": home.data / DATASETS / INDEX,
    }
    await asyncio.to_thread(refuse_later_data, beside)
    try:
        return await asyncio.to_thread(Journal.open, home.journal)
    except JournalInUse as error:
        raise _runs_already(home, error) from error


def _runs_already(home: Home, error: JournalInUse) -> AlreadyRunningError:
    who = "" if error.process_id is None else f" as process {error.process_id}"
    return AlreadyRunningError(
        f"Wingbeat runs already on {home.data}{who}; use that one, or stop it first.",
        error.process_id,
    )


async def open_datasets(
    me: NodeId, home: Home, settings: NodeSettings, reach: Reach
) -> NodeDatasets:
    """Open the store of this home's datasets, made if need be, and the place where all are kept
    too, if the settings name one. Raises ``ServiceError`` when the disk or that place does not let
    it."""
    folder = home.data / DATASETS
    try:
        quota_bytes = int(settings.datasets_gb * GIGABYTE)
        return await NodeDatasets.open(me, folder, quota_bytes, reach, settings.datasets)
    except OSError as error:
        raise ServiceError(
            f"The datasets in {folder} cannot be opened ({error.strerror or error}): check the disk"
            " and whom the folder belongs to."
        ) from error


class RunningNode:
    """Built around an open journal and an open store, which it closes in the end."""

    drains = False
    """Nothing new begins here, whatever presence says."""
    node: Node
    driver: Driver
    presence: PresenceChanged
    _offers: Capabilities
    _loop: asyncio.AbstractEventLoop

    def __init__(
        self,
        me: NodeId,
        home: Home,
        settings: NodeSettings,
        options: Options,
        journal: Journal,
        datasets: NodeDatasets,
        confinement: Confinement,
        keys: MemberKeys,
    ) -> None:
        self.keys, self.suspicions = keys, SuspicionLog()
        self.node_id, self._home, self._settings = me, home, settings
        self._protocol, self._journal, self.datasets = options.protocol, journal, datasets
        machine = capabilities((), home.scratch, settings.tags, ceilings(settings))
        reader = ProgramReader(machine)
        self.programs = Programs(home.programs, reader, home.programs_beside)
        self.secrets = _secrets_of(home, self._secrets_changed)
        self.audit = _audit_of(home)
        self.grants = _grants_of(home, self.secrets, settings)
        self.published = PublishedPrograms(
            home.data,
            settings.published_programs,
            datasets,
            self.programs,
            reader,
            self._programs_changed,
            self.grants,
        )
        self.granting = Granting(self.programs, self.grants, self._programs_changed)
        self.children = self._children(machine.memory_mb, options.grace_s, confinement)
        logs, reach = home.log / TASK_LOGS, datasets.transfers.reach
        kept = int(settings.logs_mb * MB), self._protocol.retention_ms
        self.log_copies = LogCopies(me, home.data, logs, reach, *kept)
        datasets.transfers.keep_logs = self.log_copies.take
        self.uptimes = Uptimes(me, home.data)
        datasets.transfers.mostly_off = self.uptimes.mostly_off
        self.notices: tuple[str, ...] = ()
        self._load_percent = 0
        self.work_began: Callable[[], object] = int  # nobody wants to know
        self.power = MachinePower(self.children.running, wakeable=settings.wakeable)
        self._awake = Awake(self.children.running, self.children.at_work, _may_sleep)
        self.row_changed: Callable[[], object] = int
        self._extra_wanted = asyncio.Event()

    def _children(self, memory_mb: int, grace_s: float, confinement: Confinement) -> Children:
        home, settings = self._home, self._settings
        return Children(
            self.programs,
            home.scratch,
            home.log / TASK_LOGS,
            self.hand,
            grace_s=grace_s,
            store=self.datasets,
            limits=node_limits(memory_mb, settings.slots, ceilings(settings)),
            spare=settings.processor == SPARE,
            confinement=confinement,
            grants=self.grants,
        )

    async def start(
        self,
        members: MembersChanged,
        network: Network,
        audience: Audience,
        presence: PresenceChanged,
    ) -> None:
        """Read what the disk has, look which programs are here, and begin: from now on events may
        be handed in. Nothing is linked yet. Raises ``ServiceError`` when the journal cannot be
        read; nothing is closed then."""
        self._loop = asyncio.get_running_loop()
        self._protocol = replace(self._protocol, copies=self._copies())
        remembered = await asyncio.to_thread(self._journal.read)
        await asyncio.to_thread(self._look_around)
        holdings = await asyncio.to_thread(self.datasets.store.holdings)
        self.notices = remembered.notices
        for notice in remembered.notices:
            log.warning("%s", notice)
        self._offers = self._capabilities()
        self.node = Node(self._setup(remembered, members, holdings))
        self.published.begin(self.node.table, self.node.home_of)
        work = WorkPort(self.children, self.datasets.transfers, self.published, self.hand)
        ports = (network, self._journal.writer, work, audience)
        self.driver = Driver(self.node, *ports, power=self.power)
        self.datasets.begin(self.node, self._protocol.copies, self.hand, self.keys.role)
        await self.log_copies.begin(self.node, self._protocol.copies)
        self.uptimes.copies = self._protocol.copies
        self.uptimes.begin(members.members)
        self.hand(Started())
        self.set_presence(presence)
        self._looking = asyncio.create_task(self._look_at_extras())

    async def _look_at_extras(self) -> None:
        """Find out what of the extras of Wingbeat is here, once this agent has been up for a while or
        there is work that needs one: whoever has it can be given that."""
        table = self.node.table
        self._want_extras(
            table.specs[task] for those in table.unfinished.values() for task in those
        )
        with suppress(TimeoutError):
            await asyncio.wait_for(self._extra_wanted.wait(), EXTRAS_LOOKED_AT_AFTER_S)
        await self.published.look_for(EXTRAS)
        self.look_for_programs()  # who looked meanwhile, for another node of this process, told nobody

    def _want_extras(self, tasks: Iterable[TaskSpec]) -> None:
        if any(not EXTRAS.keys().isdisjoint(each.requirements.tags) for each in tasks):
            self._extra_wanted.set()

    def moved(self, moved: TaskMoved) -> None:
        """Tell the datasets and the published programs of a task that moved, and look now for what a
        new one needs."""
        self.datasets.moved(moved)
        self.published.moved(moved)
        new = moved.before is None and moved.after not in ENDED
        if new and (spec := self.node.table.specs.get(moved.task)):
            self._want_extras((spec,))

    def hand(self, event: Event) -> None:
        """Hand an event to the node. Where results are also kept in a shared place, the success of
        a program is handed in only when they are there, after this returns. That a program has
        started is told to ``work_began`` first."""
        if isinstance(event, ChildStarted):
            self.work_began()
            if self._settings.keep_awake:
                self._awake.work_began()
        self.log_copies.heed(event)
        self.uptimes.heed(event)
        event = self.datasets.proven(event)
        if not self.datasets.commit_first(event, self.driver.hand):
            self.driver.hand(event)

    def set_presence(self, presence: PresenceChanged) -> None:
        """Tell the node whether this machine works for others now, with the load that was told
        last; while it ``drains``, that it does not and is paused. If it helps, have the way to
        start programs made ready."""
        if self.drains:
            presence = replace(presence, volunteering=False, paused=True)
            if not presence.owner_present:
                presence = replace(presence, reason=FinishingThenPaused())
        self.presence = replace(presence, load_percent=self._load_percent)
        if presence.volunteering:
            self.children.prepare()
        self.hand(self.presence)

    def peer_seen(self, peer: NodeId, *, linked: bool) -> None:
        """Tell those who keep copies elsewhere that a peer is linked, or is gone."""
        self.datasets.peer_seen(peer, linked=linked)
        if linked:
            self.log_copies.peer_seen()

    def set_load(self, percent: int) -> None:
        """Tell the node how busy this machine is, in percent, with the presence that was told last;
        then call ``row_changed``."""
        self._load_percent = percent
        self.presence = replace(self.presence, load_percent=percent)
        self.hand(self.presence)
        self.row_changed()

    def look_for_programs(self) -> tuple[str, ...]:
        """Read the folder of programs anew, those that are wrong being logged, and return the names
        of all programs that can be run here; the flock is told when they or other capabilities,
        free disk apart, changed."""
        self.programs.look()
        found = self._capabilities()
        now = structs.replace(found, disk_mb=self._offers.disk_mb)
        if now != self._offers:
            self._programs_changed()
        return found.programs

    def _programs_changed(self) -> None:
        log.info("programs here: %s", ", ".join(self.children.names()) or "none")
        self._offer()

    def _offer(self) -> None:
        self._offers = self._capabilities()
        self.hand(CapabilitiesChanged(self._offers))
        self.row_changed()

    def _copies(self) -> int:
        """On how many disks results are to be: whoever starts a node decides where nobody has set it."""
        wanted = self._settings.copies
        if wanted == COPIES:
            return self._protocol.copies
        return wanted or self.uptimes.advised()

    def _secrets_changed(self) -> None:
        """Told in the thread that has kept or deleted one."""
        self._loop.call_soon_threadsafe(self._programs_changed)

    async def confined(self) -> ConfinementView:
        """Return what holds programs back here, found out by trying when nobody has asked before;
        where its owner wants nothing of it, nothing is tried."""
        return await confined(self.children)

    def shut_down(self, reason: str) -> None:
        """Ask the node to hand everything back; the audience hears when it has."""
        self.hand(Shutdown(reason))

    async def close(self) -> None:
        """Close driver, programs, datasets and journal, in this order, and wait for it, whether or
        not everything was handed back: what still runs is killed, what waits is dropped."""
        self._looking.cancel()
        self.driver.close()
        await self.children.close()
        await asyncio.to_thread(self._awake.stop)
        await self.power.stop()
        await self.log_copies.close()
        await self.uptimes.close()
        await self.audit.close()
        await self.datasets.close()
        await asyncio.to_thread(self._journal.close)

    def _look_around(self) -> None:
        self.grants.load()
        self.secrets.load()
        self.programs.look()
        self.published.load()
        with suppress(OSError):
            self.children.clear_scratch()

    @property
    def capabilities(self) -> Capabilities:
        """What this machine has, as the flock was told: nobody waits for a disk to be looked at."""
        return self._offers

    def _capabilities(self) -> Capabilities:
        found = capabilities(
            self.children.names(),
            self._home.scratch,
            self._settings.tags,
            ceilings(self._settings),
        )
        told, every = self.published, self.programs.all()
        withheld = self.grants.withheld(every)
        versions = tuple(ProgramVersion(each.name, each.version) for each in every if each.version)
        return structs.replace(
            found,
            takes_published=told.takes,
            refused=told.refusals,
            withheld=withheld,
            versions=versions,
            needs=tuple(each.needs for each in every if each.needs is not None),
            wakes=self.power.addresses,
        )

    def _setup(
        self,
        remembered: Remembered,
        members: MembersChanged,
        holdings: tuple[DatasetId, ...],
    ) -> NodeSetup:
        return NodeSetup(
            node=self.node_id,
            name=self._settings.name,
            slots=self._settings.slots,
            capabilities=self._offers,
            settings=replace(self._protocol, words=english),
            members=members.members,
            keys=self.keys,
            trust=members.trust or NO_TRUST,
            identity=remembered.identity,
            workflows=remembered.workflows,
            lives=remembered.lives,
            prunings=remembered.prunings,
            noted=remembered.noted,
            holdings=holdings,
            version=__version__,
        )


def _may_sleep(error: OSError) -> None:
    why = english(error.reason) if isinstance(error, SightError) else str(error)
    log.info("this machine may fall asleep while a program runs here: %s", why)


class AlreadyRunningError(ServiceError):
    """Another agent runs on this home; ``process_id`` is None when that cannot be read."""

    def __init__(self, text: str, process_id: int | None) -> None:
        super().__init__(text)
        self.process_id = process_id
