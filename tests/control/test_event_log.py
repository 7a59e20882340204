"""Lines in and events out: however bytes come, how much is remembered, and what is told of the rest."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.api.session import TaskMoved, WorkflowGone, WorkflowSafe
from agent.api.values import Position, TaskState
from agent.api.work import TaskView
from agent.control.envelope import Lines, TooLong
from agent.control.event_log import UNREAD_BYTES, EventLog
from agent.control.limits import Limits


class Ring:
    """A log at a time that the test sets."""

    def __init__(self, **limits: float) -> None:
        self.now_s = 1_000.0
        self.log = EventLog(Limits(**limits), lambda: self.now_s)  # type: ignore[arg-type]

    def record(self, count: int = 1) -> None:
        for _ in range(count):
            self.log.record(WorkflowSafe(f"w{self.log.position.sequence + 1}"))

    def told(self, after: int) -> list[int]:
        """The numbers of the next events."""
        return [json.loads(line)["params"]["sequence"] for line in self.log.lines_after(after)]

    def refused(self, after: int, log: str = "") -> tuple[int, str]:
        position = Position(log or self.log.position.log, after)
        with pytest.raises(RefusedError) as found:
            self.log.check(position)
        return found.value.problem.code, found.value.problem.message


def test_each_event_has_its_number_and_time() -> None:
    ring = Ring()
    ring.record()
    ring.now_s += 0.25
    ring.record()
    told = [json.loads(line)["params"] for line in ring.log.lines_after(0)]
    assert [(each["sequence"], each["at_ms"]) for each in told] == [(1, 1_000_000), (2, 1_000_250)]
    assert [each["happening"]["workflow"] for each in told] == ["w1", "w2"]
    assert (ring.told(1), ring.told(2)) == ([2], [])


def test_a_client_that_catches_up_is_told_some_at_a_time() -> None:
    ring = Ring(events_per_turn_max=3)
    ring.record(5)
    assert (ring.told(0), ring.told(1), ring.told(3)) == ([1, 2, 3], [2, 3, 4], [4, 5])


def test_kinds_that_came_later_are_told_to_who_names_them() -> None:
    """The first clients hang up at a kind that they do not know."""
    ring = Ring(events_max=2, events_recent_s=0)
    ring.record()
    ring.log.record(WorkflowGone("w2"))
    ring.record()
    for _ in range(2):  # the second time they are encoded
        of_before, *_ = told = ring.log.lines_after(1)
        assert (of_before, len(told)) == (b"", 2)
        assert b"workflow gone" in ring.log.lines_after(1, ["workflow gone"])[0]
    ring.record(3)
    assert ring.told(4) == [5, 6]


def test_many_recent_events_are_kept_and_old_ones_forgotten() -> None:
    ring = Ring(events_max=2, events_recent_s=30.0)
    ring.record(4)
    assert ring.told(0) == [1, 2, 3, 4]
    ring.now_s += 29.9
    ring.record()
    assert ring.told(0) == [1, 2, 3, 4, 5]
    ring.now_s += 0.1
    ring.record()
    assert ring.told(4) == [5, 6]
    assert ring.refused(3) == (
        ErrorCode.EVENTS_LOST,
        (
            "the events after 3 are remembered only from 5 on: read what you show again and "
            "subscribe from there"
        ),
    )


def test_so_few_are_kept_however_old() -> None:
    ring = Ring(events_max=2, events_recent_s=30.0)
    ring.record(2)
    ring.now_s += 1_000
    assert ring.told(0) == [1, 2]
    ring.record()
    assert ring.told(1) == [2, 3]


def test_more_than_so_many_bytes_are_not_kept_in_any_case() -> None:
    ring = Ring(events_bytes_max=3 * UNREAD_BYTES, events_max=100)
    ring.record(3)
    assert len(ring.told(0)) == 3
    ring = Ring(events_bytes_max=3 * UNREAD_BYTES, events_max=100)
    ring.record(4)
    assert ring.refused(0)[0] == ErrorCode.EVENTS_LOST
    assert ring.told(1) == [2, 3, 4]


def test_rows_that_nobody_has_read_count_too() -> None:
    ring = Ring(events_bytes_max=6 * UNREAD_BYTES, events_max=100)
    row = TaskView("t", "t", "w", "p", TaskState.READY)
    moved = TaskMoved("t", "t", "w", None, TaskState.READY, "", "", rows=(row, row))
    ring.log.record(moved)
    ring.log.record(moved)
    ring.log.check(Position(ring.log.position.log, 0))
    ring.log.record(moved)
    assert ring.refused(0)[0] == ErrorCode.EVENTS_LOST
    lines = ring.log.lines_after(1)
    assert ring.log._bytes == sum(map(len, lines))


def test_how_much_an_agent_remembers() -> None:
    """With its own limits: ten thousand, for half a minute; all recent ones up to 64 MiB."""
    ring = Ring()
    ring.record(10_001)
    assert len(ring.log.lines_after(0)) == 200
    ring.now_s += 29.999
    ring.record()
    ring.log.check(Position(ring.log.position.log, 0))
    ring.now_s += 0.001
    ring.record()
    assert ring.refused(2)[1].startswith("the events after 2 are remembered only from 4 on")
    ring = Ring()
    ring.record(64 * 1024 * 1024 // UNREAD_BYTES)
    ring.log.check(Position(ring.log.position.log, 0))
    ring.record()
    assert ring.refused(0)[0] == ErrorCode.EVENTS_LOST


def test_what_was_read_counts_for_its_true_length() -> None:
    """These lines are shorter than what an unread one counts for, so more fit."""
    ring = Ring(events_bytes_max=3 * UNREAD_BYTES, events_max=100)
    ring.record(3)
    length = sum(map(len, ring.log.lines_after(0)))
    assert length < 2 * UNREAD_BYTES
    ring.record()
    assert ring.told(0) == [1, 2, 3, 4]


def test_places_from_which_nothing_can_be_told() -> None:
    ring = Ring()
    ring.record(2)
    ring.log.check(ring.log.position)
    assert ring.refused(3) == (ErrorCode.EVENTS_LOST, "there is no event 3 yet")
    code, sentence = ring.refused(1, "another log")
    assert code == ErrorCode.EVENTS_LOST
    assert sentence.startswith("the agent was started anew since then")


async def test_who_follows_waits_for_the_next_event() -> None:
    ring = Ring()

    ring.record()
    async with asyncio.timeout(60):
        await ring.log.wait_after(0)
        waiting = asyncio.create_task(ring.log.wait_after(1))
        await asyncio.sleep(0)
        assert not waiting.done()
        ring.record()
        await waiting


LIMIT_BYTES = 8


def cut(pieces: list[bytes]) -> list[bytes | TooLong]:
    lines = Lines(LIMIT_BYTES)
    taken: list[bytes | TooLong] = []
    for piece in pieces:
        lines.feed(piece)
        taken += lines.take()
    return taken


def test_lines_come_without_their_ends() -> None:
    assert cut([b"one\r\ntw", b"o\n\n thr", b"ee\nrest"]) == [b"one", b"two", b"", b"three"]


def test_a_line_too_long_is_told_at_once_and_once() -> None:
    assert cut([b"123456789"]) == [TooLong(LIMIT_BYTES)]
    assert cut([b"123456789", b"0" * 20, b"1\nnext\n"]) == [TooLong(LIMIT_BYTES), b"next"]
    assert cut([b"12345678\n123456789\nnext\n"]) == [b"12345678", TooLong(LIMIT_BYTES), b"next"]


def test_a_raised_limit_counts_from_the_next_line() -> None:
    lines = Lines(LIMIT_BYTES)
    lines.feed(b"hello\nnow it is longer\n")
    taken = []
    for line in lines.take():
        taken.append(line)
        lines.limit_bytes = 100
    assert taken == [b"hello", b"now it is longer"]


@given(
    st.lists(st.text("ab", max_size=12), max_size=8),
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
)
def test_pieces_do_not_matter(texts: list[str], sizes: list[int]) -> None:
    data = "".join(f"{text}\n" for text in texts).encode()
    pieces, start = list[bytes](), 0
    while start < len(data):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(data[start : start + size])
        start += size
    assert cut(pieces) == cut([data])
    assert len(cut(pieces)) == len(texts)


@given(st.lists(st.integers(1, 40), max_size=20))
def test_what_is_held_is_bounded(sizes: list[int]) -> None:
    lines = Lines(LIMIT_BYTES)
    for size in sizes:
        lines.feed(b"x" * size)
        list(lines.take())
        assert len(lines._held) <= LIMIT_BYTES
