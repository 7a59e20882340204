"""What a node that starts waits for, and whom it asks: each condition alone, beside what it sees."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.protocol.clock import Instant
from agent.protocol.core import Peer
from agent.protocol.effects import Identity, Persist, Send
from agent.protocol.events import Started
from agent.protocol.joining import Joining
from agent.protocol.messages import Capabilities, Records, Status, TasksTransfer
from agent.protocol.node import Node, NodeSetup
from agent.protocol.records import PriorityWish, Pruning, TaskSpec, Workflow, WorkflowSpec
from tests.certain import certain

START_S = 100.0
WALL_MS = 1_800_000_000_000
SPEC = WorkflowSpec("bread", "bread", (1, 0), "me", "ana", (TaskSpec("T1", "T1", "mill"),))
BREAD = Workflow(SPEC, PriorityWish(1, "me", 50))


class Newcomer:
    """A node that starts among members of which a test says who is linked, and what they say."""

    def __init__(self, *members: str, identity: Identity | None = None) -> None:
        able, everybody = Capabilities(), ("me", *members)
        node = Node(NodeSetup("me", "me", 1, able, members=everybody, identity=identity))
        self.core = node._core
        self.done: list[object] = []
        self.election = SimpleNamespace(master="")
        liveness = SimpleNamespace(
            started_s=0.0,
            tell_status=lambda: self.done.append("status"),
            forget_losses=lambda: self.done.append("losses forgotten"),
        )
        self.liveness = liveness
        healing = SimpleNamespace(
            in_pieces=node._healing.in_pieces,
            take=node._healing.take,
            compare_with=lambda peer: self.done.append(peer.node),
        )
        parts = (self.core, liveness, self.election, healing, lambda: self.done.append("begin"))
        self.joining = Joining(*cast("Any", parts))
        self.at(0.0)

    def at(self, after_s: float, wall_ms: int = WALL_MS) -> None:
        self.core.set_now(Instant(START_S + after_s, wall_ms), "")

    def start(self) -> None:
        self.joining._started(Started())

    def linked(self, name: str, **more: Any) -> Peer:
        peer = Peer(name, self.core.now_s, self.core.now_s, 0.5, **{"greeted": True, **more})
        self.core.peers[name] = peer
        return peer

    def joined_at(self, after_s: float) -> bool:
        self.at(after_s)
        self.joining.on_tick()
        return self.core.joined

    def asked(self) -> list[str]:
        """Whom it asked for all, since it was last looked."""
        sent = [each for each in self.core.take_effects() if isinstance(each, Send)]
        return [peer for each in sent if each.message == TasksTransfer() for peer in each.peers]


def status(reached: tuple[str, ...] = (), neighbours: tuple[str, ...] = ()) -> Status:
    near, far = dict.fromkeys(neighbours, 1), dict.fromkeys(reached, 1)
    return Status(1, 1, "", "1", 1, True, False, "", 0, 0, Capabilities(), near, far)


def test_a_start_is_told_and_raises_the_incarnation() -> None:
    for remembered, wall_ms, incarnation in (
        (None, WALL_MS, WALL_MS),
        (Identity(WALL_MS, 10, (0, 0)), WALL_MS + 5_000, WALL_MS + 5_000),
        (Identity(2 * WALL_MS, 10, (0, 0)), WALL_MS, 2 * WALL_MS + 1 + WALL_MS % 1_009),
    ):
        new = Newcomer("pato", identity=remembered)
        new.at(0.0, wall_ms)
        new.start()
        assert new.core.incarnation == incarnation
        assert new.liveness.started_s == START_S
        assert new.done == ["begin", "status"]
        (saved,) = [each for each in new.core.take_effects() if isinstance(each, Persist)]
        assert certain(saved.identity).incarnation == incarnation


def test_a_node_that_is_the_only_member_has_joined_as_it_starts() -> None:
    new = Newcomer()
    new.start()
    assert (new.core.joined, new.core.wake, new.core.liveness_changed) == (True, True, True)
    assert new.done == ["begin", "status", "status"]
    new.core.wake = False
    assert new.joined_at(9.0)
    assert (new.core.wake, new.done[2:]) == (False, ["status"]), "once"


def test_members_that_are_not_linked_are_waited_for_five_seconds() -> None:
    for linked in ((), ("pato",)):
        new = Newcomer("pato", "grifo")
        new.start()
        for name in linked:
            new.linked(name, compared=True)
        assert not new.joined_at(4.99)
        assert new.joined_at(5.0)


def test_who_is_linked_and_has_not_greeted_is_waited_for_as_long() -> None:
    new = Newcomer("pato")
    new.start()
    peer = new.linked("pato", compared=True, greeted=False)
    assert not new.joined_at(4.99)
    peer.greeted = True
    new.joining.on_greeted(peer)
    assert new.core.joined


@pytest.mark.parametrize(
    ("told", "more", "joins_s"),
    [
        (status(reached=("lobo",)), {}, 15.0),
        (status(reached=("lobo",)), {"suspected": True}, 5.0),
        (status(reached=("lobo",), neighbours=("lobo",)), {}, 5.0),
        (status(reached=("pato", "me")), {}, 5.0),
        (status(reached=("stranger",)), {}, 5.0),
        (status(), {}, 5.0),
        (None, {}, 5.0),
    ],
    ids=["up apart", "who says so is suspected", "a neighbour", "itself", "no member", "-", "mute"],
)
def test_a_member_that_is_up_elsewhere_is_waited_for_longer(
    told: Status | None, more: dict[str, Any], joins_s: float
) -> None:
    new = Newcomer("pato", "lobo", "grifo")
    new.start()
    new.linked("pato", compared=True, status=told, **more)
    assert not new.joined_at(joins_s - 0.01)
    assert new.joined_at(joins_s)


def test_the_table_is_asked_of_one_at_a_time_and_nothing_begins_before_it_has_come() -> None:
    """Whom it has not asked yet comes first, of these the master, and then who has a table."""
    new = Newcomer("a", "b", "c", "d")
    new.start()
    for name, more in (
        ("a", {}),
        ("b", {"has_table": True}),
        ("c", {}),
        ("d", {"suspected": True}),
    ):
        new.linked(name, **cast("Any", more))
    new.election.master = "c"
    asked = []
    for at_s in (0.5, 1.0, 3.49, 3.5, 6.4, 6.5, 20.0):
        assert not new.joined_at(at_s)
        asked.append(new.asked())
    assert asked == [["c"], [], [], ["b"], [], ["c"], ["b"]]
    new.election.master = ""
    new.linked("d", has_table=True, greeted=False)
    new.joining.on_gone(new.core.peers["a"])
    assert not new.joined_at(20.5)
    assert new.asked() == [], "another one is asked still"
    new.joining.on_gone(new.core.peers.pop("b"))
    assert not new.joined_at(20.6)
    assert new.asked() == ["a"]


def test_nobody_is_asked_for_the_table_while_all_are_suspected() -> None:
    new = Newcomer("pato")
    new.start()
    peer = new.linked("pato", suspected=True)
    assert not new.joined_at(30.0)
    assert new.asked() == []
    peer.suspected = False
    new.joined_at(30.1)
    assert new.asked() == ["pato"]


def test_the_last_records_of_whom_it_asked_end_the_wait() -> None:
    new = Newcomer("a", "b")
    new.start()
    new.linked("a")
    new.joined_at(0.5)
    new.linked("b")
    for sender, last, joins in (("a", False, False), ("b", True, False), ("a", True, True)):
        new.joining._records(new.core.peers[sender], Records(workflows=(BREAD,), last=last))
        assert new.core.joined is joins
        assert "bread" in new.core.table.workflows


def test_who_remembers_work_compares_instead() -> None:
    new = Newcomer("a")
    new.start()
    new.core.learn("", [BREAD])
    peer = new.linked("a")
    assert not new.joined_at(0.5)
    assert (new.asked(), new.done[-1]) == ([], "a")
    peer.compared = True
    assert new.joined_at(0.6)


def test_a_table_is_handed_over_with_its_end_marked() -> None:
    new = Newcomer("a")
    new.core.learn("", [BREAD], prunings=[Pruning("cake", 1, (1, 0))])
    new.core.take_effects()
    new.joining._transfer(new.linked("a"), TasksTransfer())
    sent = [each for each in new.core.take_effects() if isinstance(each, Send)]
    told = [cast("Records", each.message) for each in sent]
    assert {each.peers for each in sent} == {("a",)}
    assert [each.last for each in told] == [False] * (len(told) - 1) + [True]
    assert [each.spec.workflow for piece in told for each in piece.workflows] == ["bread"]
    assert [each.workflow for piece in told for each in piece.prunings] == ["cake"]


def test_who_slept_compares_with_all_and_begins_nothing_before_one_has_answered() -> None:
    new = Newcomer("a", "b")
    new.start()
    first, other = new.linked("a"), new.linked("b", greeted=False)
    first.compared = True
    new.joining._transferred = new.core.joined = True
    new.done.clear()
    new.at(60.0)
    new.joining.start_over()
    first.compared = False
    assert new.done == ["losses forgotten", "status", "a"]
    assert (new.core.joined, new.liveness.started_s) == (False, START_S + 60.0)
    assert not new.joined_at(62.99)
    assert new.asked() == [], "all have been asked"
    new.joined_at(63.0)
    assert new.asked() == ["a"]
    first.compared = other.greeted = True
    assert new.joined_at(63.5)
