"""Who is alive for a node, and what it says of itself: each limit, and just beyond it."""

from __future__ import annotations

from math import inf
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.clock import TimerKind
from agent.protocol.core import Peer
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import AskStatus, Goodbye, Heartbeat, Hello, Holdings, Status
from agent.protocol.reasons import HelpsNotNow, Opaque, Starting, reason_in
from tests.certain import certain
from tests.protocol.worker import Worker


class Watching(Worker):
    """A node that judges who is linked with it."""

    def __init__(self, *members: str, **settings: Any) -> None:
        super().__init__(**settings)
        self.core.members = dict.fromkeys(("me", *members)) if members else {}
        self.life = self.node._liveness
        self.life.started_s = self.life._stirred_s = self.now_s

    def tells_of(self, name: str, **known: dict[str, int]) -> Peer:
        """A peer says who its neighbours are, and whom these reach."""
        peer = self.peer(name, incarnation=1)
        peer.status = replace(certain(peer.status), **cast("Any", known))
        return peer

    def ticked(self, after_s: float = 0.0) -> None:
        self.later(after_s)
        self.life.on_tick()

    def said(self, kind: type) -> list[tuple[str, ...]]:
        """To whom messages of this kind were sent."""
        sent = [each for each in self.core.take_effects() if isinstance(each, fx.Send)]
        return [each.peers for each in sent if isinstance(each.message, kind)]


# -- who is up ---------------------------------------------------------------------------


def test_who_is_linked_or_told_of_is_up() -> None:
    watching = Watching("a", "b", "c", "d", "e")
    life = watching.life
    watching.tells_of("a", neighbours={"b": 1}, reached={"c": 1})
    watching.peer("d", greeted=False)
    assert [life.up(each) for each in ("me", "a", "b", "c", "d", "e", "stranger")] == [
        *([True] * 4),
        *([False] * 3),
    ]
    watching.core.peers["a"].suspected = True
    assert [life.up(each) for each in ("a", "b", "c")] == [True, False, False]
    life.heard_of("e")
    life.heard_of("a")
    assert (life.up("e"), list(life._heard_of_s)) == (True, ["e"])


def test_before_it_has_joined_only_whom_it_lost_is_down() -> None:
    watching = Watching("a", "b")
    watching.core.joined = False
    watching.life.lost_s["a"] = watching.now_s
    assert [watching.life.up(each) for each in ("a", "b", "stranger")] == [False, True, False]
    watching.life.forget_losses()
    assert watching.life.up("a")
    assert watching.core.liveness_changed


def test_an_incarnation_is_alive_until_a_later_one_is_known() -> None:
    watching = Watching()
    life, mine = watching.life, watching.core.incarnation
    assert [life.alive("me", mine + n) for n in (-1, 0, 1)] == [False, True, False]
    watching.peer("a")
    watching.core.incarnations["a"] = 7
    assert [life.alive("a", n) for n in (6, 7, 8)] == [False, True, True]
    watching.core.peers["a"].greeted = False
    assert not life.alive("a", 8)


def test_what_neighbours_tell_of_an_older_incarnation_says_nothing() -> None:
    for told, is_up in ((6, False), (7, True), (8, True)):
        watching = Watching()
        watching.core.incarnations["b"] = 7
        watching.tells_of("a", neighbours={"b": told})
        assert watching.life.up("b") is is_up


def test_how_long_somebody_is_down_and_gone() -> None:
    watching = Watching()
    life = watching.life
    watching.peer("a", incarnation=7)
    watching.core.incarnations["a"] = 7
    watching.later(3.0)
    assert (life.down_for_s("a"), life.gone_s("a", 7)) == (0.0, None)
    assert (life.down_for_s("b"), life.gone_s("b", 1)) == (3.0, inf)
    life._unlinked(ev.PeerUnlinked("a"))
    watching.later(4.0)
    assert (life.down_for_s("a"), life.gone_s("a", 7)) == (4.0, 4.0)
    watching.peer("a")
    assert (life.gone_s("a", 6), life.gone_s("a", 7)) == (inf, None)


