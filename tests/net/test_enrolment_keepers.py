"""What members ask of keepers later: renewal, the authority's key, expulsion, leaving. And a keeper that
was expelled has the authority's key and its own, and turns both on the flock.

What is stolen here is real: the thief's membership keeps working as it did, with its folder, its
keys and its clock, and never hears of its expulsion unless a test says so.
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from agent.api.errors import MembershipError, NotKeptError
from agent.host.private_files import PrivateFolder
from agent.net import acts, certificates, identity, joining
from agent.net.acts import Act
from agent.net.administration import appoint, expel
from agent.net.authority import EXPELLED, KEEPER, Statement
from agent.net.certificates import Applicant, Member, Signer, voucher_of
from agent.net.enrolment_messages import AskAuthority, TakeAuthority
from agent.net.joining import exchange, join_flock, keep_up, leave, renew
from agent.net.membership import Membership
from agent.net.tls import JOIN, client_context
from agent.protocol.link_reasons import NoLink
from tests.certain import certain
from tests.net.flocks import (
    DAY_S,
    Door,
    FullDisk,
    Hands,
    Node,
    appointed,
    at,
    expired_node,
    first,
    invited,
    members,
    new_node,
    nowhere,
    open_door,
    refusal,
    reopened,
)


async def test_a_certificate_is_renewed_after_two_thirds_by_any_keeper(tmp_path: Path) -> None:
    keeper, hands = first(tmp_path), Hands()
    keeper.node_life_s = 3600
    async with open_door(keeper) as door:
        *_, plain = await members(tmp_path, keeper, door, "b", "c", "plain")
        plain.clock, before = hands, plain.member
        await keep_up(plain, nowhere)
        hands.ahead_s = 2300
        await keep_up(plain, nowhere)
        assert plain.member == before
        hands.ahead_s, keeper.node_life_s = 2500, 7200
        with pytest.raises(MembershipError, match="no keeper of Office could do it: none has"):
            await keep_up(plain, nowhere)
        await keep_up(plain, at((keeper, door)))
    assert plain.member.valid_until_s > before.valid_until_s
    assert plain.node_id == before.node_id
    assert keeper.roster.member(plain.node_id) == plain.member
    assert reopened(tmp_path / "plain").member == plain.member


async def test_a_keeper_renews_itself_and_under_a_new_name(keeper: Membership) -> None:
    await renew(keeper, nowhere, "renamed")
    assert keeper.member.host_name == "renamed"


async def test_a_keeper_whose_clock_was_months_ahead_is_let_in_again_when_it_is_right(
    tmp_path: Path,
) -> None:
    hands = Hands()
    keeper = first(tmp_path, hands=hands)
    async with open_door(keeper) as door:
        member = await join_flock(tmp_path / "b", await invited(keeper, door), "b")
    hands.ahead_s = 400 * DAY_S
    await keep_up(keeper, nowhere)
    assert keeper.member.valid_from_s > time.time() + 300 * DAY_S
    member.roster.merge(keeper.roster.to_bytes())  # while their link still stood
    assert certain(member.roster.objection_to(keeper.member.certificate)).kind == "CertificateFrom"
    hands.ahead_s = 0
    await keep_up(keeper, nowhere)
    for each in (keeper, member):
        assert each.roster.objection_to(keeper.member.certificate) is None
    assert member.roster.merge(keeper.roster.to_bytes())
    known = member.roster.member(keeper.node_id)
    assert known == keeper.member
    assert member.roster.objection_to(known.certificate) is None
    again = keeper.member
    await keep_up(keeper, nowhere)
    assert keeper.member == again


async def test_an_expelled_keeper_does_not_come_back_by_setting_its_clock(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    hands = Hands()
    invitation = await invited(keeper, door)
    other = await join_flock(tmp_path / "b", invitation, "b", hands)
    await appointed(keeper, other)
    assert other.keeper
    hands.ahead_s = 400 * DAY_S
    await keep_up(other, nowhere)
    await expel(keeper, other.node_id, keeper.phrase)
    hands.ahead_s = 0
    await keep_up(other, nowhere)  # it has not heard of it
    assert certain(keeper.roster.objection_to(other.member.certificate)).kind == "WasExpelled"
    keeper.roster.merge(other.roster.to_bytes())
    assert keeper.roster.member(other.node_id) is None


async def test_a_member_appointed_by_hand_fetches_the_key(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    *_, fourth = await members(tmp_path, keeper, door, *"bcd")
    with pytest.raises(MembershipError, match="not appointed"):
        await joining._ask_any(fourth, at((keeper, door)), TakeAuthority())
    await appoint(keeper, fourth.node_id, KEEPER, keeper.phrase)
    await fourth.merge_roster(keeper.roster.to_bytes())
    await keep_up(fourth, at((keeper, door)))
    assert fourth.keeper
    assert reopened(tmp_path / "d").keeper


async def test_the_first_machine_may_be_lost(tmp_path: Path, keeper: Membership) -> None:
    async with open_door(keeper) as door:
        second, _, fourth = await members(tmp_path, keeper, door, *"bcd")
    await appointed(keeper, second)
    await expel(second, keeper.node_id, keeper.phrase)
    assert second.roster.keepers() == [second.node_id]
    async with open_door(second) as door:
        await fourth.merge_roster(second.roster.to_bytes())
        await appoint(second, fourth.node_id, KEEPER, keeper.phrase)
        await fourth.merge_roster(second.roster.to_bytes())
        await keep_up(fourth, at((second, door)))
        assert fourth.keeper
        await join_flock(tmp_path / "e", await invited(second, door), "e")


async def test_an_administrator_expels_a_member_everywhere(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    *_, plain, bad = await members(tmp_path, keeper, door, "b", "c", "plain", "bad")
    await plain.merge_roster(keeper.roster.to_bytes())
    with pytest.raises(MembershipError, match="do it on one of an administrator"):
        await expel(plain, bad.node_id)
    assert await expel(keeper, bad.node_id) == []
    await plain.merge_roster(keeper.roster.to_bytes())
    for knowing in (plain, keeper):
        assert "WasExpelled" in str(knowing.roster.objection_to(bad.member.certificate))
    with pytest.raises(MembershipError, match=r"not let in, it was expelled"):
        await renew(bad, at((keeper, door)))
    (tmp_path / "bad" / identity.CERTIFICATE_FILE).unlink()
    told = await refusal(tmp_path / "bad", await invited(keeper, door))
    assert "does not any more: leave" in told


async def test_expelling_a_keeper_warns(keeper: Membership, second: Membership) -> None:
    with pytest.raises(MembershipError, match="is not a member"):
        await expel(second, "nobody")
    assert "had let in b" in str(second.expulsion_warning(keeper.node_id))
    await expel(second, keeper.node_id, keeper.phrase)
    assert "was the only keeper" in str(second.expulsion_warning(second.node_id))
    with pytest.raises(MembershipError, match="leave the flock instead"):
        await expel(second, second.node_id)
    with pytest.raises(MembershipError, match="the only keeper"):
        await appoint(second, second.node_id, KEEPER, withdraw=True)


async def test_who_leaves_is_gone_everywhere_and_may_come_back_as_another(
    tmp_path: Path, keeper: Membership, door: Door, second: Membership
) -> None:
    assert await leave(second, at((keeper, door))) is None
    assert list((tmp_path / "b").iterdir()) == []
    assert Membership.open(tmp_path / "b") is None
    (departure,) = keeper.roster.departures()
    assert (departure.host_name, departure.expelled) == ("b", False)
    back = await join_flock(tmp_path / "b", await invited(keeper, door), "b")
    assert back.node_id != second.node_id
    assert len(back.roster.members()) == 2


async def test_who_is_alone_leaves_without_telling(tmp_path: Path) -> None:
    assert await leave(first(tmp_path), nowhere) is None
    assert list((tmp_path / "first of Office").iterdir()) == []


async def test_who_can_tell_nobody_is_told_so(
    tmp_path: Path, keeper: Membership, door: Door, second: Membership
) -> None:
    assert "expel it there" in str(await leave(second, nowhere))
    # What it stated as a keeper could still spread by its links.
    assert await keeper.merge_roster(second.roster.to_bytes())
    assert keeper.alone


async def test_the_last_keeper_does_not_leave_by_accident(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    assert not (await join_flock(tmp_path / "b", await invited(keeper, door), "b")).keeper
    with pytest.raises(MembershipError, match="appoint another keeper first"):
        await leave(keeper, nowhere)
    assert await leave(keeper, nowhere, even_as_last_keeper=True) is not None
    assert Membership.open(keeper.folder.path) is None


async def test_whose_certificate_has_ended_joins_again_under_its_name(
    tmp_path: Path, keeper: Membership, door: Door, second: Membership
) -> None:
    invitation = await invited(keeper, door)
    with pytest.raises(MembershipError, match="belongs to the flock Office already"):
        await join_flock(tmp_path / "b", invitation, "b")
    ended = expired_node(keeper.authority("test"), second._own.key).member
    identity.save_certificate(second.folder, ended)
    stale = reopened(tmp_path / "b")
    with pytest.raises(MembershipError, match=r"ended on .* join Office again"):
        await joining._ask_any(stale, at((keeper, door)), TakeAuthority())
    assert (await join_flock(tmp_path / "b", invitation, "b")).node_id == second.node_id


class ClosedForAWhile(FullDisk):
    """A disk that takes nothing until it is opened."""

    closed = True

    def replace(self, source: Path, target: Path) -> None:
        if self.closed:
            super().replace(source, target)
        source.replace(target)


async def test_what_a_full_disk_does_not_take_counts_and_is_kept_later(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    plain, expelled = await members(tmp_path, keeper, door, "plain", "expelled")
    await expel(keeper, expelled.node_id)
    disk = ClosedForAWhile()
    plain.folder = PrivateFolder(tmp_path / "plain", disk)
    with pytest.raises(NotKeptError, match="disk is not full"):
        await plain.merge_roster(keeper.roster.to_bytes())
    assert plain.roster.departure(expelled.node_id) is not None
    with pytest.raises(NotKeptError):
        await plain.keep_roster()
    disk.closed = False
    await plain.keep_roster()
    assert reopened(tmp_path / "plain").roster.departure(expelled.node_id) is not None


# -- the authority's key, and nobody who holds it by right -----------------------------------------


class Flock:
    """A founder that is to be expelled, a second keeper, a third one, and a plain member."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.thief = first(path)
        self.second: Membership
        self.plain: Membership

    async def gather(self) -> None:
        async with open_door(self.thief) as door:
            self.second, _, self.plain = await members(self.path, self.thief, door, *"bcd")
        await appointed(self.thief, self.second)
        await self.plain.merge_roster(self.thief.roster.to_bytes())

    async def expel_the_thief(self) -> None:
        await expel(self.second, self.thief.node_id, self.thief.phrase)
        await self.plain.merge_roster(self.second.roster.to_bytes())


