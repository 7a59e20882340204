"""A dry run in words: until when, on which machines, and why not on others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from agent.api.phrases import phrase_of, worded
from agent.api.reasons import LacksExtra, NotAccepted, reason_of
from agent.api.values import PRIORITY_NAMES, Dataset, NamedPriority, TaskState
from agent.api.work import PlanReply, Submit, Task, TaskPlan, TaskView
from gui.model.times import clock, span
from gui.wording import OwnSpeech
from gui.words import tr, tr_n

REASONS_SHOWN_MAX = 3
NAMES: tuple[Literal["low", "interactive"], ...] = ("low", "interactive")


def planned_tasks(submit: Submit, plan: PlanReply | None = None) -> dict[str, TaskView]:
    """Return the tasks of a submission by their ids, as the graph draws them, with how long each
    takes: as the plan tells, or where it does not, and without one (None), as the submission
    expects."""
    lengths = {
        each.task: each.ends_s - each.begins_s
        for each in (plan.tasks if plan is not None else ())
        if each.begins is not None and each.ends is not None
    }
    return {
        task.id: _view(submit, task, lengths.get(task.id, task.expected_s)) for task in submit.tasks
    }


def summary_text(submit: Submit, plan: PlanReply | None, now_s: float) -> str:
    """Return how many tasks and steps for a person there are, and how long they take as far as a
    plan without faults tells; nothing of that for None."""
    gates = sum(task.gate for task in submit.tasks)
    parts = [tr_n("%n task(s)", "", len(submit.tasks) - gates)]
    if gates:
        parts.append(tr_n("%n step(s) for a person", "", gates))
    if plan is not None and plan.expected_end_ms and not plan.faults:
        end_s = plan.expected_end_ms / 1000
        length = span(end_s - now_s)
        parts.append(
            tr("about {span} besides", span=length)  # how long people take is not known
            if gates
            else tr("done about {clock}, in {span}", clock=clock(end_s), span=length)
        )
    elif plan is not None and plan.helping and not plan.faults:
        parts.append(tr("how long it takes is not known yet"))
    return f"{', '.join(parts)}."


def summary_tip(plan: PlanReply | None) -> str:
    """Return what the end that the summary tells stands on; empty where it tells none."""
    return OwnSpeech().basis(plan.basis) if plan is not None else ""


def refusals(plan: PlanReply | None) -> list[str]:
    """Return what the node would refuse a submission for, a sentence each; empty without a plan or
    a fault. Translated, or all in English where one comes from a version that cannot be read
    here."""
    if plan is None:
        return []
    phrases = [phrase_of(each) for each in plan.wrong]
    told = [worded(each, tr) for each in phrases if each is not None]
    return told if told and len(told) == len(phrases) else list(plan.faults)


def is_for_here(urgency: NamedPriority) -> bool:
    """Tell whether work so urgent runs on the computer that it was submitted on at once, also while
    its owner uses it."""
    return urgency in ("interactive", PRIORITY_NAMES["interactive"])


def urgency_words(urgency: NamedPriority) -> dict[NamedPriority, str]:
    """Return in words when work may run, by priority: for low, interactive, and the given urgency
    where it is neither."""
    named = next((name for name in NAMES if urgency in (name, PRIORITY_NAMES[name])), urgency)
    return {
        "low": tr("when machines are idle"),
        "interactive": tr("now, on this computer"),
        **({} if named in NAMES else {urgency: tr("with priority {number}", number=urgency)}),
    }


def nobody_helps(plan: PlanReply | None, own: str) -> bool:
    """Tell whether no machine helps at the moment, though the own one fits all that machines do."""
    if plan is None or plan.helping or plan.faults:
        return False
    return all(own in task.fits for task in plan.tasks if task.fits or task.misfits)


def fits_text(plan: PlanReply, here: str = "") -> str:
    """Return in lines which machines fit; why no machine fits a task, for ``REASONS_SHOWN_MAX``
    tasks at most, or how to get the extras if only those are missing; whether none helps now, or
    that it runs ``here``, on the own machine, all the same. Empty where the plan has faults. Who
    has to accept a program is left out where the plan says that by itself."""
    if plan.faults:
        return ""
    homeless = [task for task in plan.tasks if not task.fits and task.misfits]
    lines = []
    fitting: dict[str, None] = {}
    for task in plan.tasks:
        fitting.update(dict.fromkeys(task.fits))
    if fitting:
        lines.append(tr("Can run on {machines}.", machines=", ".join(fitting)))
    extras = _extras_nobody_has(homeless)
    for extra, command in extras.items():
        lines.append(
            tr("No machine has {extra}; the command that brings it is {command}.",
               extra=extra, command=command)
        )  # fmt: skip
    for task in [] if extras else homeless[:REASONS_SHOWN_MAX]:
        reasons = Counter(
            why
            for each in task.misfits
            if not isinstance(why := reason_of(each.why, each.reason), NotAccepted)
            or not plan.waits
        )
        if not reasons:
            continue  # it is said of all of them together who has to accept its program
        told = "; ".join(OwnSpeech().say(reason) for reason, _ in reasons.most_common(2))
        lines.append(tr("No machine fits {task}: {why}.", task=task.task, why=told.rstrip(".")))
    if here in fitting:
        lines.append(tr("Runs on this computer at once, also while you use it."))
    elif plan.helping == 0:
        lines.append(tr("No machine helps at the moment; it starts as soon as one does."))
    return "\n".join(lines)


def _extras_nobody_has(homeless: Sequence[TaskPlan]) -> dict[str, str]:
    """Extras of Wingbeat, with the commands that bring them, where they are all that is missing."""
    found: dict[str, str] = {}
    for task in homeless:
        for each in task.misfits:
            why = reason_of(each.why, each.reason)
            if not isinstance(why, LacksExtra):
                return {}
            found[why.extra] = f"pip install '{why.extra}'"
    return found


def _view(submit: Submit, task: Task, length_s: float) -> TaskView:
    needs = dict.fromkeys(
        [each.task for each in task.inputs if not each.workflow] + list(task.after)
    )
    outputs: tuple[Dataset, ...] = ()
    waits = bool(needs)
    state = TaskState.SUBMITTED if waits else (TaskState.WAITING if task.gate else TaskState.READY)
    return TaskView(
        task.id,
        task.id,
        submit.name,
        task.program,
        state,
        expected_s=length_s,
        gate=task.gate,
        asks=task.asks,
        needs=tuple(needs),
        outputs=outputs,
        reason=tr("step for a person") if task.gate else span(length_s) if length_s else "",
    )
