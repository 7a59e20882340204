"""One link with its connection and owner in memory: what is written when, and what costs the link."""

from __future__ import annotations

import asyncio
import errno
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from agent.net.addresses import Address
from agent.net.link import Lane, Link, fits, message_frame
from agent.net.link_reception import Reception
from agent.net.link_refusals import Cause
from agent.net.wire import (
    LINK_LIMITS,
    FrameReader,
    Kind,
    Opening,
    frame,
    opening_frame,
    refused_frame,
)
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import AskStatus
from agent.protocol.reasons import Opaque, Reason

KIB = 1024
MIB = 1024 * 1024
EXPELLED = NoLink("WasExpelled", dated_ms=1)


@dataclass
class Clock:
    """The clock of the loop."""

    now_s: float


@dataclass
class Wire:
    """The connection of a link: what was written, and whether it is read."""

    written: list[bytes] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    closed_here: bool = False

    def write(self, data: Any) -> None:
        self.written.append(bytes(data))

    def close(self) -> None:
        self.calls.append("close")

    def abort(self) -> None:
        self.calls.append("abort")

    def pause_reading(self) -> None:
        self.calls.append("pause")

    def resume_reading(self) -> None:
        self.calls.append("resume")


@dataclass
class Owner:
    """Keeps what it is told."""

    told: list[tuple[Any, ...]] = field(default_factory=list)

    def link_received(self, _: Link, message: Any) -> None:
        self.told.append(("received", message))

    def link_gossiped(self, _: Link, body: bytes) -> None:
        self.told.append(("gossiped", body))

    def link_answered(self, link: Link) -> None:
        self.told.append(("answered", link.round_trip_s))

    def link_misbehaved(self, link: Link, why: NoLink) -> None:
        self.told.append(("misbehaved", why))
        link.ended = True

    def link_lost(self, _: Link, *, reset: bool, why: Reason) -> None:
        self.told.append(("lost", reset, why))


class Scene:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.wire, self.owner = Wire(), Owner()
        self.link = Link(
            "bee",
            "Bee",
            cast("Any", self.wire),
            FrameReader(LINK_LIMITS),
            Opening("i", 1, 1),
            Address("10.0.0.2", 1),
            dialled=True,
            owner=cast("Any", self.owner),
        )

    def quiet(self) -> None:
        """The first ping is sent."""
        self.link.flush()
        self.wire.written.clear()

    def hears(self, *frames: bytes) -> None:
        self.link.received(memoryview(b"".join(frames)))

    @property
    def sizes(self) -> list[int]:
        return [len(each) for each in self.wire.written]


