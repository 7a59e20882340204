"""The columns of all tables: what each shows, sorts by and remembers."""

from __future__ import annotations

from agent.api.programs import bare_name
from agent.api.values import TaskState
from agent.api.work import TaskView, WorkflowView
from gui.model.flock import (
    Machine,
    clock_text,
    lacks_leave,
    load_text,
    mark_of_machine,
    round_trip_text,
    state_text,
    system_text,
    waits_for_help,
    work_text,
    work_tip,
)
from gui.model.marks import (
    URGENCY,
    Mark,
    mark_of_task,
    mark_of_workflow,
    mark_words,
    task_words,
)
from gui.model.queue import QueueRow
from gui.model.screen import Screen
from gui.model.times import exact, moment
from gui.model.workflows import (
    done_of,
    length_text,
    outlook,
    priority_text,
    progress_text,
    task_outlook,
    task_tip,
    when_tip,
    whose,
    with_basis,
)
from gui.views.rows import Column
from gui.wording import explained
from gui.words import tr


def workflow_columns(screen: Screen) -> tuple[Column, ...]:
    """Return the columns of the workflows: which, how far, what next, how urgent, whose, since
    when. Tasks that say what next are looked up in the screen."""

    def next_for(view: WorkflowView, now_s: float) -> str:
        named = view.gates or view.state == "failed"
        tasks = screen.tasks.get(view.workflow, {}).values() if named else ()
        if waits_for_help(screen, view):
            return tr("waits: no machine helps now")
        if view.state == "waiting" and (
            program := lacks_leave(screen, screen.tasks_of(view.workflow))[0]
        ):
            return tr("waits: no free machine may run {program}", program=program)
        return outlook(view, tasks, now_s)

    return (
        Column("name", tr("Workflow"), lambda view, now_s: str(view.name), 250, narrow=170,
               sort=lambda view: view.name.casefold(),
               tip=lambda view, now_s: f"{view.name}\n{mark_words(mark_of_workflow(view))}",
               mark=lambda view: (mark_of_workflow(view), view.permille or None)),
        Column("bar", tr("Progress"), lambda view, now_s: f"{view.permille // 10} %", 120,
               narrow=88, sort=lambda view: view.permille,
               mark=lambda view: (_bar_mark(view), None),
               share=lambda view: 1000 if view.state == "finished" else view.permille),
        Column("done", tr("Done"), lambda view, now_s: progress_text(view), 84, sort=done_of,
               right=True),
        Column("next", tr("State"), next_for, 250, stretch=True,
               sort=lambda view: URGENCY.index(mark_of_workflow(view)),
               tip=lambda view, now_s: f"{next_for(view, now_s)}\n{when_tip(view)}"),
        Column("priority", tr("Priority"), lambda view, now_s: priority_text(view.priority), 96,
               sort=lambda view: view.priority, quiet=True, spare=True),
        Column("owner", tr("Owner"), lambda view, now_s: whose(view), 120, quiet=True, spare=True),
        Column("submitted", tr("Submitted"),
               lambda view, now_s: moment(view.submitted_ms / 1000, now_s), 110,
               sort=lambda view: view.submitted_ms, tip=lambda view, now_s: when_tip(view),
               quiet=True, spare=True),
    )  # fmt: skip


def _bar_mark(view: WorkflowView) -> Mark:
    mark = mark_of_workflow(view)
    return mark if mark in (Mark.DONE, Mark.FAILED, Mark.CANCELLED) else Mark.RUNNING


def task_columns() -> tuple[Column, ...]:
    """Return the columns of one workflow's tasks: which, in which state, where, a note, how long,
    by which program."""
    return (
        Column("name", tr("Task"), lambda task, now_s: str(task.name), 150, narrow=128,
               sort=lambda task: task.name.casefold(),
               mark=lambda task: (mark_of_task(task), task.permille or None)),
        Column("state", tr("State"), lambda task, now_s: task_words(task), 130, narrow=112,
               sort=lambda task: URGENCY.index(mark_of_task(task)), spare=True),
        Column("host", tr("Machine"), lambda task, now_s: str(task.host), 90, narrow=80),
        Column("outlook", tr("Note"),
               lambda task, now_s: task_outlook(task, now_s) or task_words(task), 170,
               stretch=True, tip=task_tip),
        Column("took", tr("Took"), length_text, 60, right=True, spare=True,
               sort=lambda task: (task.ended_ms or task.changed_ms) - task.begun_ms),
        Column("program", tr("Program"), lambda task, now_s: bare_name(str(task.program)),
               100, quiet=True, spare=True),
    )  # fmt: skip


