"""Administrators, keepers and the recovery phrase at work on memberships: real files, keys and TLS."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.api.errors import MembershipError, NotKeptError, WantsPhraseError
from agent.net import certificates, charter, joining, recovery
from agent.net.acts import ADMINISTRATOR, EXPELLED, HELPER, KEEPER, OPERATOR, Act
from agent.net.administration import (
    appoint,
    check_phrase,
    expel,
    leaving,
    recover,
    renew_phrase,
    set_role,
    sign_act,
    upgrade,
)
from agent.net.charter import Charter
from agent.net.enrolment_messages import Leave
from agent.net.identity import AUTHORITY_KEY_FILE
from agent.net.joining import join_flock, keep_up, leave, renew
from agent.net.membership import Membership, create_flock
from agent.net.pairing import pair, unpair
from agent.net.recovery import Recovery, new_phrase
from tests.certain import certain
from tests.control.key_store import FakeStore
from tests.net.flocks import (
    PHRASE_WORK,
    Door,
    Node,
    at,
    first,
    invited,
    members,
    open_door,
    reopened,
)

WRITTEN = "babad bamag bibaj bimal boban bomar bubat bumaz jihih"


def role(membership: Membership, node_id: str) -> str:
    return membership.roster.standing.role(node_id)


# -- the phrase ------------------------------------------------------------------------------------


def test_a_phrase_is_read_however_it_is_written_down() -> None:
    phrase = new_phrase()
    name = Recovery.of(phrase, "flock").pen.name
    assert Recovery.of(phrase.upper().replace(" ", " - "), "flock").pen.name == name
    assert Recovery.of(phrase, "other").pen.name != name
    assert len(phrase.split()) == 9
    mistyped = phrase.replace(phrase[0], "b" if phrase[0] != "b" else "d", 1)
    for wrong in (mistyped, phrase[:-1], "", "hello", phrase + " babab", "é" * 45):
        with pytest.raises(MembershipError, match="9 words"):
            Recovery.of(wrong, "flock")


def test_what_was_written_down_opens_its_flock_in_every_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recovery, "_WORK", PHRASE_WORK)
    assert Recovery.of(WRITTEN, "flock").pen.name == "laeloqxj6yyzjxlgpdfr"


async def test_what_is_written_down_at_the_founding_can_be_checked(keeper: Membership) -> None:
    await check_phrase(keeper, keeper.phrase)
    with pytest.raises(MembershipError, match="not the recovery phrase of Office"):
        await check_phrase(keeper, new_phrase())
    assert reopened(keeper.folder.path).phrase == ""
    kept = b"".join(each.read_bytes() for each in keeper.folder.path.iterdir())
    assert not any(word.encode() in kept for word in keeper.phrase.split())


async def test_where_an_administrator_is_missing_the_phrase_is_wanted(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    (plain,) = await members(tmp_path, keeper, door, "b")
    for what in (ADMINISTRATOR, KEEPER):
        with pytest.raises(WantsPhraseError):
            await appoint(keeper, plain.node_id, what)
        assert await appoint(keeper, plain.node_id, what, keeper.phrase) == []
    assert role(keeper, plain.node_id) == ADMINISTRATOR
    assert plain.node_id in keeper.roster.keepers()


async def test_the_flock_outlives_its_only_administrator_and_keeper(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    second, third = await members(tmp_path, keeper, door, "b", "c")
    await second.merge_roster(keeper.roster.to_bytes())
    with pytest.raises(MembershipError, match="not the recovery phrase"):
        await recover(second, new_phrase())
    await recover(second, keeper.phrase)
    assert second.keeper
    assert second.roster.administrators() == [second.node_id]
    assert await expel(second, keeper.node_id, keeper.phrase) == []
    async with open_door(second) as there:
        newcomer = await join_flock(tmp_path / "d", await invited(second, there), "d")
        await third.merge_roster(newcomer.roster.to_bytes())
        await renew(third, at((second, there)))
    assert {each.host_name for each in third.roster.members()} == {"b", "c", "d"}
    assert certain(third.roster.objection_to(keeper.member.certificate)).kind == "WasExpelled"
    assert reopened(tmp_path / "b").keeper


async def test_a_machine_that_was_taken_away_administers_nothing(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    """Not by the others' word, nor by the phrase: with nothing signed."""
    first_, lost = await members(tmp_path, keeper, door, "b", "c")
    for each in (first_, keeper):
        await each.merge_roster(lost.roster.to_bytes())
    await pair(first_, lost.node_id, lost.pen.consent(first_.node_id))
    await unpair(first_, lost.node_id)
    for each in (keeper, lost):
        await each.merge_roster(first_.roster.to_bytes())
    before = lost.roster.charter.acts
    with pytest.raises(MembershipError, match="taken away from its person administers nothing"):
        await appoint(keeper, lost.node_id, ADMINISTRATOR, keeper.phrase)
    with pytest.raises(MembershipError, match="taken away from its person administers nothing"):
        await recover(lost, keeper.phrase)
    assert keeper.roster.charter.acts == lost.roster.charter.acts == before
    assert await appoint(keeper, first_.node_id, ADMINISTRATOR, keeper.phrase) == []


