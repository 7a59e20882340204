"""What acts on the flock amount to: who has which right, whoever signs what, in whatever order it comes."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.api.errors import MembershipError
from agent.net import certificates
from agent.net.acts import (
    ADMINISTRATOR,
    APPOINTED,
    EXPELLED,
    HELPER,
    KEEPER,
    LEFT,
    OPERATOR,
    PHRASE,
    RECOVERED,
    ROLE,
    Act,
    Pen,
)
from agent.net.charter import ACTS_OF_ONE_MAX, Charter
from agent.net.recovery import Recovery, founded, new_phrase
from tests.net.flocks import new_authority

AUTHORITY = new_authority()
FLOCK = AUTHORITY.flock
WORDS = new_phrase()
RECOVERY = Recovery.of(WORDS, FLOCK.flock_id)


def pen() -> Pen:
    return Pen(FLOCK.flock_id, certificates.new_key())


ADA, BEN, CAT, DAN, EVE = PENS = [pen() for _ in range(5)]
FOUNDING = founded(AUTHORITY, ADA, WORDS, 1)
MOMENTS = itertools.count(2)
MEMBERS = {each.name for each in PENS}


def everybody(name: str) -> bool:
    return name in MEMBERS


def joined(charter: Charter, *acts: Act) -> Charter:
    return charter.joined(acts, lambda _: True, everybody)


def said(
    charter: Charter, by: Pen, kind: str, whom: Pen, value: str = "", *, at: Charter | None = None
) -> Charter:
    """With one more act, that stands on all that is known there, or on what was known ``at`` then."""
    heads = (at or charter).heads
    act = Act(kind, whom.name, value, next(MOMENTS), stands_on=heads)
    return joined(charter, by.sign(act))


@pytest.fixture
def one() -> Charter:
    """Ada has founded it."""
    return joined(Charter(FLOCK), FOUNDING)


@pytest.fixture
def two(one: Charter) -> Charter:
    """Ben is an administrator too."""
    return said(said(one, RECOVERY.pen, ROLE, BEN, ADMINISTRATOR), ADA, ROLE, BEN, ADMINISTRATOR)


@pytest.fixture
def three(two: Charter) -> Charter:
    """And Cat."""
    return said(said(two, ADA, ROLE, CAT, ADMINISTRATOR), BEN, ROLE, CAT, ADMINISTRATOR)


def administrators(charter: Charter) -> set[str]:
    return charter.rights.administrators


def out(charter: Charter) -> set[str]:
    return set(charter.rights.departed)


def names(*pens: Pen) -> set[str]:
    return {each.name for each in pens}


def test_the_founder_administers_and_nobody_else_gets_a_word_in(one: Charter) -> None:
    assert administrators(one) == names(ADA)
    assert out(said(one, ADA, EXPELLED, DAN)) == names(DAN)
    assert said(one, ADA, ROLE, DAN, HELPER).rights.roles == {DAN.name: HELPER}
    for kind, value in ((EXPELLED, ""), (ROLE, ADMINISTRATOR), (KEEPER, APPOINTED)):
        assert said(one, EVE, kind, DAN, value) is one
        assert said(one, EVE, kind, EVE, value) is one


def test_a_weighty_act_takes_two_administrators_other_than_the_one_concerned(
    three: Charter,
) -> None:
    assert administrators(three) == names(ADA, BEN, CAT)
    half = said(three, ADA, EXPELLED, CAT)
    assert out(half) == set()
    assert [each.by for each in half.rights.pending] == [(ADA.name,)]
    assert out(said(half, ADA, EXPELLED, CAT)) == set()
    assert out(said(half, CAT, EXPELLED, CAT)) == set()
    assert out(said(half, RECOVERY.pen, EXPELLED, CAT)) == set()
    whole = said(half, BEN, EXPELLED, CAT)
    assert (out(whole), whole.rights.pending) == (names(CAT), ())
    assert CAT.name not in administrators(whole)


@pytest.mark.parametrize("kind", [EXPELLED, ROLE, KEEPER])
def test_one_administrator_alone_appoints_and_expels_none_of_the_trusted(
    two: Charter, kind: str
) -> None:
    value = {EXPELLED: "", ROLE: ADMINISTRATOR, KEEPER: APPOINTED}[kind]
    whom = BEN if kind == EXPELLED else DAN
    before = two.rights
    after = said(two, ADA, kind, whom, value).rights
    assert (after.administrators, after.keepers, after.departed) == (
        before.administrators,
        before.keepers,
        before.departed,
    )


def test_the_phrase_is_the_missing_voice_and_alone_expels_no_one_of_two(two: Charter) -> None:
    stolen = said(two, RECOVERY.pen, EXPELLED, ADA)
    assert out(stolen) == set()
    assert out(said(stolen, BEN, EXPELLED, ADA)) == names(ADA)
    assert out(said(said(two, ADA, EXPELLED, ADA), ADA, EXPELLED, BEN)) == set()


def test_what_is_dated_back_by_an_expelled_administrator_counts_no_more(three: Charter) -> None:
    before = said(three, CAT, EXPELLED, DAN)
    whole = said(said(before, ADA, EXPELLED, CAT), BEN, EXPELLED, CAT)
    assert out(whole) == names(DAN, CAT)  # what they knew of when they expelled her stays
    forged = said(whole, CAT, EXPELLED, EVE, at=three)
    forged = said(forged, CAT, ROLE, BEN, OPERATOR, at=three)
    assert out(forged) == names(DAN, CAT)
    assert administrators(forged) == names(ADA, BEN)


def test_who_is_appointed_anew_has_a_voice_again(three: Charter) -> None:
    gone = said(said(three, ADA, ROLE, CAT, OPERATOR), BEN, ROLE, CAT, OPERATOR)
    assert said(gone, CAT, EXPELLED, EVE).rights.departed == {}
    back = said(said(gone, ADA, ROLE, CAT, ADMINISTRATOR), BEN, ROLE, CAT, ADMINISTRATOR)
    assert out(said(back, CAT, EXPELLED, EVE)) == names(EVE)


def test_an_administrator_lays_it_down_alone(two: Charter) -> None:
    assert administrators(said(two, ADA, ROLE, ADA, OPERATOR)) == names(BEN)


def test_the_phrase_brings_the_flock_back_when_all_are_lost(three: Charter) -> None:
    back = said(three, RECOVERY.pen, RECOVERED, DAN)
    assert administrators(back) == names(DAN)
    assert back.rights.is_keeper(DAN.name)
    assert out(said(back, ADA, EXPELLED, EVE, at=three)) == set()  # a lost one's word comes late
    assert out(said(back, DAN, EXPELLED, ADA)) == set()  # a keeper still
    assert out(said(said(back, RECOVERY.pen, EXPELLED, ADA), DAN, EXPELLED, ADA)) == names(ADA)
    assert said(three, EVE, RECOVERED, EVE) is three
    assert administrators(said(three, ADA, RECOVERED, DAN)) == administrators(three)


def test_a_stolen_phrase_cannot_forbid_that_it_is_replaced(three: Charter) -> None:
    fresh = Recovery.of(new_phrase(), FLOCK.flock_id)
    data = certificates_of(fresh)
    act = Act(PHRASE, "", fresh.pen.name, 9, data=data)
    for by in (ADA, BEN):
        three = joined(three, by.sign(replace(act, stands_on=three.heads)))
    assert three.rights.recovery == fresh.pen.name
    assert administrators(said(three, RECOVERY.pen, RECOVERED, EVE)) == names(ADA, BEN, CAT)
    late = said(three, RECOVERY.pen, RECOVERED, EVE, at=joined(Charter(FLOCK), FOUNDING))
    assert administrators(late) == names(ADA, BEN, CAT)
    assert administrators(said(three, fresh.pen, RECOVERED, EVE)) == names(EVE)


def certificates_of(recovery: Recovery) -> bytes:
    import msgspec

    return msgspec.msgpack.encode(recovery.seal(AUTHORITY))


def test_everybody_leaves_by_his_own_word_only(one: Charter) -> None:
    assert out(said(one, DAN, LEFT, DAN)) == names(DAN)
    assert said(one, DAN, LEFT, EVE) is one
    assert said(one, pen(), LEFT, DAN) is one
    stranger = pen()
    assert said(one, stranger, LEFT, stranger) is one
    gone = said(one, DAN, LEFT, DAN)
    assert out(said(gone, ADA, EXPELLED, DAN)) == names(DAN)
    assert gone.heads == one.heads, "who leaves takes nobody the word"
    assert said(gone, DAN, LEFT, DAN) is gone, "once is enough"
    acted = said(one, ADA, ROLE, DAN, HELPER)
    assert out(said(acted, ADA, LEFT, ADA)) == names(ADA)
    assert out(said(gone, ADA, EXPELLED, EVE)) == names(DAN, EVE)


def test_there_is_one_founding_and_only_the_flocks_authority_makes_it(one: Charter) -> None:
    other = founded(new_authority(), EVE, WORDS, 1)
    assert not joined(Charter(FLOCK), other)
    again = founded(AUTHORITY, EVE, WORDS, 0)
    assert joined(one, again) is one
    assert not Charter(FLOCK).joined([FOUNDING], lambda _: False, everybody)


def test_a_changed_act_is_refused(one: Charter) -> None:
    act = ADA.sign(Act(EXPELLED, DAN.name, "", 5, stands_on=one.heads))
    for wrong in (
        replace(act, whom=EVE.name),
        replace(act, time_s=6),
        replace(act, key=EVE.sign(act).key, signature=act.signature),
    ):
        assert wrong != act
        try:
            changed = joined(one, wrong)
        except MembershipError:
            continue
        assert changed is one


def test_one_administrator_does_not_fill_the_flock(two: Charter) -> None:
    flood = [
        ADA.sign(Act(ROLE, DAN.name, HELPER, number, stands_on=two.heads))
        for number in range(ACTS_OF_ONE_MAX + 10)
    ]
    full = joined(two, *flood)
    assert len(full.acts) <= ACTS_OF_ONE_MAX + len(two.acts)
    assert out(said(full, BEN, EXPELLED, DAN)) == names(DAN)


def test_many_acts_are_worked_out_soon(two: Charter) -> None:
    chain = two
    acts: list[Act] = []
    for number in range(ACTS_OF_ONE_MAX // 2):
        for by in (ADA, BEN):
            heads = (acts_id(acts[-1]),) if acts else two.heads
            value = (HELPER, OPERATOR)[number % 2]
            acts.append(by.sign(Act(ROLE, DAN.name, value, number, stands_on=heads)))
    began = time.process_time()
    chain = joined(Charter(FLOCK), *two.acts, *acts)
    assert len(chain.acts) > ACTS_OF_ONE_MAX
    assert time.process_time() - began < 5.0


def acts_id(act: Act) -> bytes:
    from agent.net.acts import act_id

    return act_id(FLOCK.flock_id, act)


SIGNERS = [ADA, BEN, CAT, EVE, RECOVERY.pen]
KINDS = [
    (EXPELLED, ""),
    (ROLE, ADMINISTRATOR),
    (ROLE, OPERATOR),
    (KEEPER, APPOINTED),
    (LEFT, ""),
    (RECOVERED, ""),
]
DRAWN = st.lists(
    st.tuples(
        st.sampled_from(SIGNERS),
        st.sampled_from(KINDS),
        st.sampled_from(PENS),
        st.integers(0, 20),
    ),
    max_size=14,
)


def played(drawn: list[tuple[Pen, tuple[str, str], Pen, int]], two: Charter) -> list[Charter]:
    """Each act stands on some moment of before: what its signer knew, or says that it knew."""
    moments = [two]
    for by, (kind, value), whom, back in drawn:
        at = moments[-1 - back % len(moments)]
        moments.append(said(moments[-1], by, kind, whom, value, at=at))
    return moments


FOUNDED = joined(Charter(FLOCK), FOUNDING)
TWO = said(said(FOUNDED, RECOVERY.pen, ROLE, BEN, ADMINISTRATOR), ADA, ROLE, BEN, ADMINISTRATOR)
THREE = said(said(TWO, ADA, ROLE, CAT, ADMINISTRATOR), BEN, ROLE, CAT, ADMINISTRATOR)


@given(DRAWN, st.randoms())
def test_in_whatever_order_acts_come_everybody_agrees(
    drawn: list[tuple[Pen, tuple[str, str], Pen, int]], chance: object
) -> None:
    moments = played(drawn, THREE)
    last = moments[-1]
    acts = list(last.acts)
    chance.shuffle(acts)  # type: ignore[attr-defined]
    known = Charter(FLOCK)
    half = len(acts) // 2
    for part in (acts[:half], acts[half:], acts):
        known = joined(known, *part)
    assert known.acts == last.acts
    assert known.rights == last.rights
    for moment in moments:
        assert joined(known, *moment.acts) is known


@given(
    st.lists(
        st.tuples(
            st.sampled_from(KINDS[:4]),
            st.sampled_from([ADA, BEN, CAT, DAN]),
            st.integers(0, 20),
        ),
        max_size=10,
    )
)
def test_a_single_administrator_takes_nothing_from_the_others(
    drawn: list[tuple[tuple[str, str], Pen, int]],
) -> None:
    """Whatever Cat signs, on whatever she says that she knew: Ada and Ben keep their rights, nobody gets
    one, and together they can expel her."""
    moments = [THREE]
    for (kind, value), whom, back in drawn:
        at = moments[-1 - back % len(moments)]
        moments.append(said(moments[-1], CAT, kind, whom, value, at=at))
    last = moments[-1]
    assert names(ADA, BEN) <= administrators(last) <= names(ADA, BEN, CAT)
    assert not names(ADA, BEN) & out(last)
    assert [each for each in last.rights.keepers if last.rights.is_keeper(each)] == [ADA.name]
    whole = said(said(last, ADA, EXPELLED, CAT), BEN, EXPELLED, CAT)
    assert CAT.name in out(whole)
