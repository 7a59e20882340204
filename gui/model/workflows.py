"""A workflow in words: what it says of itself in a row, what one can do with it now, and sums of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.api.past import PastWorkflow
from agent.api.values import ENDED, PRIORITY_NAMES, UNDER_WAY, TaskState
from agent.api.work import Basis, TaskView, WorkflowView
from gui.model.folding import is_open
from gui.model.marks import never_ran, task_words
from gui.model.times import exact, moment, span, still
from gui.wording import OwnSpeech, explained
from gui.words import tr

NAMES_SHOWN_MAX = 2
NOBODY, OPERATORS, EVERYBODY = "nobody", "operators", "everybody"
"""With whom work is shared, beside names of machines."""


def done_of(workflow: WorkflowView) -> int:
    """Return how many tasks ended well."""
    return workflow.counts.get(TaskState.TERMINATED, 0)


def progress_text(workflow: WorkflowView) -> str:
    """Return how many tasks of how many ended well, as 4/6."""
    return f"{done_of(workflow)}/{workflow.tasks}"


def outlook(workflow: WorkflowView, tasks: Iterable[TaskView], now_s: float) -> str:
    """Return what happens next with a workflow, or how it ended, in a few words; ``tasks`` as far
    as they are known."""
    match workflow.state:
        case "finished":
            return _ended(tr("done {when}", when="{when}"), workflow, now_s, tr("done"))
        case "failed":
            return _failed(tasks)
        case "cancelled":
            return tr("cancelled")
        case _:
            return _going(workflow, tasks, now_s)


def whose(workflow: WorkflowView | PastWorkflow) -> str:
    """Return who has submitted a workflow: the person and the machine, as far as they are told."""
    who, host = workflow.submitter, workflow.host
    if who and host and who != host:
        return tr("{who} on {host}", who=who, host=host)
    return who or host


def shared_text(shared: Sequence[str]) -> str:
    """Return in words with whom a workflow is shared: whose people may act on it beside its
    submitter's; "nobody else" for none."""
    said = {
        NOBODY: tr("nobody else"),
        OPERATORS: tr("all who may submit"),
        EVERYBODY: tr("everybody"),
    }
    return ", ".join(said.get(each, each) for each in shared or (NOBODY,))


def when_tip(workflow: WorkflowView) -> str:
    """Return when it was submitted and by whom, its expected end with what that stands on, and its
    end, exactly, each in a line; what is not known is left out."""
    lines = [tr("Submitted {when}", when=exact(workflow.submitted_ms / 1000))]
    if workflow.submitter:
        lines.append(tr("by {who} on {host}", who=workflow.submitter, host=workflow.host or "?"))
    if workflow.expected_end_ms:
        expected = tr("Expected end {when}", when=exact(workflow.expected_end_ms / 1000))
        lines.append(with_basis(expected, workflow.basis))
    if workflow.ended_ms:
        lines.append(tr("Ended {when}", when=exact(workflow.ended_ms / 1000)))
    return "\n".join(lines)


def with_basis(said: str, basis: Basis | None) -> str:
    """Return what was said of a length, with what it stands on behind it."""
    return ", ".join(filter(None, (said, OwnSpeech().basis(basis)))) if said else ""


def task_tip(task: TaskView, now_s: float) -> str:
    """Return what the row of a task says beside its state, and of a guess what it stands on."""
    guessed = task.expected_end_ms and task.state in (TaskState.RUNNING, TaskState.SCHEDULED)
    said = task_outlook(task, now_s) or task_words(task)
    return with_basis(said, task.basis if guessed else None)


def priority_text(priority: int) -> str:
    """Return the name of the priorities that are called interactive and low, of any other its
    number."""
    if priority == PRIORITY_NAMES["interactive"]:
        return tr("interactive")
    if priority == PRIORITY_NAMES["low"]:
        return tr("low")
    return str(priority)


def may_cancel(workflow: WorkflowView) -> bool:
    """Tell whether something of the workflow is still to be done."""
    return is_open(workflow)


def is_over(workflow: WorkflowView) -> bool:
    """Tell whether nothing of the workflow is still to be done."""
    return not is_open(workflow)


def may_retry(workflow: WorkflowView) -> bool:
    """Tell whether something of the workflow failed or was cancelled."""
    counts = workflow.counts
    return bool(counts.get(TaskState.ABORTED) or counts.get(TaskState.CANCELLED))


def has_log(task: TaskView) -> bool:
    """Tell whether a task has an output to look at: a step for a person has none."""
    return not task.gate and task.attempt > 0