@pytest.fixture
async def flock(tmp_path: Path) -> Flock:
    """Gathered, and nobody knows yet that the founder is a thief."""
    found = Flock(tmp_path)
    await found.gather()
    return found


def applicant() -> tuple[certificates.PrivateKey, Applicant]:
    key = certificates.new_key()
    return key, certificates.read_request(certificates.request_certificate(key, "smuggled"))


async def smuggled(thief: Membership, issued_s: float | None = None) -> Node:
    """A machine that the thief lets in with all that it has; dated as it likes."""
    key, newcomer = applicant()
    moment_s = thief.clock() if issued_s is None else issued_s
    return Node(key, thief.authority("steal").issue(newcomer, moment_s, signer=thief.signer))


def everybody(flock: Flock) -> list[Membership]:
    return [flock.second, flock.plain]


@pytest.mark.parametrize("backdated_s", [0, 5 * DAY_S])
async def test_a_stolen_key_lets_nobody_in(flock: Flock, backdated_s: int) -> None:
    before = await smuggled(flock.thief)
    assert flock.second.roster.objection_to(before.member.certificate) is None
    await flock.expel_the_thief()
    node = await smuggled(flock.thief, flock.thief.clock() - backdated_s)
    for member in everybody(flock):
        assert certain(member.roster.objection_to(node.member.certificate)).kind == "NotLetIn"
        assert not member.roster.learn(node.member.certificate)
        assert member.roster.objection_to(before.member.certificate) is not None
        assert member.roster.objection_to(flock.plain.member.certificate) is None


