"""Who belongs: the laws of the join, what it refuses, and that the expelled stay out."""

from __future__ import annotations

import re
import time
from itertools import permutations
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.api.errors import MembershipError
from agent.host.private_files import PrivateFolder
from agent.net.authority import EXPELLED, KEEPER, LEFT, Statement
from agent.net.roster import ROSTER_BYTES_MAX, ROSTER_FILE, STATEMENTS_MAX, Roster
from agent.wording.speech import english
from tests.certain import certain
from tests.net.flocks import DAY_S, Hands, expired_node, future_node, new_authority, new_node

AUTHORITY = new_authority()
FLOCK = AUTHORITY.flock
OTHER = new_authority("Studio")
NODES = [new_node(AUTHORITY, f"host-{number}") for number in range(4)]
RENEWED = [new_node(AUTHORITY, "renewed", life_s=800 * DAY_S, key=node.key) for node in NODES]
CERTIFICATES = [node.member.certificate for node in NODES + RENEWED]
STATEMENTS = [
    AUTHORITY.state(kind, node.node_id, time_s)
    for kind in (EXPELLED, LEFT, KEEPER, "of a later version")
    for node in NODES[:3]
    for time_s in (5, 5, 9)
]


@pytest.fixture
def roster() -> Roster:
    return Roster(FLOCK)


@st.composite
def rosters(draw: st.DrawFn) -> Roster:
    roster = Roster(FLOCK)
    for certificate in draw(st.lists(st.sampled_from(CERTIFICATES), max_size=6)):
        roster.learn(certificate)
    for statement in draw(st.lists(st.sampled_from(STATEMENTS), max_size=8)):
        roster.record(statement)
    return roster


def merged(*parts: Roster) -> bytes:
    roster = Roster(FLOCK)
    for part in parts:
        roster.merge(part.to_bytes())
    return roster.to_bytes()


@given(rosters(), rosters(), rosters())
def test_in_whatever_order_news_comes_the_roster_is_the_same(
    first: Roster, second: Roster, third: Roster
) -> None:
    assert len({merged(*order) for order in permutations((first, second, third))}) == 1


@given(rosters(), rosters())
def test_the_same_news_again_changes_nothing(first: Roster, second: Roster) -> None:
    first.merge(second.to_bytes())
    before = first.to_bytes()
    assert not first.merge(second.to_bytes())
    assert not first.merge(before)
    assert first.to_bytes() == before


@given(rosters(), rosters())
def test_a_merge_says_whether_there_was_news(first: Roster, second: Roster) -> None:
    before, digest = first.to_bytes(), first.digest()
    news = first.merge(second.to_bytes())
    assert news == (first.to_bytes() != before) == (first.digest() != digest)


@given(rosters(), rosters())
def test_who_is_out_stays_out(first: Roster, second: Roster) -> None:
    gone = {departure.node_id for departure in first.departures()}
    first.merge(second.to_bytes())
    assert gone <= {departure.node_id for departure in first.departures()}
    assert gone.isdisjoint(member.node_id for member in first.members())
    assert gone.isdisjoint(first.keepers())


@given(rosters())
def test_a_roster_outlives_a_restart(tmp_path_factory: pytest.TempPathFactory, it: Roster) -> None:
    folder = PrivateFolder(tmp_path_factory.mktemp("roster"))
    it.save(folder)
    assert Roster.load(folder, FLOCK).to_bytes() == it.to_bytes()


def test_members_are_accepted_known_or_not(roster: Roster) -> None:
    assert roster.objection_to(NODES[0].member.certificate) is None
    assert roster.learn(NODES[0].member.certificate)
    assert roster.member(NODES[0].node_id) == NODES[0].member
    assert roster.member(NODES[1].node_id) is None


@pytest.mark.parametrize(
    ("certificate", "reason"),
    [
        (new_node(OTHER).member.certificate, "not of the flock Office"),
        (FLOCK.der, "not of the flock Office"),
        (expired_node(AUTHORITY).member.certificate, "ended on .*new invitation"),
        (future_node(AUTHORITY).member.certificate, "valid from .*clocks"),
        (b"garbage", "cannot be read"),
    ],
    ids=["another flock", "the flock itself", "ended", "not begun", "garbage"],
)
def test_what_is_not_accepted_has_a_reason(certificate: bytes, reason: str) -> None:
    refused = Roster(FLOCK).objection_to(certificate)
    assert re.search(reason, english(certain(refused)))


def test_a_certificate_that_was_good_ends() -> None:
    hands = Hands()
    roster = Roster(FLOCK, hands)
    member = new_node(AUTHORITY, life_s=DAY_S).member
    assert roster.objection_to(member.certificate) is None
    hands.ahead_s = DAY_S + 1
    assert "ended on" in english(certain(roster.objection_to(member.certificate)))


