"""Effects and commits: what waits for what."""

from __future__ import annotations

from concurrent.futures import Future

import msgspec

from agent.driver.outbox import Outbox
from agent.protocol.effects import (
    Answer,
    Effect,
    Persist,
    ResumeChild,
    Send,
    StopChild,
    SuspendChild,
    Verdict,
)
from agent.protocol.messages import (
    ClaimAnswers,
    ClaimName,
    ClaimOffer,
    Enqueue,
    KnownLife,
    Release,
    State,
    Stored,
    TryDequeue,
)
from agent.protocol.records import NO_LIFE, Claim, Life, PriorityWish, Workflow, WorkflowSpec
from agent.storage.errors import JournalFull
from tests.driver.worlds import RUN, answer, persist, start_child


class Desk:
    """An outbox with its commits in the hands of the test."""

    def __init__(self) -> None:
        self.commits: list[Future[None]] = []
        self.done: list[Effect] = []
        self.refused: list[tuple[Persist, tuple[Effect, ...]]] = []
        self.box = Outbox(self.do, self.submit, self.refuse)

    def do(self, effect: Effect, links_made: int) -> None:
        del links_made
        self.done.append(effect)

    def submit(self, wanted: Persist) -> Future[None]:
        del wanted
        self.commits.append(Future())
        return self.commits[-1]

    def refuse(self, wanted: Persist, dropped: tuple[Effect, ...], error: BaseException) -> None:
        assert isinstance(error, JournalFull)
        self.refused.append((wanted, dropped))

    def put(self, *effects: Effect) -> None:
        self.box.put(effects, 0)

    def commit(self, number: int) -> None:
        self.commits[number].set_result(None)
        self.box.advance()


ONE, TWO, THREE, FOUR = (answer(name) for name in ("one", "two", "three", "four"))
NAME = ClaimName("t", Claim(1, (1, 0), "ant"))
SUSPEND, STOP = SuspendChild("t", RUN), StopChild("t", RUN, "why")


def test_without_a_record_everything_is_done_at_once() -> None:
    desk = Desk()
    desk.put(ONE, TWO)
    assert desk.done == [ONE, TWO]


def test_what_stands_behind_a_record_waits_for_its_commit() -> None:
    desk = Desk()
    desk.put(ONE, persist(), TWO, THREE)
    assert desk.done == [ONE]
    desk.commit(0)
    assert desk.done == [ONE, TWO, THREE]


def test_several_commits_are_under_way_and_their_order_stays() -> None:
    desk = Desk()
    desk.put(persist(1), ONE)
    desk.put(persist(2), TWO)
    assert len(desk.commits) == 2
    desk.commit(1)
    assert desk.done == []
    desk.commit(0)
    assert desk.done == [ONE, TWO]


def test_a_later_event_without_a_record_waits_for_earlier_ones() -> None:
    """It may tell of what they wrote."""
    desk = Desk()
    desk.put(persist(), ONE)
    desk.put(TWO)
    assert desk.done == []
    desk.commit(0)
    assert desk.done == [ONE, TWO]


def test_suspending_and_stopping_wait_for_no_disk() -> None:
    desk = Desk()
    desk.put(persist(1), ONE)
    desk.put(SUSPEND, persist(2), TWO)
    desk.put(STOP, persist(3), THREE)
    assert desk.done == [SUSPEND, STOP]


def test_what_is_about_to_start_is_not_suspended_before_it_starts() -> None:
    desk = Desk()
    start = start_child()
    desk.put(persist(1), start)
    desk.put(SUSPEND, persist(2), ONE)
    assert desk.done == []
    desk.commit(0)
    assert desk.done == [start, SUSPEND]


def test_the_last_word_about_a_run_stays_the_last() -> None:
    desk = Desk()
    resume = ResumeChild("t", RUN)
    desk.put(SUSPEND)
    desk.put(persist(1), resume)
    desk.put(SUSPEND, persist(2), ONE)
    desk.commit(0)
    assert desk.done == [SUSPEND, resume, SUSPEND]


