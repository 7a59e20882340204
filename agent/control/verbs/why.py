"""The story of a task, and what it waits for, in sentences."""

from collections.abc import Iterator
from typing import Any

import msgspec

from agent.api import choice_reasons as choice
from agent.api import reasons
from agent.api.presence_reasons import CouldRunUntil
from agent.api.programs import bare_name
from agent.api.reasons import NO_REASON, Opaque, Reason, as_why, reason_of
from agent.api.values import TaskState
from agent.api.work import WHY, Move, Story, TaskView, Why
from agent.control.dry_run import unaccepted
from agent.control.fitting import Machine, seats_taken, seen, slots_of, takes_work, whose_work
from agent.control.naming import cause_of, find_task
from agent.control.port import Snapshot
from agent.control.recalling import with_past
from agent.control.request_context import RequestContext, serves
from agent.control.views import tasks_by_host
from agent.protocol.evidence import stands_on
from agent.protocol.reasons import (
    HelpsOthers,
    LikelyFreeForLong,
    LikelyFreeUntil,
    NeedsGivenUp,
    StoryEntry,
)
from agent.protocol.records import NodeId, Run, Suspended, TaskSpec
from agent.protocol.seats import banned, failed_on, misfit
from agent.protocol.second_runs import hosts_beside
from agent.protocol.sharing_reasons import OwnerTakesNoWork
from agent.wording.run_ends import named
from agent.wording.speech import Speech

WAITING = (TaskState.SUBMITTED, TaskState.READY)
IN_HAND = {
    TaskState.SUSPENDED: reasons.TaskSuspended,
    TaskState.TERMINATED: reasons.TaskFinished,
}
"""What is said of a task by where it is on its machine,"""
CHOSEN = {TaskState.SCHEDULED: choice.TaskFetches, TaskState.RUNNING: choice.TaskRuns}
"""and while it goes on, so that what speaks for the machine is said too."""
FASTER_PERCENT = 110
"""What is not so fast is as fast as usual."""
NOBODY: dict[reasons.WithheldKind, Any] = {
    "AllowsNoNetwork": "NobodyAllowsNetwork",
    "AllowsNoReading": "NobodyAllowsReading",
    "AllowsNoDevice": "NobodyAllowsDevice",
    "AllowsNoSecret": "NobodyGivesSecret",
    "HasNoSecret": "NobodyHasSecret",
    "HasNoShare": "NobodyHasShare",
}
"""What is said of all machines, by what is said of each."""


@serves(WHY)
async def why(call: RequestContext, params: Why) -> Story:
    """Return the story of a task, what it waits for now and, while it does, whether each machine
    could run it, as this node knows it: another one may have seen more. Raises ``RefusedError``
    where the task is unknown, ``sqlite3.Error`` where the history cannot be read."""
    call = await with_past(call, "", params.task)
    views = call.views
    now = views.now
    spec = find_task(now.table, params.task)
    task = views.task(spec)
    waits = task.state in WAITING or bool(task.gone_ms) or _is_offered(spec, now)
    machines = tuple(_machines(spec, now)) if waits and not spec.gate else ()
    said = Speech()
    waiting = _now(task, spec, now)
    return Story(
        task,
        said.say(waiting),
        tuple(_moves(await call.rooms.history.story(spec.task, now.table), said, now)),
        tuple(map(said.say, machines)),
        as_why(waiting),
        tuple(map(as_why, machines)),
        now.table.workflows[task.workflow].spec.name,
    )


def _owner(spec: TaskSpec, now: Snapshot) -> Run | None:
    """The run that counts, None where no machine has the task."""
    reading = now.table.reading(spec.task)
    return reading.owner if reading is not None else None


def _is_offered(spec: TaskSpec, now: Snapshot) -> bool:
    """Whether it was suspended for so long that another machine may take it."""
    owner = _owner(spec, now)
    return owner is not None and isinstance(owner.phase, Suspended) and owner.phase.offered