def test_an_expelled_member_is_out_also_with_a_renewed_certificate(tmp_path: Path) -> None:
    roster, folder = Roster(FLOCK), PrivateFolder(tmp_path)
    for certificate in CERTIFICATES:
        roster.learn(certificate)
    roster.expel(AUTHORITY, NODES[1].node_id)
    roster.save(folder)
    for known in (roster, Roster.load(folder, FLOCK)):
        for node in (NODES[1], RENEWED[1]):
            objection = known.objection_to(node.member.certificate)
            assert english(certain(objection)).startswith("it was expelled from the flock on 20")
        assert NODES[1].node_id not in {member.node_id for member in known.members()}
        (departure,) = known.departures()
        assert (departure.host_name, departure.expelled) == ("renewed", True)


def test_being_expelled_outweighs_having_left(roster: Roster) -> None:
    roster.record(AUTHORITY.state(LEFT, "a", 1))
    assert roster.departures()[0].expelled is False
    roster.record(AUTHORITY.state(EXPELLED, "a", 2))
    assert roster.departures()[0].expelled is True


def test_a_renewed_certificate_replaces_the_old_one(roster: Roster) -> None:
    assert roster.learn(NODES[0].member.certificate)
    assert roster.learn(RENEWED[0].member.certificate)
    assert not roster.learn(NODES[0].member.certificate)
    assert [member.host_name for member in roster.members()] == ["renewed"]


def test_watchers_are_told_of_news_only_and_until_they_end_it() -> None:
    roster, told = Roster(FLOCK), []
    end = roster.watch(lambda: told.append(len(roster.members())))
    roster.learn(CERTIFICATES[0])
    roster.learn(CERTIFICATES[0])
    end()
    roster.learn(CERTIFICATES[1])
    assert told == [1]


def test_nobody_but_the_authority_puts_anything_in() -> None:
    full = Roster(FLOCK)
    full.learn(CERTIFICATES[0])
    before = full.to_bytes()
    forged = OTHER.state(EXPELLED, NODES[0].node_id, 1)
    with pytest.raises(MembershipError, match="statement in the roster is not of Office"):
        full.record(forged)
    with pytest.raises(MembershipError, match="certificate in the roster is not of Office"):
        full.learn(new_node(OTHER).member.certificate)
    assert full.to_bytes() == before


def test_a_roster_with_one_forged_entry_is_refused_whole(roster: Roster) -> None:
    good = AUTHORITY.state(KEEPER, NODES[0].node_id, 1)
    forged = Statement(EXPELLED, NODES[0].node_id, 1, good.signature)
    content = (1, FLOCK.flock_id, CERTIFICATES[:2], [good, forged])
    with pytest.raises(MembershipError, match="not of Office"):
        roster.merge(msgspec.msgpack.encode(content))
    assert (roster.members(), roster.keepers()) == ([], [])


def test_a_later_version_may_say_more(roster: Roster) -> None:
    content = (2, FLOCK.flock_id, CERTIFICATES[:1], STATEMENTS[-1:], "something new")
    assert roster.merge(msgspec.msgpack.encode(content))
    again = Roster(FLOCK)
    assert again.merge(roster.to_bytes())
    assert again.to_bytes() == roster.to_bytes()


def test_the_roster_of_another_flock_is_refused() -> None:
    with pytest.raises(MembershipError, match="roster of another flock"):
        Roster(FLOCK).merge(Roster(OTHER.flock).to_bytes())


@given(st.binary(max_size=200))
def test_no_bytes_bring_a_roster_down(data: bytes) -> None:
    with pytest.raises(MembershipError):
        Roster(FLOCK).merge(data)


FULL = Roster(FLOCK)
for _certificate in CERTIFICATES:
    FULL.learn(_certificate)
for _statement in STATEMENTS:
    FULL.record(_statement)


@pytest.mark.filterwarnings("ignore")  # the library warns of numbers and names that it takes
@given(st.integers(0, len(FULL.to_bytes()) - 1), st.integers(1, 255))
def test_a_roster_changed_on_its_way_adds_nothing_unsigned(place: int, mask: int) -> None:
    changed = bytearray(FULL.to_bytes())
    changed[place] ^= mask
    roster = Roster(FLOCK)
    try:
        roster.merge(bytes(changed))
    except MembershipError:
        assert roster.members() == []
    assert all(FLOCK.has_issued(member.certificate) for member in roster.members())


def test_size_and_numbers_are_limited() -> None:
    with pytest.raises(MembershipError, match="a roster of"):
        Roster(FLOCK).merge(bytes(ROSTER_BYTES_MAX + 1))
    many = [STATEMENTS[0]] * (STATEMENTS_MAX + 1)
    with pytest.raises(MembershipError, match="no readable roster"):
        Roster(FLOCK).merge(msgspec.msgpack.encode((1, FLOCK.flock_id, [], many)))


def test_thirty_members_are_a_small_message_and_quickly_checked(roster: Roster) -> None:
    for number in range(30):
        roster.learn(new_node(AUTHORITY, f"workstation-{number:02}").member.certificate)
    assert len(roster.to_bytes()) < 20_000
    start_s = time.process_time()
    Roster(FLOCK).merge(roster.to_bytes())
    assert time.process_time() - start_s < 1.0


def test_a_broken_roster_on_the_disk_is_named(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path)
    folder.write(ROSTER_FILE, b"\x91\x01")
    with pytest.raises(MembershipError, match=r"roster holds no readable roster: restore"):
        Roster.load(folder, FLOCK)
