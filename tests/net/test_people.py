"""Which machines are one person's, and that they are one voice: whoever binds whom, in whatever order it comes."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.net import acts
from agent.net import charter as charter_
from agent.net.acts import (
    ADMINISTRATOR,
    EXPELLED,
    LEFT,
    OPERATOR,
    PAIRED,
    RECOVERED,
    ROLE,
    UNPAIRED,
    Act,
    Pen,
)
from agent.net.certificates import SIGNATURE
from agent.net.charter import OF_ONE_MEMBER_MAX, Charter
from agent.protocol.identity import SHARED, is_shared_with
from agent.protocol.people import People, alone
from agent.protocol.records import WorkflowSpec
from agent.protocol.signing import Kind, Statement, Trust
from tests.net import test_charter
from tests.net.test_charter import (
    ADA,
    BEN,
    CAT,
    DAN,
    EVE,
    FLOCK,
    FOUNDED,
    MEMBERS,
    MOMENTS,
    PENS,
    RECOVERY,
    THREE,
    TWO,
    administrators,
    joined,
    names,
    out,
    pen,
)


def said(
    charter: Charter, by: Pen, kind: str, whom: Pen, value: str = "", *, at: Charter | None = None
) -> Charter:
    """With one more act, that stands on all that is known there, or on what was known ``at`` then."""
    act = Act(kind, whom.name, value, next(MOMENTS))
    return joined(charter, by.sign((at or charter).standing(act)))


def bound(
    charter: Charter,
    by: Pen,
    machine: Pen,
    *,
    consents: Pen | None = None,
    whose: str = "",
    at: Charter | None = None,
) -> Charter:
    """With the word of one that another machine is its person's."""
    whose = whose or charter.rights.person(by.name)
    agreed = (consents or machine).consent(whose)
    act = Act(PAIRED, machine.name, whose, next(MOMENTS), data=agreed)
    return joined(charter, by.sign((at or charter).standing(act)))


def away(charter: Charter, by: Pen, machine: Pen, at: Charter | None = None) -> Charter:
    return said(charter, by, UNPAIRED, machine, at=at)


def of(charter: Charter) -> dict[Pen, Pen]:
    """Whose machine each is that has a person with others."""
    pens = {each.name: each for each in PENS}
    people = charter.rights.people
    return {pens[node]: pens[whose] for node, whose in people.now.items() if whose in pens}


def test_a_machine_becomes_a_persons_by_his_word_and_its_own() -> None:
    two = bound(FOUNDED, DAN, EVE)
    assert of(two) == {DAN: DAN, EVE: DAN}
    more = bound(two, EVE, CAT)
    assert of(more) == {DAN: DAN, EVE: DAN, CAT: DAN}, "any of his machines says so"


@pytest.mark.parametrize("consents", [DAN, CAT], ids=["of who binds", "of a third one"])
def test_nobody_is_bound_without_his_own_consent(consents: Pen) -> None:
    assert bound(FOUNDED, DAN, EVE, consents=consents) is FOUNDED
    act = FOUNDED.standing(Act(PAIRED, EVE.name, DAN.name, 3))
    assert joined(FOUNDED, DAN.sign(act)) is FOUNDED
    words = acts._consent_words(FLOCK.flock_id, EVE.name, DAN.name)
    forged = acts.Consent(acts.compressed(DAN.key.public_key()), DAN.key.sign(words, SIGNATURE))
    assert joined(FOUNDED, DAN.sign(replace(act, data=msgspec.msgpack.encode(forged)))) is FOUNDED
    other = EVE.consent(CAT.name)
    assert joined(FOUNDED, DAN.sign(replace(act, data=other))) is FOUNDED


def test_a_consent_for_one_flock_is_none_in_another() -> None:
    act = Act(PAIRED, EVE.name, DAN.name, 3, data=Pen("another", EVE.key).consent(DAN.name))
    assert joined(FOUNDED, DAN.sign(FOUNDED.standing(act))) is FOUNDED