def _machines(spec: TaskSpec, now: Snapshot) -> Iterator[Reason]:
    """Of each machine that is seen, but for one that has the task, whether it could run it."""
    hands, owner = tasks_by_host(now.table), _owner(spec, now)
    presence = _presence(now)
    failed = failed_on(now.table.life(spec.task))
    for machine in seen(now):
        if owner is not None and owner.host == machine.node:
            continue
        host, slots = machine.name, slots_of(machine)
        lacks = misfit(spec, machine.capabilities)
        if isinstance(lacks, reasons.NotAccepted):
            yield reasons.NotAcceptedYet(host, spec.program)
        elif lacks is not None:
            yield msgspec.structs.replace(lacks, host=host)
        elif ban := _ban(machine, spec, now):
            yield OwnerTakesNoWork(ban, host)
        elif machine.volunteering and not _takes(machine, spec, now):
            yield HelpsOthers(machine.people, host)
        elif not _takes(machine, spec, now):
            yield reasons.DoesNotHelp(host, presence[machine.node] or reasons.SaysNoReason())
        elif machine.node in failed:
            yield reasons.FailedBefore(host)
        elif len(hands.get(machine.node, ())) >= slots:
            yield reasons.SlotTaken(host) if slots == 1 else reasons.SlotsTaken(host, slots)
        else:
            yield _could_run(host, presence[machine.node])


def _could_run(host: str, state: Reason | None) -> Reason:
    """As far as is known how long its owner stays away."""
    if isinstance(state, LikelyFreeUntil):
        return CouldRunUntil(host, state.until_ms)
    return reasons.CouldRun(host)


def _takes(machine: Machine, spec: TaskSpec, now: Snapshot) -> bool:
    table = now.table
    workflow = table.workflows[table.workflow_of[spec.task]].spec
    return takes_work(machine, whose_work(now, workflow), interactive=table.interactive(spec.task))


def _ban(machine: Machine, spec: TaskSpec, now: Snapshot) -> str:
    """By which name the owner of a machine takes no such work."""
    workflow = now.table.workflows[now.table.workflow_of[spec.task]].spec
    if not machine.bans or now.home_of(workflow) == machine.node:
        return ""
    submitted = (*whose_work(now, workflow), workflow.host, now.name_of(workflow.host))
    return banned(machine.bans, (*submitted, bare_name(spec.program)))


def _lacks_only_leave(spec: TaskSpec, machine: Machine) -> bool:
    """Whether it could run there as soon as its owner allows it."""
    taking = msgspec.structs.replace(machine.capabilities, takes_published=True)
    return unaccepted(spec, machine) and misfit(spec, taking) is None


def _presence(now: Snapshot) -> dict[NodeId, Any]:
    """Why each machine helps or does not, None where it does not say."""
    told = {machine.node: reason_of(machine.why, machine.reason) for machine in seen(now)}
    return {node: None if why == NO_REASON else why for node, why in told.items()}


def _moves(story: list[StoryEntry], said: Speech, now: Snapshot) -> Iterator[Move]:
    """What became of it, with names in the places of ids."""
    for at_ms, cause, what in story:
        moved = named(what, now.table, now.name_of)
        by: Reason = cause_of(cause, getattr(what, "state", ""), now.name_of)
        if isinstance(getattr(what, "why", None), reasons.NeedsCancelled | NeedsGivenUp):
            by = NO_REASON  # that is said by what it needs
        yield Move(at_ms, said.say(moved), said.say(by), as_why(moved), as_why(by))


def _now(task: TaskView, spec: TaskSpec, now: Snapshot) -> Reason:
    name, host = task.name, task.host
    if task.gone_ms:
        return reasons.TaskOnGone(name, host, task.gone_ms)
    match task.state:
        case TaskState.SUBMITTED:
            return reasons.TaskWaits(name, _given(task) or reasons.WaitsForNeeds())
        case TaskState.READY:
            lacks = seats_taken(spec, now) or _left_for(spec, now)
            return reasons.TaskReady(name, lacks or _helpers(spec, now))
        case TaskState.WAITING:
            return reasons.GateWaits(name, task.asks)
        case TaskState.CANCELLED | TaskState.ABORTED:
            return _given_up(name, _given(task) or Opaque(task.reason))
        case TaskState.SUSPENDED if _is_offered(spec, now):
            return reasons.TaskOffered(name, host, _helpers(spec, now))
        case TaskState.SCHEDULED | TaskState.RUNNING:
            return CHOSEN[task.state](name, host, tuple(_merits(spec, now)))
        case _:
            return IN_HAND[task.state](name, host)