def task_outlook(task: TaskView, now_s: float) -> str:
    """Return the note in a task's row: time left or progress, what a step asks for, when it was
    done, or why it waits, failed or its machine is gone; may be empty."""
    if task.gone_ms:
        return explained(task.why, task.reason)
    match task.state:
        case TaskState.RUNNING | TaskState.SCHEDULED:
            said = still(task.expected_end_ms / 1000, task.begun_ms / 1000, now_s)
            return said or (f"{task.permille // 10} %" if task.permille else "")
        case TaskState.WAITING:
            return task.asks
        case TaskState.TERMINATED if task.kept:
            return tr("kept from before")
        case TaskState.TERMINATED:
            return (
                tr("done {when}", when=moment(task.ended_ms / 1000, now_s)) if task.ended_ms else ""
            )
        case _:
            return explained(task.why, task.reason)


def in_order(tasks: Sequence[TaskView]) -> list[TaskView]:
    """Return the tasks as the author wrote them, with the steps of people among them: right before
    the first task that needs them, or else behind the last that they need."""
    steps = [task for task in tasks if not task.gate]
    places = {task.task: float(place) for place, task in enumerate(steps)}
    before: dict[str, float] = {}
    for task in steps:
        for need in task.needs:
            before.setdefault(need, places[task.task] - 0.5)
    gates = [task for task in tasks if task.gate]
    for gate in reversed(gates):  # of two, the later one needs the other
        behind = max((places[each] for each in gate.needs if each in places), default=-1.0) + 0.5
        places[gate.task] = before.get(gate.task, behind)
        for need in gate.needs:
            before[need] = min(before.get(need, len(steps)), places[gate.task])
    return sorted([*gates, *steps], key=lambda task: places[task.task]) if gates else steps


def length_text(task: TaskView, now_s: float) -> str:
    """Return how long a task ran, or has run until now or until its machine was gone; empty where
    it has not begun."""
    if not task.begun_ms:
        return ""
    end_s = (task.ended_ms or task.gone_ms) / 1000 or now_s
    return span(end_s - task.begun_ms / 1000)


def retry_from(task: TaskView, tasks: Iterable[TaskView]) -> tuple[str, ...]:
    """Return the ids of a task and of all that depend on it, directly or not, as far as they failed
    or were cancelled, in the order of ``tasks``; empty where none did."""
    every = list(tasks)
    chosen = {task.task}
    grew = True
    while grew:
        more = {
            each.task
            for each in every
            if each.task not in chosen and chosen.intersection(each.needs)
        }
        chosen |= more
        grew = bool(more)
    return tuple(
        each.task
        for each in every
        if each.task in chosen and each.state in ENDED and each.state is not TaskState.TERMINATED
    )


def _ended(pattern: str, workflow: WorkflowView, now_s: float, otherwise: str) -> str:
    if not workflow.ended_ms:
        return otherwise
    return pattern.replace("{when}", moment(workflow.ended_ms / 1000, now_s))


def _failed(tasks: Iterable[TaskView]) -> str:
    """Which step it was; those behind it only never ran."""
    names = [task.name for task in tasks if task.state is TaskState.ABORTED and not never_ran(task)]
    if not names:
        return tr("failed")
    return tr("failed: {steps}", steps=_listed(names))


def _listed(names: list[str]) -> str:
    more = " …" if len(names) > NAMES_SHOWN_MAX else ""
    return ", ".join(names[:NAMES_SHOWN_MAX]) + more


def _going(workflow: WorkflowView, tasks: Iterable[TaskView], now_s: float) -> str:
    names = [task.name for task in tasks if task.state is TaskState.WAITING]
    if names:
        return tr("waits for you: {steps}", steps=_listed(names))
    if workflow.gates:
        return tr("waits for you")
    counts = workflow.counts
    runs = counts.get(TaskState.RUNNING) or counts.get(TaskState.SCHEDULED)
    if counts.get(TaskState.SUSPENDED) and not runs:
        return tr("suspended: its machine is needed")
    if runs and workflow.gone >= sum(counts.get(each, 0) for each in UNDER_WAY):
        return tr("its machine is gone")
    if runs:
        ends_s, begun_s = workflow.expected_end_ms / 1000, workflow.begun_ms / 1000
        return still(ends_s, begun_s, now_s) or tr("running")
    return tr("waits for a free machine")


@dataclass(slots=True)
class Totals:
    """``running`` tasks, ``gates`` that wait for a person, ``active`` workflows."""

    running: int = 0
    gates: int = 0
    active: int = 0

    def replace(self, before: WorkflowView | None, after: WorkflowView) -> None:
        """Count a workflow in as it is now (``after``) and out as it was counted before; ``before``
        is None for one that is new."""
        if before is not None:
            self._add(before, -1)
        self._add(after, 1)

    def _add(self, view: WorkflowView, times: int) -> None:
        self.running += times * view.counts.get(TaskState.RUNNING, 0)
        self.gates += times * view.counts.get(TaskState.WAITING, 0)
        self.active += times * (view.state == "running")