async def test_a_phrase_that_others_saw_is_replaced(
    tmp_path: Path, keeper: Membership, second: Membership
) -> None:
    await keeper.merge_roster(second.roster.to_bytes())
    fresh, agreed = await renew_phrase(keeper)
    assert agreed == ["first"]
    await check_phrase(keeper, keeper.phrase)  # it counts until the other one agrees
    await second.merge_roster(keeper.roster.to_bytes())
    assert await renew_phrase(second) == ("", [])
    await check_phrase(second, fresh)
    with pytest.raises(MembershipError, match="not the recovery phrase"):
        await recover(second, keeper.phrase)
    del tmp_path


# -- roles -----------------------------------------------------------------------------------------


async def test_an_invitation_says_as_what(tmp_path: Path, keeper: Membership, door: Door) -> None:
    invitation = await keeper.invite([door.address.host], door.address.port, role=HELPER)
    helper = await join_flock(tmp_path / "b", invitation, "b")
    plain = await join_flock(tmp_path / "c", await invited(keeper, door), "c")
    await plain.merge_roster(helper.roster.to_bytes())
    for each in (keeper, plain):
        assert role(each, helper.node_id) == HELPER
        assert role(each, plain.node_id) == OPERATOR
        assert role(each, keeper.node_id) == ADMINISTRATOR
    await renew(helper, at((keeper, door)), "renamed")
    assert role(keeper, helper.node_id) == HELPER
    with pytest.raises(MembershipError, match="do it on one of an administrator"):
        await set_role(helper, plain.node_id, HELPER)
    await set_role(keeper, helper.node_id, OPERATOR)
    await plain.merge_roster(keeper.roster.to_bytes())
    assert role(plain, helper.node_id) == OPERATOR


