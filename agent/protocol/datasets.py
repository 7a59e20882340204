"""Which input is where, and what follows when it is nowhere.

An input is *there* when this node or a linked peer has it; nobody claims a task whose inputs are
not there, so a lost dataset never becomes a loop of claims and failing fetches. Peers tell what
they hold when they link up, and every change after that.

When every holder is gone for good (it came back without the dataset, is no member any more, or
is down for minutes while this node waits with nothing to do), the node that needs it raises the
producer's floor above the outcome that is lost: the producer runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent.protocol.core import Core, Part, Peer
from agent.protocol.events import DatasetsChanged, InputsFetched
from agent.protocol.liveness import Liveness
from agent.protocol.messages import Holdings
from agent.protocol.reasons import OutputsLost
from agent.protocol.records import (
    ENDED,
    FLOOR,
    DatasetId,
    InputRef,
    Life,
    NodeId,
    Run,
    TaskId,
    TaskLife,
    TaskSpec,
    Terminated,
    Wish,
    short_text,
)

REFUSED_S = 5.0
"""A holder that could not deliver a dataset is not asked again for this long, at first."""
REFUSED_S_MAX = 600.0
SEARCHED_S = 3.0
"""An input is missed for this long before it counts as lost: news of it may be under way."""
SEARCHES_PER_TICK_MAX = 1_000
HOLDINGS_PER_MEMBER_MAX = 200_000
"""What one member offers beyond that is not remembered: others have it, or it is fetched by asking."""
TELLING_BYTES_MIN = 4_000_000
"""Bringing less than this tells how long a question takes, not how fast data come."""


class Datasets(Part):
    """Where datasets are, as far as this node knows."""

    def __init__(self, core: Core, liveness: Liveness) -> None:
        super().__init__(core)
        self._liveness = liveness
        self._refused: dict[tuple[DatasetId, NodeId], float] = {}
        self._wanted: dict[TaskId, float] = {}
        self._fetched_rate = 0
        self.may_take: Callable[[TaskId, DatasetId], bool] = lambda *_: True
        """Whether a task may be given what is here."""

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {DatasetsChanged: self._changed, Holdings: self._told, InputsFetched: self._came}

    # -- questions -----------------------------------------------------------------------

    def holders(self, dataset: DatasetId) -> tuple[NodeId, ...]:
        """Return the linked peers from which the dataset can be fetched now: they said that they
        have it, are not suspected, and have not failed to deliver it lately. This node is not among
        them."""
        core = self.core
        return tuple(
            peer.node
            for peer in core.peers.values()
            if peer.greeted
            and not peer.suspected
            and dataset in peer.holdings
            and self._refused.get((dataset, peer.node), 0.0) <= core.now_s
        )

    def missing_input(self, spec: TaskSpec) -> DatasetId | None:
        """Return the first input of the task that neither this node nor a reachable peer has, or
        that this node has and may not give to the task, and search for it from now on; None when
        all are there. What a producer has not made yet is not asked for."""
        for dataset in self.needed(spec):
            here = dataset in self.core.holdings
            if not (self.may_take(spec.task, dataset) if here else self.holders(dataset)):
                self._wanted.setdefault(spec.task, self.core.now_s)
                return dataset
        return None

    def needed(self, spec: TaskSpec) -> list[DatasetId]:
        """Return every dataset that the flock must keep for the task: raw inputs, program, outputs
        of its producers. What lies outside the flock, and what a producer has not made yet, is left
        out."""
        given = spec.raw if spec.published is None else (*spec.raw, spec.published)
        wanted = [dataset.dataset for dataset in given if not dataset.external]
        for ref in spec.inputs:
            reading = self.core.table.reading(ref.task)
            outputs = () if reading is None else reading.outputs
            if ref.output < len(outputs) and not outputs[ref.output].external:
                wanted.append(outputs[ref.output].dataset)
        return wanted

    def refuse(self, dataset: DatasetId, holders: tuple[NodeId, ...], times: int) -> None:
        """Fetch the dataset no more from these holders, which did not deliver, for a while: the
        longer the more ``times`` it has failed before, up to ``REFUSED_S_MAX``. That one of them
        tells of it again ends that for it."""
        until_s = self.core.now_s + min(REFUSED_S * 2.0 ** min(times, 10), REFUSED_S_MAX)
        for holder in holders:
            self._refused[(dataset, holder)] = until_s

    # -- news ----------------------------------------------------------------------------

    def hold(self, datasets: Iterable[DatasetId]) -> None:
        """Note that these datasets are on this disk now, and tell all greeted peers of those that
        are new, before anything is said about them."""
        new = tuple(dataset for dataset in datasets if dataset not in self.core.holdings)
        if new:
            self.core.holdings.update(dict.fromkeys(new))
            self.core.broadcast(Holdings(new))
            self.core.wake = True

    def _changed(self, event: DatasetsChanged) -> None:
        core = self.core
        self.hold(event.added)
        for dataset in event.removed:
            core.holdings.pop(dataset, None)
        if event.removed:
            core.broadcast(Holdings(removed=event.removed))
            core.wake = True

    def _came(self, event: InputsFetched) -> None:
        """Learn how fast data come here; peers are told when that is another power of two."""
        if event.came_bytes < TELLING_BYTES_MIN or event.took_ms <= 0:
            return
        rate, known = max(1, event.came_bytes // event.took_ms), self._fetched_rate
        self._fetched_rate = (3 * known + rate) // 4 if known else rate
        self.core.fetch_rate = 1 << (self._fetched_rate.bit_length() - 1)
        self._liveness.tell_status()

    def _told(self, peer: Peer, message: Holdings) -> None:
        if message.complete:
            peer.holdings.clear()
            peer.holdings_complete = True
        room = HOLDINGS_PER_MEMBER_MAX - len(peer.holdings)
        if len(message.added) > room:
            self.core.count("more datasets offered than one member may")
        peer.holdings.update(message.added[: max(0, room)])
        peer.holdings.difference_update(message.removed)
        for dataset in message.added:
            self._refused.pop((dataset, peer.node), None)
        # What was just made is wanted by nothing that could begin: its producer has not ended yet.
        self.core.wake |= bool(self._wanted or message.removed or message.complete)

    def on_gone(self, peer: Peer) -> None:
        self.core.wake = True

    def on_tick(self) -> None:
        """Repeat the list of what is here to peers that may have missed it, forget refusals that
        are over, and search for inputs that tasks want: where one is lost for good, have its
        producer run again."""
        core = self.core
        for peer in core.peers.values():
            if peer.greeted and peer.stale:
                core.send(peer.node, Holdings(tuple(core.holdings), complete=True))
        for key in [key for key, until_s in self._refused.items() if until_s <= core.now_s]:
            del self._refused[key]
            core.wake = True
        if core.joined and core.able:
            for task in list(self._wanted)[:SEARCHES_PER_TICK_MAX]:
                self._search(task)

    def _search(self, task: TaskId) -> None:
        """Look after a task that misses an input: is it there again, or gone for good?"""
        core = self.core
        spec = core.table.specs.get(task)
        reading = core.table.reading(task)
        if spec is None or reading is None or reading.state in ENDED or not reading.supplied:
            del self._wanted[task]
        elif self.missing_input(spec) is None:
            del self._wanted[task]
            core.wake = True
        elif core.now_s - self._wanted[task] >= SEARCHED_S:
            for ref in spec.inputs:
                self._raise_floor_if_lost(ref, task)

    def _raise_floor_if_lost(self, ref: InputRef, needed_by: TaskId) -> None:
        core = self.core
        reading = core.table.reading(ref.task)
        if reading is None or reading.outcome is None or ref.output >= len(reading.outputs):
            return
        dataset = reading.outputs[ref.output]
        if dataset.external or self._held(dataset.dataset):
            return
        if not all(
            self._lost_at(host, dataset.dataset) for host in _known_holders(reading.outcome)
        ):
            return
        floor = reading.outcome.generation + 1
        core.cause = short_text(f"outputs lost: {dataset.dataset}, needed by {needed_by}")
        core.note(ref.task, OutputsLost(floor))
        wish = Wish(FLOOR, floor, core.me)
        core.write(lives=[TaskLife(ref.task, Life(floor=floor, wishes=(wish,)))])

    def _held(self, dataset: DatasetId) -> bool:
        """Some disk has it, even if it could not be fetched from there just now."""
        peers = self.core.peers.values()
        return dataset in self.core.holdings or any(dataset in peer.holdings for peer in peers)

    def _lost_at(self, host: NodeId, dataset: DatasetId) -> bool:
        """The host does not have it any more, or will not come back with it."""
        core = self.core
        if host == core.me:
            return dataset not in core.holdings
        if core.members and host not in core.members:
            return True
        peer = core.peers.get(host)
        if peer is not None and peer.greeted:
            told = peer.holdings_complete and not peer.suspected
            return told and dataset not in peer.holdings
        waited_s = self._liveness.down_for_s(host)
        return core.presence.volunteering and waited_s >= core.settings.outputs_lost_after_s


def _known_holders(outcome: Run) -> tuple[NodeId, ...]:
    phase = outcome.phase
    holders = phase.holders if isinstance(phase, Terminated) else ()
    return tuple(dict.fromkeys((*holders, outcome.host)))
