"""What a dry run says: where each task could run, what would keep it waiting, and when it would end."""

from __future__ import annotations

from agent.api.reasons import NotAccepted, reason_of
from agent.api.work import PlanReply, TaskPlan, WorkflowView
from agent.commands.showing import clock, moment, show_lines, show_table, standing
from agent.wording.speech import Speech

MISFITS_SHOWN_MAX = 20


def known_told(name: str, workflow: str, there: WorkflowView | None) -> str:
    """Return the sentence that the same work is known and not run twice: as which workflow, since
    when and how it stands, or only that where ``there`` is None."""
    if there is None:
        return f"{name} is known already and not run twice"
    when, stands = moment(there.submitted_ms), standing(there.state)
    return f"the same is known as {workflow}, submitted {when}, which {stands}, and not run twice"


def show_plan(reply: PlanReply) -> None:
    """Print the faults of a dry run, and no more; or, without any, where each task could run, what
    would keep it waiting, how many machines help, and when all of it would end, as far as that is
    known; in place of the last two, which tasks no machine could run, if there are any."""
    if reply.faults:
        show_lines(reply.faults)
        return
    before = reply.namesake
    if before is not None:
        same = f"{known_told(before.name, before.workflow, before)}; --again runs it anew"
        other = f"{before.name} was submitted before, {moment(before.submitted_ms)}"
        stands = f"{before.workflow} {standing(before.state)}"
        news = "this runs as another of that name, if anything is different"
        show_lines([same if reply.known else f"{other} ({stands}): {news}"])
    show_table(("TASK", "COULD RUN ON", "BEGINS", "ENDS"), [_row(each) for each in reply.tasks])
    show_lines(_misfits(reply))
    show_lines([*reply.waits, *reply.missing])
    machines = "1 machine helps" if reply.helping == 1 else f"{reply.helping} machines help"
    nowhere = [each for each in reply.tasks if not each.fits and each.misfits]
    if nowhere:
        names = ", ".join(each.task for each in nowhere[:MISFITS_SHOWN_MAX])
        show_lines([f"no machine that is seen can run {names}: it would wait for one"])
        return
    if not reply.helping:
        show_lines(["no machine helps now; it would begin as soon as one does"])
    elif reply.expected_end_ms:
        basis = Speech().basis(reply.basis)
        end = f"it would end about {moment(reply.expected_end_ms)}"
        show_lines([f"{machines} now; {', '.join(filter(None, (end, basis)))}"])
    else:
        show_lines([f"{machines} now; {_unknown(reply)}"])


def _unknown(reply: PlanReply) -> str:
    """Why no end is told: a length is not known, or what goes before has none."""
    names = [each.task for each in reply.tasks if each.begins is not None and each.ends is None]
    if not names:
        return "when it would begin is not known: other work goes before it"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (
        f"how long it takes is not known: nobody has told it of {', '.join(names[:3])}{more} "
        "(`expected:` in the file), and nothing like it has ended here before"
    )


def _row(plan: TaskPlan) -> tuple[str, ...]:
    gate = not plan.fits and not plan.misfits
    where = "(a person)" if gate else ", ".join(plan.fits) or "nowhere"
    begins = "" if plan.begins is None else f"in {clock(plan.begins_s)}"
    ends = "" if plan.ends is None else f"in {clock(plan.ends_s)}"
    return (plan.task, where, begins, ends)


def _misfits(reply: PlanReply) -> list[str]:
    """Each reason once, however many tasks have it."""
    found: dict[str, list[str]] = {}
    for plan in reply.tasks:
        for misfit in plan.misfits:
            if reply.waits and isinstance(reason_of(misfit.why, misfit.reason), NotAccepted):
                continue  # told of all of them together
            found.setdefault(f"{misfit.name} {misfit.reason}", []).append(plan.task)
    lines = [
        f"{reason} ({', '.join(tasks[:3])}{f' and {len(tasks) - 3} more' if len(tasks) > 3 else ''})"
        for reason, tasks in found.items()
    ]
    hidden = len(lines) - MISFITS_SHOWN_MAX
    return lines[:MISFITS_SHOWN_MAX] + ([f"and {hidden} more reasons"] if hidden > 0 else [])