async def test_a_keeper_makes_no_administrator_by_inviting(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    invitation = await keeper.invite([door.address.host], door.address.port, role=ADMINISTRATOR)
    joined = await join_flock(tmp_path / "b", invitation, "b")
    assert role(keeper, joined.node_id) == OPERATOR


async def test_who_keeps_and_does_not_administer_invites_nobody(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    (other,) = await members(tmp_path, keeper, door, "b")
    await appoint(keeper, other.node_id, KEEPER, keeper.phrase)
    await other.merge_roster(keeper.roster.to_bytes())
    await keep_up(other, at((keeper, door)))
    assert other.keeper
    with pytest.raises(MembershipError, match=r"cannot invite: do it on one .*\(first\)"):
        await invited(other, door)
    with pytest.raises(MembershipError, match=r"cannot do this: do it on one .*\(first\)"):
        await appoint(other, other.node_id, KEEPER, withdraw=True)


# -- keys ------------------------------------------------------------------------------------------


async def test_a_keeper_that_is_none_any_more_lets_go_of_the_key(
    tmp_path: Path, keeper: Membership, second: Membership
) -> None:
    await appoint(keeper, second.node_id, KEEPER, keeper.phrase, withdraw=True)
    assert (tmp_path / "b" / AUTHORITY_KEY_FILE).exists()
    await second.merge_roster(keeper.roster.to_bytes())
    assert not second.keeper
    assert not (tmp_path / "b" / AUTHORITY_KEY_FILE).exists()
    assert second.node_id in [each.node_id for each in keeper.roster.members()]


async def test_a_key_that_cannot_be_removed_is_let_go_of_later(
    tmp_path: Path, keeper: Membership, second: Membership
) -> None:
    await appoint(keeper, second.node_id, KEEPER, keeper.phrase, withdraw=True)
    place = tmp_path / "b" / AUTHORITY_KEY_FILE
    place.unlink()
    place.mkdir()
    with pytest.raises(NotKeptError, match="cannot remove"):
        await second.merge_roster(keeper.roster.to_bytes())
    with pytest.raises(NotKeptError, match="cannot remove"):
        await second.keep_roster()
    place.rmdir()
    await second.keep_roster()
    assert not second.keeper


def test_the_key_lies_in_the_key_store_where_there_is_one(tmp_path: Path) -> None:
    store = FakeStore()
    made = create_flock(tmp_path / "a", "Office", "first", store=store)
    assert made.keeper
    assert b"PRIVATE" not in (tmp_path / "a" / AUTHORITY_KEY_FILE).read_bytes()
    assert not made.key_file.in_clear
    again = certain(Membership.open(tmp_path / "a", store=store))
    assert again.keeper
    locked = certain(Membership.open(tmp_path / "a"))
    assert not locked.keeper
    assert locked.key_file.locked


async def test_the_key_that_is_handed_on_goes_into_the_key_store(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    store = FakeStore()
    joined = await join_flock(tmp_path / "b", await invited(keeper, door), "b", store=store)
    await appoint(keeper, joined.node_id, KEEPER, keeper.phrase)
    await joined.merge_roster(keeper.roster.to_bytes())
    await keep_up(joined, at((keeper, door)))
    assert joined.keeper
    assert b"PRIVATE" not in (tmp_path / "b" / AUTHORITY_KEY_FILE).read_bytes()
    assert certain(Membership.open(tmp_path / "b", store=store)).keeper


async def test_a_key_store_that_is_unlocked_later_makes_a_keeper_then(tmp_path: Path) -> None:
    store = FakeStore()
    create_flock(tmp_path / "a", "Office", "first", store=store)
    store.broken = "locked"
    membership = certain(Membership.open(tmp_path / "a", store=store))
    assert (membership.keeper, membership.key_file.locked) == (False, "locked")
    store.broken = ""
    await keep_up(membership, at())
    assert membership.keeper


def test_where_there_is_no_key_store_the_key_is_in_the_clear(tmp_path: Path) -> None:
    store = FakeStore("there is no session bus")
    made = create_flock(tmp_path / "a", "Office", "first", store=store)
    assert made.key_file.in_clear
    assert certain(Membership.open(tmp_path / "a", store=store)).keeper


# -- leaving ---------------------------------------------------------------------------------------


async def test_who_leaves_says_so_itself_and_nobody_for_another(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    plain, other = await members(tmp_path, keeper, door, "b", "c")
    with pytest.raises(MembershipError, match="in its own name"):
        await joining._ask_any(plain, at((keeper, door)), Leave())
    forged = plain.pen.sign(certain(leaving(other)))
    with pytest.raises(MembershipError):
        await joining._ask_any(other, at((keeper, door)), Leave(forged))
    assert len(keeper.roster.members()) == 3
    assert await leave(plain, at((keeper, door))) is None
    assert {each.host_name for each in keeper.roster.members()} == {"first", "c"}


# -- a flock of before -----------------------------------------------------------------------------


def without_acts(membership: Membership) -> Membership:
    """As a version before left it."""
    membership.roster.charter = Charter(membership.flock)
    membership.roster._bytes = membership.roster._belonging = None
    return membership


async def old_flock(path: Path) -> tuple[Membership, Membership, Membership, Membership]:
    """The founder, a second keeper by its word alone, a plain member, and one that left."""
    founder = without_acts(first(path))
    async with open_door(founder) as door:
        second, plain, gone = await members(path, founder, door, "b", "c", "gone")
        authority = founder.authority("appoint")
        stated = authority.state(KEEPER, second.node_id, founder.clock(), founder.signer)
        assert founder.roster.record(stated)
        await second.merge_roster(founder.roster.to_bytes())
        await keep_up(second, at((founder, door)))
        assert second.keeper
        assert await leave(gone, at((founder, door))) is None
    for each in (second, plain):
        await each.merge_roster(founder.roster.to_bytes())
    return founder, second, plain, gone


async def test_a_flock_of_before_goes_on_and_is_upgraded_by_one_act(tmp_path: Path) -> None:
    founder, second, plain, gone = await old_flock(tmp_path)
    assert role(plain, second.node_id) == ADMINISTRATOR
    with pytest.raises(MembershipError, match="wingbeat flock upgrade"):
        await appoint(founder, plain.node_id, KEEPER)
    with pytest.raises(MembershipError, match="do it on a keeper"):
        await upgrade(plain)
    phrase = await upgrade(founder)
    for each in (second, plain):
        assert await each.merge_roster(founder.roster.to_bytes())
        assert {one.host_name for one in each.roster.members()} == {"first", "b", "c"}
        assert [one.node_id for one in each.roster.departures()] == [gone.node_id]
        assert each.roster.administrators() == each.roster.keepers() == [founder.node_id]
    assert not second.keeper
    assert await appoint(founder, second.node_id, ADMINISTRATOR, phrase) == []
    with pytest.raises(MembershipError, match="nothing is to be upgraded"):
        await upgrade(founder)
    assert reopened(tmp_path / "c").roster.administrators() == [founder.node_id]


async def test_a_keeper_of_before_is_none_after_the_upgrade(tmp_path: Path) -> None:
    """It keeps the authority's key, as a modified agent would."""
    founder, second, plain, _ = await old_flock(tmp_path)
    authority = second.authority("steal")
    await upgrade(founder)
    await plain.merge_roster(founder.roster.to_bytes())
    key = certificates.new_key()
    asked = certificates.read_request(certificates.request_certificate(key, "smuggled"))
    smuggled = Node(key, authority.issue(asked, founder.clock(), signer=second.signer))
    stated = authority.state("expelled", plain.node_id, 1, second.signer)
    for each in (founder, plain):
        assert certain(each.roster.objection_to(smuggled.member.certificate)).kind == "NotLetIn"
        assert not each.roster.record(stated)
        assert each.roster.objection_to(plain.member.certificate) is None
        assert each.roster.objection_to(second.member.certificate) is None


async def test_no_member_upgrades_a_flock_in_a_keepers_place(tmp_path: Path) -> None:
    from agent.net.recovery import founded

    founder, second, plain, _ = await old_flock(tmp_path)
    stolen = second.authority("steal")
    forged = founded(stolen, plain.pen, new_phrase(), 1)
    plain.roster.act(forged)
    assert not await founder.merge_roster(plain.roster.to_bytes())
    assert not founder.roster.charter


async def test_versions_without_acts_are_told_as_they_understand_it(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    plain, bad = await members(tmp_path, keeper, door, "b", "bad")
    older = without_acts(plain)
    await appoint(keeper, older.node_id, KEEPER, keeper.phrase)
    await expel(keeper, bad.node_id)
    await keep_up(keeper, at())
    content = without_acts(keeper).roster.to_bytes()  # all that an older version reads of it
    await older.merge_roster(content)
    assert certain(older.roster.objection_to(bad.member.certificate)).kind == "WasExpelled"
    assert older.node_id in older.roster.keepers()


async def test_what_nobody_would_take_is_no_success(
    keeper: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charter, "ACTS_OF_ONE_MAX", 1)
    with pytest.raises(MembershipError, match="nobody would take this"):
        await sign_act(keeper, keeper.pen, Act(EXPELLED, "somebody", "", 5))
