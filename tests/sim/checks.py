"""What must hold at every step; one function per promise, the promise in its docstring.

The checks look at effects as they pass, never at everything: a ``Persist`` shows each change of a
table on its way to the disk, a ``StartChild`` each start, a ``Send`` each claim. What a node may
not know is judged with the ledger, which knows all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.protocol.effects import (
    Answer,
    OutcomeChanged,
    Persist,
    StartChild,
    TaskMoved,
    Verdict,
)
from agent.protocol.messages import Heartbeat, TryDequeue
from agent.protocol.needs import seats_of
from agent.protocol.obstructors import LEFT_FOR_S, PATIENCE_S
from agent.protocol.reasons import Opaque, reason_in
from agent.protocol.records import (
    DatasetId,
    Evicted,
    Failed,
    Life,
    Lost,
    Run,
    RunName,
    Suspended,
    TaskId,
    TaskLife,
    TaskSpec,
    TaskState,
    Terminated,
    Yielded,
    run_name,
)
from tests.sim.copies import copies_are_bounded, is_a_copy
from tests.sim.failure import Broken
from tests.sim.hostile import HostileMember, apart
from tests.sim.ledger import Start
from tests.sim.work import capable

if TYPE_CHECKING:
    from tests.sim.machine import Machine
    from tests.sim.simulation import Simulation

PROMISE_LEFT_S = 17.0
SHUTDOWN_S = 30.0
GIVEN_BACK_S = 1.0
INTERACTIVE_LEFT_S = 1.5
"""So long a plan may leave interactive work to its home, or to the node it was dealt to."""
LEFT_TO_LIARS_S = LEFT_FOR_S + PATIENCE_S
"""So long longer a member that lies can have it left to somebody, before it is in the way."""


class Watch:
    """Sees every effect that matters, and calls the checks."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.ledger = simulation.ledger
        self.sent: dict[type, Callable[[Machine, Any], None]] = {
            TryDequeue: self.claimed,
            Heartbeat: self.beat,
        }
        self.on_moved: Callable[[Machine, TaskMoved], None] | None = None
        self.on_started: Callable[[Machine, StartChild], None] | None = None
        self.interactive: dict[TaskId, TaskSpec] = {}
        self.ready_since: dict[tuple[int, TaskId], float] = {}
        self.disturbed_since: dict[int, float] = {}

    def persisted(self, machine: Machine, persist: Persist) -> None:
        incarnation = persist.identity.incarnation
        known = machine.disk.lives
        for part in persist.lives:
            _look_at_life(self, machine, incarnation, part, known.get(part.task))
        for name in persist.forgotten_workflows:
            nothing_is_forgotten_unpruned(self, machine, persist, name)

    def started(self, machine: Machine, effect: StartChild) -> None:
        ledger = self.ledger
        inputs_are_here(machine, effect)
        a_run_starts_once(self, machine, effect)
        start = Start(machine.index, effect.run, machine.world.now)
        if is_a_copy(machine, effect):
            copied = (effect.task, *effect.run[:2])
            ledger.copies.setdefault(copied, []).append(start)
            copies_are_bounded(self, machine, effect, copied)
            ledger.count("copies")
        else:
            ledger.starts.setdefault(effect.task, []).append(start)
            starts_have_reasons(self, effect.task)
        seats_are_not_exceeded(self, machine, effect)
        ledger.count("starts")
        if self.on_started is not None:
            self.on_started(machine, effect)

    def answered(self, machine: Machine, answer: Answer) -> None:
        an_answer_is_on_disk(self, machine, answer)
        self.simulation.clients.answered(answer)

    def moved(self, machine: Machine, moved: TaskMoved) -> None:
        if moved.task in self.interactive:
            self.ready_since[machine.index, moved.task] = machine.world.now
        if self.on_moved is not None:
            self.on_moved(machine, moved)

    def outcome_changed(self, machine: Machine, changed: OutcomeChanged) -> None:
        """A node says that another success counts now."""
        node = machine.node
        life = None if node is None else node.table.lives.get(changed.task)
        if life is not None:
            an_outcome_changes_between_two_successes(machine, changed.task, life, changed.before)

    def claimed(self, machine: Machine, message: TryDequeue) -> None:
        its_owners_word_holds(machine, message)
        if self.interactive:
            interactive_goes_first(self, machine, message)

    def beat(self, machine: Machine, message: Heartbeat) -> None:
        """A node says who its master is."""
        machine.master = message.master

    def tick(self) -> None:
        """What is looked at once a second."""
        promises_do_not_outlive_claimants(self)
        a_stopping_agent_stops(self)
        a_machine_is_given_back(self)


