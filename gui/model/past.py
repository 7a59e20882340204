"""The past as a list by day: where headings and workflows stand, of which most are not read yet.

How many ended on each day is told at once, the workflows themselves a page at a time, as they come into
sight: ten thousand of them cost no more than those that are seen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from agent.api.past import PastDay, PastReply, PastWorkflow
from gui.model.marks import Mark
from gui.model.times import clock, exact, span
from gui.model.workflows import whose
from gui.wording import explained
from gui.words import tr, tr_n

PAGE = 100
MARKS = {"finished": Mark.DONE, "failed": Mark.FAILED, "cancelled": Mark.CANCELLED}
END_WORDS = ("finished", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Heading:
    """The line above the workflows of a day."""

    day: PastDay


@dataclass(frozen=True, slots=True)
class Unread:
    """A workflow that was not read yet."""


UNREAD = Unread()
PastLine = Heading | PastWorkflow | Unread


class PastLines:
    """All lines of the list, and which workflows are known by now; ``first`` is the number of the
    first that is shown among all that fit the question."""

    def __init__(self, days: Sequence[PastDay] = (), first: int = 0) -> None:
        self._days = [day for day in days if day.workflows]
        self._first = first
        sizes = [1 + day.workflows for day in self._days]
        self._starts = [0, *accumulate(sizes)]
        self._known: dict[int, PastWorkflow] = {}

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def workflows(self) -> int:
        """How many workflows there are on all days."""
        return len(self) - len(self._days)

    @property
    def headings(self) -> list[int]:
        """Where the headings stand."""
        return self._starts[:-1]

    def line(self, place: int) -> PastLine | None:
        """Return what stands at a place, the heading of a day or a workflow, ``UNREAD`` for one
        that was not read yet; None where nothing does."""
        if not 0 <= place < len(self):
            return None
        day = bisect_right(self._starts, place) - 1
        if place == self._starts[day]:
            return Heading(self._days[day])
        return self._known.get(self._first + place - day - 1, UNREAD)

    def page_of(self, place: int) -> int:
        """Return the page on which the workflow at a place is told."""
        day = bisect_right(self._starts, place) - 1
        return (self._first + max(0, place - day - 1)) // PAGE

    def put(self, first: int, workflows: Sequence[PastWorkflow]) -> tuple[int, int]:
        """Take in a page that begins with the workflow of this number; return the first and the
        last place that it fills."""
        self._known.update(enumerate(workflows, first))
        return self._place_of(first), self._place_of(first + max(0, len(workflows) - 1))

    def place_of(self, workflow: str) -> int:
        """Return at which of all lines, headings and unread ones counted, the workflow of this id
        stands; -1 where it was not read."""
        for number, each in self._known.items():
            if each.workflow == workflow:
                return self._place_of(number)
        return -1

    def _place_of(self, number: int) -> int:
        at = max(0, number - self._first)
        for day, start in enumerate(self._starts[:-1]):
            place = at + day + 1
            if place < start + 1 + self._days[day].workflows:
                return place
        return len(self) - 1


def within(days: Sequence[PastDay], since_ms: int, until_ms: int) -> PastLines:
    """Return the lines of the days that begin in this time."""
    later = sum(day.workflows for day in days if day.begins_ms >= until_ms)
    return PastLines([day for day in days if since_ms <= day.begins_ms < until_ms], later)


# -- words ------------------------------------------------------------------------------------------


def end_words(each: PastWorkflow) -> str:
    """Return how a workflow ended, and of one that failed at which step and why."""
    if each.state == "failed":
        why = explained(each.why, each.reason)
        step = f"{each.failed}: {why}" if each.failed and why else each.failed or why
        return tr("failed: {steps}", steps=step) if step else tr("failed")
    return tr("done") if each.state == "finished" else tr("cancelled")


def past_tip(each: PastWorkflow) -> str:
    """Return what is to be said of a workflow in a list, a line each: its name, how it ended, when
    it was submitted and ended, whose it is, how long it took, its attempts and tasks, and on which
    machines."""
    lines = [
        each.name,
        end_words(each),
        tr("Submitted {when}", when=exact(each.submitted_ms / 1000)),
        tr("Ended {when}", when=exact(each.ended_ms / 1000)),
        tr("by {who}", who=whose(each)),
        tr("Waited {waited}, ran {ran}, {makespan} from submission to end",
           waited=span(each.waited_s), ran=span(each.ran_s), makespan=span(each.makespan_s)),
        tr_n("%n attempt(s)", "", each.attempts) + " · " + tr_n("%n task(s)", "", each.tasks),
        ", ".join(each.machines),
    ]  # fmt: skip
    return "\n".join(filter(None, lines))


def past_facts(each: PastWorkflow) -> list[tuple[str, str]]:
    """Return what is told only of a workflow that has ended, such as its end, how long it waited
    and its machines: a name and a text each, in the window's language."""
    return [
        (tr("Ended"), exact(each.ended_ms / 1000)),
        (tr("Waited"), span(each.waited_s)),
        (tr("Ran"), span(each.ran_s)),
        (tr("In all"), span(each.makespan_s)),
        (tr("Attempts"), str(each.attempts)),
        (tr("Machines"), ", ".join(each.machines)),
    ]


def ended_clock(each: PastWorkflow) -> str:
    """Return the time of day at which a workflow ended; the day stands above it."""
    return clock(each.ended_ms / 1000)


def day_sums(day: PastDay) -> str:
    """Return how much ended on a day, how much of it failed, and the hours used, waited and given,
    in one line of words; what is nought is left out."""
    said = [tr_n("%n workflow(s)", "", day.workflows)] if day.workflows else []
    if day.failed:
        said.append(tr_n("%n failed", "workflows", day.failed))
    for hours, words in (
        (day.used_hours, tr("used {length}", length=span(day.used_hours * 3600))),
        (day.waited_hours, tr("waited {length}", length=span(day.waited_hours * 3600))),
        (
            day.given_hours,
            tr("given by this computer {length}", length=span(day.given_hours * 3600)),
        ),
    ):
        said += [words] if hours else []
    return " · ".join(said)


def is_empty(reply: PastReply | None) -> bool:
    """Tell whether nothing has ended at all, whatever is asked for."""
    return reply is not None and not reply.since_ms
