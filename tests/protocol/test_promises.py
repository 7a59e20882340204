"""What a node answers to claims, how long its word binds it, and what it asks again for a client."""

from __future__ import annotations

from typing import Any, cast

import pytest

from agent.protocol import effects as fx
from agent.protocol import events as ev
from agent.protocol.messages import (
    ClaimAnswers,
    ClaimName,
    ClaimOffer,
    Enqueue,
    Goodbye,
    Release,
    Stored,
    TryDequeue,
)
from agent.protocol.news import News
from agent.protocol.promises import GIVEN_MAX, UNKNOWN_PROMISED_MAX
from agent.protocol.records import Claim, Life, TaskSpec, TaskState, Terminated
from tests.certain import certain
from tests.protocol.worker import Worker

SCORE = 100


def claim_of(host: str, stamp: int = 1) -> Claim:
    return Claim(SCORE, (stamp, 0), host)


class Asked(Worker):
    """A node that peers ask, and what it answers to each."""

    def __init__(self, *peers: str, **settings: Any) -> None:
        super().__init__(**settings)
        for name in peers:
            self.peer(name)

    def asks(self, host: str, *tasks: str, stamp: int = 1) -> dict[str, ClaimAnswers]:
        """A peer claims these tasks; who is answered what."""
        claim = claim_of(host, stamp)
        offers = tuple(ClaimOffer(task, claim, Life(1)) for task in tasks)
        self.node.promises._asked(self.core.peers[host], TryDequeue(offers))
        return self.answers()

    def releases(self, host: str, task: str, stamp: int = 1) -> dict[str, ClaimAnswers]:
        name = ClaimName(task, claim_of(host, stamp))
        self.node.promises._released(self.core.peers[host], Release((name,)))
        return self.answers()

    def answers(self) -> dict[str, ClaimAnswers]:
        sent = [each for each in self.core.take_effects() if isinstance(each, fx.Send)]
        told = [each for each in sent if isinstance(each.message, ClaimAnswers)]
        return {each.peers[0]: cast("ClaimAnswers", each.message) for each in told}

    def promised(self) -> dict[str, str]:
        return {task: each.claimant for task, each in self.node.promises.by_task.items()}


def asked_about_work(*peers: str) -> Asked:
    asked = Asked(*peers)
    asked.ready("T1")
    asked.core.take_effects()
    return asked


def test_one_is_promised_a_task_better_claims_wait_and_worse_are_refused() -> None:
    asked = asked_about_work("a", "b", "c")
    second = claim_of("b", 2)
    assert asked.asks("b", "T1", stamp=2)["b"].consents == (ClaimName("T1", second),)
    waits = asked.asks("a", "T1", stamp=1)["a"]
    assert waits.busy == (ClaimName("T1", claim_of("a", 1)),)
    assert [each.claim for each in waits.held] == [second]
    refused = asked.asks("c", "T1", stamp=3)["c"]
    assert [each.claim for each in refused.better] == [second]
    assert (refused.busy, refused.consents) == ((), ())
    assert asked.promised() == {"T1": "b"}
    assert asked.releases("b", "T1", stamp=9) == {}, "another claim of it"
    asked.core.wake = False
    assert asked.releases("b", "T1", stamp=2)["a"].consents == (ClaimName("T1", claim_of("a", 1)),)
    assert (asked.promised(), asked.core.wake) == ({"T1": "a"}, True)


def test_of_those_who_wait_the_best_is_next_and_who_gave_up_is_not() -> None:
    asked = asked_about_work("a", "b", "c", "d")
    for host, stamp in (("d", 9), ("c", 3), ("b", 2), ("a", 1)):
        asked.asks(host, "T1", stamp=stamp)
    asked.releases("a", "T1", stamp=1)
    found = asked.releases("d", "T1", stamp=9)
    assert asked.promised() == {"T1": "b"}
    assert (len(found["b"].consents), len(found["c"].better), "a" in found) == (1, 1, False)


@pytest.mark.parametrize(("after_s", "expires"), [(14.99, False), (15.0, True)])
def test_a_promise_binds_for_fifteen_seconds(after_s: float, expires: bool) -> None:
    asked = asked_about_work("a", "b")
    asked.asks("b", "T1", stamp=2)
    asked.asks("a", "T1", stamp=1)
    asked.later(after_s)
    asked.node.promises.on_tick()
    assert asked.promised() == {"T1": "a" if expires else "b"}
    assert asked.core.counters.get("promise expired", 0) == expires
    assert bool(asked.answers()) is expires


