"""One simulated workstation: a node, its disk, its clocks, its programs and its owner.

It hosts the same ``Node`` as the driver of a live agent and decides as little: events go in one by
one, effects are carried out one by one in their order. In return it can do to a node what machines
do: stop between two effects, answer late, refuse the disk, set the clock, lose the power.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from agent.protocol import messages
from agent.protocol.clock import Instant
from agent.protocol.effects import (
    Answer,
    CancelFinished,
    CopyCheckpoint,
    CopyOutputs,
    Effect,
    Fetch,
    OutcomeChanged,
    Persist,
    ResumeChild,
    Send,
    StartChild,
    StopChild,
    Stopped,
    SuspendChild,
    TaskMoved,
    TaskProgressed,
    Unlink,
    WakeMachine,
    WasWoken,
    WorkflowGone,
    WorkflowSafe,
)
from agent.protocol.events import (
    Due,
    Event,
    PeerLinked,
    PersistFailed,
    PresenceChanged,
    Received,
    Shutdown,
    Started,
)
from agent.protocol.messages import Capabilities, Message
from agent.protocol.node import UNSETTLED, Node, NodeSetup
from agent.protocol.reasons import Opaque
from tests.sim.children import Children
from tests.sim.disk import Disk
from tests.sim.failure import Broken
from tests.sim.keys import keys_of
from tests.sim.slow_disk import SlowDisk
from tests.sim.transfers import Transfers
from tests.sim.versions import as_newer_version

if TYPE_CHECKING:
    from tests.sim.simulation import Simulation

WALL_MS = 1_750_000_000_000
ADDRESS = re.compile(" at 0x[0-9a-f]+")
"""Of what has no better name; another in each process, so no trace tells it."""
TIMER_SLACK_S = 1e-5
"""A timer never fires before its time, whatever the rounding of a drifting clock."""
TURN_S = 0.0005
"""Messages that come within this are handled together, as a loop with many sockets does;"""
SEEDS_PER_TURNS = 4
"""in the runs of every fourth seed, that is. In the others each is handled alone."""
CURVES_SEED = 3
CURVES = ((1000, 1000, 1000), (300, 50, 0), (), (900, 300, 50), (0, 0, 0))

DUE = Due()
EVENT_NUMBERS = {kind: number for number, kind in enumerate(Event.__args__)}


@dataclass(slots=True)
class MachinePlan:
    """What is drawn for one machine before the run."""

    node: str
    name: str
    slots: int = 1
    capabilities: Capabilities = field(default_factory=Capabilities)
    policy: str = "look-ahead"
    boot_s: float = 0.0
    discovery_s: tuple[float, float] = (0.01, 0.3)
    newcomer: bool = False
    newer_version: bool = False
    slowness: float = 1.0
    clock_rate: float = 1.0
    wall_offset_ms: int = 0
    wall_rate: float = 1.0
    owner_present: bool = False


class Machine:
    __slots__ = (
        "booted_s",
        "boots",
        "channels",
        "children",
        "disk",
        "doom",
        "expelled",
        "gone_for_ever",
        "inbox",
        "index",
        "lasts",
        "late_due",
        "lies",
        "master",
        "node",
        "node_id",
        "own_only",
        "owner_present",
        "paused",
        "plan",
        "simulation",
        "slow_disk",
        "stalled",
        "stays",
        "stopping_since",
        "timer_for",
        "transfers",
        "trap",
        "turn_planned",
        "turn_s",
        "volunteering",
        "wall_offset_ms",
        "world",
        "zero",
    )

    def __init__(self, simulation: Simulation, plan: MachinePlan, index: int) -> None:
        self.simulation = simulation
        self.world = simulation.world
        self.plan = plan
        self.index = index
        self.node_id = plan.node
        self.disk = Disk()
        self.node: Node | None = None
        self.boots = 0
        self.booted_s = 0.0
        self.children: Children = Children(self)
        self.transfers: Transfers = Transfers(self)
        self.inbox: deque[Event] = deque()
        self.turn_s = TURN_S if simulation.plan.seed % SEEDS_PER_TURNS == 0 else 0.0
        self.turn_planned = False
        self.slow_disk: SlowDisk | None = None
        self.stalled = 0
        self.late_due = False
        self.timer_for = inf
        self.zero = -self.world.random.uniform(10.0, 1e5)
        self.wall_offset_ms = plan.wall_offset_ms
        self.owner_present = plan.owner_present
        self.volunteering = not plan.owner_present
        self.paused = self.own_only = False
        self.lasts = self._drawn_curve()
        self.stays = False
        self.gone_for_ever = self.lies = False
        self.expelled = False
        self.doom = -1
        self.trap: tuple[str, str] | None = None
        self.stopping_since = inf
        self.master = ""
        self.channels: dict[str, Any] = {}

    def _drawn_curve(self) -> tuple[int, ...]:
        """In the runs of every fourth seed machines tell how likely they stay free, each otherwise."""
        plan = self.simulation.plan
        if plan.exact or plan.seed % SEEDS_PER_TURNS != CURVES_SEED:
            return ()
        return CURVES[self.index % len(CURVES)]

    def __repr__(self) -> str:
        return f"{self.node_id} {self.plan.name}"

    # Process

    def boot(self) -> None:
        self.boots += 1
        self.booted_s = self.world.now
        disk, plan, simulation = self.disk, self.plan, self.simulation
        setup = NodeSetup(
            node=self.node_id,
            name=plan.name,
            slots=plan.slots,
            capabilities=plan.capabilities,
            settings=simulation.plan.settings,
            members=simulation.members(self),
            identity=disk.identity,
            workflows=tuple(disk.workflows.values()),
            lives=tuple(disk.lives.values()),
            prunings=tuple(disk.prunings.values()),
            noted=tuple(disk.noted),
            holdings=tuple(disk.datasets),
            policy=plan.policy,
            version="simulated",
            keys=keys_of(simulation, self.node_id),
            trust=simulation.trust,
        )
        self.node = simulation.node_class(setup)
        self.timer_for, self.late_due, self.doom = inf, False, -1
        self.stopping_since = inf
        self.inbox.clear()
        self.turn_planned = False
        self.slow_disk = SlowDisk(self) if simulation.plan.slow_disks else None
        self._say("boots")
        simulation.ledger.booted(self)
        self.hand(Started())
        self.tell_presence()
        simulation.network.machine_back(self, plan.discovery_s)

    def die(self, *, silent: bool = False) -> None:
        """The process ends here and now; ``silent``: with the power, so that nobody is told."""
        if self.node is None:
            return
        self._say("loses power" if silent else "ends")
        self.node = None
        self.stalled = 0
        self.inbox.clear()
        self.children.end_all()
        self.transfers.end_all()
        self.simulation.network.machine_gone(self, silent=silent)

    def shut_down(self) -> None:
        if self.node is not None and self.stopping_since == inf:
            self.stopping_since = self.world.now
            self.hand(Shutdown("asked to stop"))

    def stall(self) -> None:
        """The process stops; what comes in waits."""
        self.stalled += 1

    def resume(self, boots: int, _: object = None) -> None:
        """It goes on: first what waited, then what was due long ago."""
        if boots != self.boots or self.node is None or not self.stalled:
            return
        self.stalled -= 1
        if self.stalled:
            return
        self._take_waiting()
        if self.late_due and self._awake():
            self.late_due = False
            self._handle(DUE)

    def _awake(self) -> bool:
        return self.node is not None and not self.stalled

    def tell_presence(self) -> None:
        reason = Opaque("the owner is here" if self.owner_present else "nobody is here")
        present = self.owner_present or self.paused
        told = PresenceChanged(self.volunteering, present, reason)
        self.hand(
            replace(
                told, own_only=self.own_only, paused=self.paused, lasts=self.lasts, stays=self.stays
            )
        )

    # Clocks

    def elapsed(self) -> float:
        """The monotonic clock, which nobody can set."""
        return (self.world.now - self.zero) * self.plan.clock_rate

    def wall_ms(self) -> int:
        """The wall clock, which anybody can."""
        return WALL_MS + self.wall_offset_ms + int(self.world.now * 1000.0 * self.plan.wall_rate)

    def _arm(self, deadline: float) -> None:
        self.timer_for = deadline
        at = max(deadline / self.plan.clock_rate + self.zero, self.world.now) + TIMER_SLACK_S
        self.world.at(at, self._timer, self.boots, deadline)

    def _timer(self, boots: int, deadline: float) -> None:
        node = self.node
        if boots != self.boots or deadline != self.timer_for or node is None:
            return
        self.timer_for = inf
        if self.stalled:
            self.late_due = True
            return
        actual = node.next_deadline()
        if actual is None:
            return
        if actual <= self.elapsed():
            self._take_waiting()
            if self._awake():
                self._handle(DUE)
        else:
            self._arm(actual)

    # Events in, effects out

    def hand(self, event: Event) -> None:
        """Give the node an event, now or when it goes on."""
        if self.node is None:
            return
        if self.lies and isinstance(event, Received):
            self.simulation.liars.listen(self, event.message)
        if self.slow_disk is not None and isinstance(event, PeerLinked):
            self.slow_disk.linked(event.peer)
        if self.stalled:
            self.inbox.append(event)
        elif self.turn_s and isinstance(event, Received):
            self.inbox.append(event)
            if not self.turn_planned:
                self.turn_planned = True
                self.world.after(self.turn_s, self._turn, self.boots)
        else:
            self._take_waiting()
            self._handle(event)

    def _turn(self, boots: int, _: object = None) -> None:
        """What came within a turn is handled together, as a live host does."""
        if boots == self.boots and self.node is not None:
            self.turn_planned = False
            self._take_waiting()

    def _take_waiting(self) -> None:
        while self.inbox and self._awake():
            event = self.inbox.popleft()
            followed = bool(self.inbox) and isinstance(self.inbox[0], Received)
            more = bool(self.turn_s) and followed and isinstance(event, Received)
            self._handle(event, more=more)

    def _handle(self, event: Event, *, more: bool = False) -> None:
        node, world = self.node, self.world
        if node is None:
            return
        if world.tell is not None:
            self._tell_event(event)
        elapsed = (world.now - self.zero) * self.plan.clock_rate
        effects = node.handle(event, Instant(elapsed, self.wall_ms()), more=more)
        core = getattr(node, "_core", None)  # rules other than ours have none
        if core is not None and UNSETTLED in core.counters:
            raise Broken("no storm", f"{self} plans without end at {type(event).__name__}")
        world.note(self.index * 64 + EVENT_NUMBERS[type(event)], len(effects))
        if effects:
            self._carry_out(node, effects)
            if self.node is not node:
                return
        deadline = node.next_deadline()
        if deadline is not None and deadline < self.timer_for:
            self._arm(deadline)

    def _carry_out(self, node: Node, effects: list[Effect]) -> None:
        if self.slow_disk is not None:
            self.slow_disk.carry_out(effects)
            return
        for place, effect in enumerate(effects):
            if not self.carry_out_one(node, effect):
                if isinstance(effect, Persist) and self.node is node:
                    self.refuse(effect, tuple(effects[place + 1 :]))
                return

    def carry_out_one(self, node: Node, effect: Effect) -> bool:
        """Whether it was done, and the node is still there to do more."""
        if self.world.tell is not None:
            self._tell_effect(effect)
        if self.doom >= 0 and self._doomed():
            return False
        if self.trap is not None:
            self.simulation.traps.before(self, effect)
        if self.node is not node or ACTS[type(effect)](self, effect) is False:
            return False
        if self.trap is not None:
            self.simulation.traps.behind(self, effect)
        return self.node is node

    def _doomed(self) -> bool:
        self.doom -= 1
        if self.doom < 0:
            self.simulation.faults.crash_now(self)
            return True
        return False

    def _persist(self, effect: Persist) -> bool:
        if self.disk.full:
            return False
        self.simulation.watch.persisted(self, effect)
        self.disk.write(effect)
        return True

    def refuse(self, effect: Persist, dropped: tuple[Effect, ...]) -> None:
        """The disk took nothing of it."""
        self._say("refuses to write")
        refusal = PersistFailed(effect, dropped)
        self.world.after(0.0, self.hand_to, self.boots, refusal)
        self.simulation.ledger.fault_now(self, "disk")
        self.simulation.ledger.disks_refused[self.node_id] = None

    def hand_to(self, boots: int, event: Event) -> None:
        """The same, of something that concerns one start of the agent."""
        if boots == self.boots:
            self.hand(event)

    def _send(self, effect: Send) -> None:
        message, simulation = effect.message, self.simulation
        kind = type(message)
        hook = simulation.watch.sent.get(kind)
        if hook is not None:
            hook(self, message)
        if simulation.plan.coded:
            message = self._through_codec(message)
        event = Received(self.node_id, message)
        channels, send = self.channels, simulation.network.send
        for peer in effect.peers:
            channel = channels.get(peer)
            if channel is not None:
                send(channel, event)

    def _through_codec(self, message: Message) -> Message:
        data = messages.encode(message)
        if self.plan.newer_version:
            data = as_newer_version(data)
        decoded = messages.decode(data)
        if isinstance(decoded, messages.UnknownMessage):
            raise TypeError(f"a message that its own codec does not know: {message}")
        return decoded

    def _unlink(self, effect: Unlink) -> None:
        self.simulation.network.close(self, effect.peer)
        if self.inbox:
            peer = effect.peer
            kept = [e for e in self.inbox if not (isinstance(e, Received) and e.peer == peer)]
            self.inbox = deque(kept)

    def _start(self, effect: StartChild) -> None:
        self.simulation.watch.started(self, effect)
        self.children.start(effect)

    def _stop(self, effect: StopChild) -> None:
        self.transfers.stop(effect.task, effect.run)
        self.children.stop(effect.task, effect.run)

    # Telling

    def _say(self, text: str) -> None:
        if self.world.tell is not None:
            self.world.tell(f"{self.world.now:10.4f} {self} {text}")

    def _tell_event(self, event: Event) -> None:
        text = ADDRESS.sub("", repr(event))
        if "Heartbeat(" not in text and text != "Due()":
            self._say(f"<- {text[:600]}")

    def _tell_effect(self, effect: Effect) -> None:
        text = ADDRESS.sub("", repr(effect))
        if "Heartbeat(" not in text:
            self._say(f"   -> {text[:600]}")


ACTS: dict[type, Callable[[Machine, Any], object]] = {
    Persist: Machine._persist,
    Send: Machine._send,
    Unlink: Machine._unlink,
    Fetch: lambda machine, effect: machine.transfers.fetch(effect),
    StartChild: Machine._start,
    SuspendChild: lambda machine, effect: machine.children.suspend(effect.task, effect.run),
    ResumeChild: lambda machine, effect: machine.children.resume(effect.task, effect.run),
    StopChild: Machine._stop,
    CopyOutputs: lambda machine, effect: machine.transfers.copy(effect),
    CopyCheckpoint: lambda machine, effect: machine.transfers.copy_checkpoint(effect),
    Answer: lambda machine, effect: machine.simulation.watch.answered(machine, effect),
    TaskMoved: lambda machine, effect: machine.simulation.watch.moved(machine, effect),
    TaskProgressed: lambda *_: None,
    OutcomeChanged: lambda machine, effect: machine.simulation.watch.outcome_changed(
        machine, effect
    ),
    WorkflowSafe: lambda *_: None,
    WorkflowGone: lambda *_: None,
    CancelFinished: lambda *_: None,
    Stopped: lambda machine, _: machine.die(),
    WakeMachine: lambda *_: None,
    WasWoken: lambda *_: None,
}
"""Who carries an effect out; a disk that refuses one says False."""
