"""Tables that differ are compared, what differs is asked for once, and what nobody knows is found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from zlib import crc32

import pytest

from agent.protocol.clock import TimerKind, Timers
from agent.protocol.core import Peer
from agent.protocol.digest import DigestTree, bucket_of, life_version
from agent.protocol.healing import NEXT_QUESTION, Healing, Unknown
from agent.protocol.messages import (
    AlreadyFinished,
    AskRecords,
    BucketList,
    Digest,
    DoYouKnow,
    GetTask,
    Heartbeat,
    Known,
    Records,
    RecordVersion,
    TakeTask,
)
from agent.protocol.news import News
from agent.protocol.records import Life, PriorityWish, Pruning, TaskLife, Workflow, WorkflowSpec
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from tests.protocol.stage import task

SIZE = 4
SETTINGS = Settings(
    records_per_message_max=SIZE,
    hash_differs_s=1.0,
    hash_differs_busy_s=15.0,
    ask_again_s=2.0,
    transfer_wait_s=3.0,
    unknown_delay_s=0.2,
)
GONE = Pruning("gone", 1, (9, 0))


def workflow(name: str, tasks: int) -> Workflow:
    specs = tuple(task(f"{name}.{number}") for number in range(tasks))
    spec = WorkflowSpec(name, name, (1, 0), "acor", "ana", specs)
    return Workflow(spec, PriorityWish(1, "acor", 50))


class Here:
    """Acor has a table of two workflows with five tasks, and two peers that have greeted."""

    def __init__(self) -> None:
        self.said: list[tuple[Any, Any]] = []
        self.learned: list[Any] = []
        self.counted: list[str] = []
        self.held_back: tuple[str, ...] = ()
        self.master = "pato"
        self.asks = True
        self.table = Table(SETTINGS)
        works = [workflow("w", 2), workflow("v", 3)]
        lives = [TaskLife(each.task, Life(floor=1)) for one in works for each in one.spec.tasks]
        self.table.join(works, lives, [GONE])
        self.pato, self.grifo = (
            Peer(name, 0.0, 0.0, 0.5, greeted=True) for name in ("pato", "grifo")
        )
        self.core: Any = SimpleNamespace(
            me="acor",
            now_s=100.0,
            joined=True,
            settings=SETTINGS,
            table=self.table,
            timers=Timers(),
            peers={"pato": self.pato, "grifo": self.grifo},
            rule=SimpleNamespace(asks=lambda count: self.asks and count == 3),
            checking=SimpleNamespace(
                quotas=SimpleNamespace(is_held_back=lambda key: key in self.held_back)
            ),
            send=lambda to, message: self.said.append((to, message)),
            broadcast=lambda message: self.said.append(("all", message)),
            greeted=lambda: ["pato", "grifo"],
            learn=lambda *what, **more: self.learned.append((what, more)),
            count=self.counted.append,
        )
        self.healing = Healing(cast("Any", self.core))
        self.unknown = Unknown(cast("Any", self.core), cast("Any", self))
        self.tick()  # what the table has is no change any more
        self.core.now_s += 10.0

    def takes(self) -> list[tuple[Any, Any]]:
        said = [*self.said]
        self.said.clear()
        return said

    def hears(self, message: Any, peer: Peer | None = None) -> list[tuple[Any, Any]]:
        handlers = {**self.healing.handlers(), **self.unknown.handlers()}
        kind = Heartbeat if isinstance(message, SimpleNamespace) else type(message)
        handlers[kind](peer or self.pato, message)
        return self.takes()

    def beats(self, at_s: float, same: bool = False) -> bool:
        """Whether the beat of a peer, with the same table or another, leads to a comparison."""
        self.core.now_s = at_s
        said = self.hears(SimpleNamespace(table_hash=self.table.hash ^ (not same)))
        assert all(to == "pato" and isinstance(what, Digest) for to, what in said)
        return bool(said)

    def tick(self, later_s: float = 0.0) -> list[str]:
        """Whom it compares with."""
        self.core.now_s += later_s
        self.healing.on_tick()
        return [to for to, what in self.takes() if isinstance(what, Digest)]

    def lists(self, *keys: str, peer: Peer | None = None) -> list[tuple[str, ...]]:
        """What is asked of a peer that has other versions of these."""
        version = self.table.digest.version
        records = tuple(RecordVersion(key, (version(key) or 0) ^ 1) for key in keys)
        said = self.hears(BucketList((), records), peer)
        return [message.keys for _, message in said]


# -- tables are compared -----------------------------------------------------------------


def test_a_table_that_differs_for_a_second_is_compared() -> None:
    here = Here()
    assert [here.beats(200.0 + each) for each in (0.0, 0.5, 0.85, 0.95)] == [False] * 3 + [True]
    assert not here.pato.compared
    assert [here.beats(201.8), here.beats(201.9)] == [False, True], "a second after the last time"
    assert not here.beats(202.0, same=True)
    assert (here.pato.compared, here.pato.differs_since_s) == (True, None)
    assert [here.beats(300.0), here.beats(300.95)] == [False, True], "from now on"
    here.core.joined = False
    assert not here.beats(400.0)


def test_while_the_table_changes_more_time_is_given() -> None:
    here = Here()
    here.core.now_s = 200.0
    for at_s in range(16):
        here.table.changes += 1
        here.pato.compared = True  # so that only what the beats tell counts
        here.core.now_s = 200.0 + at_s
        here.tick()
        compared = here.beats(200.0 + at_s)
        assert compared is (at_s == 15)
    here = Here()
    here.table.changes += 1
    here.pato.compared = True
    here.tick()
    start_s = here.core.now_s
    here.pato.differs_since_s = start_s - 5.0
    assert [here.beats(start_s + 0.45), here.beats(start_s + 0.5)] == [False, True], "it is quiet"


def test_who_may_have_missed_something_or_has_not_ended_is_compared_with_again() -> None:
    here = Here()
    for peer in (here.pato, here.grifo):
        peer.compared, peer.compared_s = True, here.core.now_s
    assert here.tick() == []
    here.grifo.stale = True
    assert (here.tick(), here.tick()) == (["grifo"], [])
    assert (here.grifo.compared, here.grifo.stale) == (False, False)
    assert here.tick(2.9) == []
    here.core.joined = False
    assert here.tick(0.1) == []
    here.core.joined = True
    assert here.tick() == ["grifo"]
    here.pato.stale = True
    here.pato.greeted = False
    assert here.tick() == []


def test_an_empty_newcomer_does_not_compare_when_it_greets() -> None:
    for joined, empty, compares in ((True, True, True), (False, False, True), (False, True, False)):
        here = Here()
        here.core.joined = joined
        if empty:
            here.core.table = SimpleNamespace(workflows={}, digest=here.table.digest)
        here.healing.on_greeted(here.pato)
        assert bool(here.takes()) is compares


def test_a_digest_is_answered_with_what_is_there_in_the_buckets_that_differ() -> None:
    here = Here()
    same = tuple(here.table.digest.buckets)
    assert here.hears(Digest(same)) == [("pato", BucketList((), ()))]
    assert here.pato.compared
    here.pato.compared = False
    other = tuple(each ^ 1 for each in same)
    ((to, answer),) = here.hears(Digest(other))
    keys = {record.key for record in answer.records}
    tasks = {"t" + name for name in here.table.specs}
    assert (to, keys) == ("pato", {"ww", "wv", "pgone"} | tasks)
    assert not here.pato.compared


def test_what_differs_is_asked_for_once_in_pieces_until_it_has_come() -> None:
    here = Here()
    here.held_back = ("tx",)
    asked = here.lists("ww", "ta", "tb", "tc", "td", "tx")
    assert asked == [("ww", "ta", "tb", "tc"), ("td",)]
    assert [*here.pato.awaited] == ["ww", "ta", "tb", "tc", "td"]
    assert here.lists("ta", "te", peer=here.grifo) == [("te",)], "the rest is on its way"
    assert not here.pato.compared
    same = RecordVersion("ww", here.table.digest.version("ww") or 0)
    assert here.hears(BucketList((), (same,))) == []
    assert here.pato.compared


def test_what_was_asked_of_who_left_or_does_not_answer_is_asked_of_others() -> None:
    here = Here()
    here.lists("ta")
    here.healing.on_gone(here.grifo)
    assert here.lists("ta", peer=here.grifo) == []
    here.healing.on_gone(here.pato)
    assert here.lists("ta", peer=here.grifo) == [("ta",)]
    here.tick(1.9)
    assert here.lists("ta") == []
    here.tick(0.1)
    assert here.lists("ta") == [("ta",)]


def test_a_comparison_has_ended_when_all_has_come_from_whomever() -> None:
    here = Here()
    here.lists("ta", "wnew")
    here.lists("ta", peer=here.grifo)
    records = Records(lives=(TaskLife("a", Life(1)),))
    here.healing.take(here.grifo, records)
    assert (here.pato.compared, here.grifo.compared) == (False, True)
    here.healing.take(here.grifo, Records((workflow("new", 1),), (), (GONE,)))
    assert here.pato.compared
    assert here.learned[0] == (("grifo", (), records.lives, ()), {})
    assert here.lists("ta") == [("ta",)], "it was not asked for any more"
    here.grifo.compared = False
    here.healing.take(here.pato, records)
    assert (here.pato.compared, here.grifo.compared) == (True, False), "its list has not come"


def test_what_is_asked_for_is_sent_as_far_as_it_is_there() -> None:
    here = Here()
    nothing = here.hears(AskRecords(("wno", "tno", "pno", "xx")))
    assert nothing == [("pato", Records())]
    ((_, lives),) = here.hears(AskRecords(("tw.0", "xx")))
    assert [part.task for part in lives.lives] == ["w.0"]
    ((_, pruned),) = here.hears(AskRecords(("pgone",)))
    assert pruned == Records(prunings=(GONE,))
    told = [message for _, message in here.hears(AskRecords(("ww", "wv", "tw.1")))]
    assert [len(each.workflows) for each in told] == [2]
    assert [part.task for part in told[0].lives] == ["w.0", "w.1", "v.0", "v.1", "v.2"]


def test_pieces_are_of_the_size_that_was_set() -> None:
    here = Here()
    sizes = {"a": 3, "b": 1, "c": 3, "d": 1, "e": 1, "f": 3, "g": 1}
    here.table.join([workflow(name, tasks) for name, tasks in sizes.items()])
    lives = [TaskLife(f"x{number}", Life(1)) for number in range(5)]
    prunings = [Pruning(f"p{number}", 1, (9, 0)) for number in range(6)]
    pieces = here.healing.in_pieces(["w", *sizes], [*lives, TaskLife("w.0", Life(1))], prunings)
    assert [len(each.prunings) for each in pieces if each.prunings] == [4, 2]
    assert [len(each.workflows) for each in pieces if each.workflows] == [2, 2, 3, 1]
    pieces = here.healing.in_pieces(sizes, [*lives, TaskLife("a.0", Life(1))], [])
    assert [len(each.workflows) for each in pieces if each.workflows] == [2, 2, 2, 1]
    pieces = here.healing.in_pieces(["w"], [*lives, TaskLife("w.0", Life(1))], [])
    assert [len(each.lives) for each in pieces if not each.workflows and each.lives] == [4, 1]
    assert here.healing.in_pieces([], [], []) == [Records()]


@pytest.mark.parametrize("question", [AskRecords(("ww", "tw.0")), GetTask("w.0"), Digest])
def test_who_asks_for_too_much_gets_nothing(question: Any) -> None:
    here = Here()
    for part in (here.healing, here.unknown):
        cast("Any", part)._allowance.takes("pato", 10**9)
    if question is Digest:
        question = Digest(tuple(each ^ 1 for each in here.table.digest.buckets))
    assert here.hears(question) == []
    assert here.hears(question, here.grifo)


def test_each_record_that_is_asked_for_counts() -> None:
    for left, answers in ((2, False), (3, True)):
        here = Here()
        cast("Any", here.healing)._allowance.takes("pato", 10**6 - left)
        assert bool(here.hears(AskRecords(("tw.0", "tw.1", "pgone")))) is answers


def test_the_hash_of_a_record_is_the_same_in_every_version() -> None:
    """Else members of different versions compare and ask without end."""
    assert life_version("tT1", Life(floor=1)) == 6_104_928_534_421_469_772


def test_the_hash_of_a_table_is_that_of_what_it_has_by_whatever_way() -> None:
    one, other = DigestTree(), DigestTree()
    assert one.total == 0
    assert set(one.buckets) == {0}
    for key, version in (("ta", 5), ("tb", 9), ("ta", 7), ("tc", 2**62)):
        one.put(key, version)
    one.remove("tc")
    one.remove("never there")
    for key, version in (("tb", 9), ("ta", 7)):
        other.put(key, version)
    assert one.total == other.total == 16
    assert one.buckets == other.buckets
    assert sum(one.buckets) == 16
    other.put("ta", 8)
    assert other.differing(tuple(one.buckets)) == [bucket_of("ta")]
    other.put("huge", 2**63 - 1)
    assert 0 <= other.total < 2**63


# -- tasks that nobody here knows --------------------------------------------------------


def due(here: Here, name: str = NEXT_QUESTION) -> list[tuple[Any, Any]]:
    here.core.timers.disarm(TimerKind.UNKNOWN, name)
    here.unknown.due(name)
    return here.takes()


def next_in(here: Here, name: str = NEXT_QUESTION) -> float:
    """In how many seconds the timer is set to go off."""
    deadline_s = here.core.timers._deadlines[TimerKind.UNKNOWN, name]
    return float(round(deadline_s - here.core.now_s, 6))


def test_the_master_is_asked_after_a_moment_then_everybody_then_nobody() -> None:
    here = Here()
    here.unknown.on_news(News(unknown_tasks=["x"]))
    assert (here.takes(), next_in(here)) == ([], 0.2)
    assert here.counted == ["unknown task"]
    assert due(here) == [("pato", GetTask("x"))]
    assert (next_in(here, "x"), next_in(here)) == (0.5, 0.5)
    here.unknown.ask(["x", "y"])
    here.core.now_s += 0.1
    here.unknown.ask(["y"])
    assert here.counted == ["unknown task"] * 2, "each is asked for already"
    assert next_in(here) == 0.4
    here.table.specs["y"] = task("y")
    here.core.now_s -= 0.1
    assert due(here, "x") == [("all", DoYouKnow("x"))]
    assert next_in(here, "x") == 2.0
    assert due(here, "x") == due(here, "x") == due(here) == []
    here.unknown.ask(["x"])
    assert here.counted == ["unknown task"] * 3, "that was in vain"


def test_without_a_master_everybody_is_asked_at_once() -> None:
    here = Here()
    here.master = ""
    here.unknown.ask(["x"])
    assert due(here) == []
    assert next_in(here, "x") == 0.0
    assert due(here, "x") == [("all", DoYouKnow("x"))]


def test_what_has_come_meanwhile_is_not_asked_for() -> None:
    here = Here()
    here.unknown.ask(["w.0", "x", "y"])
    assert due(here) == [("pato", GetTask("x"))]
    here.table.join([workflow("x", 1)])
    here.table.specs["x"] = task("x")
    assert due(here, "x") == []
    assert due(here) == [("pato", GetTask("y"))], "one after the other"
    assert due(here) == []


def test_rules_that_do_not_ask_do_not_ask() -> None:
    here = Here()
    here.unknown.ask([])
    here.asks = False
    here.unknown.ask(["x"])
    assert (here.counted, here.core.timers.next) == ([], None)


def test_no_more_than_a_thousand_are_noted_and_a_hundred_asked_for_at_once() -> None:
    here = Here()
    here.unknown.ask(f"x{number}" for number in range(1_100))
    assert len(here.counted) == 1_000
    here.unknown.ask(["x0", "one more"])
    assert len(here.counted) == 1_000
    asked = [due(here) for _ in range(101)]
    assert [len(each) for each in asked] == [1] * 100 + [0]
    assert next_in(here) == 0.5
    assert due(here, "x0") == [("all", DoYouKnow("x0"))]
    assert due(here, "x0") == []
    assert due(here) == [("pato", GetTask("x100"))]


def test_the_first_answer_stands_and_the_others_are_told() -> None:
    here = Here()
    here.unknown.ask(["new.0", "gone.0"])
    due(here)
    due(here, "new.0")
    answer = TakeTask(workflow("new", 1), ())
    assert here.hears(answer) == [(["grifo"], Known("new.0"))]
    assert here.hears(answer, here.grifo) == []
    assert here.learned[0] == (("pato", [answer.workflow], ()), {})
    due(here)
    due(here, "gone.0")
    assert here.hears(AlreadyFinished("gone.0", GONE)) == [(["grifo"], Known("gone.0"))]
    here.unknown.ask(["last"])
    due(here)
    assert here.hears(AlreadyFinished("last", GONE)) == [], "only the master was asked"
    assert here.learned[-1] == (("pato",), {"prunings": [GONE]})


def test_who_is_asked_with_everybody_answers_in_its_turn_unless_another_has() -> None:
    here = Here()
    assert here.hears(DoYouKnow("no")) == []
    assert here.core.timers.next is None
    assert here.hears(DoYouKnow("w.0")) == here.hears(DoYouKnow("w.0"), here.grifo) == []
    share = crc32(b"acor w.0") % 1000 / 1000
    assert next_in(here, "w.0") == round(share * 0.2, 6)
    here.hears(Known("w.0"))
    here.hears(Known("never heard of"))
    ((to, answer),) = due(here, "w.0")
    assert (to, answer.workflow.spec.workflow) == ("grifo", "w")
    assert [part.task for part in answer.lives] == ["w.0", "w.1"]
    assert due(here, "w.0") == []
    for name in here.table.specs:
        here.hears(DoYouKnow(name))
        assert next_in(here, name) < 0.2


def test_the_master_answers_at_once_and_nobody_who_is_not_linked() -> None:
    here = Here()
    assert [to for to, _ in here.hears(GetTask("w.0"))] == ["pato"]
    assert here.hears(GetTask("no")) == []
    stranger = Peer("stranger", 0.0, 0.0, 0.5)
    assert here.hears(GetTask("w.0"), stranger) == []
    here.table.join([new := workflow("u", 1)])
    assert here.hears(GetTask("u.0")) == [("pato", TakeTask(new, ()))]
    here.table.join([], [], [over := Pruning("w", 1, (9, 0))])
    assert here.hears(GetTask("w.0")) == [("pato", AlreadyFinished("w.0", over))]