def test_who_binds_himself_to_somebody_gets_nothing() -> None:
    for by in (EVE, CAT):
        own = bound(TWO, by, EVE, whose=ADA.name)
        assert of(own) == {}
        assert administrators(own) == names(ADA, BEN)
    assert administrators(said(bound(TWO, EVE, EVE, whose=ADA.name), EVE, EXPELLED, DAN)) == names(
        ADA, BEN
    )


def test_who_binds_itself_or_has_been_taken_away_binds_nothing() -> None:
    """Neither would be anybody's, but could be bound to its person no more."""
    assert of(bound(bound(FOUNDED, DAN, DAN), ADA, DAN)) == {ADA: ADA, DAN: ADA}
    gone = away(bound(FOUNDED, ADA, DAN), ADA, DAN)
    late = bound(gone, DAN, EVE)
    assert late.rights.person(EVE.name) == EVE.name
    assert of(bound(late, ADA, EVE)) == {ADA: ADA, EVE: ADA}


def test_nobody_outside_of_the_flock_binds() -> None:
    stranger = pen()
    assert bound(FOUNDED, stranger, EVE) is FOUNDED
    assert bound(FOUNDED, RECOVERY.pen, EVE) is FOUNDED
    assert bound(FOUNDED, ADA, stranger) is FOUNDED, "nobody would see who has her voice"


def test_two_machines_of_one_administrator_are_one_voice() -> None:
    three = bound(THREE, ADA, DAN)
    assert administrators(three) == names(ADA, BEN, CAT)
    half = said(said(three, ADA, EXPELLED, CAT), DAN, EXPELLED, CAT)
    assert out(half) == set()
    assert [len(each.by) for each in half.rights.pending] == [2]
    assert out(said(half, BEN, EXPELLED, CAT)) == names(CAT)
    one = said(three, DAN, EXPELLED, CAT)
    assert out(said(one, BEN, EXPELLED, CAT)) == names(CAT), "each of both is his voice"
    for by in (ADA, DAN):
        assert out(said(said(three, by, EXPELLED, DAN), BEN, EXPELLED, DAN)) == set()
    other = said(said(three, BEN, EXPELLED, DAN), CAT, EXPELLED, DAN)
    assert (out(other), administrators(other)) == (names(DAN), names(ADA, BEN, CAT))


def test_what_one_machine_is_given_its_person_has() -> None:
    paired = bound(TWO, DAN, EVE)
    given_ = said(said(paired, ADA, ROLE, EVE, ADMINISTRATOR), BEN, ROLE, EVE, ADMINISTRATOR)
    assert administrators(given_) == names(ADA, BEN, DAN)
    assert out(said(given_, DAN, EXPELLED, CAT)) == names(CAT)
    laid = said(given_, DAN, ROLE, EVE, OPERATOR)
    assert administrators(laid) == names(ADA, BEN)
    assert out(said(laid, EVE, EXPELLED, CAT)) == set()


def test_an_administrator_is_bound_to_nobody_and_nobody_twice() -> None:
    assert of(bound(TWO, BEN, ADA)) == of(bound(TWO, DAN, ADA)) == {}
    paired = bound(TWO, DAN, EVE)
    assert of(bound(paired, CAT, EVE)) == of(bound(paired, CAT, DAN)) == of(paired)
    assert of(bound(bound(TWO, DAN, EVE), ADA, DAN)) == of(paired), "persons do not merge"


def test_a_machine_taken_away_has_no_word_more_and_stays_away() -> None:
    paired = bound(TWO, ADA, DAN)
    gone = away(paired, ADA, DAN)
    assert (of(gone), administrators(gone)) == ({ADA: ADA}, names(ADA, BEN))
    assert out(said(gone, DAN, EXPELLED, EVE)) == set()
    replayed = joined(gone, *[each for each in paired.acts if each.kind == PAIRED])
    assert replayed is gone
    for by, at in itertools.product((ADA, DAN, CAT), (gone, paired, TWO)):
        assert of(bound(gone, by, DAN, at=at)).get(DAN) is None, "an old consent, or a new one"
    late = bound(gone, DAN, EVE, whose=ADA.name, at=paired)
    assert of(late) == of(gone), "what it dates back"
    assert out(said(gone, DAN, EXPELLED, EVE, at=paired)) == set()


