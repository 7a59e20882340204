"""The doctor's sentences: each fact that explains something, and silence where nothing is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from msgspec import structs

from agent.api.flock import Finding
from agent.api.reasons import IdentityCopied, reason_of
from agent.net.copies import Copied
from agent.net.link_refusals import Cause, LinkRefusal
from agent.node.diagnosis import Facts, copied_peer, findings
from agent.node.suspicions import Suspicion, SuspicionLog, suspicions
from agent.protocol.checking import Fault, Refusal
from agent.protocol.link_reasons import LinkGone, LinkTrouble, NoLink, NoMulticast
from agent.protocol.records import NodeId, TaskId
from agent.protocol.settings import Settings
from agent.protocol.sharing_reasons import ResultsDiffer
from agent.protocol.table import Table
from tests.control.surface import ALDER, FACTS, FLOCK, MEMBERS, REFUSAL

NOW_S = 2e9
HEALTHY = replace(FACTS, members=MEMBERS[:2], refusals=(), discovers=True)
NAMES = {each.node: each.name for each in MEMBERS}


@dataclass
class Seen:
    """What a node has seen of others; nothing yet."""

    refused: dict[Refusal, int] = field(default_factory=dict)
    in_the_way: tuple[NodeId, ...] = ()
    doubtful: dict[TaskId, ResultsDiffer] = field(default_factory=dict)
    table: Table = field(default_factory=lambda: Table(Settings()))


def suspected(seen: Seen) -> tuple[Suspicion, ...]:
    return tuple(suspicions(seen, lambda node: NAMES.get(node, node)))


MISSING = replace(HEALTHY, members=MEMBERS[:3])


def told(facts: Facts) -> list[Finding]:
    return list(findings(facts, NOW_S))


def refused(cause: Cause, why: LinkTrouble = NoLink("NotLetIn"), **changes: Any) -> Facts:  # noqa: B008
    refusal = replace(REFUSAL, cause=cause, why=why, **changes)
    return replace(MISSING, refusals=(refusal,))


def test_a_peer_whose_identity_was_copied_is_not_relied_on() -> None:
    peer = HEALTHY.peers[0]
    copied = Copied(peer.node, ("10.0.0.2", "10.0.0.2", "10.0.0.9"), NOW_S)
    told_of = reason_of(copied_peer(peer, [copied]).why, "")
    assert told_of == IdentityCopied(peer.name, ("10.0.0.2", "10.0.0.9"))
    assert copied_peer(peer, [replace(copied, node="another")]) is peer


def test_nothing_is_said_where_nothing_is_wrong() -> None:
    assert told(HEALTHY) == []


def test_without_a_flock_it_says_how_to_join_and_no_more() -> None:
    (only,) = told(replace(MISSING, flock=None))
    assert only.kind == "no flock"
    assert "`wingbeat flock join -`" in only.text


SENTENCES = [
    (
        replace(HEALTHY, suspicions=suspected(Seen(in_the_way=(ALDER.node,)))),
        *("in the way", "alder kept tasks from beginning and gave no reason that holds"),
    ),
    (
        replace(
            HEALTHY,
            suspicions=suspected(Seen(doubtful={"segment": ResultsDiffer(ALDER.node, FACTS.node)})),
        ),
        *("doubtful", "segment was finished with different results by alder and "),
    ),
    (
        replace(HEALTHY, copied=(Copied(ALDER.node, ("10.0.0.2", "10.0.0.9"), NOW_S),)),
        *("copied identity", "two machines have the identity of alder (at 10.0.0.2 and 10.0.0.9):"),
    ),
    (
        replace(HEALTHY, copied=(Copied(FACTS.node, ("10.0.0.9",), NOW_S),)),
        *("copied identity", "another machine has the same identity as this one, so a data folder"),
    ),
    (
        refused(Cause.COPIED, NoLink("IdentityTaken")),
        *("copied identity", "another machine has the same identity as this one"),
    ),
    (
        replace(HEALTHY, flock=replace(FLOCK, expelled=True)),
        *("expelled", "this machine was sent away from meadow: leave the flock"),
    ),
    (
        replace(HEALTHY, flock=replace(FLOCK, member_valid_until_s=NOW_S - 1)),
        *("certificate", "the certificate of this machine ended on 2033-05-18 03:33 UTC"),
    ),
    (
        replace(
            HEALTHY,
            flock=replace(FLOCK, renewal_due_s=NOW_S - 1),
            keeping_up_error="no keeper answers",
        ),
        *("authority", "could not be renewed (no keeper answers): switch on a keeper"),
    ),
    (replace(HEALTHY, port=0), "listening", "this machine listens nowhere"),
    (replace(HEALTHY, discovers=False), "multicast", "discovery is switched off here"),
    (
        replace(HEALTHY, multicast_trouble=NoMulticast("NotAllowed")),
        *("multicast", "multicast cannot be used here (this system does not allow it)"),
    ),
    (MISSING, "unreachable", "nothing was heard of cedar since this agent started"),
    (
        refused(Cause.UNREACHABLE, NoLink("NobodyAnswers")),
        *(
            "unreachable",
            "cedar does not answer at 10.0.0.3:29464 (nothing answers: it is off, elsewhere,",
        ),
    ),
    (refused(Cause.OTHER_FLOCK), "other flock", "cedar belongs to another flock: leave that there"),
    (refused(Cause.OTHER_VERSION), "other version", "update the older of both"),
    (refused(Cause.EXPIRED), "certificate", "the certificate of cedar has ended"),
    (refused(Cause.NOT_YET_VALID), "clock", "set both clocks by the same time server"),
    (
        refused(Cause.REFUSED),
        "certificate",
        "do not accept each other (no keeper whose word counts has",
    ),
    (refused(Cause.NOT_WINGBEAT), "unreachable", "something that is not Wingbeat answers"),
    (refused(Cause.OTHER_NODE), "unreachable", "another machine than cedar answers at 10.0.0.3"),
    (
        replace(
            refused(Cause.UNREACHABLE, peer="", address="10.0.0.9:29464"),
            static_addresses=("10.0.0.9:29464",),
            members=MEMBERS[:2],
        ),
        *("unreachable", "the machine at 10.0.0.9:29464 does not answer"),
    ),
    (
        replace(HEALTHY, peers=(structs.replace(ALDER, clock_ahead_ms=-3_600_000),)),
        *("clock", "the clock of alder is 60 min behind the one here"),
    ),
    (
        replace(HEALTHY, members=MEMBERS[1:2], peers=(), foreign_flocks=("other",)),
        *("other flock", "another flock is on this network too"),
    ),
    (
        replace(HEALTHY, disk_usable=False),
        *("journal", "the disk of /data is full: make room"),
    ),
    (
        replace(HEALTHY, journal_notices=("3 records were damaged",)),
        *("journal", "the journal was mended (3 records were damaged)"),
    ),
]


@pytest.mark.parametrize(("facts", "kind", "part"), SENTENCES)
def test_what_is_wrong_is_said_in_one_sentence_with_what_to_do(
    facts: Facts, kind: str, part: str
) -> None:
    (only,) = told(facts)
    assert only.kind == kind
    assert part in only.text
    assert ":" in only.text, "what to do is missing"
    assert not only.text.endswith(".")


@pytest.mark.parametrize("cause", [each for each in Cause if each is not Cause.COPIED])
def test_every_cause_of_a_refusal_has_a_sentence(cause: Cause) -> None:
    (only,) = told(refused(cause))
    assert "cedar" in only.text
    assert not re.search(r"[{}]", only.text)


def test_of_a_machine_that_was_linked_nobody_says_that_nothing_was_heard() -> None:
    (only,) = told(refused(Cause.LOST, LinkGone(NoLink("Silent", length_ms=5_500))))
    assert "was linked and is gone" in only.text
    assert "silent for 5.5 s" in only.text


def test_machines_that_decide_by_other_rules_are_named() -> None:
    known = structs.replace(ALDER, rules="look-ahead")
    others = tuple(
        structs.replace(ALDER, node=name, name=name, rules=rules)
        for name, rules in (("birch", "EC"), ("elm", ""))
    )
    others = (known, *others)
    assert told(replace(HEALTHY, peers=(known, others[2]), rules="look-ahead")) == []
    (only,) = told(replace(HEALTHY, peers=others, rules="look-ahead"))
    assert only.kind == "rules"
    assert "decides by the rules look-ahead" in only.text
    assert "by others do birch:" in only.text


@pytest.mark.parametrize(("by_s", "direction"), [(600.0, "behind"), (-600.0, "ahead of")])
def test_when_all_others_agree_the_clock_here_is_wrong(by_s: float, direction: str) -> None:
    others = tuple(
        structs.replace(ALDER, node=node, clock_ahead_ms=round((by_s + off_s) * 1000))
        for node, off_s in ((ALDER.node, 0.5), ("birch", -0.5), ("cedar", 0.0))
    )
    (only,) = told(replace(HEALTHY, peers=others))
    assert only.kind == "clock"
    assert f"this machine is 10 min {direction} those of all others" in only.text
    apart = (*others, structs.replace(ALDER, node="elm", clock_ahead_ms=0))
    assert len(told(replace(HEALTHY, peers=apart))) == len(others)


def test_a_certificate_of_the_future_is_told_where_it_is() -> None:
    assert HEALTHY.flock is not None
    flock = replace(HEALTHY.flock, member_valid_from_s=NOW_S + 86_400.0)
    (only,) = told(replace(refused(Cause.REFUSED), flock=flock))
    assert only.kind == "certificate"
    assert "of this machine begins only on" in only.text
    (keeper,) = told(replace(HEALTHY, flock=replace(flock, keeper=True)))
    (other,) = told(replace(HEALTHY, flock=replace(flock, keeper=False)))
    assert "makes itself a new one within an hour" in keeper.text
    assert "join again with a new invitation" in other.text


def test_many_of_whom_nothing_was_heard_take_one_sentence() -> None:
    away = tuple(
        structs.replace(MEMBERS[2], node=f"node{number}", name=f"pc{number}")
        for number in range(1, 30)
    )
    (only,) = told(replace(HEALTHY, members=(*HEALTHY.members, *away)))
    assert "nothing was heard of pc1, pc10, pc11 and 26 more" in only.text


def test_the_latest_refusal_counts() -> None:
    early = replace(REFUSAL, cause=(Cause.OTHER_FLOCK), at_s=1.0)
    late: LinkRefusal = replace(REFUSAL, cause=(Cause.OTHER_VERSION), at_s=2.0)
    (only,) = told(replace(MISSING, refusals=(late, early)))
    assert only.kind == "other version"


def test_when_nobody_at_all_is_heard_the_usual_reasons_are_named() -> None:
    kinds = [each.kind for each in told(replace(MISSING, peers=(), members=MEMBERS[1:3]))]
    assert kinds == ["firewall", "unreachable"]


def test_another_flock_is_nobodys_business_while_all_are_there() -> None:
    assert told(replace(HEALTHY, foreign_flocks=("other",))) == []


def test_what_is_wrong_here_comes_before_what_is_wrong_elsewhere() -> None:
    facts = replace(refused(Cause.EXPIRED), disk_usable=False, port=0)
    assert [each.kind for each in told(facts)] == ["journal", "listening", "certificate"]


def test_the_log_is_told_once_of_each_that_is_not_to_be_relied_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """However often it was seen by then."""
    told_log, refusal = SuspicionLog(), Refusal(Fault.FORGED, ALDER.node)
    for seen in (
        Seen(),
        Seen({refusal: 1}, (ALDER.node,)),
        Seen({refusal: 9}, (ALDER.node,)),
        Seen({refusal: 12}),
    ):
        told_log.look(suspected(seen))
    first, second = (each.message for each in caplog.records)
    assert "alder" in first
    assert second.startswith("alder kept tasks from beginning")