def test_asking_again_is_answered_again_and_keeps_who_waits() -> None:
    asked = asked_about_work("a", "b")
    asked.asks("b", "T1", stamp=2)
    asked.asks("a", "T1", stamp=1)
    assert asked.asks("b", "T1", stamp=2)["b"].consents
    asked.node.promises.on_gone(asked.core.peers["b"])
    assert asked.promised() == {"T1": "a"}


def test_what_is_promised_to_a_peer_that_goes_is_free_and_it_waits_no_more() -> None:
    asked = asked_about_work("a", "b")
    asked.asks("b", "T1", stamp=2)
    asked.asks("a", "T1", stamp=1)
    asked.node.promises.on_gone(asked.core.peers["a"])
    assert asked.promised() == {"T1": "b"}
    asked.node.promises.on_gone(asked.core.peers["b"])
    assert (asked.promised(), asked.answers()) == ({}, {})


def test_a_claim_in_anothers_name_gets_nothing() -> None:
    asked = asked_about_work("a", "b")
    offer = ClaimOffer("T1", claim_of("a"), Life(1))
    asked.node.promises._asked(asked.core.peers["b"], TryDequeue((offer,)))
    assert (asked.answers(), asked.promised()) == ({}, {})
    assert asked.core.counters == {"claim in another's name": 1}


def test_a_promise_ends_when_its_claim_has_won_or_its_task_is_gone() -> None:
    asked = asked_about_work("a", "b")
    asked.asks("b", "T1", stamp=2)
    asked.asks("a", "T1", stamp=1)
    asked.peer("b")
    asked.begun("T1", "b", Terminated())
    asked.node._spread_news()
    assert [each.life.runs[0].host for each in asked.answers()["a"].known] == ["b"]
    assert asked.promised() == {}
    asked = asked_about_work("a")
    asked.asks("a", "T1")
    asked.node.promises.on_news(News(forgotten_tasks=["T1"]))
    assert (asked.promised(), asked.node.promises.given) == ({}, {})


def test_what_has_ended_is_not_promised() -> None:
    asked = asked_about_work("a")
    asked.begun("T1", "me", Terminated())
    asked.core.take_effects()
    assert asked.asks("a", "T1")["a"].known
    assert asked.promised() == {}


def test_of_what_is_not_known_one_claimant_is_promised_so_much() -> None:
    asked = Asked("a", "b")
    names = [f"T{number}" for number in range(UNKNOWN_PROMISED_MAX + 1)]
    found = asked.asks("a", *names)["a"]
    assert len(found.consents) == UNKNOWN_PROMISED_MAX == 1_000
    assert asked.core.counters == {"claims on too many unknown tasks": 1}
    assert asked.asks("b", names[-1])["b"].consents, "another one may"
    asked.ready(names[-1] + "!")
    assert asked.asks("a", names[-1] + "!")["a"].consents, "and what is known"
    assert not asked.node.promises.given.keys() - {(names[-1] + "!", "a")}


def test_what_was_promised_lately_is_remembered_up_to_a_number() -> None:
    asked = Asked("a")
    promises = asked.node.promises
    asked.ready("T1")
    for number in range(GIVEN_MAX):
        promises.given[f"x{number}", "a"] = claim_of("a")
    asked.asks("a", "T1")
    assert len(promises.given) == GIVEN_MAX == 2_000
    assert (("x0", "a") in promises.given, ("x1", "a") in promises.given) == (False, True)
    assert promises.given["T1", "a"] == claim_of("a")


def test_who_slept_is_bound_by_nothing() -> None:
    asked = asked_about_work("a")
    asked.asks("a", "T1")
    asked.node.promises.void()
    assert asked.promised() == {}


# -- what a client was not answered yet --------------------------------------------------


def submits(worker: Worker, name: str = "bread", request: str = "r1") -> None:
    tasks = (TaskSpec(f"{name} 1", "T1", "mill"),)
    worker.node._requests._submit(ev.Submit(request, name, name, "ana", 50, tasks))


def told(worker: Worker) -> tuple[list[tuple[str, ...]], list[fx.Answer]]:
    """Which workflows were sent to whom for a receipt, and what clients were answered."""
    effects = worker.core.take_effects()
    sent = [each for each in effects if isinstance(each, fx.Send)]
    asked = [
        (*each.peers, *(work.spec.workflow for work in each.message.workflows))
        for each in sent
        if isinstance(each.message, Enqueue) and each.message.receipt
    ]
    return asked, [each for each in effects if isinstance(each, fx.Answer)]