def test_what_was_heard_of_somebody_holds_for_five_seconds() -> None:
    watching = Watching()
    watching.life.heard_of("a")
    watching.ticked(4.99)
    assert watching.life.up("a")
    watching.core.liveness_changed = False
    watching.ticked(0.01)
    assert (watching.life.up("a"), watching.core.liveness_changed) == (False, True)


# -- silence -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("beat_s", "silent_s", "suspected", "linked", "restful"),
    [
        (0.5, 0.75, False, True, True),
        (0.5, 0.76, False, True, False),
        (0.5, 2.49, False, True, False),
        (0.5, 2.75, True, True, False),
        (1.5, 1.75, False, True, True),
        (1.5, 1.76, False, True, False),
        (0.5, 4.99, True, True, False),
        (0.5, 5.0, False, False, False),
    ],
)
def test_silence_is_suspected_and_then_ends_the_link(
    beat_s: float, silent_s: float, suspected: bool, linked: bool, restful: bool
) -> None:
    watching = Watching()
    peer = watching.peer("a", beat_s=beat_s)
    peer.echoed_s += 100.0
    watching.ticked(silent_s)
    assert ("a" in watching.core.peers) is linked
    assert (peer.suspected, watching.life.restful) == (suspected, restful)
    cut = [each for each in watching.core.take_effects() if isinstance(each, fx.Unlink)]
    gone = fx.Unlink("a", NoLink("Silent", length_ms=round(silent_s * 1000)))
    assert cut == ([] if linked else [gone])
    assert ("a" in watching.life.lost_s) is not linked


def test_who_hears_nothing_of_this_node_is_silent_too_a_beat_of_each_later() -> None:
    for after_s, linked in ((5.99, True), (6.0, False)):
        watching = Watching()
        peer = watching.peer("a")
        peer.heard_s += 100.0
        watching.ticked(after_s)
        assert ("a" in watching.core.peers) is linked


def test_who_speaks_again_is_trusted_again() -> None:
    watching = Watching()
    peer = watching.peer("a", suspected=True)
    watching.core.liveness_changed = False
    watching.ticked(0.5)
    assert (peer.suspected, watching.core.liveness_changed) == (False, True)


def test_silence_of_a_sleeper_is_its_own() -> None:
    watching = Watching()
    peer = watching.peer("a")
    watching.later(60.0)
    watching.life.forgive()
    watching.ticked(0.5)
    assert (list(watching.core.peers), peer.suspected) == (["a"], False)


# -- beats -------------------------------------------------------------------------------


@pytest.mark.parametrize(("peers", "ticks"), [(0, 1), (15, 1), (16, 2), (31, 2), (60, 2)])
def test_many_peers_hear_half_as_often(peers: int, ticks: int) -> None:
    watching = Watching()
    for number in range(peers):
        watching.peer(f"p{number}")
    assert watching.life.ticks_per_beat == ticks
    watching.life.calm = True
    assert watching.life.ticks_per_beat == 3


def test_calm_begins_after_five_seconds_in_which_nothing_goes_on() -> None:
    for disturbs in (None, "suspected", "differs"):
        watching = Watching()
        peer = watching.peer("a")
        for after_s, calm in ((4.99, False), (0.01, disturbs is None)):
            watching.later(after_s)
            peer.heard_s = peer.echoed_s = watching.now_s
            peer.suspected = disturbs == "suspected"
            peer.differs_since_s = 1.0 if disturbs == "differs" else None
            watching.life._look_for_calm()
            assert watching.life.calm is calm
    watching = Watching()
    watching.ready("T1")
    watching.later(6.0)
    watching.life._look_for_calm()
    assert not watching.life.calm, "work waits"


