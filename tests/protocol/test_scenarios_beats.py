"""How often a node says that it is alive, by the number of its peers, and what that changes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from agent.protocol.clock import Instant
from agent.protocol.effects import Effect, Send, StartChild, Unlink
from agent.protocol.events import (
    Dropped,
    Due,
    MembersChanged,
    PeerLinked,
    PresenceChanged,
    Received,
    Started,
    Submit,
)
from agent.protocol.link_reasons import NoLink
from agent.protocol.liveness import CALM_AFTER_S, PEERS_PER_TICK_MAX
from agent.protocol.messages import Capabilities, Digest, Heartbeat, Hello, Status
from agent.protocol.node import Node, NodeSetup
from agent.protocol.reasons import Starting
from agent.protocol.records import TaskSpec
from agent.protocol.settings import Settings

WALL_MS = 1_800_000_000_000


class Watcher:
    """A node among peers that a test speaks for."""

    def __init__(self, peers: int) -> None:
        self.node = Node(NodeSetup("me", "me", 1, Capabilities(programs=("mill",)), Settings()))
        self.now_s = 100.0
        self.told: list[tuple[float, Effect]] = []
        self.hand(Started())
        self.peers = [f"peer{number:02}" for number in range(peers)]
        for peer in self.peers:
            self.hand(PeerLinked(peer))
            self.hand(Received(peer, Hello(1, peer, WALL_MS, 0, has_table=True)))

    def hand(self, event: object) -> None:
        now = Instant(self.now_s, WALL_MS + round((self.now_s - 100.0) * 1000))
        self.told += [(self.now_s, each) for each in self.node.handle(event, now)]  # type: ignore[arg-type]

    def until(self, at_s: float) -> None:
        """Let the node's own timers come due."""
        while (deadline_s := self.node.next_deadline()) is not None and deadline_s <= at_s:
            self.now_s = max(self.now_s, deadline_s)
            self.hand(Due())
        self.now_s = at_s

    def hear_all(self, until_s: float) -> None:
        """Every peer speaks twice a second."""
        while self.now_s < until_s:
            self.until(self.now_s + 0.5)
            for peer in self.peers:
                beat = Heartbeat(round(2 * self.now_s), 10**9, WALL_MS, 0, 0, "", (0, 0), 500)
                self.hand(Received(peer, beat))

    def suspects(self, peer: str) -> bool:
        return self.node._core.peers[peer].suspected

    def beats(self, peer: str) -> list[tuple[float, Heartbeat]]:
        return [
            (at_s, effect.message)
            for at_s, effect in self.told
            if isinstance(effect, Send)
            and effect.peers == (peer,)
            and isinstance(effect.message, Heartbeat)
        ]


@pytest.mark.parametrize(("peers", "beat_ms"), [(1, 500), (PEERS_PER_TICK_MAX, 500), (29, 1000)])
def test_many_peers_hear_less_often_and_are_told_so(peers: int, beat_ms: int) -> None:
    watcher = Watcher(peers)
    watcher.hear_all(100.0 + CALM_AFTER_S - 0.5)
    beats = watcher.beats("peer00")[1:]
    assert {round(1000 * (b[0] - a[0])) for a, b in pairwise(beats)} == {beat_ms}
    assert {beat.next_ms for _, beat in beats} == {beat_ms}


@pytest.mark.parametrize(("next_ms", "suspected_after_s"), [(0, 2.6), (500, 2.6), (1000, 3.2)])
def test_silence_begins_when_the_next_word_was_due(next_ms: int, suspected_after_s: float) -> None:
    watcher = Watcher(1)
    watcher.until(100.5)
    watcher.hand(Received("peer00", Heartbeat(1, 10**9, WALL_MS, 0, 0, "", (0, 0), next_ms)))
    watcher.until(100.5 + suspected_after_s - 0.2)
    assert not watcher.suspects("peer00")
    watcher.until(100.5 + suspected_after_s + 0.5)
    assert watcher.suspects("peer00")
    assert not any(isinstance(effect, Unlink) for _, effect in watcher.told)
    watcher.until(106.1)
    assert any(isinstance(effect, Unlink) for _, effect in watcher.told)


def test_nobody_can_promise_silence_for_long() -> None:
    watcher = Watcher(1)
    watcher.until(100.5)
    watcher.hand(Received("peer00", Heartbeat(1, 10**9, WALL_MS, 0, 0, "", (0, 0), 3_600_000)))
    watcher.until(105.0)
    assert watcher.suspects("peer00")


def test_in_a_calm_flock_words_are_rare() -> None:
    watcher = Watcher(3)
    watcher.hear_all(100.0 + CALM_AFTER_S + 6.0)
    at_s, first = next(beat for beat in watcher.beats("peer00") if beat[1].next_ms == 1500)
    assert at_s >= 100.0 + CALM_AFTER_S
    calm = [beat for beat in watcher.beats("peer00") if beat[0] > at_s]
    assert {round(1000 * (b[0] - a[0])) for a, b in pairwise(calm)} == {1500}
    assert {beat.next_ms for _, beat in calm} == {first.next_ms}


