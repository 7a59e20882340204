"""A keeper that was expelled has the authority's key and its own, and turns both on the flock.

What is stolen here is real: the thief's membership keeps working as it did, with its folder, its
keys and its clock, and never hears of its expulsion unless a test says so.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from agent.api.errors import MembershipError
from agent.net import certificates
from agent.net.authority import EXPELLED, KEEPER, Statement
from agent.net.certificates import Applicant, Member, Signer, voucher_of
from agent.net.enrolment_messages import AskAuthority
from agent.net.joining import exchange, join_flock, keep_up
from agent.net.membership import Membership
from agent.net.refusals import Refusal
from agent.net.tls import JOIN, client_context
from tests.net.flocks import DAY_S, Node, at, first, invited, new_node, open_door, reopened


class Flock:
    """A founder that is to be expelled, a second keeper, a third one, and a plain member."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.thief = first(path)
        self.second: Membership
        self.plain: Membership

    async def gather(self) -> None:
        async with open_door(self.thief) as door:
            invitation = await invited(self.thief, door, uses=3)
            self.second, _, self.plain = [
                await join_flock(self.path / name, invitation, name) for name in "bcd"
            ]
            await keep_up(self.second, at((self.thief, door)))
        await self.second.merge_roster(self.thief.roster.to_bytes())

    async def expel_the_thief(self) -> None:
        await self.second.expel(self.thief.node_id)
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
    authority = thief.authority("steal")
    return Node(key, authority.issue(newcomer, moment_s, signer=thief._signer))


def everybody(flock: Flock) -> list[Membership]:
    return [flock.second, flock.plain]


@pytest.mark.parametrize("backdated_s", [0, 5 * DAY_S])
async def test_a_stolen_key_lets_nobody_in(flock: Flock, backdated_s: int) -> None:
    before = await smuggled(flock.thief)
    assert flock.second.roster.objection_to(before.member.certificate) is None
    await flock.expel_the_thief()
    node = await smuggled(flock.thief, flock.thief.clock() - backdated_s)
    for member in everybody(flock):
        told = member.roster.objection_to(node.member.certificate)
        assert told is not None
        assert told.startswith("no keeper whose word counts has let it in")
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
    assert isinstance(outcome, Refusal)
    assert "no keeper whose word counts" in outcome.reason


async def test_the_stolen_key_forges_no_word_of_another_keeper(flock: Flock) -> None:
    await flock.expel_the_thief()
    authority, key = flock.thief.authority("steal"), flock.thief._signer.key
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
    await thief.expel(flock.second.node_id)
    await thief.appoint(flock.plain.node_id)
    node = await smuggled(thief)
    thief.roster.learn(node.member.certificate)
    for member in everybody(flock):
        was = (member.roster.members(), member.roster.keepers())
        assert not await member.merge_roster(thief.roster.to_bytes())
        assert (member.roster.members(), member.roster.keepers()) == was
        assert thief.node_id not in member.roster.keepers()


async def test_statements_with_the_authoritys_signature_alone_are_not_heard(flock: Flock) -> None:
    authority = flock.thief.authority("steal")
    second = flock.second
    unsigned = authority.state(EXPELLED, second.node_id, 1)
    in_anothers_name: list[Statement] = [
        msgspec.structs.replace(
            authority.state(KEEPER, flock.plain.node_id, 1, flock.thief._signer),
            by=second.node_id,
        ),
        msgspec.structs.replace(
            authority.state(KEEPER, flock.plain.node_id, 1, flock.thief._signer),
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
    assert warning is not None
    for name in "bcd":
        assert f"{name}" in warning.rpartition("had let in ")[2]
    with pytest.raises(MembershipError):
        flock.plain.authority("expel")
