"""Work that runs again, in words and as the graph draws it: what differs, what is kept, what runs."""

from __future__ import annotations

from collections.abc import Sequence

from agent.api.again import AgainReply, Step
from agent.api.values import TaskState
from agent.api.work import Basis, TaskView
from gui.model.times import span
from gui.wording import OwnSpeech
from gui.words import tr, tr_n

SHOWN_MAX = 4


def again_text(reply: AgainReply, *, anew: bool, retried: bool = False) -> str:
    """Return a sentence that says how many steps run again, how many are kept and, where that is
    known and not below a second, how long it takes; ``anew``: all run; ``retried``: those that did
    not end well run, in the same workflow."""
    running = sum(_runs(step, anew=anew, retried=retried) for step in reply.steps)
    kept = len(reply.steps) - running
    said = tr_n("%n step(s) will run", "", running)
    if kept:
        said = tr("{said}, {kept}", said=said, kept=tr_n("%n unchanged and kept", "steps", kept))
    length_s, basis = lasting(reply, anew=anew, retried=retried)
    if basis is None or length_s < 1:
        return f"{said}."
    long = tr("about {span}", span=span(length_s))
    if any(step.gate and _runs(step, anew=anew, retried=retried) for step in reply.steps):
        long = tr("about {span} besides", span=span(length_s))  # how long people take is not known
    return f"{', '.join(filter(None, (said, long, OwnSpeech().basis(basis))))}."


def lasting(reply: AgainReply, *, anew: bool, retried: bool) -> tuple[float, Basis | None]:
    """Return how many seconds the steps that run will take, and on what that stands: with
    ``retried`` those that did not end well, else with ``anew`` all steps, else those that differ. 0
    and None where the answer does not tell it for just these."""
    runs = {step.name for step in reply.steps if _runs(step, anew=anew, retried=retried)}
    if len(runs) == len(reply.steps):
        return reply.all_s, reply.all_lasts
    told = runs == {step.name for step in reply.steps if not step.kept}
    return (reply.lasts_s, reply.lasts) if told else (0.0, None)


def differing_text(steps: Sequence[Step]) -> str:
    """Return in what the first ``SHOWN_MAX`` of these steps differ from what ran, and how many more
    do; empty for none."""
    told = [
        tr("{step}: {what}", step=each.name, what=difference_words(each))
        for each in steps[:SHOWN_MAX]
    ]
    if len(steps) > SHOWN_MAX:
        told.append(tr_n("%n more", "steps", len(steps) - SHOWN_MAX))
    return "; ".join(told)


def difference_words(step: Step) -> str:
    """Return in what a step differs from how it ran, in a word or two each; empty for nothing."""
    words = {
        "new": tr("new"),
        "program": tr("another script"),
        "data": tr("other data"),
        "parameters": tr("other parameters"),
        "inputs": tr("needs something else"),
        "step": tr("asks something else"),
    }
    return ", ".join(words.get(each, each) for each in step.differs)


def steps_as_tasks(reply: AgainReply, *, anew: bool, retried: bool = False) -> dict[str, TaskView]:
    """Return the steps by name as tasks for the graph to draw: kept ones hollow, others as about to
    run, each with how it differs, or else that it runs or is kept, as its reason. ``anew``: all
    run; ``retried``: those run that did not end well."""
    found: dict[str, TaskView] = {}
    for step in reply.steps:
        runs = _runs(step, anew=anew, retried=retried)
        state = TaskState.READY if runs else TaskState.SUBMITTED
        reason = difference_words(step) or (tr("runs") if runs else tr("kept"))
        found[step.name] = TaskView(
            step.name,
            step.name,
            reply.workflow,
            "",
            state,
            gate=step.gate,
            needs=step.needs,
            reason=reason,
        )
    return found


def _runs(step: Step, *, anew: bool, retried: bool) -> bool:
    if retried:
        return step.before is not TaskState.TERMINATED
    return anew or not step.kept
