"""Who ran what when: one row for each machine, one bar for each run, from the runs of tasks.

Runs that overlap on one machine stand on lanes of their own. Suspensions are spans within a bar.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.api.history import RunView, TaskRuns
from gui.model.marks import Mark
from gui.model.screen import Screen
from gui.model.times import clock, span
from gui.wording import explained
from gui.words import tr

BARS_MAX = 20_000
RECENT_MAX = 12
_MARKS = {
    "Scheduled": Mark.READY,
    "Running": Mark.RUNNING,
    "Suspended": Mark.SUSPENDED,
    "Terminated": Mark.DONE,
    "Failed": Mark.FAILED,
    "Evicted": Mark.SUSPENDED,
    "Yielded": Mark.CANCELLED,
    "Lost": Mark.FAILED,
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One run. ``suspended`` are spans in seconds of the epoch; ``end_s`` is now while it runs."""

    host: str
    lane: int
    task: str
    name: str
    workflow: str
    begin_s: float
    end_s: float
    mark: Mark
    suspended: tuple[tuple[float, float], ...]
    story: str
    called: str


@dataclass(frozen=True, slots=True)
class Row:
    """A machine with as many lanes as it ran tasks at the same time."""

    host: str
    lanes: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """All bars between a begin and an end."""

    rows: tuple[Row, ...] = ()
    bars: tuple[Bar, ...] = ()
    begin_s: float = 0.0
    end_s: float = 0.0


def recent(screen: Screen) -> list[str]:
    """Return the ids of ``RECENT_MAX`` workflows at the most: those that run, then the others by
    when they ended or else were submitted, the latest first."""
    views = sorted(
        screen.workflows.values(),
        key=lambda view: (view.state == "running", view.ended_ms or view.submitted_ms),
        reverse=True,
    )
    return [view.workflow for view in views[:RECENT_MAX]]


def timeline_of(tasks: Iterable[TaskRuns], now_s: float) -> Timeline:
    """Lay the runs out in time: a row for each machine by name, lanes in it for what ran at once.
    Runs that did nothing, and in the order of ``tasks`` those beyond ``BARS_MAX``, are left out;
    without any, the time line is empty and begins and ends now."""
    runs = [
        (run, task)
        for task in tasks
        for run in task.runs
        if run.begun_ms and (run.phase != "Yielded" or run.spans)
    ][:BARS_MAX]
    runs.sort(key=lambda each: each[0].begun_ms)
    free_at: dict[str, list[float]] = {}
    bars = [_bar(run, task, free_at, now_s) for run, task in runs]
    rows = tuple(Row(host, len(free_at[host])) for host in sorted(free_at))
    if not bars:
        return Timeline(end_s=now_s, begin_s=now_s)
    return Timeline(
        rows, tuple(bars), min(bar.begin_s for bar in bars), max(bar.end_s for bar in bars)
    )


def _bar(run: RunView, task: TaskRuns, free_at: dict[str, list[float]], now_s: float) -> Bar:
    begin_s = run.begun_ms / 1000
    end_s = run.ended_ms / 1000 if run.ended_ms else max(now_s, begin_s)
    lanes = free_at.setdefault(run.host, [])
    lane = next((place for place, free_s in enumerate(lanes) if free_s <= begin_s), len(lanes))
    if lane == len(lanes):
        lanes.append(end_s)
    lanes[lane] = end_s
    suspended = tuple(_suspensions(run, end_s))
    return Bar(
        run.host, lane, task.task, task.name, task.workflow, begin_s, end_s,
        _MARKS[run.phase], suspended, _story(run, task, begin_s, end_s, suspended), called(task),
    )  # fmt: skip


def called(task: TaskRuns) -> str:
    """Return what people call the workflow of a task; an agent of before took that for its id."""
    return task.workflow_name or task.workflow


def _suspensions(run: RunView, end_s: float) -> Iterable[tuple[float, float]]:
    ends = [span_.from_ms / 1000 for span_ in run.spans[1:]] + [end_s]
    for each, until_s in zip(run.spans, ends, strict=False):
        if each.phase == "Suspended":
            yield each.from_ms / 1000, until_s


def _story(
    run: RunView,
    task: TaskRuns,
    begin_s: float,
    end_s: float,
    suspended: tuple[tuple[float, float], ...],
) -> str:
    lines = [
        tr("{task} of {workflow} on {host}", task=task.name, workflow=called(task), host=run.host),
        tr(
            "{begin} to {end}, {length}",
            begin=clock(begin_s),
            end=clock(end_s) if run.ended_ms else tr("now"),
            length=span(end_s - begin_s),
        ),
    ]
    if suspended:
        held_s = sum(end - begin for begin, end in suspended)
        lines.append(tr("suspended for {length}", length=span(held_s)))
    lines.append(outcome_text(run))
    return "\n".join(lines)


def outcome_text(run: RunView) -> str:
    """Return how a run ended or stands, in a word or two, with why behind it where it is told:
    failed: the disk is full."""
    said = {
        "Scheduled": tr("fetching inputs"),
        "Running": tr("running"),
        "Suspended": tr("suspended"),
        "Terminated": tr("ended well"),
        "Failed": tr("failed"),
        "Evicted": tr("given back: its machine was needed"),
        "Yielded": tr("not needed any more"),
        "Lost": tr("lost with its machine"),
    }[run.phase]
    why = explained(run.why, run.text)
    return f"{said}: {why}" if why else said