async def test_a_smuggled_machine_gets_no_connection(tmp_path: Path, flock: Flock) -> None:
    await flock.expel_the_thief()
    node = await smuggled(flock.thief)
    context = client_context(flock.second.flock, node.files(tmp_path / "x"), JOIN)
    async with open_door(flock.second) as door:
        await exchange(door.address, context, AskAuthority(), lambda _: None)
        outcome = await door.outcome()
    assert isinstance(outcome, NoLink)
    assert outcome.kind == "NotLetIn"


async def test_the_stolen_key_forges_no_word_of_another_keeper(flock: Flock) -> None:
    await flock.expel_the_thief()
    authority, key = flock.thief.authority("steal"), flock.thief.signer.key
    in_another_name = Signer(flock.second.node_id, key)
    _, newcomer = applicant()
    forged = authority.issue(newcomer, flock.thief.clock(), signer=in_another_name)
    without = authority.issue(newcomer, flock.thief.clock())
    assert voucher_of(forged.certificate) is not None
    for certificate in (forged.certificate, without.certificate):
        for member in everybody(flock):
            assert member.roster.objection_to(certificate) is not None


async def test_what_the_thief_states_counts_no_more(flock: Flock) -> None:
    await flock.expel_the_thief()
    thief = flock.thief
    heads = thief.roster.charter.heads
    for kind, whom, value in (
        (acts.EXPELLED, flock.second.node_id, ""),
        (acts.ROLE, flock.plain.node_id, acts.HELPER),
        (acts.KEEPER, flock.plain.node_id, acts.APPOINTED),
    ):
        await thief.take_acts(thief.pen.sign(Act(kind, whom, value, 1, stands_on=heads)))
    node = await smuggled(thief)
    thief.roster.learn(node.member.certificate)
    for member in everybody(flock):
        was = (member.roster.members(), member.roster.keepers())
        await member.merge_roster(thief.roster.to_bytes())
        assert (member.roster.members(), member.roster.keepers()) == was
        assert member.roster.standing.role(flock.plain.node_id) == acts.OPERATOR
        assert thief.node_id not in member.roster.keepers()


