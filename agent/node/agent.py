"""A live node from outside: started, asked, told of changes, stopped.

This is the composition root: the only place that knows the protocol, the network, the disk and
the programs at once. It decides nothing about tasks (``agent.protocol`` does) and words nothing
for people (whoever shows it does); it wires, and keeps the wiring right when this node joins or
leaves a flock while it runs.

All methods are for the loop in which the node was started.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from agent import __version__
from agent.api.errors import ServiceError
from agent.api.reasons import Reason, as_why, text_of
from agent.api.session import PeerChanged, VolunteeringChanged
from agent.control.port import Notice, Rooms
from agent.control.views import tasks_by_host
from agent.flock.member_clients import MemberClients
from agent.flock.network import FlockNetwork
from agent.flock.operations import FlockOperations, open_membership
from agent.history.task_history import TaskHistory
from agent.host import logs
from agent.host.memory import MemoryTrimmer, collect_garbage_rarely
from agent.net import identity
from agent.net.link_tls import Streams
from agent.net.transfer_words import Pipe
from agent.node.confining import confinement_of
from agent.node.member_keys import MemberKeys
from agent.node.pending_requests import PendingRequests
from agent.node.report import Snapshot
from agent.node.running import Options, RunningNode, open_datasets, open_journal, refuse_exposed
from agent.node.suspicions import suspicions
from agent.node.updating import Updates
from agent.node.workflow_ends import WorkflowEnds
from agent.paths import Home
from agent.presence.load import watch_load
from agent.presence.volunteering import Volunteering
from agent.presence.watching import PresenceWatcher
from agent.presence.words import sources_for
from agent.protocol.effects import TaskMoved, WorkflowGone
from agent.protocol.events import Event, MembersChanged, PresenceChanged, RunsRemembered
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import Message
from agent.protocol.reasons import StoryEntry
from agent.protocol.records import NodeId, Run, TaskId, WorkflowSpec
from agent.protocol.table import Table
from agent.settings.editing import OwnerSettings
from agent.settings.layers import Settled, settle
from agent.settings.node_settings import BY_ITSELF, PAUSED
from agent.wording.speech import english

PROGRAMS_EVERY_S = 30.0

log = logging.getLogger(__name__)


class Agent:
    """One live node, from ``start`` to ``stop``."""

    live: RunningNode
    """The node that runs now; another one after this one has left a flock."""

    def __init__(self, home: Home, options: Options, settled: Settled) -> None:
        settings = settled.settings
        self.home, self._options, self.settings = home, options, settings
        self.name, self.discovers = settings.name, options.discovery
        self._watchers: list[Callable[[Notice], None]] = []
        self._requests = PendingRequests(settings.name, lambda: self.live.hand)
        self.ask, self.answered = self._requests.ask, self._requests.answered
        self._ends = WorkflowEnds()
        self._handed_back, self._stopped = asyncio.Event(), asyncio.Event()
        self._reason, self._begun = "", False
        self._table: Table
        self._background: set[asyncio.Task[None]] = set()
        self._end_logs: Callable[[], None] = lambda: None
        self.network: FlockNetwork | None = None
        self.member_clients = MemberClients(self)
        self.flock = FlockOperations(self, self.member_clients.arrived)
        self._owner_settings = OwnerSettings(
            home.settings_file, settled, lambda: self.port, home.machine, self._kept_logs
        )
        waits = self._owner_settings.wait
        self.updates = Updates(self, by_itself=self._updates_by_itself, settings_wait=waits)
        self.presence = PresenceWatcher(
            home.data,
            settings.rules,
            self._owner_settings.keep_rules,
            starts_paused=settings.volunteer == PAUSED,
            running=self._running,
            hand=self._presence_changed,
            make_sources=lambda: sources_for(self.presence.words, service=options.service),
        )
        self._owner_settings.follow = self.presence.follow
        self._volunteering = Volunteering(self.presence, self._owner_settings.attributed)
        self.confinement = confinement_of(home, settings, self.presence.bar)
        self.history = TaskHistory(
            home.data, home.log, lambda: self.table, lambda: self.node_id, self.name_of, self.story
        )
        self.history.past.days_kept = settings.history_days
        self.subscribe(self.member_clients.noticed)
        self.history.gone_ms, self.history.past.home_of = self._gone_ms, self._home_of
        self.subscribe(self.history.noticed)

    @classmethod
    async def start(cls, home: Home, options: Options | None = None) -> Agent:
        """Make the folders of this home, read its settings, start its node, and return the agent.

        Raises ``AlreadyRunningError`` when an agent runs on it, ``ServiceError`` with one sentence
        for anything else that a person can mend; what was opened is closed again then.
        """
        options = options or Options()
        try:
            await asyncio.to_thread(home.prepare)
        except OSError as error:
            raise ServiceError(
                f"{error.filename} cannot be made ({error.strerror}): give this account the right "
                f"to, or set WINGBEAT_HOME to another folder."
            ) from error
        await asyncio.to_thread(refuse_exposed, home)
        agent = cls(home, options, settle(home.settings_file, home.machine))
        await agent._begin()
        return agent

    async def stop(self, why: str = "stopped") -> None:
        """Hand everything back, say goodbye, close everything, and wait for that; ``why`` is what
        ``wait_stopped`` returns. Requests are refused from now on, and those without an answer fail
        at the end. Another call only waits until the first is done."""
        if self._reason:
            await self._stopped.wait()
            return
        self._reason = why
        self._requests.closed = True
        log.info("stopping: %s", why)
        async with AsyncExitStack() as parts:  # the last first, whatever one of them raises
            parts.callback(self._stopped.set)
            parts.callback(self._say_stopped)
            parts.push_async_callback(self.history.stop)
            parts.callback(self._requests.give_up)
            parts.push_async_callback(self.end_node, why)
            parts.push_async_callback(self.presence.stop)
            parts.push_async_callback(self.flock.stop)

    def _say_stopped(self) -> None:
        log.log(logs.NORMAL, "stopped")
        self._end_logs()

    async def wait_stopped(self) -> str:
        """Wait until the node has stopped, for whatever reason, and return the reason."""
        await self._stopped.wait()
        return self._reason

    # -- work ------------------------------------------------------------------------------

    def subscribe(self, callback: Callable[[Notice], None]) -> Callable[[], None]:
        """Have the callback told of changes from now on, in the loop and in order; return a
        function that ends that.

        The callback must not block. If it raises, that is logged, and it is told further on.
        """
        self._watchers.append(callback)

        def unsubscribe() -> None:
            if callback in self._watchers:
                self._watchers.remove(callback)

        return unsubscribe

    @property
    def table(self) -> Table:
        """Return the table, to be read only, and only in the loop. It is ahead of the notices: a
        change is told when it is on disk. While another node begins it is that of the one before."""
        if hasattr(self.live, "node"):
            self._table = self.live.node.table
        return self._table

    def story(self, task: TaskId) -> list[StoryEntry]:
        """Return why the task moved, as far as the node saw it since it started."""
        return self.live.node.story(task)

    # -- this node and its peers -----------------------------------------------------------

    @property
    def node_id(self) -> NodeId:
        """This node; a new one after it has left a flock."""
        return self.live.node_id

    @property
    def port(self) -> int:
        """Where members reach this node; 0 without a flock."""
        return 0 if self.network is None else self.network.links.port

    def name_of(self, node: NodeId) -> str:
        """Return what people call a node: this one's name in the settings, another's own word, else
        what the roster calls it, else its id; without a flock the id of any other."""
        if node == self.node_id:
            return self.name
        return node if self.network is None else self.network.name_of(node)

    def _gone_ms(self, run: Run) -> int:
        """Asked of the present node, which may have begun anew."""
        return self.live.node.gone_since_ms(run)

    def _home_of(self, spec: WorkflowSpec) -> NodeId:
        """The same."""
        return self.live.node.home_of(spec)

    @property
    def rooms(self) -> Rooms:
        """Return the rooms that do what people ask for; they are others after this node has begun
        anew."""
        live = self.live
        rooms = self.flock, self._volunteering, live.datasets, live.published, self.history
        others = self._owner_settings, live.log_copies, self.updates, live, live.granting
        return Rooms(*rooms, *others, live.secrets, live.uptimes, live.audit)

    def now(self) -> Snapshot:
        """Return this node as it is now."""
        settled, update = self._owner_settings.settled, self.updates.view()
        return Snapshot(self, self.flock, self.live, self.presence, settled, update)

    async def reach(self, member: NodeId) -> Streams:
        """Open a connection to the client protocol of a member. Raises ``ServiceError``."""
        return await self.member_clients.open(member)

    # -- for the driver: its audience and its network --------------------------------------

    def stopped(self) -> None:
        """Note that the node has handed everything back."""
        self._handed_back.set()

    def failed(self, error: BaseException) -> None:
        """Log the error, for the node is at fault itself, and begin to stop it, without waiting for
        the end. While it stops already, it does not wait any longer for what is to be handed
        back."""
        log.error("this node stops because of a fault of its own: %r", error, exc_info=error)
        if self._reason:
            self._handed_back.set()
            return
        self._in_background(self.stop("a fault of this program, see its log"))

    def send(self, peers: Sequence[NodeId], message: Message) -> None:
        """Send a message to peers; without a network nothing happens."""
        if self.network is not None:
            self.network.links.send(peers, message)

    def unlink(self, peer: NodeId, why: NoLink) -> None:
        """End the link to a peer; without a network nothing happens."""
        if self.network is not None:
            self.network.links.unlink(peer, why)

    async def open_bulk(self, peer: NodeId) -> Pipe:
        """Open a connection for bulk data to a peer and return it as a pipe for a thread. Raises
        ``OSError`` when the peer cannot be reached or refuses, and without a flock."""
        if self.network is None:
            raise ConnectionError("this node belongs to no flock")
        return await self.network.links.open_bulk(peer)

    # -- for the parts of the composition root ---------------------------------------------

    @property
    def told_presence(self) -> PresenceChanged:
        """What the node was told last of whether this machine helps."""
        return self.live.presence

    @property
    def hand(self) -> Callable[[Event], None]:
        """What hands an event to the protocol's node, as long as that lives."""
        return self.live.hand

    def serve_bulk(self, peer: NodeId, pipe: Pipe) -> None:
        """Serve a transfer of data that a peer has begun, in a thread, until it ends."""
        self.live.datasets.transfers.serve(peer, pipe)

    async def begin_again(self, between: Callable[[], Awaitable[None]]) -> None:
        """Close the protocol's node, wait for ``between``, and begin with what the home holds then.
        Raises what either of ``between`` and ``begin_node`` raises; no node runs then, so that this
        agent ends. Links are left to the caller."""
        await self.live.close()
        self._begun = False
        try:
            await between()
            await self.begin_node()
        except BaseException as error:
            log.error("this node cannot begin anew, and the agent ends: %s", error)
            self._in_background(self.stop(f"it could not begin anew: {error}"))
            raise

    def notify(self, notice: Notice) -> None:
        """Tell a notice of a task to this node's datasets and published programs, one of a peer to
        those who keep copies elsewhere; then each to everybody who subscribed, and that a workflow
        has ended where it has; all of it before this returns. A subscriber that raises is logged,
        and the others hear it."""
        live = self.live
        if isinstance(notice, TaskMoved):
            live.moved(notice)
        elif isinstance(notice, WorkflowGone):
            live.log_copies.gone(notice)
        elif isinstance(notice, PeerChanged) and notice.node != self.node_id:
            linked = self.network is not None and notice.node in self.network.peers
            live.peer_seen(notice.node, linked=linked)
            if linked and self.network is not None:
                version = self.network.peers.version(notice.node)
                self.updates.heard_of(self.name_of(notice.node), version)
        for watcher in list(self._watchers):
            try:
                watcher(notice)
            except Exception:
                log.exception("somebody who subscribed failed at %s", notice)
        if isinstance(notice, TaskMoved) and (ended := self._ends.after(notice, self.table)):
            self.notify(ended)

    told = notify
    """What the driver tells, likewise."""

    async def begin_node(self) -> None:
        """Open the journal and begin the log of this home, start the node that it holds now as
        ``live``, and its network if it belongs to a flock. Raises ``ServiceError``, as
        ``AlreadyRunningError`` or ``MembershipError`` too; journal, datasets and node are closed
        again then, the log is not."""
        async with AsyncExitStack() as undone:
            journal = await open_journal(self.home)
            self._begin_logs()
            undone.push_async_callback(asyncio.to_thread, journal.close)
            membership = await asyncio.to_thread(open_membership, self.home)
            me = await asyncio.to_thread(identity.node_id_in, self.home.identity)
            datasets = await open_datasets(me, self.home, self.settings, self.open_bulk)
            undone.push_async_callback(datasets.close)
            home = me, self.home, self.settings, self._options, journal, datasets
            self.live = RunningNode(*home, self.confinement, MemberKeys(lambda: self.network))
            self.live.work_began, self.live.drains = self.presence.work_began, self.updates.finishes
            self.live.log_copies.known = self.history.known
            self.live.row_changed = partial(self.notify, PeerChanged(me))
            self.live.published.offered = self.notify
            self.live.power.asleep_again.make_sources = self.presence.make_sources
            await self.flock.audit.follow(self.live.audit)
            network = None if membership is None else self.flock.network_of(membership)
            members = MembersChanged(()) if network is None else network.members
            await self.live.start(members, self, self, self.presence.current())
            self.live.hand(RunsRemembered(self.history.remembered))
            self.history.past_run = self.live.node.lengths.past_run
            undone.pop_all()
            undone.push_async_callback(self.live.close)
            if network is not None:
                await self.flock.connect(network)
            undone.pop_all()
        self._begun = True

    async def end_node(self, reason: str) -> None:
        """Hand back what runs, as long as the limit allows, then close network, programs, datasets
        and journal, whatever one of them raises; returns when all are closed. Programs that still
        run are killed."""
        async with AsyncExitStack() as parts:  # the last first, whatever one of them raises
            if self._begun:
                parts.push_async_callback(self.live.close)
            parts.push_async_callback(self.end_network)
            if self._begun:
                parts.push_async_callback(self.hand_back, reason)

    async def hand_back(self, reason: str) -> None:
        """Have the node hand everything back, and wait until it has, at most ``stop_within_s`` of
        the options; then log that not everything was handed back, and return all the same."""
        self._handed_back.clear()
        self.live.shut_down(reason)
        try:
            async with asyncio.timeout(self._options.stop_within_s):
                await self._handed_back.wait()
        except TimeoutError:
            log.warning("not everything was handed back in time")

    async def end_network(self) -> None:
        """Close the links, stop listening, and wait for it; this node has no network from now on.
        Without one nothing happens."""
        network, self.network = self.network, None
        if network is not None:
            await network.stop()

    def set_presence(self, presence: PresenceChanged) -> None:
        """Tell the node whether this machine works for others now."""
        self.live.set_presence(presence)

    def _kept_logs(self) -> int:
        return self.live.log_copies.kept_bytes

    # -- for updates ------------------------------------------------------------------------

    def in_hand(self) -> int:
        """Return how many runs this node has in hand, with those whose inputs are fetched or whose
        outputs are being kept."""
        return len(tasks_by_host(self.table).get(self.node_id, ()))

    def linked(self) -> bool:
        """Return whether another machine is linked."""
        return self.network is not None and bool(self.now().peers)

    def drain(self, wanted: bool) -> None:
        """Have nothing new begin here, or let it begin again; clients are told in either case."""
        self.live.drains = wanted
        if self.network is None or not self.network.expelled:
            self.live.set_presence(self.presence.current())
        self.notify(PeerChanged(self.node_id))

    def _updates_by_itself(self) -> bool:
        """By what the settings say now."""
        try:
            alone = self._owner_settings.now().updates == BY_ITSELF
        except ServiceError:
            return False
        return alone and self._options.updates_alone

    def _running(self) -> int:
        return self.live.children.running()

    def _presence_changed(
        self, presence: PresenceChanged | None, reason: Reason, paused: bool
    ) -> None:
        now = presence or self.presence.current()
        if presence is not None:
            log.info("%s", english(reason))
            if self.network is None or not self.network.expelled:
                self.live.set_presence(presence)
        helps = now.volunteering and not now.own_only, now.owner_present
        self.notify(VolunteeringChanged(*helps, text_of(reason), paused, why=as_why(reason)))

    async def _begin(self) -> None:
        try:
            await self.begin_node()
        except BaseException:
            self._end_logs()
            raise
        await self.history.start()
        self.live.hand(RunsRemembered(self.history.remembered))
        log.log(
            logs.NORMAL,
            "Wingbeat %s runs as %s (%s), process %d",
            __version__,
            self.name,
            self.node_id,
            os.getpid(),
        )
        settled = self._owner_settings.settled
        for each in (*settled.wrong, *settled.overruled):
            log.warning("%s", english(each))
        self.presence.start()
        self.flock.standing.start()
        collect_garbage_rarely()
        self._in_background(self._look_now_and_then())
        self._in_background(watch_load(self._load_told, self._tell_load, self._stopped))

    def _load_told(self) -> int | None:
        return None if self._reason or self.flock.busy else self.live.presence.load_percent

    def _tell_load(self, percent: int) -> None:
        self.live.set_load(percent)

    def _begin_logs(self) -> None:
        """Not before this home is ours: the log is part of it."""
        options = self._options
        self._end_logs()
        try:
            terminal = sys.stderr if options.log_to_terminal else None
            self._end_logs = logs.begin(self.home.log if options.log_to_files else None, terminal)
        except OSError as error:
            self._end_logs = logs.begin(None, sys.stderr)
            log.warning("the log in %s cannot be written: %s", self.home.log, error.strerror)

    async def _look_now_and_then(self) -> None:
        """Programs are installed while the node runs, and what it does not use adds up."""
        trimmer = MemoryTrimmer()
        while not self._stopped.is_set():
            try:
                async with asyncio.timeout(PROGRAMS_EVERY_S):
                    await self._stopped.wait()
            except TimeoutError:
                if not (self._reason or self.flock.busy):
                    self.live.look_for_programs()
                    self.live.suspicions.look(suspicions(self.live.node, self.name_of))
                trimmer.give_back()
                await self._owner_settings.look()

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