def _look_at_life(
    watch: Watch, machine: Machine, incarnation: int, part: TaskLife, before: TaskLife | None
) -> None:
    life = part.life
    old: dict[RunName, Run] = {}
    if before is not None:
        old = {run_name(run): run for run in before.life.runs}
    if life.floor and life.floor not in watch.ledger.floors.setdefault(part.task, {}):
        watch.ledger.floors[part.task][life.floor] = None
        a_floor_means_lost_outputs(watch, machine, part.task, life)
    ended_well = False
    for run in life.runs:
        ended_well = ended_well or isinstance(run.phase, Terminated)
        name = run_name(run)
        known = old.pop(name, None)
        if known is run:
            continue
        success_stays(machine, part.task, known, run)
        one_incarnation_writes(watch, machine, incarnation, part.task, run)
        an_end_tells_why(machine, part.task, run)
        _book(watch, part.task, name, run)
    nothing_vanishes(machine, part.task, old)
    if ended_well:
        _look_at_outcome(watch, machine, part.task, life)


def _book(watch: Watch, task: TaskId, name: RunName, run: Run) -> None:
    phase, ledger = run.phase, watch.ledger
    if isinstance(phase, Terminated):
        ledger.successes.setdefault(task, {})[name] = None
    elif isinstance(phase, Failed):
        ledger.failures.setdefault(task, {})[name] = None
    elif isinstance(phase, Evicted) or (isinstance(phase, Suspended) and phase.offered):
        ledger.handovers.setdefault(task, {})[name] = None


def _look_at_outcome(watch: Watch, machine: Machine, task: TaskId, life: Life) -> None:
    node = machine.node
    reading = None if node is None else node.table.reading(task)
    if reading is None:
        return
    outcomes = watch.ledger.outcomes[machine.index]
    before = outcomes.get(task)
    now = None if reading.outcome is None else run_name(reading.outcome)
    if before is not None and before != now and node is not None:
        life = node.table.lives.get(task, life)  # a slow disk takes in what was true a while ago
        an_outcome_changes_between_two_successes(machine, task, life, before)
    if now is not None:
        outcomes[task] = now


# The promises


def success_stays(machine: Machine, task: TaskId, known: Run | None, run: Run) -> None:
    """A success once seen stays a success."""
    if known is None or not isinstance(known.phase, Terminated):
        return
    if not isinstance(run.phase, Terminated):
        raise Broken("success stays", f"{machine} makes {run.phase} of {known.phase}", task)


def nothing_vanishes(machine: Machine, task: TaskId, left: dict[RunName, Run]) -> None:
    """A table is a join: what was in a life stays in it."""
    if left:
        raise Broken("nothing vanishes", f"{machine} has lost the runs {list(left)}", task)


def an_end_tells_why(machine: Machine, task: TaskId, run: Run) -> None:
    """Why a run ended other than well is a value, not only text."""
    badly = isinstance(run.phase, Failed | Evicted | Yielded)
    if badly and isinstance(reason_in(run.more, ""), Opaque):
        raise Broken("an end tells why", f"{machine} tells no reason of {run.phase}", task)