def test_the_first_machine_is_lost_and_its_person_stays() -> None:
    paired = bound(TWO, ADA, DAN)
    for gone in (
        away(paired, DAN, ADA),
        said(said(paired, BEN, EXPELLED, ADA), RECOVERY.pen, EXPELLED, ADA),
        said(paired, ADA, LEFT, ADA),
    ):
        assert gone.rights.person(DAN.name) == ADA.name
        assert administrators(gone) == names(ADA, BEN)
        assert out(said(gone, DAN, EXPELLED, EVE)) >= names(EVE)
        assert EVE.name not in out(said(gone, ADA, EXPELLED, EVE))
    alone_ = away(paired, DAN, ADA)
    assert administrators(away(alone_, DAN, DAN)) == names(ADA, BEN), "the last is not taken away"


def test_a_person_whose_last_machine_is_gone_has_no_voice() -> None:
    paired = bound(THREE, ADA, DAN)
    half = said(said(away(paired, DAN, ADA), BEN, EXPELLED, DAN), CAT, EXPELLED, DAN)
    assert administrators(half) == names(BEN, CAT)


def test_administrators_take_machines_away_as_they_expel() -> None:
    plain = bound(THREE, DAN, EVE)
    assert of(away(plain, ADA, EVE)) == {DAN: DAN}
    assert of(away(plain, EVE, DAN)) == {EVE: DAN}
    weighty = bound(THREE, ADA, DAN)
    half = away(weighty, BEN, DAN)
    assert of(half) == of(weighty)
    assert of(away(half, CAT, DAN)) == {ADA: ADA}
    assert of(away(plain, CAT, EVE)) == {DAN: DAN}
    assert away(bound(FOUNDED, DAN, EVE), CAT, EVE).rights.people == plain.rights.people


def test_of_two_that_take_away_each_other_one_stays() -> None:
    paired = bound(TWO, ADA, DAN)
    both = away(away(paired, ADA, DAN), DAN, ADA, at=paired)
    assert len(of(both)) == 1
    assert administrators(both) == names(ADA, BEN)


def test_a_late_consent_moves_no_machine_that_was_taken_away() -> None:
    """Whoever has its key could say that it was his before it was its person's."""
    gone = away(bound(TWO, ADA, DAN), ADA, DAN)
    stolen = bound(gone, EVE, DAN, at=FOUNDED)
    assert stolen.rights.people.owner(DAN.name) == ADA.name


def test_the_phrase_appoints_the_person_of_a_machine() -> None:
    back = said(bound(THREE, DAN, EVE), RECOVERY.pen, RECOVERED, DAN)
    assert administrators(back) == names(DAN)
    assert out(said(back, EVE, EXPELLED, BEN)) == names(BEN)


def test_one_member_does_not_fill_the_flock() -> None:
    charter = FOUNDED
    flood = []
    for number in range(OF_ONE_MEMBER_MAX + 10):
        act = Act(PAIRED, EVE.name, DAN.name, number, data=EVE.consent(DAN.name))
        flood.append(DAN.sign(charter.standing(act)))
    assert len(joined(charter, *flood).acts) == OF_ONE_MEMBER_MAX + 1


def test_who_was_never_paired_takes_nobody_away() -> None:
    """Else each key that somebody has let in fills the acts with forty of these."""
    for whom in (DAN, EVE, ADA):
        assert said(FOUNDED, EVE, UNPAIRED, whom) is FOUNDED
    paired = bound(FOUNDED, DAN, EVE)
    assert said(paired, CAT, UNPAIRED, EVE) is paired
    assert said(paired, EVE, UNPAIRED, DAN, at=FOUNDED) is paired, "it knew of no pair"
    assert said(paired, EVE, UNPAIRED, CAT) is paired
    assert of(away(paired, EVE, DAN)) == {EVE: DAN}


