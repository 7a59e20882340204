"""The past: workflows that have ended, also those that the flock's table has forgotten.

Each node keeps those of which it had the records, whoever submitted them and wherever they ran. A
workflow of the past is looked at by the same questions as one of today: `show`, `runs`, `why`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct, field

from agent.api.reasons import no_why
from agent.api.rpc import Method
from agent.api.values import Count, Millis, Page, Priority, Reference, ShortText, WorkflowId

EndState = Literal["finished", "failed", "cancelled"]
MS_MAX = 2**53
Span = Annotated[int, Meta(ge=0, le=MS_MAX)]


class Past(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Workflows that have ended, the latest first, a page at a time: of a person who has submitted
    them on this machine (``mine``; without ``submitter``, of any person here), that ended so, that ran
    this program or on this machine, that ended in this time, and that have all these words.

    ``summed``: also the sums of all pages, by day, and what there is to choose from.
    """

    words: ShortText = ""
    mine: bool = False
    submitter: ShortText = ""
    state: EndState | None = None
    program: ShortText = ""
    host: ShortText = ""
    since_ms: Millis = 0
    until_ms: Span = MS_MAX
    first: Count = 0
    limit: Page = 100
    summed: bool = False


class PastWorkflow(Struct, frozen=True, gc=False):
    """A workflow that has ended. ``waited_s``: from its submission until the first of it ran,
    ``ran_s`` how long machines worked for it, ``makespan_s`` from its submission to its end.

    ``failed`` is the step that failed, and ``reason`` and ``why`` say why; ``attempts`` counts all
    runs of all its tasks.
    """

    workflow: WorkflowId
    name: str
    state: EndState
    priority: Priority
    submitter: str
    host: str
    host_node: str
    submitted_ms: Millis
    begun_ms: Millis
    ended_ms: Millis
    waited_s: float
    ran_s: float
    makespan_s: float
    tasks: Count
    attempts: Count
    machines: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    failed: str = ""
    reason: str = ""
    why: Raw = field(default_factory=no_why)


class PastDay(Struct, frozen=True, gc=False):
    """The workflows of a page's question that ended on one day of this machine's calendar.

    ``used_hours``: machines worked for them, ``waited_hours``: they waited; ``given_hours``: this
    machine worked for anybody on that day.
    """

    begins_ms: Millis
    workflows: Count
    failed: Count = 0
    used_hours: float = 0.0
    waited_hours: float = 0.0
    given_hours: float = 0.0


class PastReply(Struct, frozen=True):
    """A page of the workflows that have ended; there are ``total`` on all pages.

    ``days``, the latest first, ``programs`` and ``machines`` are there where sums were asked for;
    ``since_ms`` is when the first that is remembered ended, ``size_bytes`` what the history takes on
    this disk, ``days_kept`` how long it is kept, 0 for ever.
    """

    workflows: tuple[PastWorkflow, ...]
    total: Count
    days: tuple[PastDay, ...] = ()
    programs: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    since_ms: Millis = 0
    size_bytes: Span = 0
    days_kept: Count = 0


class Remove(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Have workflows that have ended, and were submitted on this machine, leave the flock's table
    before their time: what only they needed is deleted here, and elsewhere as room is wanted. With
    ``past`` this machine forgets what became of them, too. ``trial``: only say what that would free.
    """

    workflows: Annotated[tuple[Reference, ...], Meta(min_length=1, max_length=1_000)]
    past: bool = False
    trial: bool = False


class Removed(Struct, frozen=True):
    """The workflows that left the table, those that this machine has forgotten, and how many datasets
    of how many bytes were deleted here; in a trial what it would be. ``names`` are those of all of
    them, by their ids, ``logs_bytes`` what went of all that their tasks had printed."""

    workflows: tuple[WorkflowId, ...]
    past: tuple[WorkflowId, ...] = ()
    datasets: Count = 0
    frees_bytes: Span = 0
    names: dict[str, str] = {}
    logs_bytes: Span = 0

    @property
    def all_bytes(self) -> int:
        """Return what went here in all."""
        return self.frees_bytes + self.logs_bytes


# -- what is asked, and what is answered ----------------------------------------------------------

PAST = Method("past", Past, PastReply)
REMOVE = Method("remove", Remove, Removed, repeatable=False, by_members=False)
