"""Scenes with a member that lies: no word of one member stops the flock, or ends what others run.

Each is played with the guard that makes it harmless and without, where it must do its harm.
"""

from __future__ import annotations

from itertools import combinations

import pytest

from agent.protocol import datasets, promises
from agent.protocol import events as ev
from agent.protocol.claims import Claims
from agent.protocol.evidence import SCORE_AT_HOME, Knowledge
from agent.protocol.incarnations import Incarnations
from agent.protocol.messages import ClaimOffer, Holdings, Message, Status, TryDequeue
from agent.protocol.node import UNSETTLED
from agent.protocol.obstructors import PATIENCE_S, Obstructors
from agent.protocol.records import Claim, Life, TaskState
from agent.protocol.sharing_reasons import PassedBy
from tests.protocol import lies
from tests.protocol.stage import Stage, task
from tests.protocol.stage_machines import Course

LIAR = "mau"
HONEST = ("acor", "grifo", "pato")
guarded = pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "unguarded"])


class Liars(Stage):
    """A stage on which one says what it likes."""

    lie: lies.Lie | None = None

    def _carry(self, sender: str, receiver: str, message: Message) -> str:
        if sender == LIAR and self.lie is not None:
            said = self.lie(receiver, message)
            if said is None:
                return "kept back"
            message = said
        return super()._carry(sender, receiver, message)


def with_liar(lie: lies.Lie, *, works: bool = False) -> Liars:
    """Three honest machines and one that is not, whose owner sits there unless it ``works``."""
    stage = Liars(*HONEST, LIAR)
    stage.flock()
    stage.owner(LIAR, here=not works)
    stage.play(0.5)
    stage.lie = lie
    return stage


OBSTRUCTIONS = {
    "busy": lies.always_busy,
    "busy for an honest one": lies.busy_for("grifo"),
    "busy for itself": lies.busy_for(LIAR),
    "busy for nobody": lies.busy_for("nobody else"),
    "silent": lies.silent,
    "claims all": lies.claims_all(LIAR),
    "claims all for another": lies.claims_all("grifo"),
    "sees no seats": lies.knows_better,
    "doubts all": lies.believes_nothing,
}