def test_work_ends_the_calm_at_once() -> None:
    watcher = Watcher(3)
    watcher.hear_all(100.0 + CALM_AFTER_S + 3.6)
    began_s = watcher.now_s
    spec = TaskSpec("t", "t", program="mill")
    watcher.hand(Submit("r", "w", "w", "me", 0, (spec,)))
    watcher.hear_all(began_s + 2.0)
    since = [beat for beat in watcher.beats("peer00") if beat[0] > began_s]
    assert since[0][0] <= began_s + 0.5
    assert {beat.next_ms for _, beat in since} == {500}


def test_a_silent_peer_loses_its_link_as_soon_in_a_calm_flock() -> None:
    watcher = Watcher(3)
    watcher.hear_all(100.0 + CALM_AFTER_S + 3.6)
    silent_s = watcher.now_s
    watcher.peers.remove("peer01")
    watcher.hear_all(silent_s + 7.0)
    cut = [(at_s, each.peer) for at_s, each in watcher.told if isinstance(each, Unlink)]
    assert [peer for _, peer in cut] == ["peer01"]
    assert silent_s + 5.0 <= cut[0][0] <= silent_s + 5.5


def test_how_busy_a_machine_is_comes_with_its_beats_alone() -> None:
    watcher = Watcher(3)
    watcher.hear_all(101.0)
    before = len(watcher.told)
    presence = PresenceChanged(volunteering=False, owner_present=True, reason=Starting())
    watcher.hand(replace(presence, load_percent=70))
    watcher.hear_all(102.0)
    since = [each.message for _, each in watcher.told[before:] if isinstance(each, Send)]
    assert not any(isinstance(message, Status) for message in since)
    assert {each.load_percent for each in since if isinstance(each, Heartbeat)} == {70}


def test_a_peer_that_is_merely_late_does_not_end_the_calm() -> None:
    watcher = Watcher(3)
    watcher.hear_all(100.0 + CALM_AFTER_S + 3.6)
    began_s = watcher.now_s
    watcher.peers.remove("peer01")
    watcher.hear_all(began_s + 2.0)
    watcher.peers.append("peer01")
    watcher.hear_all(began_s + 6.0)
    since = [beat.next_ms for at_s, beat in watcher.beats("peer00") if at_s > began_s]
    assert (len(since), set(since)) == (4, {1500})


def test_with_whom_is_no_member_there_is_no_link() -> None:
    """Neither now nor any longer; members keep theirs."""
    watcher = Watcher(2)
    watcher.hand(MembersChanged(("me", "peer00", "peer02")))
    before = len(watcher.told)
    watcher.hand(PeerLinked("stranger"))
    watcher.hand(PeerLinked("peer02"))
    assert set(watcher.node._core.peers) == {"peer00", "peer02"}
    cut = [each for _, each in watcher.told if isinstance(each, Unlink)]
    assert cut == [Unlink(each, NoLink("NotMember")) for each in ("peer01", "stranger")]
    since = [each for _, each in watcher.told[before:] if isinstance(each, Send)]
    assert {peer for each in since for peer in each.peers} <= {"peer00", "peer02"}


def test_to_whom_a_word_did_not_get_status_and_records_are_told_again() -> None:
    watcher = Watcher(2)
    watcher.hear_all(110.0)
    before = len(watcher.told)
    for peer in ("peer01", "somebody"):
        watcher.hand(Dropped(peer))
    watcher.hear_all(112.0)
    since = [each for _, each in watcher.told[before:] if isinstance(each, Send)]
    again = [each for each in since if isinstance(each.message, Status | Digest)]
    assert [type(each.message) for each in again] == [Status, Digest]
    assert {each.peers for each in again} == {("peer01",)}


@pytest.mark.parametrize("late_s", [0.0, 1.5])
def test_who_slept_begins_nothing_before_all_that_waited_is_heard(late_s: float) -> None:
    watcher = Watcher(0)
    watcher.hand(PresenceChanged(volunteering=True, owner_present=False, reason=Starting()))
    watcher.until(130.0)
    watcher.now_s = late_s + (watcher.node.next_deadline() or 0.0)
    watcher.hand(Submit("r", "w", "w", "me", 0, (TaskSpec("t", "t", program="mill"),)))
    assert began(watcher) == (late_s == 0.0)
    watcher.hand(Due())
    watcher.until(watcher.now_s + 1.0)
    assert began(watcher)


def began(watcher: Watcher) -> bool:
    return any(isinstance(each, StartChild) for _, each in watcher.told)
