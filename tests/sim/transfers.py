"""Data on its way between simulated disks: inputs fetched, outputs copied.

A holder may be unreachable, asleep, wiped, or break off half-way; then the next one is tried. Data
that arrives is on the disk at once, and the node is told so before it is told what it was for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.protocol.effects import CopyCheckpoint, CopyOutputs, Fetch
from agent.protocol.events import DatasetsChanged, FetchFailed, InputsFetched, OutputsCopied
from agent.protocol.records import DatasetId, NodeId, RunName, TaskId

if TYPE_CHECKING:
    from tests.sim.machine import Machine

REFUSED_S = (0.001, 0.02)
SILENT_S = (0.5, 1.5)


@dataclass(slots=True, eq=False)
class Fetching:
    """Inputs of one run that are not here yet."""

    task: TaskId
    run: RunName
    wanted: tuple[tuple[DatasetId, tuple[NodeId, ...]], ...]
    missing: list[tuple[DatasetId, list[NodeId]]] = field(default_factory=list)
    ended: bool = False

    def look(self, held: dict[DatasetId, None]) -> bool:
        """Whether something is missing; also what was here and has left again."""
        self.missing = [(name, list(hosts)) for name, hosts in self.wanted if name not in held]
        return bool(self.missing)


@dataclass(slots=True, eq=False)
class Copying:
    """Outputs of one run on their way to other disks."""

    effect: CopyOutputs
    peers: list[NodeId]
    holders: list[NodeId] = field(default_factory=list)
    ended: bool = False


class Transfers:
    """All transfers of one machine."""

    __slots__ = ("copying", "fetching", "machine", "world")

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.world = machine.world
        self.fetching: list[Fetching] = []
        self.copying: list[Copying] = []

    def fetch(self, effect: Fetch) -> None:
        """Bring the inputs here, one after the other."""
        job = Fetching(effect.task, effect.run, effect.inputs)
        job.look(self.machine.disk.datasets)
        self.fetching.append(job)
        self.world.after(0.0005, self._next_input, job)

    def stop(self, task: TaskId, run: RunName) -> None:
        """Nothing more is fetched for this run, nor copied."""
        for fetching in self.fetching:
            if (fetching.task, fetching.run) == (task, run):
                fetching.ended = True
        for copying in self.copying:
            if (copying.effect.task, copying.effect.run) == (task, run):
                copying.ended = True
        self._forget_ended()

    def end_all(self) -> None:
        """The agent died."""
        for fetching in self.fetching:
            fetching.ended = True
        for copying in self.copying:
            copying.ended = True
        self._forget_ended()

    def _forget_ended(self) -> None:
        self.fetching = [job for job in self.fetching if not job.ended]
        self.copying = [job for job in self.copying if not job.ended]

    def _paused(self) -> bool:
        return bool(self.machine.children.asleep)

    # Inputs

    def _next_input(self, job: Fetching, _: object) -> None:
        if job.ended:
            return
        if self._paused():
            self.world.after(0.5, self._next_input, job)
            return
        held = self.machine.disk.datasets
        while job.missing and job.missing[0][0] in held:
            job.missing.pop(0)
        if not job.missing and not job.look(held):
            self._end_fetch(job)
            self.machine.hand(InputsFetched(job.task, job.run))
            return
        dataset, hosts = job.missing[0]
        holder = self._take_holder(hosts)
        if holder is None:
            self._end_fetch(job)
            self.machine.hand(FetchFailed(job.task, job.run, dataset))
            return
        self._take_from(job, dataset, holder)

    def _take_holder(self, hosts: list[NodeId]) -> Machine | None:
        """One of the holders, each of them once."""
        known = self.machine.simulation.by_id
        hosts[:] = [host for host in hosts if host in known and host != self.machine.node_id]
        if not hosts:
            return None
        return known[hosts.pop(self.world.random.randrange(len(hosts)))]

    def _take_from(self, job: Fetching, dataset: DatasetId, holder: Machine) -> None:
        plan, draw = self.machine.simulation.plan, self.world.random
        if not self._has(holder, dataset):
            delay = draw.uniform(*(SILENT_S if holder.stalled else REFUSED_S))
            self.world.after(delay, self._next_input, job)
        elif draw.random() < plan.fetch_breaks and not self.machine.simulation.settling:
            self.world.after(draw.uniform(*plan.fetch_s) / 2, self._next_input, job)
        else:
            self.world.after(draw.uniform(*plan.fetch_s), self._arrive, job, holder)

    def _has(self, holder: Machine, dataset: DatasetId) -> bool:
        reached = self.machine.simulation.network.carries(self.machine, holder)
        return reached and dataset in holder.disk.datasets

    def _arrive(self, job: Fetching, holder: Machine) -> None:
        if job.ended:
            return
        dataset = job.missing[0][0]
        if self._has(holder, dataset) and not self._paused():
            self.machine.disk.datasets[dataset] = None
            self.machine.hand(DatasetsChanged(added=(dataset,)))
        self._next_input(job, None)

    def _end_fetch(self, job: Fetching) -> None:
        job.ended = True
        self._forget_ended()

    # Outputs

    def copy(self, effect: CopyOutputs) -> None:
        """Put them on other disks, one peer after the other."""
        job = Copying(effect, list(effect.peers), [self.machine.node_id])
        self.copying.append(job)
        self.world.after(self._copy_s(), self._next_copy, job)

    def copy_checkpoint(self, effect: CopyCheckpoint) -> None:
        """Put it on another disk; nobody hears of it but that disk's owner."""
        self.world.after(self._copy_s(), self._put_checkpoint, effect, self.machine.boots)

    def _put_checkpoint(self, effect: CopyCheckpoint, boots: int) -> None:
        machine = self.machine
        target = machine.simulation.by_id.get(effect.peers[0])
        reached = target is not None and machine.simulation.network.carries(machine, target)
        if target is None or not reached or boots != machine.boots or self._paused():
            return
        name = effect.checkpoint.dataset
        if name in machine.disk.datasets:
            target.disk.datasets[name] = None
            target.hand(DatasetsChanged(added=(name,)))

    def _copy_s(self) -> float:
        return self.world.random.uniform(*self.machine.simulation.plan.fetch_s)

    def _next_copy(self, job: Copying, _: object) -> None:
        if job.ended:
            return
        if self._paused():
            self.world.after(0.5, self._next_copy, job)
        elif len(job.holders) >= job.effect.copies or not job.peers:
            job.ended = True
            self._forget_ended()
            effect = job.effect
            self.machine.hand(OutputsCopied(effect.task, effect.run, tuple(job.holders)))
        else:
            self.world.after(self._put(job, job.peers.pop(0)), self._next_copy, job)

    def _put(self, job: Copying, peer: NodeId) -> float:
        """Copy to one peer; how long that took."""
        target = self.machine.simulation.by_id.get(peer)
        draw = self.world.random
        if target is None or not self.machine.simulation.network.carries(self.machine, target):
            return draw.uniform(*SILENT_S)
        if draw.random() < self.machine.simulation.plan.fetch_breaks:
            return draw.uniform(*REFUSED_S)
        added = tuple(output.dataset for output in job.effect.outputs if not output.external)
        for dataset in added:
            target.disk.datasets[dataset] = None
        job.holders.append(peer)
        target.hand(DatasetsChanged(added=added))
        return self._copy_s()