@guarded
@pytest.mark.parametrize("lie", OBSTRUCTIONS.values(), ids=OBSTRUCTIONS)
def test_no_word_of_one_member_stops_new_work(
    lie: lies.Lie, guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not guarded:
        monkeypatch.setattr(Claims, "_pass_by", lambda _: None)
        monkeypatch.setattr(Obstructors, "__contains__", lambda *_: False)
    stage = with_liar(lie)
    stage.submit("pato", "bread", task("T1", expected_ms=500)).play(2.5 * PATIENCE_S)
    ended = stage.state("T1") is TaskState.TERMINATED
    assert ended == guarded
    if guarded:
        stage.submit("pato", "cake", task("T2", expected_ms=500)).play(2.5 * PATIENCE_S)
        assert stage.state("T2") is TaskState.TERMINATED
        stage.submit("pato", "pie", task("T3", expected_ms=500)).play(5)
        assert stage.state("T3") is TaskState.TERMINATED, "it is not waited for again and again"
        assert [len(stage.starters(each)) for each in ("T1", "T2", "T3")] == [1] * 3


@guarded
def test_honest_members_do_not_pay_for_claims_that_nobody_makes(
    guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that the liar names are linked, and would have asked themselves."""
    if not guarded:
        monkeypatch.setattr(Claims, "_is_linked", lambda *_: False)
    stage = with_liar(lies.names_rivals(*HONEST))
    stage.submit("pato", "bread", task("T1", expected_ms=500)).play(2.5 * PATIENCE_S)
    stage.submit("pato", "cake", task("T2", expected_ms=500)).play(2.5 * PATIENCE_S)
    accused = {each for name in HONEST for each in stage.living()[name].in_the_way}
    assert (accused <= {LIAR}) == guarded
    if guarded:
        assert stage.state("T1") is stage.state("T2") is TaskState.TERMINATED
        assert [len(stage.starters(each)) for each in ("T1", "T2")] == [1] * 2


@guarded
@pytest.mark.parametrize(
    ("pairs", "in_the_way"),
    [
        ([("mau", "acor"), ("mau", "pato")], "mau"),
        ([("acor", "mau"), ("pato", "mau")], "mau"),
        ([("mau", "acor")] * 2, ""),
    ],
    ids=["names several", "named by several", "one names one"],
)
def test_of_two_the_one_is_in_the_way_with_whom_others_have_that_too(
    pairs: list[tuple[str, str]], in_the_way: str, guarded: bool
) -> None:
    """Unguarded: the claims that are named are made here, too."""
    stage = Stage(*HONEST, LIAR).flock()
    core = stage.living()["grifo"]._core
    obstructors, heeded = Obstructors(core), []
    for number in range(6 * len(pairs)):
        core.now_s += 1.5
        objector, rival = pairs[number // 6]
        claim = Claim(1, (number, 0), rival)
        heeded.append(not obstructors.named("T1", objector, claim))
        if not guarded:
            obstructors.asked("T1", claim)
    assert all(heeded) == (not guarded)
    assert obstructors.all() == ((in_the_way,) if guarded and in_the_way else ())


@pytest.mark.hunting
def test_what_is_refused_for_long_still_only_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each refusal doubled the wait before its limit was looked at, up to a number that is none."""
    monkeypatch.setattr(Obstructors, "__contains__", lambda *_: False)
    stage = with_liar(lies.believes_nothing)
    stage.submit("pato", "bread", task("T1", expected_ms=500)).play(2_300)
    assert stage.state("T1") is TaskState.READY
    stage.lie = None
    stage.play(5)
    assert stage.state("T1") is TaskState.TERMINATED


def test_a_node_whose_plan_has_no_end_does_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice a word of a member has found such a plan; the third time costs no more than that work."""
    monkeypatch.setattr(Claims, "_hindrance", lambda *_: "made again at once")
    stage = Stage("acor", "pato").flock("acor")
    stage.submit("acor", "bread", task("T1")).play(1)
    acor = stage.living()["acor"]
    assert acor._core.counters[UNSETTLED]
    stage.boot("pato")
    stage.link("acor", "pato").play(3)
    assert acor.reachable() == ("pato",)
    monkeypatch.undo()
    stage.play(3)
    assert stage.state("T1") is TaskState.TERMINATED


def test_who_is_in_the_way_is_told_of_and_forgiven() -> None:
    stage = with_liar(lies.always_busy)
    for number in range(2):
        stage.submit("pato", f"w{number}", task(f"T{number}", expected_ms=500)).play(8)
    runner = stage.living()[stage.starters("T1")[0]]
    assert list(runner.in_the_way) == [LIAR]
    assert PassedBy(LIAR) in [entry.what for entry in runner.story("T1")]
    stage.lie = None
    stage.play(1_801)
    assert not runner.in_the_way


def test_a_claimant_without_a_link_is_waited_for_as_long_as_any_claim_lasts() -> None:
    """It cannot be asked here, so that it is only seen whether anything becomes of it."""
    stage = Liars(*HONEST, LIAR)
    stage.flock(links=[*combinations((*HONEST[1:], LIAR), 2), ("acor", "grifo"), ("acor", LIAR)])
    for name in ("grifo", "pato", LIAR):
        stage.owner(name, here=True)
    stage.play(0.5)
    stage.lie = lies.busy_for("pato")
    stage.submit("acor", "bread", task("T1", expected_ms=500)).play(9)
    assert not stage.starters("T1"), "a third keeps those apart that do not see each other"
    stage.play(60)
    assert stage.state("T1") is TaskState.TERMINATED, "and not for ever"


@guarded
def test_hello_seen_cannot_end_work(guarded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not guarded:

        def as_told(own: Incarnations) -> int:
            return own._seen_of_me + 1 if own._seen_of_me > own._core.incarnation else 0

        monkeypatch.setattr(Incarnations, "to_take", as_told)
    stage = with_liar(lies.saw_later_starts)
    stage.lie = None
    stage.courses["T1"] = Course(6.0)
    stage.submit("pato", "bread", task("T1", expected_ms=6_000)).play(1)
    stage.lie = lies.saw_later_starts
    stage.play(20)
    assert stage.state("T1") is TaskState.TERMINATED
    assert (len(stage.starters("T1")) == 1) == guarded


@guarded
def test_statuses_cannot_end_the_work_of_others(
    guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not guarded:

        def whatever_is_told(own: Incarnations, status: Status) -> None:
            own._core.incarnations |= {
                host: told for host, told in status.neighbours.items() if host != own._core.me
            }

        monkeypatch.setattr(Incarnations, "told", whatever_is_told)
    stage = with_liar(lies.tells_of_later_starts)
    stage.courses["T1"] = Course(6.0)
    stage.submit("pato", "bread", task("T1", expected_ms=6_000)).play(1)
    stage.owner(LIAR, here=False).play(0.2)
    stage.owner(LIAR, here=True).play(1)
    run = stage.living()["pato"].table.life("T1").runs[0]
    believed = [stage.living()[each]._liveness.alive(run.host, run.incarnation) for each in HONEST]
    assert all(believed) == guarded
    assert stage.play(20).starters("T1") == [run.host], "whom it asks says that it goes on"


@guarded
def test_dataset_offer_quota_per_member(guarded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "HOLDINGS_PER_MEMBER_MAX", 100 if guarded else 10**9)
    stage = Stage(*HONEST, LIAR).flock()
    for number in range(5):
        made_up = tuple(f"{number}-{each}" for each in range(50))
        stage._hand("acor", ev.Received(LIAR, Holdings(made_up)))
    core = stage.living()["acor"]._core
    assert len(core.peers[LIAR].holdings) == (100 if guarded else 250)
    assert ("more datasets offered than one member may" in core.counters) == guarded
    stage._hand("acor", ev.Received(LIAR, Holdings(("new",), complete=True)))
    assert core.peers[LIAR].holdings == {"new"}


@guarded
def test_promises_of_invented_tasks_are_bounded(
    guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promises, "UNKNOWN_PROMISED_MAX", 10 if guarded else 10**9)
    stage = Stage(*HONEST, LIAR).flock()
    claim = Claim(500_000, (1, 0), LIAR)
    offers = tuple(ClaimOffer(f"none-{each}", claim, Life()) for each in range(50))
    stage._hand("acor", ev.Received(LIAR, TryDequeue(offers)))
    node = stage.living()["acor"]
    assert len(node.promises.by_task) == (10 if guarded else 50)
    stage.submit("pato", "bread", task("T1")).play(6)
    assert stage.state("T1") is TaskState.TERMINATED
    stage.play(20)
    assert not node.promises.by_task


@guarded
def test_an_inflated_score_wins_nothing(guarded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Liars(*HONEST, LIAR)
    stage.flock()
    for name in (*HONEST, LIAR):
        stage.owner(name, here=True)
    stage.play(0.5)
    stage.submit("pato", "bread", task("T1", expected_ms=500)).play(0.1)
    liar = stage.living()[LIAR].claims._knowledge
    monkeypatch.setattr(liar, "bid", lambda _: (SCORE_AT_HOME, None))
    if not guarded:
        monkeypatch.setattr(Knowledge, "believed", lambda *_: None)
    for name in (*HONEST, LIAR):
        stage.owner(name, here=False)
    stage.play(5)
    assert (stage.starters("T1") == [LIAR]) == (not guarded)
    assert stage.state("T1") is TaskState.TERMINATED
