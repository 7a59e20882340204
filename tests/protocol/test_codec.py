"""Messages as bytes: what is said arrives as it was said, and nothing malformed gets in.

Whatever a peer sends is a message, an unknown message, or its fault; never an error of ours,
and never much more memory or text than it sent.
"""

from __future__ import annotations

import datetime as dt
import tracemalloc
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol import messages as codec
from agent.protocol.messages import (
    Heartbeat,
    Hello,
    Known,
    Message,
    State,
    UnknownMessage,
    decode,
    encode,
)
from agent.protocol.phrases import RemoteProtocolError
from agent.protocol.records import (
    Dataset,
    Life,
    Limits,
    Requirements,
    Run,
    TaskLife,
    TaskSpec,
    Terminated,
    join_lives,
    run_name,
)
from tests.protocol.generation import (
    MESSAGE_KINDS,
    colliding_lives,
    colliding_runs,
    examples,
    fewer_examples,
    messages,
    records,
    wild_entries,
)

HELLO_UP_TO_MORE = b"\x97" + encode(Hello(1, "ant", 1, 1, has_table=True))[1:-1]
LATER = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
EXTENSION = msgspec.msgpack.Ext(5, b"later")
pack = msgspec.msgpack.encode


def judged(data: bytes) -> Message | UnknownMessage | None:
    """What the codec makes of any bytes; None when it blames the peer, else it raises."""
    try:
        decoded = decode(data)
    except RemoteProtocolError:
        return None
    assert isinstance(decoded, (UnknownMessage, *MESSAGE_KINDS))
    return decoded


def judged_and_said_again(data: bytes) -> None:
    """The same, and what got in can be passed on and is then the same again."""
    decoded = judged(data)
    if decoded is not None and not isinstance(decoded, UnknownMessage):
        passed_on = encode(decoded)
        assert encode(decode(passed_on)) == passed_on  # type: ignore[arg-type]


def plain(value: Any, surplus: list[Any] | None = None) -> Any:
    """A record as the arrays it is on the wire, each longer by the surplus of a later version."""
    if isinstance(value, msgspec.Struct):
        tag = value.__struct_config__.tag
        fields = [plain(getattr(value, name), surplus) for name in value.__struct_fields__]
        return ([] if tag is None else [tag]) + fields + (surplus or [])
    if isinstance(value, tuple):
        return [plain(item, surplus) for item in value]
    return value


def leaves(array: list[Any], kind: type) -> Iterator[tuple[list[Any], int]]:
    """Where values of exactly this kind stand: the array, and the place in it."""
    for place, item in enumerate(array):
        if type(item) is kind:
            yield array, place
        elif isinstance(item, list):
            yield from leaves(item, kind)


def every_array(array: list[Any]) -> Iterator[list[Any]]:
    yield array
    for item in array:
        if isinstance(item, list):
            yield from every_array(item)


# ---- What is said arrives ----


@pytest.mark.parametrize("kind", MESSAGE_KINDS)
@fewer_examples
@given(data=st.data())
def test_each_kind_of_message_arrives_as_it_was_said(
    kind: type[msgspec.Struct], data: st.DataObject
) -> None:
    message: Any = data.draw(records(kind))
    said = encode(message)
    assert (decode(said), type(decode(said))) == (message, kind)
    assert len(said) <= codec.MESSAGE_BYTES_MAX


def test_each_kind_has_a_tag_of_its_own() -> None:
    assert len(codec.KNOWN_TAGS) == len(MESSAGE_KINDS)


# ---- Other versions ----


@examples
@given(message=messages(), surplus=st.lists(st.none() | st.integers() | st.text(), max_size=3))
def test_surplus_fields_are_ignored(message: Message, surplus: list[Any]) -> None:
    surplus = [item for item in surplus if not isinstance(item, int) or abs(item) < 2**63]
    assert decode(pack(plain(message, surplus))) == message


def test_what_an_older_version_does_not_say_of_a_task_asks_for_nothing() -> None:
    said = ["T1", "bread", "mill", [], [["file:1"]]]
    raw = (Dataset("file:1", size_bytes=0, external=False),)
    anywhere, unlimited = Requirements("", "", 0, 0, 0, ()), Limits(0, 0, 0, 0)
    rest = TaskSpec("T1", "bread", "mill", (), raw, (), "", anywhere, limits=unlimited)
    expected = msgspec.structs.replace(
        rest, expected_ms=60_000, failures_max=3, gate=False, asks="", more={}, published=None
    )
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(said), type=TaskSpec) == expected


@examples
@given(message=messages())
def test_fields_of_later_versions_may_be_missing(message: Message) -> None:
    required = [
        field
        for field in msgspec.structs.fields(message)
        if field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
    ]
    arrived = decode(pack(plain(message)[: 1 + len(required)]))
    assert type(arrived) is type(message)
    assert all(getattr(arrived, field.name) == getattr(message, field.name) for field in required)