def test_another_run_waits_for_nothing() -> None:
    desk = Desk()
    desk.put(persist(1), start_child("other"))
    desk.put(STOP)
    assert desk.done == [STOP]


def test_behind_a_refused_record_nothing_is_done_and_all_is_handed_back() -> None:
    desk = Desk()
    desk.put(ONE, persist(1), TWO, THREE)
    desk.put(persist(2), FOUR)
    desk.commits[0].set_exception(JournalFull("no room"))
    desk.box.advance()
    assert desk.refused == [(persist(1), (TWO, THREE))]
    desk.commit(1)
    assert desk.done == [ONE, FOUR]
    assert len(desk.box) == 0


def test_words_about_claims_do_not_wait_for_what_is_merely_learned() -> None:
    desk = Desk()
    consent = Send(("ant",), ClaimAnswers(consents=(NAME,)))
    desk.put(persist(), Send(("bee",), Stored(("w",))), ONE)
    desk.put(consent)
    assert desk.done == [consent]
    desk.commit(0)
    assert desk.done == [consent, Send(("bee",), Stored(("w",))), ONE]


def test_words_about_claims_overtake_news_of_runs() -> None:
    desk = Desk()
    told, release = Send(("ant", "bee"), State()), Send(("bee",), Release((NAME,)))
    claim = Send(("ant", "bee"), TryDequeue((ClaimOffer("t", NAME.claim, NO_LIFE),)))
    desk.put(persist(), told)
    desk.put(release, claim)
    assert desk.done == [release, claim]
    desk.commit(0)
    assert desk.done == [release, claim, told]


def test_a_word_about_claims_that_tells_of_a_life_overtakes_nothing() -> None:
    desk = Desk()
    told, begun = Send(("dog",), State()), Life(2)
    claim = Send(("bee",), TryDequeue((ClaimOffer("t", NAME.claim, begun),)))
    answer_known = Send(("ant",), ClaimAnswers(known=(KnownLife("t", NAME.claim, begun),)))
    elsewhere = Send(("cat",), Release((NAME,)))
    desk.put(persist(), told)
    desk.put(claim, answer_known, elsewhere)
    assert desk.done == [elsewhere]
    release = Send(("bee",), Release((NAME,)))
    desk.put(release)  # words about claims keep their order among themselves
    assert desk.done == [elsewhere]
    desk.commit(0)
    assert desk.done == [elsewhere, told, claim, answer_known, release]


def test_words_about_claims_come_behind_the_workflow() -> None:
    desk = Desk()
    told, release = Send(("ant", "bee"), Enqueue(())), Send(("bee",), Release((NAME,)))
    desk.put(persist(), told)
    desk.put(release)
    assert desk.done == []
    desk.commit(0)
    assert desk.done == [told, release]


def test_what_was_refused_stands_in_no_way_any_more() -> None:
    desk = Desk()
    release = Send(("bee",), Release((NAME,)))
    desk.put(persist(), Send(("bee",), Enqueue(())))
    desk.commits[0].set_exception(JournalFull("full"))
    desk.box.advance()
    desk.put(persist())
    desk.put(release)
    assert desk.done == [release]


def test_what_was_refused_is_vouched_for_by_nothing_said_meanwhile() -> None:
    desk = Desk()
    spec = WorkflowSpec("w", "w", (1, 0), "ant", "ana", ())
    stored, other = Send(("ant",), Stored(("w",))), Send(("ant",), Stored(("v",)))
    known = Answer("again", Verdict.ALREADY_KNOWN)
    wanted = msgspec.structs.replace(
        persist(1), workflows=(Workflow(spec, PriorityWish(1, "ant", 50)),)
    )
    desk.put(wanted, ONE)
    desk.put(persist(2), stored, other, known, TWO)
    desk.commits[0].set_exception(JournalFull("full"))
    desk.commit(1)
    assert desk.refused == [(wanted, (ONE, stored, known))]
    assert desk.done == [other, TWO]