def test_what_stirs_ends_the_calm_with_the_next_tick() -> None:
    for calm in (True, False):
        watching = Watching()
        watching.life.calm = calm
        watching.life.stir()
        assert not watching.life.calm
        assert watching.core.timers.armed(TimerKind.TICK) is calm


def beat(number: int = 1, heard: int = 0, **more: Any) -> Heartbeat:
    told = {"wall_ms": 0, "table_hash": 0, "status_revision": 1, "next_ms": 500, **more}
    first = (number, heard, told["wall_ms"], told["table_hash"], told["status_revision"])
    return Heartbeat(*first, "", (0, 0), told["next_ms"])


def test_a_beat_tells_which_of_this_nodes_words_arrived() -> None:
    watching = Watching()
    peer = watching.peer("a")
    watching.ticked()
    for _ in range(2):
        watching.ticked(0.5)
    assert [number for number, _ in peer.sent] == [1, 2, 3]
    assert len(watching.said(Heartbeat)) == 3
    watching.life._heartbeat(peer, beat(9, heard=2))
    assert (peer.echoed_s, peer.number_heard) == (100.5, 9)
    assert [number for number, _ in peer.sent] == [3]


@pytest.mark.parametrize(
    ("next_ms", "beat_s"), [(0, 0.5), (500, 0.5), (1_200, 1.2), (1_500, 1.5), (9_000, 1.5)]
)
def test_a_peer_says_when_its_next_word_comes_within_bounds(next_ms: int, beat_s: float) -> None:
    watching = Watching()
    peer = watching.peer("a")
    watching.life._heartbeat(peer, beat(next_ms=next_ms, wall_ms=watching.core.wall_ms + 700))
    assert (peer.beat_s, peer.wall_ahead_ms) == (beat_s, 700)


def test_a_status_that_was_missed_is_asked_for() -> None:
    for revision, more, asked in (
        (1, {}, []),
        (2, {}, [("a",)]),
        (0, {"status": None}, [("a",)]),
        (2, {"greeted": False}, []),
    ):
        watching = Watching()
        watching.life._heartbeat(
            watching.peer("a", **cast("Any", more)), beat(status_revision=revision)
        )
        assert watching.said(AskStatus) == asked


# -- links -------------------------------------------------------------------------------


def test_a_link_begins_with_a_greeting_of_each() -> None:
    watching = Watching("a")
    watching.core.incarnations["a"] = 7
    watching.life._linked(ev.PeerLinked("a"))
    (hello,) = [each for each in watching.core.take_effects() if isinstance(each, fx.Send)]
    said = cast("Hello", hello.message)
    assert (hello.peers, said.seen, said.has_table) == (("a",), 7, True)
    peer = watching.core.peers["a"]
    assert (peer.greeted, peer.beat_s) == (False, 0.5)
    watching.life.lost_s["a"] = 1.0
    watching.life._hello(peer, Hello(1, "anna", 8, 0, has_table=True))
    assert (peer.greeted, peer.name, peer.incarnation, peer.has_table) == (True, "anna", 8, True)
    assert "a" not in watching.life.lost_s
    sent = [each for each in watching.core.take_effects() if isinstance(each, fx.Send)]
    assert {type(each.message) for each in sent} >= {Status, Holdings}
    watching.life._hello(peer, Hello(1, "anna", 8, 0, has_table=True))
    assert watching.said(Holdings) == [], "once"


def test_a_new_link_takes_the_place_of_an_old_one() -> None:
    watching = Watching()
    old = watching.peer("a")
    watching.life._linked(ev.PeerLinked("a"))
    assert watching.core.peers["a"] is not old
    assert watching.life.lost_s == {"a": watching.now_s}