def queue_columns() -> tuple[Column, ...]:
    """Return the columns of the queue: place, task, workflow, state, machine, why it waits or how
    long it takes, and how urgent it is."""
    return (
        Column("place", tr("No."), lambda row, now_s: str(row.place), 56,
               sort=lambda row: row.place, right=True, quiet=True, spare=True),
        Column("task", tr("Task"), lambda row, now_s: queue_name(row), 140, narrow=128,
               sort=lambda row: row.task.name.casefold(),
               mark=lambda row: (mark_of_task(row.task), row.task.permille or None)),
        Column("workflow", tr("Workflow"), lambda row, now_s: str(row.workflow.name), 130,
               narrow=110),
        Column("state", tr("State"), lambda row, now_s: task_words(row.task), 120,
               sort=lambda row: URGENCY.index(mark_of_task(row.task))),
        Column("host", tr("Machine"), lambda row, now_s: str(row.task.host), 90, narrow=80),
        Column("why", tr("Why, or how long"), queue_note, 230, tip=_queue_tip, stretch=True),
        Column("priority", tr("Priority"),
               lambda row, now_s: priority_text(row.priority), 96,
               sort=lambda row: -row.priority, quiet=True, spare=True),
    )  # fmt: skip


def queue_name(row: QueueRow) -> str:
    """Return what the tasks of a row are called: one by its name, several as their box in the graph."""
    if len(row.tasks) == 1:
        return str(row.task.name)
    return f"{bare_name(row.task.program) or row.task.name} ×{len(row.tasks)}"


def queue_note(row: QueueRow, now_s: float) -> str:
    """Return why a row of the queue waits, or for how long it goes on; of several that wait for
    different things only that each waits. May be empty."""
    task: TaskView = row.task
    if len(row.tasks) > 1 and task.state is TaskState.SUBMITTED:
        reasons = {explained(each.why, each.reason) for each in row.tasks}
        return reasons.pop() if len(reasons) == 1 else tr("each waits for what is before it")
    if task.state is TaskState.SUSPENDED:
        return tr("held: its machine is needed")
    return task_outlook(task, now_s) or (
        tr("next for a free machine") if mark_of_task(task) is Mark.READY else ""
    )


def _queue_tip(row: QueueRow, now_s: float) -> str:
    begun = row.task.begun_ms
    guessed = row.task.expected_end_ms and row.task.state in (
        TaskState.RUNNING,
        TaskState.SCHEDULED,
    )
    said = with_basis(queue_note(row, now_s), row.task.basis if guessed else None)
    return said + "\n" + tr("Since {when}", when=exact(begun / 1000)) if begun else said


def machine_columns() -> tuple[Column, ...]:
    """Return the columns of the flock's machines: name, state, work or why not, load, tasks, round
    trip, clock, programs and version."""
    return (
        Column("name", tr("Machine"),
               lambda each, now_s: (
                   tr("{name} (this one)", name=each.view.name) if each.own else each.view.name
               ), 160, narrow=130, tip=_machine_tip,
               sort=lambda each: each.view.name.casefold(),
               mark=lambda each: (mark_of_machine(each), _permille(each))),
        Column("state", tr("State"), lambda each, now_s: state_text(each), 150),
        Column("work", tr("Work, or why not"), work_text, 290, stretch=True, tip=work_tip),
        Column("load", tr("Load"), lambda each, now_s: load_text(each), 64,
               sort=lambda each: each.view.load_percent, right=True, spare=True),
        Column("slots", tr("Tasks"),
               lambda each, now_s: (
                   f"{each.view.running}/{each.view.slots}" if each.view.slots else ""
               ), 64, sort=lambda each: each.view.running, right=True),
        Column("trip", tr("Round trip"), lambda each, now_s: round_trip_text(each), 80,
               sort=lambda each: each.link.round_trip_ms or 0.0 if each.link else 0.0,
               right=True, quiet=True, spare=True),
        Column("clock", tr("Clock"), lambda each, now_s: clock_text(each), 80,
               sort=lambda each: abs(each.link.clock_ahead_ms or 0) if each.link else 0,
               quiet=True, spare=True),
        Column("programs", tr("Programs"), lambda each, now_s: ", ".join(_programs(each)), 160,
               sort=lambda each: len(each.view.capabilities.programs),
               tip=lambda each, now_s: "\n".join(_programs(each)), quiet=True, spare=True),
        Column("version", tr("Version"), lambda each, now_s: str(each.view.version), 80,
               quiet=True, spare=True),
    )  # fmt: skip


def _permille(machine: Machine) -> int | None:
    return machine.view.tasks[0].permille or None if machine.view.tasks else None


def _programs(machine: Machine) -> list[str]:
    return sorted({bare_name(each) for each in machine.view.capabilities.programs})


def _machine_tip(machine: Machine, now_s: float) -> str:
    programs = ", ".join(_programs(machine))
    address = machine.link.address if machine.link is not None else ""
    lines = [machine.view.name, system_text(machine.view.capabilities), address]
    if programs:
        lines.append(tr("Programs: {programs}", programs=programs))
    return "\n".join(line for line in lines if line)
