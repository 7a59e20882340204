"""The machines in rows: this one and the others alike, in the words of a person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from agent.api.flock import MemberView, PeerView
from agent.api.presence_reasons import PausedUntil, PausedUntilResumed
from agent.api.programs import bare_name
from agent.api.reasons import PausedByOwner, Reason, reason_of
from agent.api.values import PRIORITY_NAMES, Capabilities, TaskState
from agent.api.volunteering import VolunteeringView
from agent.api.work import CurrentTask, NodeView, TaskView, WorkflowView
from gui.model.hands import called
from gui.model.marks import Mark
from gui.model.screen import Screen
from gui.model.times import still
from gui.model.workflows import with_basis
from gui.wording import OwnSpeech
from gui.words import tr, tr_n

CLOCK_WORTH_SAYING_MS = 500
BY_HAND = (PausedByOwner, PausedUntil, PausedUntilResumed)
"""A person wants it so; whether somebody uses the machine then is not known."""


class MachineState(Enum):
    """What a machine does for the flock now."""

    RUNNING = "running"
    READY = "ready"
    OWNER = "owner"
    PAUSED = "paused"
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Machine:
    """One row: what the agent tells of a machine, and what that means. ``own`` is this computer."""

    view: NodeView | PeerView
    own: bool
    state: MachineState
    reason: Reason
    """Why it helps, or does not."""
    end_ms: int = 0
    """When the first of its tasks is expected to end, where that is known."""

    @property
    def link(self) -> PeerView | None:
        """How it is seen from here; None for this computer."""
        return self.view if isinstance(self.view, PeerView) else None


_MARKS = {
    MachineState.RUNNING: Mark.RUNNING,
    MachineState.READY: Mark.READY,
    MachineState.OWNER: Mark.SUSPENDED,
    MachineState.PAUSED: Mark.SUSPENDED,
    MachineState.AWAY: Mark.CANCELLED,
}


def machines(screen: Screen) -> list[Machine]:
    """Return a row for this machine, then one for each other that was told of; empty before the
    agent has told of itself."""
    node = screen.node
    if node is None:
        return []
    others = screen.peers.peers if screen.peers is not None else ()
    return [_own(screen, node), *(_other(screen, peer) for peer in others)]


def mark_of_machine(machine: Machine) -> Mark:
    """Return the mark of a machine's state."""
    return _MARKS[machine.state]


def state_text(machine: Machine) -> str:
    """Return what the machine does, in two or three words: running, ready to help, in use by its
    owner, does not help, or cannot be reached."""
    return {
        MachineState.RUNNING: tr("running"),
        MachineState.READY: tr("ready to help"),
        MachineState.OWNER: tr("in use"),
        MachineState.PAUSED: tr("does not help"),
        MachineState.AWAY: tr("cannot be reached"),
    }[machine.state]


def work_text(machine: Machine, now_s: float) -> str:
    """Return the first task of a machine, with the time left (or for how long it has run, where no
    end is expected) or that it is suspended, and how many more it has. Without tasks, return why it
    does not help; empty where it is ready."""
    tasks = machine.view.tasks
    if not tasks:
        return reason_text(machine) if machine.state is not MachineState.READY else ""
    first = tasks[0]
    said = tr("{task} for {workflow}", task=first.name, workflow=called(first))
    if first.state is TaskState.SUSPENDED:
        said = tr("{work}, suspended", work=said)
    elif rest := still(machine.end_ms / 1000, first.begun_ms / 1000, now_s):
        said = f"{said}, {rest}"
    more = len(tasks) - 1
    return said + " " + tr_n("and %n more", "running tasks", more) if more else said


def work_tip(machine: Machine, now_s: float) -> str:
    """Return what ``work_text`` does, and of a guess what it stands on."""
    tasks = machine.view.tasks
    return with_basis(work_text(machine, now_s), tasks[0].basis if tasks else None)


def reason_text(machine: Machine) -> str:
    """Return why a machine helps, or does not."""
    return OwnSpeech().say(machine.reason)


def clock_text(machine: Machine) -> str:
    """Return how far the machine's clock is from ours, "right" below half a second; empty for this
    computer and where it is not known."""
    ahead = machine.link.clock_ahead_ms if machine.link is not None else None
    if ahead is None:
        return ""
    if abs(ahead) < CLOCK_WORTH_SAYING_MS:
        return tr("right")
    seconds = f"{abs(ahead) / 1000:.1f}"
    return (
        tr("{seconds} s ahead", seconds=seconds)
        if ahead > 0
        else tr("{seconds} s behind", seconds=seconds)
    )


def load_text(machine: Machine) -> str:
    """Return how busy a machine is in percent; empty where it cannot be reached."""
    return f"{machine.view.load_percent} %" if machine.state is not MachineState.AWAY else ""