def flood_of(keys: list[Pen], at: Charter) -> list[Act]:
    """All that these may sign: each pairs the next one again and again."""
    return [
        each.sign(at.standing(Act(PAIRED, after.name, each.name, number, data=consent)))
        for each, after in zip(keys, [*keys[1:], keys[0]], strict=True)
        for consent in [after.consent(each.name)]
        for number in range(OF_ONE_MEMBER_MAX)
    ]


def test_however_many_keys_somebody_lets_in_administrators_act_and_persons_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = [pen() for _ in range(6)]
    monkeypatch.setattr(charter_, "MEMBERS_BYTES_MAX", room := 20_000)
    monkeypatch.setattr(test_charter, "MEMBERS", MEMBERS | {each.name for each in keys})
    flood = flood_of(keys, FOUNDED)
    one, other = joined(FOUNDED, *flood), joined(FOUNDED, *reversed(flood))
    for each in (one, other):
        assert (
            sum(len(msgspec.msgpack.encode(act)) for act in each.acts) < 2 * room < len(flood) * 200
        )
    clean = one
    for key in keys:
        clean = said(clean, ADA, EXPELLED, key)
    assert out(clean) == names(*keys)
    assert of(bound(clean, DAN, EVE)) == {DAN: DAN, EVE: DAN}
    whole = bound(clean, DAN, EVE)
    for known in (other, Charter(FLOCK)):
        assert joined(known, *whole.acts).rights == whole.rights, "whatever came first there"


def test_acts_of_members_do_not_count_for_the_limit_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charter_, "ACTS_MAX", len(TWO.acts) + 1)
    paired = bound(bound(TWO, DAN, EVE), EVE, CAT)
    assert out(said(paired, ADA, EXPELLED, DAN)) == names(DAN)


def test_a_machine_that_was_taken_away_is_given_no_voice() -> None:
    gone = away(bound(TWO, DAN, EVE), DAN, EVE)
    given_ = said(said(gone, ADA, ROLE, EVE, ADMINISTRATOR), BEN, ROLE, EVE, ADMINISTRATOR)
    assert administrators(given_) == names(ADA, BEN)
    assert not given_.rights.pending
    assert administrators(said(gone, RECOVERY.pen, RECOVERED, EVE)) == names(ADA, BEN)
    assert administrators(said(gone, RECOVERY.pen, RECOVERED, DAN)) == names(DAN)


def test_what_a_version_before_lacks_nothing_else_hangs_on() -> None:
    """It takes no act of a plain member, nor of a second machine, and knows none of these kinds."""
    paired = bound(bound(TWO, DAN, EVE), ADA, CAT)
    by_second = said(paired, CAT, ROLE, DAN, OPERATOR)
    last = said(by_second, BEN, EXPELLED, EVE)
    new = {each for each in last.acts if each.kind == PAIRED or each.by == CAT.name}
    assert len(new) == 3
    assert out(joined(Charter(FLOCK), *[each for each in last.acts if each not in new])) == set(), (
        "this version waits for what its signer knew"
    )
    before = {each for each in last.acts if each not in new}
    known = {name for name, act in last._acts.items() if act in before}
    assert all(set(each.stands_on) <= known for each in before)


def test_who_has_a_say_in_whose_work() -> None:
    people = People(
        {"ant": "ant", "bee": "ant", "cat": alone("cat")},
        dict.fromkeys(("ant", "bee", "cat"), "ant"),
    )
    trust = Trust(0, ("dog",), people)

    def may(signer: str, home: str, kind: Kind = Kind.CANCEL) -> bool:
        return trust.may(signer, Statement(kind, signer, home))

    assert may("ant", "bee")
    assert may("bee", "ant")
    assert may("bee", "cat"), "what was submitted there stays its person's"
    assert may("cat", "cat")
    assert not may("cat", "ant")
    assert not may("cat", "bee")
    assert not may("elk", "ant")
    assert not may("bee", "elk")
    assert may("dog", "ant")
    wished = Statement(Kind.CANCEL, "cat", "ant")
    assert not trust.may("cat", wished)
    assert trust.may("bee", wished), "who may wish the same bears witness to what it wished before"
    assert not trust.may("elk", wished)
    assert not trust.may("bee", Statement(Kind.RUN, "cat", "ant"))