def one_incarnation_writes(
    watch: Watch, machine: Machine, incarnation: int, task: TaskId, run: Run
) -> None:
    """A run is written by the incarnation of its name only, or ended as lost by a later one.

    What a full disk refused its node may still tell, so others can have it on disk before. Of two
    revisions written at one event only the later one is on the writer's own disk.
    """
    written = watch.ledger.written
    key = (task, run_name(run), run.revision)
    phase = written.get(key)
    if phase is None:
        own = run.host == machine.node_id and (
            run.incarnation == incarnation or isinstance(run.phase, Lost)
        )
        passed = (task, run_name(run), run.revision + 1) in written
        if not own and not passed and run.host not in watch.ledger.disks_refused:
            raise Broken("one writer", f"{machine} writes {run}", task)
        written[key] = run.phase
    elif phase != run.phase:
        text = f"{machine} has revision {run.revision} as {run.phase}, elsewhere it is {phase}"
        untold = watch.ledger.disk_lost or run.host in watch.ledger.disks_refused
        if run.host != machine.node_id and not untold:
            raise Broken("one writer", text, task)


def an_outcome_changes_between_two_successes(
    machine: Machine, task: TaskId, life: Life, before: RunName
) -> None:
    """Which success counts changes only when two exist, or a floor was raised above it."""
    if before[0] < life.floor:
        return
    ended = [run for run in life.runs if isinstance(run.phase, Terminated)]
    if len(ended) < 2:
        raise Broken("outcome stands", f"{machine} turns from {before}, having {ended}", task)


def a_floor_means_lost_outputs(watch: Watch, machine: Machine, task: TaskId, life: Life) -> None:
    """Nobody runs a task again while all that it ever made is on a disk that he is linked to."""
    below = [r for r in life.runs if isinstance(r.phase, Terminated) and r.generation < life.floor]
    if not below:
        return
    outputs = [o for r in below if isinstance(r.phase, Terminated) for o in r.phase.outputs]
    network = watch.simulation.network
    linked = [watch.simulation.by_id[peer] for peer in machine.channels]
    disks = [m.disk.datasets for m in linked if network.carries(machine, m)]
    disks.append(machine.disk.datasets)
    if all(any(output.dataset in disk for disk in disks) for output in outputs):
        raise Broken(
            "floors have reasons", f"{machine} raises it although {outputs} are here", task
        )


def inputs_are_here(machine: Machine, effect: StartChild) -> None:
    """A task starts only with all its inputs there."""
    missing = missing_inputs(machine, effect)
    if missing or len(effect.inputs) < len(effect.spec.inputs):
        text = f"{machine} starts it with {effect.inputs}, without {missing}"
        raise Broken("inputs are here", text, effect.task)


def missing_inputs(machine: Machine, effect: StartChild) -> list[DatasetId]:
    """What the program needs and this disk does not have."""
    external = {raw.dataset for raw in effect.spec.raw if raw.external}
    needed = dict.fromkeys((*effect.inputs, *(raw.dataset for raw in effect.spec.raw)))
    if effect.checkpoint:
        needed[effect.checkpoint] = None
    disk = machine.disk.datasets
    return [name for name in needed if name not in external and name not in disk]


def a_run_starts_once(watch: Watch, machine: Machine, effect: StartChild) -> None:
    """A run name is started once, by the incarnation that it names."""
    node, key = machine.node, (effect.task, effect.run)
    if key in watch.ledger.started:
        raise Broken("a run starts once", f"{machine} starts {effect.run} again", effect.task)
    if effect.run[2] != machine.node_id or node is None:
        raise Broken("a run starts once", f"{machine} starts {effect.run}", effect.task)
    identity = machine.disk.identity
    if identity is None or identity.incarnation != effect.run[3]:
        text = f"{machine} starts {effect.run}, its disk has {identity}"
        raise Broken("a run starts once", text, effect.task)
    watch.ledger.started.add(key)


def starts_have_reasons(watch: Watch, task: TaskId) -> None:
    """Without faults a task starts once, and once more per failure, hand-over, retry or floor;
    with faults at most once more per fault that touched an owner. Of two that never had a link, only
    others know of both; where one of those lies, each may begin it."""
    starts = watch.ledger.starts[task]
    if len(starts) == 1 or apart(watch.simulation, {start.machine for start in starts}):
        return
    allowed = watch.ledger.starts_allowed(task)
    if len(starts) > allowed:
        raise Broken("starts have reasons", f"{len(starts)} starts, {allowed} allowed", task)