@examples
@given(
    tag=st.text(min_size=1, max_size=codec.TAG_LENGTH_MAX),
    fields=st.lists(st.none() | st.text() | st.floats() | st.binary(), max_size=3),
)
def test_an_unknown_tag_is_an_unknown_message(tag: str, fields: list[Any]) -> None:
    assert tag in codec.KNOWN_TAGS or decode(pack([tag, *fields])) == UnknownMessage(tag)


@pytest.mark.parametrize("tag", ["", "X" * (codec.TAG_LENGTH_MAX + 1), 7, None, b"HELLO", ["X"]])
def test_what_is_no_tag_is_the_peers_fault(tag: object) -> None:
    with pytest.raises(RemoteProtocolError):
        decode(pack([tag, 1]))


@examples
@given(known=colliding_lives(), run=colliding_runs(), more=wild_entries())
def test_unknown_entries_pass_through_an_older_node(known: Life, run: Run, more: Any) -> None:
    """A later version's word is decoded, joined and sent on by a node that cannot read it."""
    run = msgspec.structs.replace(run, revision=9, more=more)
    arrived = decode(encode(State((TaskLife("t1", Life(runs=(run,))),))))
    assert isinstance(arrived, State)
    joined = join_lives(known, arrived.lives[0].life)
    passed_on = decode(encode(State((TaskLife("t1", joined),))))
    assert isinstance(passed_on, State)
    # A success that the older node knew stands above any revision; then nothing is to be kept.
    successes = {run_name(old) for old in known.runs if isinstance(old.phase, Terminated)}
    if isinstance(run.phase, Terminated) or run_name(run) not in successes:
        assert pack(run) in [pack(kept) for kept in passed_on.lives[0].life.runs]


# ---- Malformed, by chance ----


@examples
@given(data=st.binary(max_size=200))
def test_random_bytes_are_judged(data: bytes) -> None:
    judged_and_said_again(data)


@examples
@given(message=messages(), data=st.data())
def test_damaged_messages_are_judged(message: Message, data: st.DataObject) -> None:
    frame = bytearray(encode(message)[:4096])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(frame)))
        length = data.draw(st.integers(0, 8))
        match data.draw(st.sampled_from(("flip", "cut", "insert", "end"))):
            case "flip" if start < len(frame):
                frame[start] ^= data.draw(st.integers(1, 255))
            case "cut":
                del frame[start : start + length]
            case "insert":
                frame[start:start] = data.draw(st.binary(max_size=8))
            case _:
                del frame[start:]
    judged_and_said_again(bytes(frame))


@examples
@given(one=messages(), other=messages(), data=st.data())
def test_spliced_messages_are_judged(one: Message, other: Message, data: st.DataObject) -> None:
    head, tail = encode(one), encode(other)
    cut, place = data.draw(st.integers(0, len(head))), data.draw(st.integers(0, len(tail)))
    judged_and_said_again(head[:cut] + tail[place:])
    judged_and_said_again(head + tail)


STRANGERS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([None, True, {}, [], {"a": 1}, {1: 2}, LATER, EXTENSION, "x" * 70_000]),
    st.sampled_from([2**64 - 1, -(2**63), 2**63, float("nan"), float("inf"), 1.0]),
    st.integers(-(2**63), 2**64 - 1) | st.text(max_size=3) | st.binary(max_size=3),
    messages().map(plain),
)


@examples
@given(message=messages(), stranger=STRANGERS, data=st.data())
def test_the_wrong_shape_is_judged(message: Message, stranger: Any, data: st.DataObject) -> None:
    wire = plain(message)
    array = data.draw(st.sampled_from(list(every_array(wire))))
    place = data.draw(st.integers(0, len(array)))
    array[place : place + data.draw(st.integers(0, 1))] = [stranger]
    judged_and_said_again(pack(wire))


@examples
@given(value=STRANGERS)
def test_what_is_no_array_of_a_message_is_judged(value: Any) -> None:
    judged_and_said_again(pack(value))
    judged_and_said_again(pack([value]))


# ---- Malformed, on purpose ----

NO_INTEGERS = [1.0, float("nan"), float("-inf"), True, None, "1", b"1", LATER, EXTENSION, [1]]


@examples
@given(
    message=messages(),
    stranger=st.sampled_from([*NO_INTEGERS, 2**64 - 1, -(2**63)]),
    data=st.data(),
)
def test_only_integers_in_range_stand_for_integers(
    message: Message, stranger: Any, data: st.DataObject
) -> None:
    wire = plain(message)
    places = list(leaves(wire, int))
    if places:
        array, place = data.draw(st.sampled_from(places))
        array[place] = stranger
        assert judged(pack(wire)) is None


