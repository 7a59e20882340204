"""The hybrid clock: its readings only grow, whatever anybody does to the wall clocks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.protocol.clock import HybridClock, TimerKind, Timers
from agent.protocol.records import Stamp
from agent.protocol.settings import Settings
from tests.protocol.generation import examples

AHEAD_MS_MAX = Settings().clock_ahead_ms_max
COUNTER_MAX = 2**62
NOW_MS = 1_700_000_000_000
# Steps of a wall clock: ticks, an hour of summer time, somebody's wrong century; both ways.
WALLS = st.one_of(
    st.integers(NOW_MS - 5, NOW_MS + 5),
    st.integers(NOW_MS - 7_200_000, NOW_MS + 7_200_000),
    st.sampled_from((0, 946_684_800_000, NOW_MS + AHEAD_MS_MAX, 4_070_908_800_000)),
)
STAMPS = st.tuples(WALLS, st.integers(0, 3))
# A wall clock at each step; a stamp heard from a peer, if any; whether the agent restarts then.
STEPS = st.lists(st.tuples(WALLS, st.none() | STAMPS, st.booleans()), max_size=20)


def clock_at(last: Stamp = (0, 0)) -> HybridClock:
    return HybridClock(last, AHEAD_MS_MAX)


def story(steps: Iterable[tuple[int, Stamp | None, bool]]) -> list[Stamp]:
    """All readings of one node, which persists its last stamp and goes on from it."""
    clock, readings = clock_at(), []
    for wall_ms, heard, restarts in steps:
        if restarts:
            clock = clock_at(clock.last)
        if heard is not None:
            clock.observe(heard, wall_ms)
        readings.append(clock.read(wall_ms))
    return readings


@examples
@given(steps=STEPS)
def test_readings_only_grow(steps: list[tuple[int, Stamp | None, bool]]) -> None:
    assert all(earlier < later for earlier, later in pairwise(story(steps)))


@examples
@given(walls=st.lists(WALLS, min_size=1))
def test_alone_a_clock_is_never_ahead_of_the_latest_wall(walls: list[int]) -> None:
    clock = clock_at()
    for place, wall_ms in enumerate(walls, start=1):
        assert clock.read(wall_ms)[0] == max(0, *walls[:place], 0)


@examples
@given(walls=st.lists(st.integers(1, 9), unique=True, min_size=1).map(sorted))
def test_a_wall_that_behaves_is_read_as_it_is(walls: list[int]) -> None:
    clock = clock_at()
    assert [clock.read(wall_ms) for wall_ms in walls] == [(wall_ms, 0) for wall_ms in walls]


@examples
@given(last=STAMPS, stamp=STAMPS, wall_ms=WALLS)
def test_a_reading_is_later_than_what_was_believed(last: Stamp, stamp: Stamp, wall_ms: int) -> None:
    clock = clock_at(last)
    believed = clock.observe(stamp, wall_ms)
    assert believed == (stamp[0] <= wall_ms + AHEAD_MS_MAX)
    assert clock.last == (max(last, stamp) if believed else last)
    reading = clock.read(wall_ms)
    assert reading > last
    assert reading > stamp or not believed


@examples
@given(last=STAMPS, ahead_ms=st.integers(1, 2**62 - NOW_MS - AHEAD_MS_MAX), counter=st.integers(0))
def test_a_stamp_more_than_a_day_ahead_moves_no_clock(
    last: Stamp, ahead_ms: int, counter: int
) -> None:
    clock, untouched = clock_at(last), clock_at(last)
    assert not clock.observe((NOW_MS + AHEAD_MS_MAX + ahead_ms, counter), NOW_MS)
    assert (clock.last, clock.read(NOW_MS)) == (last, untouched.read(NOW_MS))


def test_a_day_ahead_is_believed_and_a_millisecond_more_is_not() -> None:
    clock = clock_at()
    assert clock.observe((NOW_MS + AHEAD_MS_MAX, 7), NOW_MS)
    assert not clock.observe((NOW_MS + AHEAD_MS_MAX + 1, 0), NOW_MS)
    assert clock.read(NOW_MS) == (NOW_MS + AHEAD_MS_MAX, 8)


@examples
@given(stamps=st.lists(STAMPS, min_size=1), wall_ms=WALLS, data=st.data())
def test_observing_in_any_order_and_number_is_the_same(
    stamps: list[Stamp], wall_ms: int, data: st.DataObject
) -> None:
    one, other = clock_at(), clock_at()
    for stamp in stamps:
        one.observe(stamp, wall_ms)
    for stamp in data.draw(st.permutations(stamps + stamps[:2])):
        other.observe(stamp, wall_ms)
    assert one.last == other.last


@examples
@given(walls=st.lists(st.tuples(st.booleans(), WALLS), min_size=1))
def test_a_word_is_later_than_the_words_that_it_answers(walls: list[tuple[bool, int]]) -> None:
    """Two nodes talk in turns; the effect of a word never looks older than the word."""
    assume(max(wall for _, wall in walls) - min(wall for _, wall in walls) <= AHEAD_MS_MAX)
    nodes, heard = (clock_at(), clock_at()), (0, 0)
    for speaker, wall_ms in walls:
        clock = nodes[speaker]
        assert clock.observe(heard, wall_ms)
        word = clock.read(wall_ms)
        assert word > heard
        heard = word


def test_a_spent_counter_leaves_readings_that_can_be_sent() -> None:
    """One peer at the end of the counter must not make every stamp of the flock invalid."""
    clock = clock_at()
    assert clock.observe((NOW_MS, COUNTER_MAX), NOW_MS)
    reading = clock.read(NOW_MS)
    assert reading > (NOW_MS, COUNTER_MAX)
    assert msgspec.convert(reading, Stamp) == reading


def test_the_earliest_deadline_is_known_whatever_is_moved() -> None:
    timers, tick = Timers(), TimerKind.TICK
    for name, deadline_s, earliest in (
        ("a", 5.0, 5.0),
        ("b", 7.0, 5.0),
        ("c", 3.0, 3.0),
        ("c", 6.0, 5.0),  # the earliest goes behind another
        ("b", 8.0, 5.0),  # one that was not
        ("b", 4.0, 4.0),
        ("b", 2.0, 2.0),
    ):
        timers.arm(tick, deadline_s, name)
        assert timers.next == earliest
    timers.disarm(tick, "nobody's")
    timers.disarm(tick, "b")
    assert (timers.next, timers.armed(tick, "a"), timers.armed(tick, "b")) == (5.0, True, False)
    assert timers.take_due(4.9) == []
    assert timers.take_due(5.0) == [(tick, "a")]
    assert (timers.next, timers.take_due(99.0), timers.next) == (6.0, [(tick, "c")], None)