def seats_are_not_exceeded(watch: Watch, machine: Machine, effect: StartChild) -> None:
    """Without faults never more programs run at once than there are seats; with faults at most one
    more for each fault that has touched a machine while the oldest of them ran."""
    simulation, ledger = watch.simulation, watch.ledger
    for seat in seats_of(effect.spec):
        living = [
            (each.index, task, run)
            for each in simulation.machines
            for (task, run), child in each.children.living.items()
            if seat.name in {one.name for one in seats_of(child.spec)}
            and (task, run) != (effect.task, effect.run)
        ]
        holders = {machine.index, *(index for index, _, _ in living)}
        if len(living) < seat.most or apart(simulation, holders):
            continue
        begun = [
            start.at_s
            for _, task, run in living
            for start in ledger.starts.get(task, ())
            if start.run == run
        ]
        since_s = min(begun, default=machine.world.now)
        faults = sum(ledger.faults_of(each.index, since_s) for each in simulation.machines)
        if len(living) + 1 > seat.most + faults:
            text = f"{machine} starts it with {living}, of {seat.name} there are {seat.most}"
            raise Broken("seats are not exceeded", text, effect.task)


def nothing_is_forgotten_unpruned(
    watch: Watch, machine: Machine, persist: Persist, workflow: str
) -> None:
    """An accepted workflow leaves a table by pruning only."""
    if workflow not in watch.ledger.accepted or workflow not in machine.disk.workflows:
        return
    generation = machine.disk.workflows[workflow].generation
    prunings = {**machine.disk.prunings, **{p.workflow: p for p in persist.prunings}}
    pruning = prunings.get(workflow)
    if pruning is None or pruning.generation < generation:
        raise Broken("never lost", f"{machine} forgets {workflow}, pruned as {pruning}")


def an_answer_is_on_disk(watch: Watch, machine: Machine, answer: Answer) -> None:
    """What is acknowledged is on disk, on as many as the answer says."""
    workflow = watch.simulation.clients.submission(answer.request)
    if workflow is None or answer.verdict is not Verdict.ACCEPTED:
        return
    disks = [m for m in watch.simulation.machines if workflow in m.disk.workflows]
    if machine not in disks and workflow not in machine.disk.prunings:
        raise Broken("on disk when said", f"{machine} accepts {workflow}, but not on its disk")
    if len(disks) < answer.disks and not watch.ledger.disk_lost:
        text = f"{machine} says {workflow} is on {answer.disks} disks, it is on {disks}"
        raise Broken("on disk when said", text)


def its_owners_word_holds(machine: Machine, message: TryDequeue) -> None:
    """Where only what is submitted there is to run, nothing else is claimed; nothing while paused."""
    node = machine.node
    if node is None:
        return
    for offer in message.claims:
        if machine.paused or (machine.own_only and not _was_submitted_at(machine, offer.task)):
            raise Broken(
                "owner's word", f"{machine} claims what its owner does not let it", offer.task
            )


def _was_submitted_at(machine: Machine, task: TaskId) -> bool:
    """Whether somebody has ever asked this machine for it, whatever records say."""
    node = machine.node
    workflow = "" if node is None else node.table.workflow_of.get(task, "")
    return (workflow, machine.index) in machine.simulation.clients.asked


def interactive_goes_first(watch: Watch, machine: Machine, message: TryDequeue) -> None:
    """No low task is claimed where an interactive one could run that nobody has or claims."""
    node = machine.node
    if node is None:
        return
    low = [offer.task for offer in message.claims if not _is_interactive(machine, offer.task)]
    offered = {offer.task for offer in message.claims}
    if not low:
        return
    for task, spec in watch.interactive.items():
        joined_s = machine.booted_s + watch.simulation.plan.settings.start_wait_s
        since_s = max(watch.ready_since.get((machine.index, task), machine.world.now), joined_s)
        left_s = LEFT_TO_LIARS_S if watch.simulation.node_class is HostileMember else 0.0
        if machine.world.now - since_s < INTERACTIVE_LEFT_S + left_s:
            continue
        if task in offered or task in node.claims.open or task in node.promises.by_task:
            continue
        if _is_free_for(machine, task, spec) and not _is_claimed(watch, task):
            raise Broken("interactive first", f"{machine} claims {low} before it", task)