@pytest.fixture
async def it(monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A link by itself, on a loop whose clock stands still unless the test sets it forward."""
    loop = asyncio.get_running_loop()
    clock = Clock(float(round(loop.time())))
    monkeypatch.setattr(loop, "time", lambda: clock.now_s)
    return Scene(clock)


# -- the words as they travel, in every version ------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "travels"),
    [
        (opening_frame(Opening("ab", 29464, 3)), "0000000801 93a26162cd731803"),
        (frame(Kind.WELCOME), "0000000002"),
        (refused_frame("busy", Opaque("no")), "0000000903 92a462757379a26e6f"),
        (frame(Kind.MESSAGE, b"m"), "0000000104 6d"),
        (frame(Kind.GOSSIP, b"g"), "0000000105 67"),
        (frame(Kind.PING, b"p"), "0000000106 70"),
        (frame(Kind.PONG, b"p"), "0000000107 70"),
    ],
)
def test_frames_are_the_same_in_every_version(sent: bytes, travels: str) -> None:
    assert sent == bytes.fromhex(travels)


@pytest.mark.parametrize(
    ("kind", "bytes_max"),
    [
        (1, 4 * KIB),
        (2, 4 * KIB),
        (3, 4 * KIB),
        (4, 32 * MIB),
        (5, MIB),
        (6, 16),
        (7, 16),
        (200, MIB),
    ],
)
def test_how_large_each_frame_may_be(kind: int, bytes_max: int) -> None:
    def begun(size: int) -> None:
        reader = FrameReader(LINK_LIMITS)
        reader.add(size.to_bytes(4, "big") + bytes([kind]))
        reader.next()

    begun(bytes_max)
    with pytest.raises(Exception, match="bytes"):
        begun(bytes_max + 1)


def test_a_long_refusal_is_cut() -> None:
    assert refused_frame("c" * 65, Opaque("t" * 401)) == refused_frame("c" * 64, Opaque("t" * 400))
    assert refused_frame("c" * 65, Opaque("t" * 400)) != refused_frame("c" * 64, Opaque("t" * 399))


# -- out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("second", "taken"), [(6, True), (7, False)])
def test_a_lane_takes_so_many_bytes_and_any_first_frame(second: int, taken: bool) -> None:
    lane = Lane(10)
    assert lane.put(b"1234")
    assert lane.put(bytes(second)) is taken
    assert lane.bytes == (10 if taken else 4)
    assert (lane.take(), lane.bytes) == (b"1234", 6 if taken else 0)
    assert Lane(10).put(bytes(11))


async def test_what_does_not_fit_is_dropped_and_counted(it: Scene) -> None:
    it.link.pause_writing()
    assert [it.link.send(bytes(32 * KIB)) for _ in range(128)] == [True] * 128
    assert not it.link.send(b"x")
    assert it.link.send(b"x", bulky=True)
    for _ in range(31):
        assert it.link.send(bytes(MIB))
    assert not it.link.send(bytes(MIB))
    assert it.link.send(bytes(64 * KIB))
    assert (it.link.traffic.messages_out, it.link.traffic.dropped) == (161, 2)
    assert it.link.queued_bytes == 35 * MIB + 64 * KIB + 1


async def test_small_frames_go_together_before_bulky_ones_in_slices(it: Scene) -> None:
    it.quiet()
    it.link.pause_writing()
    it.link.send(b"b" * (64 * KIB))
    it.link.send(b"c" * 10, bulky=True)
    for _ in range(3):
        it.link.send(b"s" * (32 * KIB))
    it.link.send(b"t" * 5)
    it.link.flush()
    assert it.wire.written == []
    it.link.resume_writing()
    assert it.sizes == [64 * KIB, 32 * KIB + 5, 64 * KIB, 10]
    assert [each[:1] for each in it.wire.written] == [b"s", b"s", b"b", b"c"]
    assert it.link.queued_bytes == 0
    it.wire.written.clear()
    it.link.send(b"L" * (130 * KIB))
    it.link.flush()
    assert it.sizes == [64 * KIB, 64 * KIB, 2 * KIB]
    assert it.link.traffic.bytes_out == (64 + 32 + 64 + 130) * KIB + 15 + 13


async def test_a_large_frame_that_was_begun_goes_on_where_it_was(it: Scene) -> None:
    it.quiet()
    write = it.wire.write

    def once(data: Any) -> None:
        write(data)
        it.link.pause_writing()

    it.wire.write = once  # type: ignore[method-assign]
    it.link.send(b"L" * (100 * KIB))
    it.link.flush()
    it.link.send(b"small")
    assert it.link.queued_bytes == 36 * KIB + 5
    for _ in range(2):
        it.link.resume_writing()
    assert it.sizes == [64 * KIB, 36 * KIB, 5]


async def test_a_sign_of_life_is_asked_for_every_half_minute(it: Scene) -> None:
    it.link.send(b"first")
    it.link.flush()
    (written,) = it.wire.written
    assert (written[:5], written[13:]) == (b"\0\0\0\x08\x06", b"first")
    it.clock.now_s += 29.9
    it.link.flush()
    assert len(it.wire.written) == 1
    it.clock.now_s += 0.1
    it.link.flush()
    assert len(it.wire.written) == 2
    asked = it.wire.written[1][5:]
    it.clock.now_s += 0.25
    it.hears(frame(Kind.PONG, b"another!"), frame(Kind.PONG), frame(Kind.PONG, asked))
    it.hears(frame(Kind.PONG, asked))
    assert (it.owner.told, it.link.answered_s) == ([("answered", 0.25)], it.clock.now_s)
    it.link.ping()
    assert len(it.wire.written) == 3


# -- in ----------------------------------------------------------------------------------------


async def test_each_frame_goes_where_it_belongs(it: Scene) -> None:
    it.quiet()
    heard = [
        message_frame(AskStatus()),
        frame(Kind.GOSSIP, b"news"),
        frame(Kind.PING, b"say it"),
        frame(cast("Kind", 200), b"later"),
    ]
    it.hears(*heard)
    assert [each[0] for each in it.owner.told] == ["received", "gossiped"]
    assert it.wire.written == [frame(Kind.PONG, b"say it")]
    traffic = it.link.traffic
    assert (traffic.messages_in, traffic.unknown, traffic.bytes_in) == (
        1,
        1,
        len(b"".join(heard)),
    )
    it.hears(frame(Kind.WELCOME))
    assert it.owner.told[-1] == (
        "misbehaved",
        NoLink("SentUnreadable", error="a frame of kind 2 on a link that stands"),
    )


@pytest.mark.parametrize(
    ("error", "closed_here", "reset", "why"),
    [
        (None, False, True, NoLink("LinkClosed")),
        (ConnectionResetError("cut"), False, True, NoLink("BrokeOff")),
        (
            OSError(errno.ETIMEDOUT, "late"),
            False,
            False,
            NoLink("LinkBroke", error="[Errno 110] late"),
        ),
        (
            OSError(errno.EHOSTUNREACH, "off"),
            False,
            False,
            NoLink("LinkBroke", error="[Errno 113] off"),
        ),
        (None, True, False, NoLink("LinkClosed")),
    ],
)
async def test_how_a_link_is_lost(
    it: Scene, error: Exception | None, closed_here: bool, reset: bool, why: NoLink
) -> None:
    it.wire.closed_here = closed_here
    it.link.pause_writing()
    it.link.send(b"waits")
    it.link.lost(error)
    it.link.lost(error)
    assert it.owner.told == [("lost", reset, why)]
    assert (it.link.ended, it.link.queued_bytes) == (True, 0)


async def test_why_the_other_side_ends_a_link_is_told(it: Scene) -> None:
    it.hears(refused_frame("expelled", EXPELLED))
    it.link.lost(None)
    assert it.owner.told == [("lost", True, EXPELLED)]
    assert it.link.told_cause == "expelled"


async def test_ending_a_link_says_why_once(it: Scene) -> None:
    it.quiet()
    it.link.send(b"still")
    it.link.close(Cause.BUSY, EXPELLED)
    it.link.close(Cause.BUSY, EXPELLED)
    assert b"".join(it.wire.written) == b"still" + refused_frame("busy", EXPELLED)
    assert (it.wire.calls, it.link.ended) == (["close"], True)
    it.link.lost(None)
    it.hears(message_frame(AskStatus()))
    assert it.owner.told == []


async def test_who_sends_more_than_all_others_is_held_back_and_then_cut_off(it: Scene) -> None:
    """Twenty thousand frames at once and five thousand a second, for five seconds more."""
    one = frame(Kind.GOSSIP, b"")
    it.hears(*[one] * 20_000)
    assert it.wire.calls == []
    it.clock.now_s += 1
    it.hears(*[one] * 5_000)
    assert it.wire.calls == []
    it.hears(*[one] * 24_000)
    assert it.wire.calls == ["pause"]
    it.hears(*[one] * 1_000)
    assert it.owner.told[-1][0] == "misbehaved"


async def test_bytes_are_counted_too(it: Scene) -> None:
    one = frame(Kind.GOSSIP, bytes(MIB - 5))
    for _ in range(64):
        it.hears(one)
    it.clock.now_s += 1
    for _ in range(64):
        it.hears(one)
    assert it.wire.calls == []
    it.clock.now_s += 0.5
    for _ in range(32):
        it.hears(one)
    assert it.wire.calls == []
    it.hears(one)
    assert it.wire.calls == ["pause"]


async def test_a_few_frames_are_only_added_up(it: Scene) -> None:
    it.hears(*[frame(Kind.GOSSIP)] * 15)
    assert it.link._uncounted_frames == 15
    it.hears(frame(Kind.GOSSIP))
    assert it.link._uncounted_frames == 0
    it.hears(frame(Kind.GOSSIP, bytes(16 * KIB - 6)))
    assert it.link._uncounted_bytes == 16 * KIB - 1
    it.hears(b"\0")
    assert it.link._uncounted_bytes == 0


def test_the_largest_message_that_peers_take() -> None:
    limit = LINK_LIMITS[Kind.MESSAGE]
    assert fits(frame(Kind.MESSAGE, bytes(limit)))
    assert not fits(frame(Kind.MESSAGE, bytes(limit + 1)))


# -- strangers ---------------------------------------------------------------------------------


@dataclass(eq=False)
class Stranger:
    """A connection of which nothing is known yet, or whose member is."""

    address: Address
    dialled: bool = False
    peer: str = ""
    heard: bool = False
    gone: bool = False

    @property
    def connection(self) -> Stranger:
        return self

    def give_way(self) -> None:
        self.gone = True


@dataclass
class Greetings:
    """A reception, and all strangers that came to it."""

    reception: Reception
    made: list[Stranger] = field(default_factory=list)

    def admit(self, host: str, count: int, **known: Any) -> list[Stranger]:
        came = [Stranger(Address(host, port), **known) for port in range(count)]
        self.made += came
        for each in came:
            assert self.reception.admit(cast("Any", each))
            for gone in [one for one in self.made if one.gone]:
                self.reception._greetings.pop(cast("Any", gone), None)
        return came

    def left(self, came: list[Stranger]) -> int:
        return sum(not each.gone for each in came)


@pytest.fixture
def greetings() -> Greetings:
    nobody = cast("Any", None)
    return Greetings(Reception("ant", nobody, nobody, {}, nobody))


def test_one_machine_and_all_of_them_may_leave_so_many_greetings_open(greetings: Greetings) -> None:
    greetings.reception._greetings.update(
        dict.fromkeys(cast("Any", Stranger(Address("10.0.0.9", n), True)) for n in range(100))
    )
    first, second = greetings.admit("10.0.0.9", 33), greetings.admit("10.0.0.8", 31)
    assert (greetings.left(first), greetings.left(second)) == (32, 31)
    assert first[0].gone, "the oldest"
    third = greetings.admit("10.0.0.7", 2)
    assert greetings.left(third) == 2
    assert greetings.left(first) == 31, "of the machine that has most"
    greetings.reception._stopping = True
    assert not greetings.reception.admit(cast("Any", Stranger(Address("10.0.0.6", 0))))


def test_who_has_said_something_stays_longer_than_who_has_not(greetings: Greetings) -> None:
    (spoken,) = greetings.admit("10.0.0.1", 1, heard=True)
    silent = greetings.admit("10.0.0.1", 32)
    assert (spoken.gone, silent[0].gone) == (False, True)


def test_members_places_are_not_taken_by_strangers(greetings: Greetings) -> None:
    """Not even by as many addresses as a network has."""
    (member,) = greetings.admit("10.0.0.1", 1)
    greetings.reception.verified(cast("Any", member))
    (again,) = greetings.admit("10.0.0.1", 1)
    for number in range(2, 250):
        greetings.admit(f"10.0.0.{number}", 1, heard=True)
    assert not again.gone


def test_a_member_crowds_out_itself_alone(greetings: Greetings) -> None:
    """What it is verified on takes nobody's place, and is bounded too."""
    came = greetings.admit("10.0.0.1", 20)
    told = []
    for each in came:
        each.peer = "bee"
        told.append(greetings.reception.verified(cast("Any", each)))
    assert told == [True] * 16 + [False] * 4
    assert greetings.left(greetings.admit("10.0.0.1", 32)) == 32