@examples
@given(
    message=messages(),
    stranger=st.sampled_from([b"bytes", 1, None, ["text"], "x" * 65_537]),
    data=st.data(),
)
def test_only_short_texts_stand_for_texts(
    message: Message, stranger: Any, data: st.DataObject
) -> None:
    wire = plain(message)
    array, place = data.draw(st.sampled_from(list(leaves(wire, str))))
    array[place] = stranger
    # The master in a heartbeat is the one text without a limit of its own.
    limited = not (isinstance(message, Heartbeat) and place and isinstance(stranger, str))
    assert not limited or judged(pack(wire)) is None
    array[place] = "\x01marked\x01"
    assert judged(pack(wire).replace(b"\x01marked\x01", b"\x01mark\xc3\x28\xff")) is None


def test_text_must_be_utf8_also_where_nobody_reads_it_as_text() -> None:
    for broken in (b"\xa1\xff", b"\xa2\xc3\x28", b"\xa3\xed\xa0\x80"):
        assert judged(b"\x92\xa5KNOWN" + broken) is None
        assert judged(b"\x92" + broken + b"\x01") is None
        assert judged(HELLO_UP_TO_MORE + b"\x81" + broken + b"\x01") is None


OPENERS = st.sampled_from(
    [b"\x91", b"\x92\xa1x", b"\x81\xa1x", b"\x81", b"\x93\x80\x90", b"\xdc\0\x01"]
)
PLACES = st.sampled_from(
    [
        b"",
        b"\x91",
        b"\x92\xa5STATE",
        b"\x92\xa5LATER",
        HELLO_UP_TO_MORE,
        HELLO_UP_TO_MORE + b"\x81\xa1x",
    ]
)


@examples
@given(
    place=PLACES,
    opener=OPENERS,
    depth=st.integers(1, 1_200) | st.sampled_from((10_000, 100_000)),
    closed=st.booleans(),
)
def test_any_depth_is_judged(place: bytes, opener: bytes, depth: int, closed: bool) -> None:
    judged(place + opener * depth + (b"\x01" if closed else b""))


# Strings, bytes, extensions, arrays and maps whose length is given in two or four bytes.
HEADERS = [bytes([code]) + b"\xff" * 4 for code in (0xDB, 0xDA, 0xC6, 0xC5, 0xDD, 0xDC, 0xDF, 0xDE)]
HEADERS += [b"\xc9\xff\xff\xff\xff\x05", b"\xc9\xff\xff\xff\xff\xff", b"\xc8\xff\xff\x05"]


@examples
@given(place=PLACES, header=st.sampled_from(HEADERS), rest=st.binary(max_size=20))
def test_huge_declared_lengths_are_judged(place: bytes, header: bytes, rest: bytes) -> None:
    judged_and_said_again(place + header + rest)
    judged_and_said_again(place + header * 3 + rest)


# ---- Limits ----


def peak_bytes(data: bytes) -> int:
    """How much memory it took to judge these bytes."""
    tracemalloc.start()
    try:
        judged(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("tag", [b"\xa5STATE", b"\xa5LATER", b"\xa5HELLO"])
def test_memory_is_not_taken_for_declared_lengths(tag: bytes, header: bytes) -> None:
    assert peak_bytes(b"\x92" + tag + header) < 100_000


def test_a_message_over_the_limit_is_not_even_looked_at() -> None:
    data = bytes(codec.MESSAGE_BYTES_MAX + 1)
    with pytest.raises(RemoteProtocolError, match="at most"):
        decode(data)
    assert peak_bytes(data) < 10_000


@examples
@given(message=messages(), room=st.integers(-3, 3))
def test_the_limit_is_the_length_of_the_longest_message(message: Message, room: int) -> None:
    data = encode(message)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "MESSAGE_BYTES_MAX", len(data) + room)
        assert judged(data) == (message if room >= 0 else None)
        assert judged(bytes(len(data) + room + 1)) is None


def test_an_unknown_message_takes_no_more_memory_than_it_is_long() -> None:
    fields = 200_000
    data = b"\xdd" + (fields + 1).to_bytes(4, "big") + b"\xa5LATER" + b"\xc0" * fields
    assert judged(data) == UnknownMessage("LATER")
    assert peak_bytes(data) < 2 * len(data)


def test_an_error_does_not_repeat_what_the_peer_said_at_length() -> None:
    with pytest.raises(RemoteProtocolError) as blamed:
        decode(pack(["X" * 100_000]))
    assert len(str(blamed.value)) < 1_000


def test_known_with_a_short_name_is_a_few_bytes() -> None:
    assert encode(Known("t1")) == b"\x92\xa5KNOWN\xa2t1"