def round_trip_text(machine: Machine) -> str:
    """Return the time of a round trip in milliseconds, with as many digits as mean something; empty
    for this computer and where it is not known."""
    trip = machine.link.round_trip_ms if machine.link is not None else None
    if trip is None:
        return ""
    return f"{trip:.1f} ms" if trip < 10 else f"{trip:.0f} ms"


def system_text(capabilities: Capabilities) -> str:
    """Return system, architecture, cores and memory in one line, as far as the machine told them;
    empty if it told nothing."""
    parts = [part for part in (capabilities.system, capabilities.architecture) if part]
    if capabilities.cores:
        parts.append(tr_n("%n core(s)", "", capabilities.cores))
    if capabilities.memory_mb:
        parts.append(tr("{memory} GB memory", memory=round(capabilities.memory_mb / 1024)))
    return ", ".join(parts)


def waits_for_help(screen: Screen, workflow: WorkflowView) -> bool:
    """Tell whether a workflow stands still only because no machine helps at the moment."""
    if workflow.state != "waiting" or not workflow.counts.get(TaskState.READY):
        return False
    linked = [each for each in screen.peers.peers if each.state == "linked"] if screen.peers else []
    helps = any(each.volunteering and not each.owner_present for each in linked)
    node = screen.node
    own = node is not None and (
        (node.volunteering and not node.owner_present)
        or (node.own_work == "all" and node.name == workflow.host)
    )
    return not (own or helps)


def lacks_leave(screen: Screen, tasks: Iterable[TaskView]) -> tuple[str, int]:
    """Return a program brought by ready work that no free helping machine may run, the first of
    several, and how many free machines there are; an empty name and 0 where there is none such, or
    no machine is free."""
    linked = [each for each in screen.peers.peers if each.state == "linked"] if screen.peers else []
    every: list[NodeView | PeerView] = [*linked, *([screen.node] if screen.node else [])]
    helping = [each for each in every if each.volunteering and not each.owner_present]
    free = [each.capabilities for each in helping if each.running < max(1, each.slots)]
    ready = (each.program for each in tasks if each.state is TaskState.READY)
    for program in dict.fromkeys(each for each in ready if "@" in each):
        taken = any(each.takes_published or program in each.programs for each in free)
        if free and not taken:
            return bare_name(program), len(free)
    return "", 0


def may_run_here(screen: Screen, workflow: WorkflowView) -> bool:
    """Tell whether a workflow that waits for help would run on this computer if it were wanted now:
    it was submitted here, and nobody has paused this computer. False for one that is wanted now
    already."""
    node = screen.node
    here = node is not None and node.name == workflow.host and node.own_work != "none"
    urgent = workflow.priority >= PRIORITY_NAMES["interactive"]
    return here and not urgent and waits_for_help(screen, workflow)


def up_count(screen: Screen) -> int:
    """Return how many machines are there, this one included."""
    return sum(machine.state is not MachineState.AWAY for machine in machines(screen))


def own_member(screen: Screen) -> MemberView | None:
    """Return this machine as a member of its flock; None without one."""
    members = screen.members.members if screen.members is not None else ()
    return next((each for each in members if each.own), None)


def administers(screen: Screen) -> bool:
    """Tell whether this machine is an administrator of its flock."""
    own = own_member(screen)
    return own is not None and own.role == "administrator"


def _own(screen: Screen, node: NodeView) -> Machine:
    # Why this machine helps or not is asked for every second; the rest of it only at times.
    said = screen.volunteering or node
    return _machine(screen, node, said, _runs(node.tasks))


def _other(screen: Screen, peer: PeerView) -> Machine:
    busy = _runs(peer.tasks) or peer.running > len(peer.tasks)
    made = _machine(screen, peer, peer, busy)
    return replace(made, state=MachineState.AWAY) if peer.state == "away" else made


def _machine(
    screen: Screen,
    view: NodeView | PeerView,
    said: NodeView | PeerView | VolunteeringView,
    busy: bool,
) -> Machine:
    reason = reason_of(said.why, said.reason)
    present = said.owner_present and not isinstance(reason, BY_HAND)
    state = _state(busy, said.volunteering, present)
    end_ms = screen.end_ms(view.tasks[0]) if view.tasks else 0
    return Machine(view, isinstance(view, NodeView), state, reason, end_ms)


def _runs(tasks: tuple[CurrentTask, ...]) -> bool:
    """What is only held until its owner leaves does not run."""
    return any(task.state is not TaskState.SUSPENDED for task in tasks)


def _state(busy: bool, volunteering: bool, owner_present: bool) -> MachineState:
    if busy:
        return MachineState.RUNNING
    if volunteering:
        return MachineState.READY
    return MachineState.OWNER if owner_present else MachineState.PAUSED
