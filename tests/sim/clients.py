"""People: who submit, cancel, retry, re-prioritise and do the steps that only people can do.

A client talks to one node. When that dies before it answered, the client submits the same name
again elsewhere, as a real one would; nothing may run twice for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.effects import Answer, Verdict
from agent.protocol.events import Cancel, DatasetsChanged, MarkGate, Prioritise, Retry, Submit
from agent.protocol.priorities import submitted_priority
from agent.protocol.records import PRIORITY_INTERACTIVE, Dataset, TaskState
from tests.sim.work import Job

if TYPE_CHECKING:
    from tests.sim.machine import Machine
    from tests.sim.simulation import Simulation

PATIENCE_S = 4.0


class Clients:
    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.world = simulation.world
        self.jobs: dict[str, Job] = {}
        self.answers: dict[Verdict, int] = {}
        self.refused: dict[str, str] = {}
        self.asked: set[tuple[str, int]] = set()
        """Which workflow was submitted at which machine."""
        self.homes: dict[str, int] = {}
        """Where each was submitted first. Where the flock signs, its id binds that machine, and a
        client that asks another one asks for other work; so here it waits for its own."""
        self._requests: dict[str, str] = {}
        self._gates: list[str] = []

    def submission(self, request: str) -> str | None:
        """The workflow that this request submitted, if it did."""
        return self._requests.get(request)

    def submit(self, job: Job, who: int) -> None:
        """Submit at this node, or at the next one that is up."""
        ledger = self.simulation.ledger
        if job.workflow not in self.jobs:
            self.jobs[job.workflow] = job
            self._gates += [spec.task for spec in job.tasks if spec.gate]
            urgent = {
                spec.task: spec
                for spec in job.tasks
                if job.interactive or submitted_priority(spec) == PRIORITY_INTERACTIVE
            }
            self.simulation.watch.interactive.update(urgent)
        if job.workflow in ledger.accepted:
            return
        machine = self._asked_next(job, who)
        if machine is not None:
            ledger.count("submissions")
            request = f"r{len(self._requests) + 1}"
            self._requests[request] = job.workflow
            self.asked.add((job.workflow, machine.index))
            self.homes.setdefault(job.workflow, machine.index)
            self._lay_raw(machine, job)
            machine.hand(
                Submit(request, job.workflow, job.workflow, "somebody", job.priority, job.tasks)
            )
        self.world.after(PATIENCE_S, self._ask_again, job, who + 1)

    def submit_twice(self, job: Job, one: int, other: int) -> None:
        """The same submission goes to two nodes at once."""
        if job.interactive:
            # Each node starts it at once for the person in front of it; the join ends one of them.
            self.simulation.ledger.starts_at_home[job.workflow] = 1
        self.submit(job, one)
        self.submit(job, other)

    def _asked_next(self, job: Job, who: int) -> Machine | None:
        home = self.homes.get(job.workflow)
        if home is None or not self.simulation.plan.signed:
            return self._up(who)
        machine = self.simulation.machines[home]
        return machine if machine.node is not None and not machine.stalled else None

    def _ask_again(self, job: Job, who: int) -> None:
        if job.workflow not in self.simulation.ledger.accepted:
            self.submit(job, who)

    def _lay_raw(self, machine: Machine, job: Job) -> None:
        added = tuple(raw.dataset for raw in job.raw)
        if added:
            machine.disk.datasets.update(dict.fromkeys(added))
            machine.hand(DatasetsChanged(added=added))

    def answered(self, answer: Answer) -> None:
        self.answers[answer.verdict] = self.answers.get(answer.verdict, 0) + 1
        workflow = self._requests.get(answer.request)
        if workflow and answer.verdict is Verdict.REFUSED:
            self.refused[workflow] = str(answer.fault or answer.text)
        if workflow and answer.verdict in (Verdict.ACCEPTED, Verdict.ALREADY_KNOWN):
            self.simulation.ledger.accepted.setdefault(workflow, self.world.now)

    def cancel(self, number: int, who: int, part: float) -> None:
        job, machine = self._job(number), self._up(who)
        if job is not None and machine is not None:
            self.simulation.ledger.count("cancels")
            machine.hand(Cancel(self._request(), job.workflow, _some_tasks(job, part)))

    def retry(self, number: int, who: int, part: float) -> None:
        job, machine = self._job(number), self._up(who)
        if job is None or machine is None:
            return
        ledger = self.simulation.ledger
        ledger.count("retries")
        ledger.retries += 1
        machine.hand(Retry(self._request(), job.workflow, _some_tasks(job, part)))

    def prioritise(self, number: int, who: int, priority: int, part: float = 1.0) -> None:
        job, machine = self._job(number), self._up(who)
        if job is not None and machine is not None:
            tasks = _some_tasks(job, part)
            machine.hand(Prioritise(self._request(), job.workflow, priority, tasks))

    def mark_gates(self, who: int) -> None:
        """Somebody does all steps that wait for a person, as seen at this node."""
        machine = self._up(who)
        if machine is None:
            return
        for task in self._gates:
            node = machine.node
            reading = None if node is None else node.table.reading(task)
            if reading is not None and reading.state is TaskState.WAITING:
                self._mark(machine, task)

    def _mark(self, machine: Machine, task: str) -> None:
        count = self.simulation.behaviour(task).outputs
        outputs = tuple(Dataset(f"{task}.{n}.by-hand", 10) for n in range(count))
        names = tuple(output.dataset for output in outputs)
        machine.disk.datasets.update(dict.fromkeys(names))
        machine.hand(DatasetsChanged(added=names))
        machine.hand(MarkGate(self._request(), task, outputs))
        self.simulation.ledger.count("gates marked")

    def _request(self) -> str:
        request = f"r{len(self._requests) + 1}"
        self._requests[request] = ""
        return request

    def _job(self, number: int) -> Job | None:
        jobs = list(self.jobs.values())
        return jobs[number % len(jobs)] if jobs else None

    def _up(self, who: int) -> Machine | None:
        """This machine, or the next one that is up."""
        machines = self.simulation.machines
        for step in range(len(machines)):
            machine = machines[(who + step) % len(machines)]
            if machine.node is not None and not machine.stalled:
                return machine
        return None


def _some_tasks(job: Job, part: float) -> tuple[str, ...]:
    """No task named means all; otherwise the first so many."""
    if part >= 1.0:
        return ()
    count = max(1, int(len(job.tasks) * part))
    return tuple(spec.task for spec in job.tasks[:count])