async def test_statements_with_the_authoritys_signature_alone_are_not_heard(flock: Flock) -> None:
    authority = flock.thief.authority("steal")
    second = flock.second
    unsigned = authority.state(EXPELLED, second.node_id, 1)
    in_anothers_name: list[Statement] = [
        msgspec.structs.replace(
            authority.state(KEEPER, flock.plain.node_id, 1, flock.thief.signer),
            by=second.node_id,
        ),
        msgspec.structs.replace(
            authority.state(KEEPER, flock.plain.node_id, 1, flock.thief.signer),
            kept=("everybody",),
        ),
    ]
    for statement in (unsigned, *in_anothers_name):
        assert not second.roster.record(statement)


async def test_whom_the_expelled_keeper_had_let_in_stays_and_can_work_on(
    tmp_path: Path, flock: Flock
) -> None:
    await flock.expel_the_thief()
    second, plain = flock.second, flock.plain
    assert second.keeper
    assert second.node_id in plain.roster.keepers()
    async with open_door(second) as door:
        await keep_up(plain, at((second, door)))
        newcomer = await join_flock(tmp_path / "e", await invited(second, door), "e")
        await plain.merge_roster(newcomer.roster.to_bytes())
    assert plain.roster.objection_to(newcomer.member.certificate) is None
    assert {one.node_id for one in plain.roster.members()} >= {
        second.node_id,
        plain.node_id,
        newcomer.node_id,
    }
    again = reopened(tmp_path / "e")
    assert again.roster.objection_to(plain.member.certificate) is None
    node = await smuggled(flock.thief)
    assert again.roster.objection_to(node.member.certificate) is not None


async def test_the_founder_is_not_what_a_peer_says(flock: Flock) -> None:
    stranger: Member = new_node(flock.thief.authority("steal")).member
    flock.thief.roster.founder = stranger.node_id
    flock.thief.roster._bytes = None
    await flock.plain.merge_roster(flock.thief.roster.to_bytes())
    assert flock.plain.roster.founder == flock.thief.node_id
    assert flock.plain.roster.objection_to(stranger.certificate) is not None


async def test_who_expels_a_keeper_is_told_whom_it_let_in(flock: Flock) -> None:
    warning = flock.second.expulsion_warning(flock.thief.node_id)
    for name in "bcd":
        assert f"{name}" in certain(warning).rpartition("had let in ")[2]
    with pytest.raises(MembershipError):
        flock.plain.authority("expel")
