"""What is told of a task by a node that has not seen all of it: kept moves, records, and what it saw."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from agent.history.stories import Stories
from agent.protocol.reasons import Became, ClaimedBy, EndCause, Opaque, Reason, RunEnd, StoryEntry
from agent.protocol.records import (
    Claim,
    Evicted,
    Life,
    PriorityWish,
    Run,
    Running,
    Scheduled,
    TaskLife,
    TaskSpec,
    TaskState,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.storage.history import StoryRow

SUBMITTED_MS = 1_000
OWNER_BACK = EndCause("OwnerBack")


def run(attempt: int, claimed_ms: int, changed_ms: int, phase: object) -> Run:
    more = {"why": msgspec.Raw(msgspec.msgpack.encode(OWNER_BACK))}
    told = more if isinstance(phase, Evicted) else {}
    claim = Claim(1, (claimed_ms, 0), f"host{attempt}")
    stamp = (changed_ms, 0)
    return Run(1, attempt, claim.host, 1, claim, 1, phase=phase, stamp=stamp, more=told)  # type: ignore[arg-type]


FIRST = run(1, 2_000, 3_000, Evicted("the owner is back"))
SECOND = run(2, 4_000, 5_000, Terminated())


def table(*runs: Run) -> Table:
    spec = WorkflowSpec("w", "w", (SUBMITTED_MS, 0), "host0", "", (TaskSpec("t", "t", "p"),))
    made = Table(Settings())
    workflow = Workflow(spec, PriorityWish(0, "", 50))
    made.join([workflow], [TaskLife("t", Life(runs=tuple(runs)))])
    return made


def entry(at_ms: int, what: Reason, cause: str = "") -> StoryEntry:
    return StoryEntry(at_ms, cause, what)


TOLD = [
    entry(1_000, Became("Submitted")),
    entry(2_000, Became("Scheduled", "host1")),
    entry(3_000, RunEnd("Evicted", "host1", OWNER_BACK)),
    entry(4_000, Became("Scheduled", "host2")),
    entry(5_000, Became("Terminated", "host2")),
]
RUNS = entry(2_500, Became("Running", "host1"))
READY = entry(1_001, Became("Ready"), "Submit")
SEEN_LATE = entry(3_500, Became("Ready"), "State from host1")
CLAIMED = entry(4_000, ClaimedBy("host2"), "State from host2")


def kept(*entries: StoryEntry, begun_ms: int = 1) -> StoryRow:
    return StoryRow("t", begun_ms, entries[-1].at_ms, msgspec.msgpack.encode(entries))


@pytest.mark.parametrize(
    ("runs", "rows", "seen", "told"),
    [
        ((FIRST, SECOND), [], [], TOLD),
        ((), [], [], TOLD[:1]),
        ((), [], [READY], [READY]),
        ((FIRST, SECOND), [], [SEEN_LATE, CLAIMED], [*TOLD[:3], SEEN_LATE, CLAIMED]),
        ((FIRST, SECOND), [kept(READY)], [SEEN_LATE], [READY, SEEN_LATE]),
        ((FIRST,), [kept(READY), kept(CLAIMED, begun_ms=7)], [], [READY, CLAIMED]),
        ((FIRST,), [kept(READY), kept(CLAIMED, begun_ms=7)], [SEEN_LATE], [READY, SEEN_LATE]),
        ((run(1, 2_000, 2_000, Scheduled()),), [], [], TOLD[:2]),
        ((run(1, 2_000, 2_500, Running()),), [], [], [*TOLD[:2], RUNS]),
        ((), [StoryRow("t", 1, 2, b"of a later version")], [READY], [READY]),
    ],
    ids=[
        "nothing but its records",
        "nothing yet",
        "seen from the beginning",
        "joined in between",
        "kept and seen",
        "kept by this start and an earlier one",
        "what is seen goes before what this start has kept",
        "it is to run",
        "it runs",
        "unreadable",
    ],
)
def test_a_story_is_put_together(
    runs: tuple[Run, ...], rows: list[StoryRow], seen: list[StoryEntry], told: list[StoryEntry]
) -> None:
    assert Stories(lambda _: seen, 7).told("t", table(*runs), rows) == told


def test_a_reason_of_a_later_version_is_told_as_it_is_and_the_others_stay() -> None:
    later = msgspec.msgpack.encode([[1, "Submit", {"reason": "Later"}], READY])
    told = Stories(lambda _: [], 7).told("t", table(), [StoryRow("t", 1, 2, later)])
    assert told[-2:] == [entry(1, Opaque(""), "Submit"), READY]


@pytest.mark.parametrize(
    ("after", "length", "keeps"),
    [
        (TaskState.READY, 1, False),
        (TaskState.WAITING, 2, False),
        (TaskState.READY, 9, True),
        (TaskState.RUNNING, 3, True),
        (TaskState.CANCELLED, 2, True),
    ],
)
def test_what_its_record_tells_is_not_kept_again(
    after: TaskState, length: int, keeps: bool
) -> None:
    seen: Callable[[str], list[StoryEntry]] = lambda _: [READY] * length  # noqa: E731
    stories = Stories(seen, 7)
    assert stories.moved("t", after) is keeps
    rows = stories.taken()
    assert [(row.task, row.begun_ms, row.at_ms) for row in rows] == [("t", 7, 1_001)] * keeps
    assert stories.taken() == []
    told = Stories(lambda _: [], 8).told("t", table(), rows)
    assert told.count(READY) == length * keeps
