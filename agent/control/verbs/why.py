"""The story of a task, and what it waits for, in sentences."""

import re
from collections.abc import Iterator
from typing import assert_never

from agent.api.methods import WHY
from agent.api.values import TaskState
from agent.api.work import Move, Story, TaskView, Why
from agent.control.acceptance import listed, unaccepted
from agent.control.causes import moved_by
from agent.control.dry_run import Machine, machines_seen
from agent.control.machines import reason_said, seen
from agent.control.naming import find_task, readable
from agent.control.port import Snapshot
from agent.control.request_context import RequestContext, serves
from agent.control.views import tasks_by_host
from agent.protocol.matching import failed_on, misfit
from agent.protocol.records import NodeId, TaskSpec

WAITING = (TaskState.SUBMITTED, TaskState.READY)
_MOVE = re.compile(r"(?P<at_ms>\d+) \[(?P<cause>.*?)\] (?P<what>.*)", re.DOTALL)


@serves(WHY)
async def why(call: RequestContext, params: Why) -> Story:
    """Return the story of a task, and what it waits for, as this node knows it: another one may
    have seen more. Raises ``RefusedError`` where the task is unknown."""
    views = call.views
    now = views.now
    spec = find_task(now.table, params.task)
    task = views.task(spec)
    machines = _machines(spec, now) if task.state in WAITING and not spec.gate else ()
    return Story(
        task,
        _now(task, spec, now),
        tuple(_moves(call.node.story(spec.task), call, now)),
        tuple(machines),
    )


def _machines(spec: TaskSpec, now: Snapshot) -> Iterator[str]:
    """A sentence for each machine that is seen."""
    hands = tasks_by_host(now.table)
    reasons = _reasons(now)
    failed = failed_on(now.table.life(spec.task))
    for machine in machines_seen(now):
        lacks = misfit(spec, machine.capabilities)
        taken = len(hands.get(machine.node, ()))
        if lacks:
            yield f"{machine.name} {lacks}{_remedy(spec, machine)}"
        elif not machine.helps:
            yield f"{machine.name} could run it and does not help: {reasons[machine.node]}"
        elif machine.node in failed:
            yield f"{machine.name} could run it, and failed at it before"
        elif taken >= machine.slots:
            slots = "its slot is" if machine.slots == 1 else f"all its {machine.slots} slots are"
            yield f"{machine.name} could run it, and {slots} taken"
        else:
            yield f"{machine.name} could run it"


def _remedy(spec: TaskSpec, machine: Machine) -> str:
    """What the owner of that machine can do."""
    if not unaccepted(spec, machine):
        return ""
    return f": `wingbeat programs accept {spec.program}` there lets it"


def _reasons(now: Snapshot) -> dict[NodeId, str]:
    return {machine.node: reason_said(machine) or "it says no reason" for machine in seen(now)}


def _moves(story: list[str], call: RequestContext, now: Snapshot) -> Iterator[Move]:
    """The node's lines, taken apart, with names in the places of ids."""
    names = {member.node: member.name for member in call.rooms.flock.members()}
    names.setdefault(now.node, now.name)  # without a flock there are no members
    for line in story:
        found = _MOVE.fullmatch(line)
        if found is None:
            continue
        what = readable(found["what"], now.table)
        cause = moved_by(found["cause"], what.partition(" ")[0].rstrip(":"), now.name_of)
        for node, name in names.items():
            what, cause = what.replace(node, name), cause.replace(node, name)
        yield Move(int(found["at_ms"]), what, cause)


def _now(task: TaskView, spec: TaskSpec, now: Snapshot) -> str:
    match task.state:
        case TaskState.SUBMITTED:
            return f"{task.name} {task.reason or 'waits for what it needs'}"
        case TaskState.READY:
            return f"{task.name} has all that it needs; {_helpers(spec, now)}"
        case TaskState.WAITING:
            return (
                f"{task.name} waits until a person marks it done: {task.asks or 'no reason given'}"
            )
        case TaskState.SCHEDULED:
            return f"{task.host} has taken {task.name} and fetches its inputs"
        case TaskState.RUNNING:
            return f"{task.name} runs on {task.host}"
        case TaskState.SUSPENDED:
            return f"{task.name} is suspended on {task.host}, whose owner needs the machine"
        case TaskState.TERMINATED:
            return f"{task.name} finished on {task.host}"
        case TaskState.CANCELLED | TaskState.ABORTED:
            state = task.state.value.lower()
            return f"{task.name} is {state}{_because(task.reason.removeprefix(state))}"
        case _:
            assert_never(task.state)


def _because(reason: str) -> str:
    """Behind the state, which the reason may have begun with itself."""
    if not reason or reason.startswith(";"):
        return reason.replace(";", ",", 1)
    return f": it {reason}" if reason.startswith("failed") else f": {reason}"


def _helpers(spec: TaskSpec, now: Snapshot) -> str:
    machines = machines_seen(now)
    willing = [each for each in machines if each.helps]
    if not willing:
        return f"no machine helps now (this one: {reason_said(now.status) or 'paused'})"
    if not any(misfit(spec, each.capabilities) for each in machines):
        help_now = "machine helps" if len(machines) == 1 else "machines help"
        told = f"{len(willing)} of {len(machines)} {help_now} now"
        return f"{told}, none has taken it yet"
    if any(not misfit(spec, each.capabilities) for each in willing):
        return "none of the machines that could run it has taken it yet"
    asked = [each.name for each in willing if unaccepted(spec, each)]
    if asked:
        program = spec.program.partition("@")[0]
        return f"it waits until somebody accepts its program {program} on {listed(asked)}"
    return "no machine that helps now can run it"