def test_who_says_goodbye_is_gone_at_once() -> None:
    watching = Watching()
    watching.life._goodbye(watching.peer("a"), Goodbye("sleeps"))
    cut = [each for each in watching.core.take_effects() if isinstance(each, fx.Unlink)]
    assert cut == [fx.Unlink("a", NoLink("SaidGoodbye", error="sleeps"))]
    assert (watching.core.peers, list(watching.life.lost_s)) == ({}, ["a"])
    watching.life._unlinked(ev.PeerUnlinked("a"))


def test_an_incarnation_that_peers_know_already_is_passed() -> None:
    watching = Watching()
    watching.peer("a")
    before = watching.core.incarnation
    watching.life.raise_incarnation(before + 5)
    assert watching.core.incarnation == before + 5
    assert watching.core.counters["incarnation raised"] == 1
    effects = watching.core.take_effects()
    saved = [each.identity for each in effects if isinstance(each, fx.Persist)]
    assert [certain(each).incarnation for each in saved] == [before + 5]
    said = [each.message for each in effects if isinstance(each, fx.Send)]
    assert [m.incarnation for m in said if isinstance(m, Hello)] == [before + 5]


# -- statuses ----------------------------------------------------------------------------


def test_a_status_is_told_when_something_changed_but_the_load() -> None:
    watching = Watching()
    watching.peer("a")
    presence = ev.PresenceChanged(True, False)
    told = []
    for change in (
        presence,
        presence,
        ev.PresenceChanged(True, False, load_percent=50),
        ev.PresenceChanged(True, False, own_only=True),
        ev.PresenceChanged(False, True),
    ):
        watching.core.wake = False
        watching.life._presence_changed(change)
        assert watching.core.wake
        told.append(len(watching.said(Status)))
    assert told == [1, 0, 0, 1, 1]


def test_peers_hear_why_a_machine_does_not_help_and_nothing_of_its_owner() -> None:
    for why, told in ((Starting(), Starting()), (Opaque("is at dinner"), HelpsNotNow())):
        watching = Watching()
        watching.peer("a")
        watching.life._presence_changed(ev.PresenceChanged(False, False, why))
        sent = [each.message for each in watching.core.take_effects() if isinstance(each, fx.Send)]
        (status,) = [each for each in sent if isinstance(each, Status)]
        assert reason_in(status.more, "") == told


def test_since_when_the_owner_is_there_counts_from_when_he_came() -> None:
    watching = Watching()
    found = []
    for here in (False, True, True, False, True):
        watching.later(1.0)
        watching.life._presence_changed(ev.PresenceChanged(False, here))
        found.append(watching.core.owner_since_s - 100.0)
    assert found[1:] == [2.0, 2.0, 2.0, 5.0]


def test_an_older_status_changes_nothing() -> None:
    watching = Watching()
    peer = watching.peer("a")
    known = certain(peer.status)
    for revision, taken in ((1, False), (0, False), (2, True)):
        watching.life._status_told(peer, replace(known, revision=revision, slots=9))
        assert (certain(peer.status).slots == 9) is taken


def test_a_status_is_sent_again_to_who_asks() -> None:
    watching = Watching()
    peer = watching.peer("a")
    watching.life._status_asked(peer, AskStatus())
    assert watching.said(Status) == [], "there is none yet"
    watching.life.tell_status()
    watching.core.take_effects()
    watching.life._status_asked(peer, AskStatus())
    assert watching.said(Status) == [("a",)]


def test_whom_neighbours_reach_is_told_on_unless_they_are_losing_it_too() -> None:
    for lost_s, reached in ((None, {"b": 3}), (98.0, {"b": 3}), (98.01, {})):
        watching = Watching()
        watching.tells_of("a", neighbours={"me": 1, "a": 1, "b": 2})
        watching.tells_of("c", neighbours={"b": 3})
        if lost_s is not None:
            watching.life.lost_s["b"] = lost_s
        watching.life._changed()
        watching.life._watch_from_afar()
        assert watching.life._reached == reached
        assert bool(watching.said(Status)) is bool(reached)
