"""One node, hosted live: one loop, one timer, events one after the other.

Whatever happens comes in by ``hand``. What a port reports while an event is handled waits for its
turn. After each event the one timer is set for the node's next deadline.

**Late timers.** The node tells from a late timer that it slept or stalled, and what its peers said
meanwhile must reach it first. A loop that was held up finds due timers and readable sockets in the
same turn, and a socket holds more than one turn reads. So when the timer fires, ``Due`` waits until
the links have been silent for a whole turn of the loop, at most ``DRAIN_S_MAX``: a peer that never
pauses must not keep this node from noticing that time goes by. It is never skipped, and the node
is told the time at which it is really handed in.

**Faults.** An exception out of the node is a fault of this program. It is logged with the event
and what is known of the tasks in it. If a peer's message led to it, that peer's link is closed, so
that whatever it sent costs it the link and not this node; after anything else the node is stopped
in an orderly way. An exception from a port has no such way out: some effect was not done.

**What is known of the tasks in an event, for the log, when the node failed at it.**

A fault is found by why the tasks were where they were, and afterwards nobody can ask. An event
may name thousands of tasks; the first few tell enough.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import islice
from typing import Any

from agent.driver.clock import LiveClock
from agent.driver.outbox import Outbox
from agent.driver.ports import Audience, Disk, Network, NoPower, Power, Programs, WithProgram
from agent.driver.resting import REST_S, RestingLoop
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
    DiskUsable,
    Due,
    Event,
    PeerLinked,
    PersistFailed,
    Received,
    Submit,
)
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import Heartbeat, Message
from agent.protocol.node import Node
from agent.protocol.reasons import StoryEntry
from agent.protocol.records import NodeId, TaskId

DRAIN_S_MAX = 0.25
PROBE_EVERY_S = 1.0
EVENT_TEXT_MAX = 2_000
BUSY_DISK_S, GATHERING_S = 0.1, 0.03
"""Where something was submitted to the disk so lately, records for which nobody waits gather so long."""
TOGETHER_MAX = 256
"""So many messages that wait are handled as one; what they lead to is done in between."""
IDLE_AFTER_S = 2.0
"""A node that handled nothing but beats for this long rests after its own (``resting``)."""
BEATS_WORTH_A_REST = 8
BEATS_COME_WITHIN_S = 0.1
"""Clocks that agree do so to some milliseconds, and a busy machine is late: for this long after
its own beat an idle node rests again after each of its peers'."""

log = logging.getLogger(__name__)
TASKS_MAX = 3

WITH_PROGRAMS: dict[type[WithProgram], Callable[[Programs, Any], None]] = {
    Fetch: lambda programs, effect: programs.fetch(effect),
    StartChild: lambda programs, effect: programs.start(effect),
    SuspendChild: lambda programs, effect: programs.suspend(effect.task, effect.run),
    ResumeChild: lambda programs, effect: programs.resume(effect.task, effect.run),
    StopChild: lambda programs, effect: programs.stop(effect.task, effect.run, effect.reason),
    CopyOutputs: lambda programs, effect: programs.copy(effect),
    CopyCheckpoint: lambda programs, effect: programs.copy_checkpoint(effect),
}
"""Who does which of the effects on programs and their data."""
WITH_POWER: dict[type, Callable[[Power, Any], None]] = {
    WakeMachine: lambda power, effect: power.wake(effect.addresses),
    WasWoken: lambda power, _: power.woken(),
}
"""Likewise of those on machines that sleep."""


