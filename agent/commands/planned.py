"""How a dry run reads."""

from __future__ import annotations

from agent.api.plan import PlanReply, TaskPlan
from agent.api.reasons import NotAccepted, reason_of
from agent.commands.showing import clock, moment, show_lines, show_table

MISFITS_SHOWN_MAX = 20


def show_plan(reply: PlanReply) -> None:
    """Show the faults of a dry run, or where each task could run and when all of it would end."""
    if reply.faults:
        show_lines(reply.faults)
        return
    if reply.known:
        show_lines(["a workflow of this name is known already: it would not run twice"])
    show_table(("TASK", "COULD RUN ON", "BEGINS", "ENDS"), [_row(each) for each in reply.tasks])
    show_lines(_misfits(reply))
    show_lines([*reply.waits, *reply.missing])
    machines = "1 machine helps" if reply.helping == 1 else f"{reply.helping} machines help"
    nowhere = [each for each in reply.tasks if not each.fits and each.misfits]
    if nowhere:
        names = ", ".join(each.task for each in nowhere[:MISFITS_SHOWN_MAX])
        show_lines([f"no machine that is seen can run {names}: it would wait for one"])
        return
    show_lines([f"{machines} now; it would end about {moment(reply.expected_end_ms)}"])


def _row(plan: TaskPlan) -> tuple[str, ...]:
    gate = not plan.fits and not plan.misfits
    where = "(a person)" if gate else ", ".join(plan.fits) or "nowhere"
    return (plan.task, where, f"in {clock(plan.begins_s)}", f"in {clock(plan.ends_s)}")


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