def test_what_is_shared_with_one_machine_is_shared_with_its_person() -> None:
    people = People(
        {"ant": "ant", "bee": "ant", "cat": alone("cat")},
        dict.fromkeys(("ant", "bee", "cat"), "ant"),
    )

    def may(node: str, named: str) -> bool:
        more = {SHARED: msgspec.Raw(msgspec.msgpack.encode(named))}
        spec = WorkflowSpec("w", "w", (1, 0), "elk", "elk", (), more)
        return is_shared_with(spec, node, OPERATOR, people)

    for named in ("ant", "bee", "cat"):
        assert may("ant", named)
        assert may("bee", named)
        assert not may("cat", named), "it is lost, also where it was the one that is named"
        assert not may("dog", named)
    assert may("dog", "dog")
    assert may("cat", "everybody"), "it is a member until it is expelled"


# ---- drawn histories ----

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["pair", "pair", "unpair", EXPELLED, ROLE, LEFT]),
        st.sampled_from([*PENS, RECOVERY.pen]),
        st.sampled_from(PENS),
        st.integers(0, 20),
        st.booleans(),
    ),
    max_size=12,
)
Step = tuple[str, Pen, Pen, int, bool]


def played(drawn: list[Step], first: Charter) -> list[Charter]:
    """Each act stands on some moment of before; who binds names his own person, or another one."""
    moments = [first]
    for kind, by, whom, back, honest in drawn:
        now, at = moments[-1], moments[-1 - back % len(moments)]
        if kind == "pair":
            whose = now.rights.person(by.name) if honest else now.rights.person(whom.name)
            moments.append(bound(now, by, whom, whose=whose, at=at))
        elif kind == "unpair":
            moments.append(away(now, by, whom, at=at))
        else:
            value = (ADMINISTRATOR if honest else OPERATOR) if kind == ROLE else ""
            moments.append(said(now, by, kind, whom, value, at=at))
    return moments


@given(STEPS, st.randoms())
def test_in_whatever_order_acts_of_people_come_everybody_agrees(
    drawn: list[Step], chance: object
) -> None:
    moments = played(drawn, THREE)
    last = moments[-1]
    said_all = list(last.acts)
    chance.shuffle(said_all)  # type: ignore[attr-defined]
    known = Charter(FLOCK)
    half = len(said_all) // 2
    for part in (said_all[:half], said_all[half:], said_all):
        known = joined(known, *part)
    assert (known.acts, known.rights) == (last.acts, last.rights)
    for person in last.rights.administrators:
        assert last.rights.machines(person), "every voice has somebody who says it"


@given(STEPS)
def test_whatever_an_administrator_and_his_machines_say_he_is_one_voice(drawn: list[Step]) -> None:
    """Cat, and Dan and Eve who follow her in all, sign what they want, on whatever they say that they
    knew: Ada and Ben keep their rights, nobody else gets one, and together they can expel Cat."""
    hers = {ADA: CAT, BEN: DAN, RECOVERY.pen: EVE}
    drawn = [(kind, hers.get(by, by), *more) for kind, by, *more in drawn]  # type: ignore[misc]
    last = played(drawn, bound(THREE, CAT, DAN))[-1]
    rights = last.rights
    assert names(ADA, BEN) <= rights.administrators <= names(ADA, BEN, CAT)
    assert not names(ADA, BEN) & out(last)
    assert not rights.now.keys() & names(ADA, BEN)
    assert [each for each in rights.keepers if rights.is_keeper(each)] == [ADA.name]
    for each in (CAT, DAN, EVE):
        last = said(said(last, ADA, EXPELLED, each), BEN, EXPELLED, each)
    assert out(last) == names(CAT, DAN, EVE)
    assert administrators(last) == names(ADA, BEN)
