"""Which machine has which task in hand, folded from the rows of tasks and machines that events tell.

So nobody asks for all machines anew because one task has begun somewhere.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from agent.api.flock import PeersReply, PeerView
from agent.api.values import UNDER_WAY, TaskState
from agent.api.work import CurrentTask, NodeView, TaskView
from gui.model.notices import FlockPart

Machine = TypeVar("Machine", NodeView, PeerView)


def with_task(machine: Machine, row: TaskView, workflow: str) -> Machine:
    """Return the machine with the task in hand if the row says that it has it, else without it, and
    with the number of those that were begun, suspended ones too; itself where nothing changes.
    ``workflow`` is what people call the task's workflow."""
    had = next((each for each in machine.tasks if each.task == row.task), None)
    has = (
        _in_hand(row, workflow)
        if row.host_node == machine.node and row.state in UNDER_WAY
        else None
    )
    if had == has:
        return machine
    if had is None or has is None:
        tasks = tuple(
            each for each in (*machine.tasks, has) if each is not None and each is not had
        )
    else:
        tasks = tuple(has if each is had else each for each in machine.tasks)
    untold = max(0, machine.running - _begun(machine.tasks))  # of many the agent tells the first
    if had is None and untold:  # what is new is scheduled before it runs: this one was counted
        untold -= _begun(tasks) - _begun(machine.tasks)
    return msgspec.structs.replace(machine, tasks=tasks, running=_begun(tasks) + untold)


def _begun(tasks: tuple[CurrentTask, ...]) -> int:
    return sum(each.state is not TaskState.SCHEDULED for each in tasks)


def peers_with_task(reply: PeersReply, row: TaskView, workflow: str) -> PeersReply:
    """Return the machines with the task in the hands of the one that the row names, and in no
    other's; the same reply where nothing changes."""
    peers = tuple(with_task(each, row, workflow) for each in reply.peers)
    same = all(one is other for one, other in zip(peers, reply.peers, strict=True))
    return reply if same else msgspec.structs.replace(reply, peers=peers)


def with_peer(reply: PeersReply, peer: PeerView) -> PeersReply:
    """Return the machines with this row in place of the one of the same node, or added if there is
    none; sorted by name."""
    others = [each for each in reply.peers if each.node != peer.node]
    peers = sorted([*others, peer], key=lambda each: (each.name, each.node))
    return msgspec.structs.replace(reply, peers=tuple(peers))


def parts_behind(
    before: NodeView | PeerView | None, now: NodeView | PeerView
) -> frozenset[FlockPart]:
    """Return which parts of the flock have to be read again because a machine's row changed: the
    members for another name, the programs for other ones or a link that came or went, both for a
    machine that was not known (None), all machines for other rules of the flock; else empty."""
    if before is None:
        return frozenset((FlockPart.MEMBERS, FlockPart.PROGRAMS))
    parts = set()
    if before.name != now.name:
        parts.add(FlockPart.MEMBERS)
    if before.capabilities.programs != now.capabilities.programs or _linked(before, now):
        parts.add(FlockPart.PROGRAMS)
    if before.rules != now.rules:
        parts.add(FlockPart.PEERS)
    return frozenset(parts)


def _linked(before: NodeView | PeerView, now: NodeView | PeerView) -> bool:
    """Whether its link came or went, and what it can run with it."""
    return getattr(before, "state", "") != getattr(now, "state", "")


def called(task: CurrentTask) -> str:
    """Return what people call the workflow of a task; an agent of before took that for its id."""
    return task.workflow_name or task.workflow


def _in_hand(row: TaskView, workflow: str) -> CurrentTask:
    return CurrentTask(
        *(row.task, row.name, row.workflow, row.program, row.state),
        *(row.permille, row.left_ms, row.begun_ms, row.expected_end_ms, row.basis),
        workflow,
    )
