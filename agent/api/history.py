"""What was: the runs of tasks with who ran what when, and what is kept of them for long.

The table forgets workflows some time after they ended; the history of a node remembers what it saw
of them. Each node keeps its own.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct, field

from agent.api.reasons import no_why
from agent.api.rpc import Method
from agent.api.values import Count, Millis, Page, ShortText, TaskState, WorkflowId

WEEKS_MAX = 520

RunPhase = Literal[
    "Scheduled", "Running", "Suspended", "Terminated", "Failed", "Evicted", "Yielded", "Lost"
]
"""``Evicted`` was given back by its machine, ``Yielded`` was decided elsewhere, ``Lost`` died."""


class Runs(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who ran what when: of a task, or of all tasks of a workflow, a page of tasks at a time."""

    workflow: Annotated[str, Meta(max_length=256)] = ""
    task: Annotated[str, Meta(max_length=256)] = ""
    first: Count = 0
    limit: Page = 1_000


class PhaseSpan(Struct, frozen=True):
    """A run was in this phase from then on, until the next one."""

    phase: RunPhase
    from_ms: Millis


class RunView(Struct, frozen=True):
    """One attempt at a task. ``run`` names it; ``text`` and ``why`` say why it ended, where not by
    itself.

    ``spans`` are its phases as far as this node saw them; ``ended_ms`` is 0 while it goes on. A
    ``copy`` was begun beside another run of the same attempt, to have it done sooner.
    """

    run: str
    generation: Count
    attempt: Count
    host: str
    phase: RunPhase
    begun_ms: Millis
    changed_ms: Millis
    ended_ms: Millis = 0
    text: str = ""
    spans: tuple[PhaseSpan, ...] = ()
    counts: bool = False
    checkpoint: str = ""
    why: Raw = field(default_factory=no_why)
    copy: bool = False


class TaskRuns(Struct, frozen=True):
    """The runs of one task, the first one first."""

    task: str
    name: str
    workflow: WorkflowId
    state: TaskState
    ready_ms: Millis
    runs: tuple[RunView, ...]
    workflow_name: str = ""


class RunsReply(Struct, frozen=True):
    """A page of tasks with their runs; there are ``total`` tasks in all."""

    tasks: tuple[TaskRuns, ...]
    total: Count


class History(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Tasks that have ended, the latest first: all, of a workflow by its id or of all of a name, of a
    program, of a machine."""

    workflow: ShortText = ""
    program: ShortText = ""
    host: ShortText = ""
    state: TaskState | None = None
    since_ms: Millis = 0
    until_ms: Annotated[int, Meta(ge=0, le=2**53)] = 2**53
    first: Count = 0
    limit: Page = 200


class TaskHistory(Struct, frozen=True):
    """What became of a task. ``waited_s``: from when it could have run until it did.

    ``moved`` tells why it did not end where it began, a sentence each; ``whys`` and ``why`` are the
    reasons of ``moved`` and ``reason``.
    """

    task: str
    name: str
    workflow: WorkflowId
    program: str
    state: TaskState
    host: str
    submitted_ms: Millis
    ready_ms: Millis
    started_ms: Millis
    ended_ms: Millis
    waited_s: float
    ran_s: float
    suspended_s: float
    attempts: Count
    moved: tuple[str, ...] = ()
    reason: str = ""
    why: Raw = field(default_factory=no_why)
    whys: tuple[Raw, ...] = ()
    workflow_name: str = ""


class HistoryReply(Struct, frozen=True):
    """A page of tasks that have ended; there are ``total`` in all."""

    tasks: tuple[TaskHistory, ...]
    total: Count


class Statistics(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What this machine gave and what the flock did, of so many weeks, this one included."""

    weeks: Annotated[int, Meta(ge=1, le=WEEKS_MAX)] = 4


class WeekView(Struct, frozen=True):
    """One week from Monday on, by this machine's calendar. ``hours_given``: tasks ran here for so
    long; ``done_here`` and ``done``: tasks that finished on this machine, and in the whole flock.
    """

    begins_ms: Millis
    hours_given: float
    done_here: Count
    done: Count
    failed: Count
    moved: Count
    waited_median_s: float
    waited_longest_s: float


class BalanceView(Struct, frozen=True):
    """What machines worked for each other in the tasks that ended within the last ``days``: this one
    ran others' for ``gave_hours``, of which ``thrown_hours`` came to no end here, because it was
    needed or the task was decided elsewhere; others ran for ``took_hours`` what is of this one.
    """

    days: Count
    gave_hours: float
    thrown_hours: float
    took_hours: float


class StatisticsReply(Struct, frozen=True):
    """The weeks, the latest first, the sums of all that is remembered, and the balance of the last week
    and the last month."""

    weeks: tuple[WeekView, ...]
    since_ms: Millis
    hours_given: float
    done_here: Count
    done: Count
    balance: tuple[BalanceView, ...] = ()


# -- what is asked, and what is answered ----------------------------------------------------------

RUNS = Method("runs", Runs, RunsReply)
HISTORY = Method("history", History, HistoryReply)
STATISTICS = Method("statistics", Statistics, StatisticsReply)
