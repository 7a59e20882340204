"""Frames and allowances, with bytes alone: whatever arrives in whatever pieces, within bounds."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.net.wire import (
    GREETING_LIMITS,
    HEADER_BYTES,
    LATER_KIND_BYTES_MAX,
    LINK_LIMITS,
    REASON_LENGTH_MAX,
    WORD_BYTES_MAX,
    Allowance,
    FrameReader,
    Kind,
    Opening,
    frame,
    opening_frame,
    read_opening,
    read_refused,
    refused_frame,
)
from agent.protocol.link_reasons import LinkGone, NoLink
from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.reasons import WHY, Opaque, carried

LATER_KIND = 200
bodies = st.binary(max_size=300)
kinds = st.sampled_from([Kind.MESSAGE, Kind.GOSSIP])


def taken(reader: FrameReader) -> list[tuple[int, bytes]]:
    found = []
    while (one := reader.next()) is not None:
        found.append(one)
    return found


@given(st.lists(st.tuples(kinds, bodies), max_size=8), st.lists(st.integers(1, 40), max_size=60))
def test_frames_arrive_whole_however_they_are_cut(
    sent: list[tuple[Kind, bytes]], cuts: list[int]
) -> None:
    stream = b"".join(frame(kind, body) for kind, body in sent)
    reader, found = FrameReader(LINK_LIMITS), []
    for size in [*cuts, len(stream)]:
        reader.add(stream[:size])
        stream = stream[size:]
        found += taken(reader)
    assert found == sent
    assert reader.kept_bytes == 0


@given(st.binary(max_size=2000))
def test_any_bytes_are_frames_or_their_sender_s_fault(data: bytes) -> None:
    for limits in (GREETING_LIMITS, LINK_LIMITS):
        reader = FrameReader(limits)
        reader.add(data)
        try:
            found = taken(reader)
        except RemoteProtocolError:
            continue
        assert sum(HEADER_BYTES + len(body) for _, body in found) <= len(data)


@given(st.binary(max_size=200))
def test_any_body_is_a_word_or_its_sender_s_fault(body: bytes) -> None:
    for read in (read_opening, read_refused):
        try:
            read(body)
        except RemoteProtocolError:
            continue


def test_a_stranger_may_say_short_words_only() -> None:
    for header in (frame(Kind.MESSAGE), frame(Kind.PING), bytes([0, 0, 0, 0, LATER_KIND])):
        reader = FrameReader(GREETING_LIMITS)
        reader.add(header)
        with pytest.raises(RemoteProtocolError, match="before the link"):
            reader.next()
    reader = FrameReader(GREETING_LIMITS)
    reader.add((WORD_BYTES_MAX + 1).to_bytes(4, "big") + bytes([Kind.OPENING]))
    with pytest.raises(RemoteProtocolError):
        reader.next()


def test_kinds_of_a_later_version_pass_within_bounds() -> None:
    reader = FrameReader(LINK_LIMITS)
    reader.add(bytes([0, 0, 0, 2, LATER_KIND, 7, 7]) + frame(Kind.PING, b"x"))
    assert taken(reader) == [(LATER_KIND, b"\7\7"), (Kind.PING, b"x")]
    reader.add((LATER_KIND_BYTES_MAX + 1).to_bytes(4, "big") + bytes([LATER_KIND]))
    with pytest.raises(RemoteProtocolError):
        reader.next()


def test_an_unfinished_frame_is_all_that_is_kept() -> None:
    reader = FrameReader(LINK_LIMITS)
    whole = frame(Kind.GOSSIP, bytes(5000))
    for _ in range(200):
        reader.add(whole + whole[:1000])
        assert len(taken(reader)) >= 1
        reader.add(whole[1000:])
        assert len(taken(reader)) >= 1
    assert reader.kept_bytes == 0


def test_what_is_behind_the_frames_can_be_taken_as_it_is() -> None:
    reader = FrameReader(GREETING_LIMITS)
    reader.add(frame(Kind.WELCOME) + b"bulk data")
    assert reader.next() == (Kind.WELCOME, b"")
    assert (reader.rest(), reader.rest()) == (b"bulk data", b"")


def test_words_are_read_as_they_were_said() -> None:
    opening = Opening("instance", 29464, 1)
    assert read_opening(opening_frame(opening)[HEADER_BYTES:]) == opening
    steers = "line\nfeed\x1b[31m" + "x" * 999
    word = read_refused(refused_frame("busy", Opaque(steers))[HEADER_BYTES:])
    assert word.cause == "busy"
    assert word.text.startswith("line feed<U+001B>[31m"), "what steers a terminal is a word"
    assert len(word.text) == REASON_LENGTH_MAX
    assert word.reason() == Opaque(word.text)


LATER = msgspec.Raw(msgspec.msgpack.encode({"reason": "TheMoonIsFull"}))
OTHER = carried(LinkGone(Opaque("so")))[WHY]


def test_why_there_is_no_link_travels_as_a_value() -> None:
    why = NoLink("OtherAnswers", name="a\x1bb", count=3)
    frame_of_now = refused_frame("other node", why)[HEADER_BYTES:]
    assert read_refused(frame_of_now).reason() == structs.replace(why, name="a b")
    before = msgspec.msgpack.decode(frame_of_now)
    assert tuple(before[:2]) == ("other node", "another node, a<U+001B>b, answers there now")


@pytest.mark.parametrize("why", [(), (LATER,), (OTHER,), (3,)])
def test_a_reason_of_another_version_is_told_by_its_text(why: tuple[object, ...]) -> None:
    body = msgspec.msgpack.encode(("busy", "so", *why))
    assert read_refused(body).reason() == Opaque("so")


def test_a_reason_that_is_too_long_goes_without_its_value() -> None:
    body = refused_frame("busy", NoLink("LinkBroke", error="x" * WORD_BYTES_MAX))[HEADER_BYTES:]
    assert len(body) <= WORD_BYTES_MAX
    assert read_refused(body).reason() == Opaque("x" * REASON_LENGTH_MAX)


def test_an_allowance_is_owed_and_paid() -> None:
    allowance = Allowance(per_s=10, burst=20, now_s=0)
    assert (allowance.take(20, 0), allowance.take(5, 0)) == (0, 0.5)
    assert (allowance.take(5, 0.5), allowance.take(0, 1.0)) == (0.5, 0)
    assert (allowance.take(20, 1000.0), allowance.take(1, 1000.0)) == (0, 0.1)
