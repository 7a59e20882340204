"""What can happen to machines and links; every verb of a plan that is not a person's.

Each misfortune is written down for the machines that it touches before it strikes, so that the
checks can tell a start with a reason from one without. ``mend`` ends them all: what follows must
be quiet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.events import DatasetsChanged, DiskUsable, MembersChanged
from tests.sim.disk import Disk

if TYPE_CHECKING:
    from tests.sim.ledger import Fault
    from tests.sim.machine import Machine
    from tests.sim.simulation import Simulation

LATE_STALL_S = 2.0


class Faults:
    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.world = simulation.world
        self.images: dict[int, Disk] = {}
        self._open: list[Fault] = []

    def _machine(self, index: int) -> Machine:
        return self.simulation.machines[index]

    def _strike(self, machine: Machine, kind: str, for_s: float = 0.0) -> None:
        self.simulation.ledger.fault(machine, kind, self.world.now + for_s)

    # Processes

    def crash(self, who: int, down_s: float, silent: bool, disk: str) -> None:
        """The agent or the whole machine dies, and comes back, maybe without what it knew."""
        machine = self._machine(who)
        if machine.node is None or machine.gone_for_ever:
            return
        self.crash_now(machine, back_s=down_s, silent=silent)
        if disk == "lost":
            self._lose_disk(machine, Disk())
        elif disk == "older" and who in self.images:
            self._lose_disk(machine, self.images[who].image())

    def crash_now(self, machine: Machine, *, back_s: float = 2.0, silent: bool = False) -> None:
        """It dies here, between two effects if need be."""
        if machine.node is None:
            return
        self._strike(machine, "crash", back_s)
        self._strike_neighbours(machine, back_s)
        machine.die(silent=silent)
        self.world.after(back_s, self._back, machine, machine.boots)

    def _strike_neighbours(self, machine: Machine, for_s: float) -> None:
        """Where links are missing, a machine that goes may have been the only way to others."""
        if self.simulation.plan.broken:
            for peer in machine.channels:
                self._strike(self.simulation.by_id[peer], "neighbour gone", for_s)

    def doom(self, who: int, effects: int, down_s: float) -> None:
        """It dies before one of its next effects."""
        machine = self._machine(who)
        if machine.node is not None:
            machine.doom = effects
            self.world.after(5.0, self._undoom, machine, down_s)

    def _undoom(self, machine: Machine, _: float) -> None:
        machine.doom = -1

    def gone(self, who: int) -> None:
        """The machine is lost for ever, with its disk."""
        machine = self._machine(who)
        self._strike(machine, "gone", 1e9)
        machine.die(silent=True)
        machine.gone_for_ever = True
        self._lose_disk(machine, Disk())

    def shut_down(self, who: int, down_s: float) -> None:
        """The agent is asked to stop, and started again later."""
        machine = self._machine(who)
        if machine.node is None:
            return
        self._strike(machine, "shutdown", down_s)
        self._strike_neighbours(machine, down_s)
        machine.shut_down()
        self.world.after(down_s, self._back, machine, machine.boots)

    def _back(self, machine: Machine, boots: int) -> None:
        if machine.node is None and machine.boots == boots and not machine.gone_for_ever:
            machine.boot()
        elif machine.node is not None and machine.boots == boots:
            self.world.after(1.0, self._back, machine, boots)  # still handing back

    def join(self, who: int) -> None:
        """A newcomer is invited and starts; everybody is told who belongs to the flock now."""
        machine = self._machine(who)
        if machine.boots or machine.gone_for_ever:
            return
        self.simulation.joined[machine.node_id] = None
        machine.boot()
        self._tell_members()

    def expel(self, who: int) -> None:
        """A machine does not belong any more; it is told by nobody answering it."""
        machine = self._machine(who)
        if machine.expelled or machine.gone_for_ever or self.simulation.plan.broken:
            return  # where links are missing, others may reach each other only through it
        self._strike(machine, "expelled", 1e9)
        machine.expelled = True
        machine.gone_for_ever = True
        self.simulation.joined.pop(machine.node_id, None)
        machine.die()
        self._lose_disk(machine, Disk())
        self._tell_members()

    def _tell_members(self) -> None:
        for machine in self.simulation.machines:
            if machine.node is not None:
                self.world.after(
                    self.world.random.uniform(0.0, 0.005), self._members_changed, machine
                )

    def _members_changed(self, machine: Machine, _: object) -> None:
        machine.hand(MembersChanged(self.simulation.members(machine), self.simulation.trust))

    def snapshot(self, who: int) -> None:
        """An image of the disk is made, to be restored by a later crash."""
        self.images[who] = self._machine(who).disk.image()

    def _lose_disk(self, machine: Machine, replacement: Disk) -> None:
        """What is on no other disk is lost, and nobody can be blamed for it."""
        simulation = self.simulation
        simulation.ledger.disk_lost = True
        lost, machine.disk = machine.disk, replacement
        for name in (*lost.workflows, *lost.prunings):
            disks = [other.disk for other in simulation.machines]
            if not any(name in disk.workflows or name in disk.prunings for disk in disks):
                simulation.ledger.excused[name] = f"only {machine} had it"

    def stall(self, who: int, for_s: float) -> None:
        """The process stands still, its queue and its timers wait."""
        machine = self._machine(who)
        if machine.node is None:
            return
        kind = "long stall" if for_s >= LATE_STALL_S else "stall"
        if not self.simulation.plan.exact:
            self._strike(machine, kind, for_s)
            if for_s >= LATE_STALL_S:
                self._strike_neighbours(machine, for_s)
        else:
            self.simulation.ledger.count(kind)
        machine.stall()
        self.world.after(for_s, machine.resume, machine.boots)

    def sleep(self, who: int, for_s: float) -> None:
        """The machine sleeps: network, programs and agent stand still."""
        machine = self._machine(who)
        if machine.node is None or machine.children.asleep:
            return
        self.isolate(who, for_s)
        machine.children.sleep()
        machine.stall()
        self.world.after(for_s, self._wake, machine, machine.boots)

    def _wake(self, machine: Machine, boots: int) -> None:
        machine.children.wake()
        machine.resume(boots)

    # Links

    def cut(self, pairs: tuple[tuple[int, int], ...], for_s: float) -> None:
        """These directions carry nothing for a while; nobody is told."""
        for who in dict.fromkeys(index for pair in pairs for index in pair):
            self._strike(self._machine(who), "cut", for_s)
        for one, other in pairs:
            self.simulation.network.cut(self._machine(one), self._machine(other))
        self.world.after(for_s, self._heal, pairs)

    def _heal(self, pairs: tuple[tuple[int, int], ...], _: object) -> None:
        for one, other in pairs:
            self.simulation.network.heal(self._machine(one), self._machine(other))

    def isolate(self, who: int, for_s: float) -> None:
        others = [m.index for m in self.simulation.machines if m.index != who]
        self.cut(tuple([(who, o) for o in others] + [(o, who) for o in others]), for_s)

    def reset(self, one: int, other: int) -> None:
        if one == other:
            return
        self._strike(self._machine(one), "reset")
        self._strike(self._machine(other), "reset")
        pair = self.simulation.network.pair(self._machine(one), self._machine(other))
        self.simulation.network.reset(pair, found_broken=self.world.random.random() < 0.2)

    def reset_all(self, who: int) -> None:
        for machine in self.simulation.machines:
            self.reset(who, machine.index)

    def flap(self, one: int, other: int, every_s: float, times: int) -> None:
        """A link comes and goes."""
        self.reset(one, other)
        if times > 1 and not self.simulation.settling:
            again = (one, other, every_s, times - 1)
            self.world.after(every_s, self._flap_again, again)

    def _flap_again(self, details: tuple[int, int, float, int], _: object) -> None:
        self.flap(*details)

    def lossy(self, one: int, other: int, rate: float, for_s: float) -> None:
        """A living link refuses a share of its messages: the queue is full."""
        if one == other:
            return
        for who in (one, other):
            self._strike(self._machine(who), "drops", for_s)
        pair = self.simulation.network.pair(self._machine(one), self._machine(other))
        self.simulation.network.lossy(pair, rate)
        self.world.after(for_s, self._lossless, pair)

    def _lossless(self, pair: object, _: object) -> None:
        for known in self.simulation.network.pairs.values():
            if known is pair:
                self.simulation.network.lossy(known, 0.0)

    # Disks and clocks

    def full(self, who: int, for_s: float) -> None:
        """The disk takes nothing for a while."""
        machine = self._machine(who)
        if machine.disk.full:
            return
        self._strike(machine, "disk full", for_s)
        machine.disk.full = True
        self.world.after(for_s, self._usable, machine)

    def _usable(self, machine: Machine, _: object) -> None:
        if machine.disk.full:
            machine.disk.full = False
            machine.hand(DiskUsable())

    def lose_datasets(self, who: int) -> None:
        """Somebody empties the folder of datasets."""
        machine = self._machine(who)
        lost = tuple(machine.disk.datasets)
        machine.disk.datasets.clear()
        self._strike(machine, "datasets lost")
        if lost:
            machine.hand(DatasetsChanged(removed=lost))

    def step_clock(self, who: int, by_ms: int) -> None:
        machine = self._machine(who)
        self._strike(machine, "clock set")
        machine.wall_offset_ms += by_ms

    def trap(self, who: int, moment: str, action: str) -> None:
        """The next such moment at this machine brings this misfortune."""
        self._machine(who).trap = (moment, action)

    # Owners

    def owner(self, who: int, present: bool) -> None:
        machine = self._machine(who)
        if machine.owner_present == present or machine.gone_for_ever:
            return
        self.simulation.ledger.count("owner's visits" if present else "owner's leaves")
        machine.owner_present = present
        machine.volunteering = not present and not machine.paused
        machine.tell_presence()

    def pause(self, who: int, paused: bool) -> None:
        """The owner asks the agent not to help, or to help again."""
        machine = self._machine(who)
        if not machine.gone_for_ever:
            machine.paused = paused
            machine.volunteering = not paused and not machine.owner_present
            machine.tell_presence()

    def answer(self, who: int, helps: bool) -> None:
        """The owner lets the agent help, or run only what is submitted there."""
        machine = self._machine(who)
        if not machine.gone_for_ever:
            machine.own_only = not helps
            machine.tell_presence()

    # The end of all misfortunes

    def mend(self) -> None:
        """Heal, restart, empty, send the owners home."""
        simulation = self.simulation
        for index, machine in enumerate(simulation.machines):
            machine.trap, machine.doom = None, -1
            for other in simulation.machines[index + 1 :]:
                simulation.network.lossy(simulation.network.pair(machine, other), 0.0)
        simulation.network.heal_all()
        for machine in simulation.machines:
            self._usable(machine, None)
            self.owner(machine.index, False)
            self.pause(machine.index, False)
            self.answer(machine.index, True)
            machine.children.end_hanging()
            if machine.boots == 0:
                self.join(machine.index)
            elif machine.stopping_since > self.world.now:
                self._back(machine, machine.boots)
