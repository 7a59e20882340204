"""Which machines are seen, and which of them could run a task.

Some machines run a published program only after somebody there has accepted it; what is published with
the submission that is planned, this machine takes without being asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from agent.api.flock import PeerView
from agent.api.programs import bare_name
from agent.api.reasons import as_why
from agent.api.work import PENDING, Misfit, NodeView
from agent.control.port import Snapshot
from agent.protocol.flock_seats import holders
from agent.protocol.messages import Capabilities
from agent.protocol.needs import needs_key, seats_of
from agent.protocol.reasons import HelpsOthers, Reason
from agent.protocol.records import NodeId, TaskSpec, WorkflowSpec
from agent.protocol.seats import banned, helps, misfit
from agent.protocol.sharing_reasons import OwnerTakesNoWork, SeatsTaken
from agent.wording.speech import english

Machine = NodeView | PeerView


def seen(now: Snapshot) -> tuple[Machine, ...]:
    """Return the machines that are there now, this one first; what they run is not told."""
    return (now.status, *now.peers)


Whose = tuple[str, ...]
"""Where something was submitted by its own person, empty where from afar, and as whose: by name, and by
what others of his machines are called."""


def whose_work(now: Snapshot, spec: WorkflowSpec) -> Whose:
    """Return whose work a workflow is."""
    return now.home_of(spec), spec.submitter, *now.others_of_person(spec.host)


def own_work(now: Snapshot, submitter: str, *, far: bool) -> Whose:
    """Return whose work it is that is submitted now, here or (``far``) from another machine."""
    return ("", submitter) if far else (now.node, submitter, *now.others_of_person(now.node))


def takes_work(machine: Machine, whose: Whose, *, interactive: bool) -> bool:
    """Tell whether a machine lets work of this submitter (``whose``) begin now: because it helps
    them and has not banned them, or because the work is its own and its owner lets own work begin,
    which may be work of the priority ``interactive`` alone; whether it is free, and fits, plays no
    part."""
    home, *person = whose
    begins = ("interactive", "all") if interactive else ("all",)
    if machine.node == home and machine.own_work in begins:
        return True
    return (
        machine.volunteering and helps(machine.people, *person) and not banned(machine.bans, whose)
    )


@dataclass(slots=True)
class Fits:
    """Which machines can run tasks of one kind, and why the others cannot."""

    machines: list[Machine] = field(default_factory=list)
    misfits: list[Misfit] = field(default_factory=list)
    nodes: frozenset[NodeId] = frozenset()
    """The same machines by their ids."""


def seats_taken(spec: TaskSpec, now: Snapshot) -> SeatsTaken | None:
    """Return which seat of the flock a task waits for, with the machines that have them all; None
    when there is one of each that it needs."""
    for seat in seats_of(spec):
        held = [run for _, run in holders(now.table, seat.name) if not now.gone_ms(run)]
        if len(held) >= seat.most:
            names = dict.fromkeys(now.name_of(run.host) for run in held)
            return SeatsTaken(seat.name, seat.most, tuple(names))
    return None


def slots_of(machine: Machine) -> int:
    """Return how many tasks a machine runs at a time; one that does not say runs one."""
    return max(1, machine.slots)


def to_come(spec: TaskSpec) -> bool:
    """Tell whether the task's program is published only with the submission that is planned."""
    return spec.published is not None and spec.published.dataset.startswith(PENDING)


class FitTable:
    """Answers which machines fit a task; tasks of one kind are looked at once. This one first.

    ``far``: another machine of the flock asks. What it brings is published there and not here.
    ``whose``, where it is one person's work, leaves out machines that do not help them.
    """

    def __init__(
        self, machines: Sequence[Machine], *, far: bool = False, whose: Whose | None = None
    ) -> None:
        self._machines, self._far, self._whose = machines, far, whose
        self._known: dict[object, Fits] = {}

    def of(self, spec: TaskSpec) -> Fits:
        """Return the machines that fit a task by its program and requirements, and those that do
        not with the reason; whether they help at present or are busy plays no part. With ``whose``
        given, machines whose owners help only others, or have banned the person or program, do not
        fit either."""
        kind = (spec.program, spec.requirements, needs_key(spec), spec.published)
        found = self._known.get(kind)
        if found is None:
            found = self._known[kind] = Fits()
            for machine in self._machines:
                why = misfit(spec, self._having(spec, machine))
                why = why or self._unhelped(machine, spec)
                if why is None:
                    found.machines.append(machine)
                else:
                    told = Misfit(machine.node, machine.name, english(why), as_why(why))
                    found.misfits.append(told)
            found.nodes = frozenset(each.node for each in found.machines)
        return found

    def _unhelped(self, machine: Machine, spec: TaskSpec) -> Reason | None:
        if self._whose is None or machine.node == self._whose[0]:
            return None
        home, *person = self._whose
        homes = (each.name for each in self._machines if each.node == home)
        if ban := banned(machine.bans, (home, *person, *homes, bare_name(spec.program))):
            return OwnerTakesNoWork(ban)
        return None if helps(machine.people, *person) else HelpsOthers(machine.people)

    def _having(self, spec: TaskSpec, machine: Machine) -> Capabilities:
        """What the machine has; here, where a program is still to be published, it is taken."""
        if self._far or not to_come(spec) or machine is not self._machines[0]:
            return machine.capabilities
        return msgspec.structs.replace(machine.capabilities, takes_published=True)