def test_what_is_submitted_waits_for_a_second_disk_and_is_sent_again_each_second() -> None:
    worker = Worker()
    worker.peer("a")
    submits(worker)
    submits(worker, request="r2")
    asked, answers = told(worker)
    assert (asked, answers) == ([("a", "bread")], [])
    found = []
    for after_s in (0.0, 0.99, 0.01, 0.5, 0.5):
        worker.later(after_s)
        worker.node._requests.on_tick()
        found.append(len(told(worker)[0]))
    assert found == [1, 0, 1, 0, 1]
    worker.node._requests._stored(worker.core.peers["a"], Stored(("bread", "cake")))
    _, answers = told(worker)
    assert [(each.request, each.disks, each.workflow) for each in answers] == [
        ("r1", 2, "bread"),
        ("r2", 2, "bread"),
    ]
    worker.later(5.0)
    worker.node._requests.on_tick()
    assert told(worker) == ([], [])


def test_twenty_at_a_time_are_sent_again() -> None:
    worker = Worker()
    worker.peer("a")
    for number in range(21):
        submits(worker, f"w{number:02}", f"r{number}")
    worker.core.take_effects()
    worker.node._requests.on_tick()
    assert len(told(worker)[0]) == 20
    worker.node._requests.on_greeted(worker.peer("b"))
    assert [each[0] for each in told(worker)[0]] == ["b"] * 20


def test_alone_it_is_accepted_here_and_safe_later() -> None:
    for goes in (None, "on_gone", "on_suspected"):
        worker = Worker()
        if goes:
            worker.peer("a")
        submits(worker)
        if goes:
            assert told(worker)[1] == []
            getattr(worker.node._requests, goes)(worker.core.peers["a"])
        _, answers = told(worker)
        assert [(each.verdict, each.disks) for each in answers] == [(fx.Verdict.ACCEPTED, 1)]
        worker.node._requests._stored(worker.peer("b"), Stored(("bread",)))
        effects = worker.core.take_effects()
        assert [e.workflow for e in effects if isinstance(e, fx.WorkflowSafe)] == ["bread"]


def test_what_is_known_is_not_submitted_twice() -> None:
    for shared, disks in ((False, 1), (True, 2)):
        worker = Worker()
        submits(worker)
        if shared:
            worker.node._requests._stored(worker.peer("a", compared=True), Stored(("bread",)))
        worker.core.take_effects()
        submits(worker, request="r2")
        (answer,) = told(worker)[1]
        assert (answer.verdict, answer.disks) == (fx.Verdict.ALREADY_KNOWN, disks)


def test_a_receipt_is_given_for_what_is_on_this_disk() -> None:
    worker = Worker()
    peer = worker.peer("a")
    submits(worker)
    work = worker.core.table.workflows["bread"]
    worker.core.take_effects()
    for receipt, usable, given in (
        (True, True, [("bread",)]),
        (False, True, []),
        (True, False, []),
    ):
        worker.core.disk_usable = usable
        worker.node._requests._enqueued(peer, Enqueue((work,), (), receipt))
        sent = [each for each in worker.core.take_effects() if isinstance(each, fx.Send)]
        found = [each.message.workflows for each in sent if isinstance(each.message, Stored)]
        assert found == given


def test_a_full_disk_refuses_what_a_client_was_not_answered() -> None:
    worker = Worker()
    worker.peer("a")
    submits(worker)
    dropped = worker.core.take_effects()
    requests = worker.node._requests
    assert requests.refuse_unsaved(dropped) == ["bread"]
    _, answers = told(worker)
    assert [(each.request, each.verdict) for each in answers] == [("r1", fx.Verdict.REFUSED)]
    assert "bread" not in worker.core.table.workflows
    sends = [each for each in dropped if isinstance(each, fx.Send)]
    enqueued = next(each for each in sends if isinstance(each.message, Enqueue))
    assert requests.vouches(enqueued, ["bread"])
    assert not requests.vouches(enqueued, ["cake"])
    for vouching in (Stored(()), TryDequeue(())):
        assert requests.vouches(fx.Send(("a",), vouching), [])
    assert not requests.vouches(fx.Send(("a",), Goodbye("")), [])
    for verdict in fx.Verdict:
        believed = verdict in (fx.Verdict.ACCEPTED, fx.Verdict.ALREADY_KNOWN)
        assert requests.vouches(fx.Answer("r", verdict), []) is believed


def test_who_cancels_is_told_when_nothing_runs_any_more() -> None:
    for host, verdict in (("me", fx.Verdict.CANCELLING), ("", fx.Verdict.DONE)):
        worker = Worker()
        worker.ready("T1")
        if host:
            worker.begun("T1", host)
        worker.core.take_effects()
        worker.node._requests._cancel(ev.Cancel("r", "w T1"))
        (answer,) = told(worker)[1]
        assert answer.verdict is verdict
        assert certain(worker.core.table.reading("T1")).state is TaskState.CANCELLED
        worker.node._requests.on_tick()
        assert list(worker.node._requests._cancelling) == (["T1"] if host else [])
