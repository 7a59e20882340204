"""What must come to pass once all misfortunes are over: everything ends, and all agree.

A flock that never breaks a promise could still do nothing. So every run ends with a calm phase:
all is healed, every machine that was not lost for ever runs, no owner is there. Within a bounded
time all accepted work has ended, or waits for something that can be named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.records import ENDED, TaskSpec, TaskState, Terminated, run_name
from tests.sim.failure import Broken
from tests.sim.keys import bare, everything_is_proven
from tests.sim.work import capable

if TYPE_CHECKING:
    from tests.sim.machine import Machine
    from tests.sim.simulation import Simulation

QUIET_S = 3.0
STEP_S = 1.0
GATE_EVERY_S = 3.0


def settle(simulation: Simulation) -> float:
    """Mend all, then wait until all is done; how long that took."""
    world, plan = simulation.world, simulation.plan
    simulation.settling = True
    simulation.faults.mend()
    healed_at = world.now
    successes = _successes(simulation)
    why, quiet_since = "nothing was looked at", None
    while world.now - healed_at < plan.settle_s:
        world.run(world.now + STEP_S)
        if plan.gates_are_marked and int(world.now) % int(GATE_EVERY_S) == 0:
            simulation.clients.mark_gates(world.random.randrange(len(simulation.machines)))
        why = unsettled(simulation)
        if why:
            quiet_since = None
            continue
        quiet_since = world.now if quiet_since is None else quiet_since
        if world.now - quiet_since >= QUIET_S:
            _look_back(simulation, successes)
            return quiet_since - healed_at
    check, _, rest = why.partition(": ")
    task, _, detail = rest.partition(": ")
    raise Broken(check, f"{detail}, {plan.settle_s:.0f} s after all was mended", task)


def unsettled(simulation: Simulation) -> str:
    """Why the flock is not done yet: check, task, reason. Empty when it is."""
    questions = (_not_up, _not_equal, _not_one_master, _not_ended, _not_quiet, _not_written)
    for question in questions:
        why = question(simulation)
        if why:
            return why
    return ""


def _not_up(simulation: Simulation) -> str:
    """Machines that are not lost for ever run."""
    for machine in simulation.machines:
        if machine.node is None and not machine.gone_for_ever:
            return f"all run: : {machine} is not running"
        if machine.stalled:
            return f"all run: : {machine} stands still"
    return ""


def _not_equal(simulation: Simulation) -> str:
    """All replicas are equal: by hash here, by content at the end."""
    hashes = {m.node_id: m.node.table.hash for m in simulation.machines if m.node is not None}
    if len(set(hashes.values())) > 1:
        return f"replicas are equal: : hashes {hashes}; {_first_difference(simulation)}"
    return ""


def _not_written(simulation: Simulation) -> str:
    """Slow disks have caught up."""
    for machine in simulation.running():
        if machine.slow_disk is not None and machine.slow_disk.at_work:
            return f"disks catch up: : that of {machine} does not"
    return ""


def _not_one_master(simulation: Simulation) -> str:
    """One master, and everybody knows it."""
    masters = {m.node_id: m.master for m in simulation.running()}
    known = set(masters.values())
    if len(masters) > 1 and (len(known) > 1 or not known <= set(masters)):
        return f"one master: : {masters}"
    return ""


def _not_ended(simulation: Simulation) -> str:
    """Every accepted task ended, waits for a person, or for what is lost for ever."""
    machines = simulation.running()
    if not machines or machines[0].node is None:
        return ""
    table = machines[0].node.table
    for workflow in simulation.ledger.accepted:
        known = table.workflows.get(workflow)
        if known is None:
            if workflow not in table.prunings and workflow not in simulation.ledger.excused:
                return f"never lost: : {workflow} was accepted and is nowhere"
            continue
        for spec in known.spec.tasks:
            reading = table.reading(spec.task)
            if reading is None:
                return f"all is read: {spec.task}: nothing is read of it"
            if reading.state not in ENDED and not _may_wait(simulation, spec.task, {}):
                return f"everything ends: {spec.task}: it is {reading.state} ({reading.reason})"
    for workflow in simulation.clients.jobs:
        if workflow not in simulation.ledger.accepted and not _may_refuse(simulation, workflow):
            return f"everything is accepted: : {workflow} was submitted and not accepted"
    return ""


def _may_refuse(simulation: Simulation, workflow: str) -> bool:
    """A workflow that needs tasks of another one, which was pruned, lost or refused itself; or of a
    machine that went for ever before it had accepted it: whoever asks another one asks for other work."""
    home = simulation.clients.homes.get(workflow)
    if simulation.plan.signed and home is not None and simulation.machines[home].gone_for_ever:
        return True
    node = simulation.running()[0].node
    job = simulation.clients.jobs[workflow]
    needed = [ref.task for spec in job.tasks for ref in spec.inputs]
    needed += [task for spec in job.tasks for task in spec.after]
    others = {task.partition("/")[0] for task in needed} - {workflow}
    known = {} if node is None else node.table.workflows
    return workflow in simulation.clients.refused and not others <= set(known)


def _may_wait(simulation: Simulation, task: str, seen: dict[str, bool]) -> bool:
    """A reason that can be named: a person, no capable machine, raw data or producers lost."""
    if task in seen:
        return seen[task]
    seen[task] = False
    node = simulation.running()[0].node
    if node is None:
        return False
    spec, reading = node.table.specs.get(task), node.table.reading(task)
    if spec is None or reading is None:
        excused = task.partition("/")[0] in simulation.ledger.excused
        seen[task] = excused or task.partition("/")[0] in node.table.prunings
        return seen[task]
    if (
        reading.state is TaskState.WAITING and not simulation.plan.gates_are_marked
    ) or reading.state in (TaskState.CANCELLED, TaskState.ABORTED):
        seen[task] = True
    elif reading.state is TaskState.TERMINATED:
        seen[task] = _outputs_lost(simulation, task)
    else:
        producers = [*(ref.task for ref in spec.inputs), *spec.after]
        waits = any(_may_wait(simulation, producer, seen) for producer in producers)
        seen[task] = waits or not _can_run_anywhere(simulation, spec)
    return seen[task]


def _outputs_lost(simulation: Simulation, task: str) -> bool:
    """A finished gate whose attached data is on no disk: nobody can make it again."""
    node = simulation.running()[0].node
    spec = None if node is None else node.table.specs.get(task)
    reading = None if node is None else node.table.reading(task)
    if (
        spec is None
        or reading is None
        or not (spec.gate or not _can_run_anywhere(simulation, spec))
    ):
        return False
    disks = [machine.disk.datasets for machine in simulation.running()]
    return any(not any(o.dataset in disk for disk in disks) for o in reading.outputs)


def _can_run_anywhere(simulation: Simulation, spec: TaskSpec) -> bool:
    """Some capable machine has, or has a way to, everything that the task needs."""
    machines = simulation.running()
    node = machines[0].node
    reading = None if node is None else node.table.reading(spec.task)
    needed = [dataset.dataset for dataset in spec.raw if not dataset.external]
    needed += (reading.inputs or ()) if reading is not None else ()
    return any(
        capable(machine.plan.capabilities, spec)
        and all(_within_reach(simulation, machine, dataset) for dataset in needed)
        for machine in machines
    )


def _within_reach(simulation: Simulation, machine: Machine, dataset: str) -> bool:
    network = simulation.network
    return any(
        dataset in holder.disk.datasets
        and (holder is machine or network.reachable(machine, holder))
        for holder in simulation.running()
    )


def _not_quiet(simulation: Simulation) -> str:
    """No promise, no claim, no program that nobody counts on."""
    for machine in simulation.running():
        node = machine.node
        if node is None:
            continue
        for task in node.promises.by_task:
            return f"promises end: {task}: {machine} still promises it"
        for task in node.claims.open:
            return f"claims end: {task}: {machine} still claims it"
        for task, _ in machine.children.living:
            return f"programs end: {task}: {machine} still runs it"
    return ""


def _successes(simulation: Simulation) -> dict[str, list[object]]:
    """All successes that a disk still has."""
    found: dict[str, list[object]] = {}
    for machine in simulation.machines:
        for task, part in machine.disk.lives.items():
            for run in part.life.runs:
                if isinstance(run.phase, Terminated):
                    found.setdefault(task, []).append(run_name(run))
    return found


def _look_back(simulation: Simulation, successes: dict[str, list[object]]) -> None:
    contents_are_equal_as_hashes_are(simulation)
    everything_is_proven(simulation)
    for machine in simulation.running():
        successes_survived(machine, successes)
        pruned_stays_hidden(machine)
        unknown_fields_survived(simulation, machine)


def contents_are_equal_as_hashes_are(simulation: Simulation) -> None:
    """Equal hashes mean equal tables, and the disk has what the table has."""
    difference = _first_difference(simulation)
    if difference:
        raise Broken("replicas are equal", f"hashes are equal, but {difference}")
    for machine in simulation.running():
        node, disk = machine.node, machine.disk
        if node is None:
            continue
        on_disk = {task: part.life for task, part in disk.lives.items()}
        for kind, mine, kept in (
            ("lives", bare(node.table.lives), bare(on_disk)),
            ("workflows", bare(node.table.workflows), bare(disk.workflows)),
            ("prunings", bare(node.table.prunings), bare(disk.prunings)),
        ):
            differing = [key for key in sorted({*mine, *kept}) if mine.get(key) != kept.get(key)]
            for key in differing[:1]:
                text = f"{machine}: {kind} {differing}; {mine.get(key)}, on disk {kept.get(key)}"
                raise Broken("disk has the table", text, key)


def _first_difference(simulation: Simulation) -> str:
    tables = [(m, m.node.table) for m in simulation.machines if m.node is not None]
    if not tables:
        return ""
    first, model = tables[0]
    for machine, table in tables[1:]:
        for kind in ("workflows", "lives", "prunings"):
            mine, theirs = bare(getattr(model, kind)), bare(getattr(table, kind))
            if mine == theirs:
                continue
            for key in sorted({*mine, *theirs}):
                if mine.get(key) != theirs.get(key):
                    return (
                        f"{kind} differ in {key}: {first} has {mine.get(key)}, "
                        f"{machine} has {theirs.get(key)}"
                    )
    return ""


def successes_survived(machine: Machine, successes: dict[str, list[object]]) -> None:
    """A success that a surviving disk had is a success everywhere after healing."""
    node = machine.node
    if node is None:
        return
    for task, names in successes.items():
        if task.partition("/")[0] in node.table.prunings:
            continue
        life = node.table.lives.get(task)
        kept = (
            []
            if life is None
            else [run_name(r) for r in life.runs if isinstance(r.phase, Terminated)]
        )
        lost = [name for name in names if name not in kept]
        if lost:
            raise Broken("success stays", f"{machine} does not know of {lost}", task)


def pruned_stays_hidden(machine: Machine) -> None:
    """Nothing that was pruned comes back."""
    node = machine.node
    if node is None:
        return
    for name, pruning in node.table.prunings.items():
        workflow = node.table.workflows.get(name)
        if workflow is not None and workflow.generation <= pruning.generation:
            raise Broken("pruned stays hidden", f"{machine} has {name} again")


def unknown_fields_survived(simulation: Simulation, machine: Machine) -> None:
    """What a later version wrote into its records went through all others unharmed."""
    node = machine.node
    if node is None:
        return
    for job in simulation.clients.jobs.values():
        for spec in job.tasks:
            known = node.table.specs.get(spec.task)
            if known is not None and known.more != spec.more:
                raise Broken("unknown fields survive", f"{machine} has {known.more}", spec.task)