def _merits(spec: TaskSpec, now: Snapshot) -> Iterator[choice.Merit]:
    """What speaks for the machine that has the task, where machines differ: how fast it is by what
    its claim stood on, and how long its owner stays away; and where a second run goes on."""
    owner = _owner(spec, now)
    if owner is None:
        return
    yield from _chosen(owner, now)
    beside = hosts_beside(now.table.life(spec.task).runs, owner)
    if beside:
        yield choice.AlsoOn(tuple(map(now.name_of, beside)))


def _chosen(owner: Run, now: Snapshot) -> Iterator[choice.Merit]:
    stood = stands_on(owner.more)
    if stood is not None and stood.length_ms:
        percent = 100 * stood.usual_ms // stood.length_ms
        if percent >= FASTER_PERCENT:
            yield choice.RunsFaster(percent)
    told = {peer.node: reason_of(peer.why, peer.reason) for peer in now.peers}
    likely = told.pop(owner.host, None)
    if stood is None and all(each == likely for each in told.values()):
        return
    if isinstance(likely, LikelyFreeUntil):
        yield choice.FreeUntil(likely.until_ms)
    elif isinstance(likely, LikelyFreeForLong):
        yield choice.FreeForLong()


def _left_for(spec: TaskSpec, now: Snapshot) -> choice.LeftFor | None:
    """For which machine a task is left that could begin on another, while that is there and helps."""
    node = now.left_for(spec.task)
    for machine in seen(now) if node else ():
        if machine.node == node and _takes(machine, spec, now):
            return choice.LeftFor(machine.name)
    return None


def _given(task: TaskView) -> Any:
    """Why it is where it is, None where nothing is said."""
    given = reason_of(task.why, task.reason)
    return None if given == NO_REASON else given


def _given_up(name: str, given: Any) -> Reason:
    match given:
        case reasons.Cancelled():
            return reasons.TaskCancelled(name)
        case reasons.CancelledStopping(hosts):
            return reasons.TaskStopping(name, hosts)
        case reasons.NeedsCancelled():
            return reasons.TaskCancelledFor(name, given)
        case reasons.FailedOnce(error, cause):
            return reasons.TaskFailedOnce(name, error, cause)
        case reasons.FailedOften() | reasons.FailedSilently():
            return reasons.TaskFailed(name, given)
        case _:
            return reasons.TaskAborted(name, given)


def _helpers(spec: TaskSpec, now: Snapshot) -> Any:
    machines = seen(now)
    willing = [each for each in machines if _takes(each, spec, now) and not _ban(each, spec, now)]
    if not willing:
        choosy = tuple(each.name for each in machines if each.volunteering)
        if choosy:
            workflow = now.table.workflows[now.table.workflow_of[spec.task]].spec
            return reasons.NotForPerson(choosy, workflow.submitter)
        return reasons.NoHelper(_presence(now)[now.node] or reasons.PausedSomehow())
    if not any(misfit(spec, each.capabilities) for each in machines):
        if len(machines) == 1:
            return reasons.OwnHelper()
        return reasons.SomeHelpers(len(willing), len(machines))
    program, hands = bare_name(spec.program), tasks_by_host(now.table)
    asked = tuple(each.name for each in willing if _lacks_only_leave(spec, each))
    able = [each for each in willing if misfit(spec, each.capabilities) is None]
    if able:
        busy = [each.name for each in able if len(hands.get(each.node, ())) >= slots_of(each)]
        if asked and len(busy) == len(able):
            return reasons.AllowedAreBusy(program, asked, tuple(busy))
        return reasons.NoTaker()
    if asked:
        return reasons.WaitsForAcceptance(program, asked)
    return _nobody_able([misfit(spec, each.capabilities) for each in machines], program)


def _nobody_able(lacks: list[Reason | None], program: str) -> Reason:
    """What is said where no machine that helps can run it, by why each cannot."""
    withheld = [each for each in lacks if isinstance(each, reasons.Withholds)]
    alone = all(isinstance(each, reasons.Withholds | reasons.LacksProgram) for each in lacks)
    if withheld and alone:
        return reasons.NobodyAllows(NOBODY[withheld[0].kind], program, withheld[0].name)
    return reasons.NoFittingHelper()