class Driver:
    """Hosts a node from ``start`` until it has stopped."""

    def __init__(
        self,
        node: Node,
        network: Network,
        disk: Disk,
        programs: Programs,
        audience: Audience,
        clock: LiveClock | None = None,
        power: Power | None = None,
    ) -> None:
        self._node, self._network, self._disk = node, network, disk
        self._programs, self._audience = programs, audience
        self._clock, self._power = clock or LiveClock(), power or NoPower()
        self._outbox = Outbox(self._do, self._submit, self._refused, self._submit_soon)
        self._inbox: deque[tuple[Event, str]] = deque()
        self._working = False
        self._turn_planned = False
        self._commits_told = False
        self._over = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_for: float | None = None
        self._draining = False
        self._heard = 0
        self._links_made = 0
        self._linked_as: dict[NodeId, int] = {}
        self._probing: asyncio.TimerHandle | None = None
        self._submitting: asyncio.TimerHandle | None = None
        self._submitted_s = -BUSY_DISK_S
        self._loop = asyncio.get_running_loop()
        self._busy_s = self._beaten_s = self._loop.time()
        self.disk_usable = True
        """As the node was told last."""

    # -- events in -------------------------------------------------------------------------

    def hand(self, event: Event, cause: str = "") -> None:
        """Have the node handle this event, at once or after what it is at; messages wait for the
        end of this turn of the loop, so that those that come together are handled together. What
        the node or a port raises is logged and told to network or audience, not raised here. Does
        nothing after ``close``."""
        if self._over:
            return
        self._inbox.append((event, cause))
        if isinstance(event, Received):
            self._heard += 1
            if not self._turn_planned:
                self._turn_planned = True
                self._loop.call_soon(self._work)
            return
        if isinstance(event, PeerLinked):
            self._links_made += 1
            self._linked_as[event.peer] = self._links_made
        self._work()

    def close(self) -> None:
        """Drop the events and effects that wait, cancel the timers, and handle no event and do no
        effect any more. The ports stay open, and nobody is told."""
        self._over = True
        self._inbox.clear()
        self._outbox.discard()
        for timer in (self._timer, self._probing, self._submitting):
            if timer is not None:
                timer.cancel()
        self._timer = self._probing = self._submitting = None

    def _work(self) -> None:
        """Do what commits let go, then handle until nothing is left; whatever is handed in
        meanwhile is handled here."""
        self._commits_told = False
        if self._working or self._over:
            return
        self._working = True
        self._turn_planned = False
        together = 0
        try:
            if self._outbox:
                self._outbox.advance()
            while self._inbox and not self._over:
                event, cause = self._inbox.popleft()
                more = together < TOGETHER_MAX and self._is_followed(event)
                together = together + 1 if more else 0
                try:
                    effects = self._node.handle(event, self._clock.now(), cause, more=more)
                except Exception as error:  # noqa: BLE001 - the others must not pay for it
                    self._at_fault(event, error)
                else:
                    self._outbox.put(effects, self._links_made)
                    self._rest_when_idle(event, len(effects))
        except Exception as error:
            log.exception("an effect could not be carried out")
            self._audience.failed(error)
        finally:
            self._working = False
        self._arm()

    def _is_followed(self, event: Event) -> bool:
        """A message behind which another one waits."""
        waits = self._inbox and isinstance(self._inbox[0][0], Received)
        return bool(waits) and isinstance(event, Received)

    def _rest_when_idle(self, event: Event, effects: int) -> None:
        """After the beat of an idle node, its peers' beats are taken in a few goes."""
        now_s = self._loop.time()
        if isinstance(event, Due):
            if effects < BEATS_WORTH_A_REST:
                return
            self._beaten_s = now_s
        elif not (isinstance(event, Received) and isinstance(event.message, Heartbeat)):
            self._busy_s = now_s
            return
        idle = now_s - self._busy_s >= IDLE_AFTER_S
        coming = now_s - self._beaten_s < BEATS_COME_WITHIN_S
        if idle and coming and isinstance(self._loop, RestingLoop):
            self._loop.rest(REST_S)

    def _at_fault(self, event: Event, error: Exception) -> None:
        text = repr(event)[:EVENT_TEXT_MAX]
        told = "\n".join(stories_of(event, self._node.story))
        log.error("the node failed at %s\n%s", text, told, exc_info=error)
        if isinstance(event, Received):
            self._network.unlink(event.peer, NoLink("CannotHandle"))
        else:
            self._audience.failed(error)

    # -- the timer -------------------------------------------------------------------------

    def _arm(self) -> None:
        if self._over or self._draining:
            return
        deadline_s = self._node.next_deadline()
        if self._timer is not None:
            if deadline_s == self._timer_for:
                return
            self._timer.cancel()
            self._timer = None
        if deadline_s is None:
            return
        self._timer_for = deadline_s
        wait_s = max(0.0, deadline_s - self._clock.elapsed_s())
        self._timer = self._loop.call_at(self._loop.time() + wait_s, self._fired)

    def _fired(self) -> None:
        self._timer = None
        self._draining = True
        give_up_s = self._loop.time() + DRAIN_S_MAX
        # What the loop has found readable in this turn comes behind this in the next one, so
        # only the turn after that knows whether the links were silent.
        self._loop.call_soon(self._loop.call_soon, self._drained, self._heard, give_up_s)

    def _drained(self, heard: int, give_up_s: float) -> None:
        if self._over:
            return
        if heard != self._heard and self._loop.time() < give_up_s:
            self._loop.call_soon(self._drained, self._heard, give_up_s)
            return
        self._draining = False
        deadline_s = self._node.next_deadline()
        if deadline_s is not None and deadline_s <= self._clock.elapsed_s():
            self.hand(Due())
        else:
            self._arm()

    # -- the disk --------------------------------------------------------------------------

    def _submit_soon(self) -> None:
        """At once, where the disk had nothing to do lately; else with what comes meanwhile."""
        now_s = self._loop.time()
        if now_s - self._submitted_s >= BUSY_DISK_S:
            self._outbox.submit()
        elif self._submitting is None:
            self._submitting = self._loop.call_later(GATHERING_S, self._submit_gathered)

    def _submit_gathered(self) -> None:
        self._submitting = None
        self._outbox.submit()

    def _submit(self, persist: Persist) -> Future[None]:
        self._submitted_s = self._loop.time()
        commit = self._disk.submit((persist,))
        commit.add_done_callback(self._committed)
        return commit

    def _committed(self, _: Future[None]) -> None:
        """In the journal's thread, or here if it was refused outright."""
        if not self._loop.is_closed() and not self._commits_told:
            self._commits_told = True
            self._loop.call_soon_threadsafe(self._work)

    def _refused(self, persist: Persist, dropped: tuple[Effect, ...], error: BaseException) -> None:
        log.error("%s", error)
        self.disk_usable = False
        self._inbox.append((PersistFailed(persist, dropped), ""))
        self._probe_later()

    def _probe_later(self) -> None:
        if self._probing is None and not self._over:
            self._probing = self._loop.call_later(PROBE_EVERY_S, self._probe)

    def _probe(self) -> None:
        def answered(answer: Future[bool]) -> None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._probed, answer)

        self._disk.probe().add_done_callback(answered)

    def _probed(self, answer: Future[bool]) -> None:
        self._probing = None
        if self._over:
            return
        if answer.exception() is not None or not answer.result():
            self._probe_later()
            return
        log.info("the disk takes records again")
        self.disk_usable = True
        self.hand(DiskUsable())

    # -- effects out -----------------------------------------------------------------------

    def _do(self, effect: Effect, links_made: int) -> None:
        if self._over:
            return
        match effect:
            case Send():
                self._network.send(self._still_linked(effect.peers, links_made), effect.message)
            case Unlink():
                for peer in self._still_linked((effect.peer,), links_made):
                    self._network.unlink(peer, effect.why)
            case Answer():
                self._audience.answered(effect)
            case (
                TaskMoved()
                | TaskProgressed()
                | OutcomeChanged()
                | WorkflowSafe()
                | WorkflowGone()
                | CancelFinished()
            ):
                self._audience.told(effect)
            case Stopped():
                self._audience.stopped()
            case Persist():
                raise AssertionError("the outbox keeps this to itself")
            case WakeMachine() | WasWoken():
                WITH_POWER[type(effect)](self._power, effect)
            case _:
                WITH_PROGRAMS[type(effect)](self._programs, effect)

    def _still_linked(self, peers: tuple[NodeId, ...], links_made: int) -> tuple[NodeId, ...]:
        """Without those that were linked anew while the effect waited: it was for the old link,
        and would arrive on the new one before a greeting."""
        if links_made == self._links_made:
            return peers
        return tuple(peer for peer in peers if self._linked_as.get(peer, 0) <= links_made)


def stories_of(event: Event, story: Callable[[TaskId], list[StoryEntry]]) -> Iterator[str]:
    """Yield, for the log, a line for each of the first ``TASKS_MAX`` tasks that an event names and
    one for each entry of its story; nothing where it names no task. Where ``story`` raises, a line
    that says so takes its place."""
    for task in islice(dict.fromkeys(_tasks_in(event)), TASKS_MAX):
        yield f"{task}:"
        try:
            yield from (f"    {at_ms} [{cause}] {what}" for at_ms, cause, what in story(task))
        except Exception as error:  # noqa: BLE001 - the node is broken already
            yield f"    its story cannot be told: {error!r}"


def _tasks_in(event: Event) -> Iterator[TaskId]:
    match event:
        case Received():
            yield from _tasks_of(event.message)
        case Submit():
            yield from (spec.task for spec in event.tasks)
        case _:
            named = getattr(event, "task", None)
            if isinstance(named, str):
                yield named


def _tasks_of(message: Message) -> Iterator[TaskId]:
    for name in ("lives", "claims", "consents", "busy", "better", "known", "items"):
        for part in getattr(message, name, ()):
            yield part.task
    named = getattr(message, "task", None)
    if isinstance(named, str):
        yield named