def _is_interactive(machine: Machine, task: TaskId) -> bool:
    node = machine.node
    if node is None:
        return False
    return node.table.interactive(task)


def _is_free_for(machine: Machine, task: TaskId, spec: TaskSpec) -> bool:
    """Ready as this node sees it, within its means, and not refused here before."""
    node = machine.node
    if node is None or spec.gate or not _is_interactive(machine, task):
        return False
    spec_of = node.table.workflows[node.table.workflow_of[task]].spec
    if machine.own_only and node.home_of(spec_of) != machine.node_id:
        return False
    reading = node.table.reading(task)
    if reading is None or reading.state is not TaskState.READY:
        return False
    life = node.table.lives.get(task)
    tried = () if life is None else life.runs
    if any(isinstance(run.phase, Failed | Evicted | Yielded | Lost) for run in tried):
        return False
    inputs = [*(reading.inputs or ()), *(raw.dataset for raw in spec.raw if not raw.external)]
    if any(dataset not in machine.disk.datasets for dataset in inputs):
        return False
    # A seat that is free here may be dealt to another task, wherever that is begun.
    return capable(machine.plan.capabilities, spec) and not seats_of(spec)


def _is_claimed(watch: Watch, task: TaskId) -> bool:
    for machine in watch.simulation.machines:
        node = machine.node
        if node is None:
            continue
        if task in node.claims.open or task in node.promises.by_task:
            return True
        reading = node.table.reading(task)
        if reading is not None and reading.state is not TaskState.READY:
            return True
    return False


def promises_do_not_outlive_claimants(watch: Watch) -> None:
    """A promise to somebody who does not claim any more is gone within 15 s."""
    ledger, simulation = watch.ledger, watch.simulation
    now = simulation.world.now
    seen: dict[tuple[int, TaskId, str, tuple[object, ...]], float] = {}
    for machine in simulation.machines:
        if machine.node is None or machine.stalled:
            continue
        for task, promise in machine.node.promises.by_task.items():
            if _still_claims(simulation, promise.claimant, task, promise.claim):
                continue
            key = (machine.index, task, promise.claimant, (promise.claim.stamp,))
            seen[key] = ledger.orphan_promises.get(key, now)
            if now - seen[key] > PROMISE_LEFT_S:
                text = f"{machine} still keeps {promise} made to {promise.claimant}"
                raise Broken("promises end", text, task)
    ledger.orphan_promises = seen


def _still_claims(simulation: Simulation, claimant: str, task: TaskId, claim: object) -> bool:
    machine = simulation.by_id.get(claimant)
    if machine is None or machine.node is None:
        return False
    own = machine.node.claims.open.get(task)
    return own is not None and own.claim == claim


def a_stopping_agent_stops(watch: Watch) -> None:
    """An agent that is asked to stop hands back what it runs, and stops."""
    now = watch.simulation.world.now
    for machine in watch.simulation.machines:
        overdue = now - machine.stopping_since > SHUTDOWN_S
        if overdue and machine.node is not None and not machine.stalled and not machine.disk.full:
            raise Broken("stopping ends", f"{machine} was asked to stop {SHUTDOWN_S} s ago")


def a_machine_is_given_back(watch: Watch) -> None:
    """Within a second of its owner's return nothing runs on a machine but the owner's own work."""
    now, since = watch.simulation.world.now, watch.disturbed_since
    for machine in watch.simulation.machines:
        awake = machine.node is not None and not machine.stalled and not machine.children.asleep
        present = machine.owner_present or machine.paused
        task = _disturbing(machine) if awake and present else ""
        if not task:
            since.pop(machine.index, None)
        elif now - since.setdefault(machine.index, now) >= GIVEN_BACK_S:
            raise Broken("given back", f"{machine} runs it although its owner is there", task)


def _disturbing(machine: Machine) -> TaskId:
    for task, run in machine.children.living:
        child = machine.children.living[task, run]
        spared = not machine.paused and _is_interactive(machine, task)
        spared = spared and _was_submitted_at(machine, task)
        if not (child.suspended or child.stopping or spared):
            return task
    return ""
