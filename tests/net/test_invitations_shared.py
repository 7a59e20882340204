"""An invitation works at any keeper, counts on all of them, and dies with an expelled one."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.host.private_files import PrivateFolder
from agent.net import certificates, enrolment, identity
from agent.net.acts import KEEPER
from agent.net.addresses import Address
from agent.net.administration import appoint, expel
from agent.net.enrolment import EnrolmentServer, Share
from agent.net.invitation import Invitation
from agent.net.invitation_book import Entry, _joined, proof_of, tag_of
from agent.net.joining import AddressesOf, join_flock, keep_up, share_book
from agent.net.membership import Membership
from tests.certain import certain
from tests.hosts.waiting import eventually
from tests.net.flocks import (
    LOOPBACK,
    Door,
    Hands,
    appointed,
    at,
    first,
    invited,
    open_door,
    refusal,
    serving,
)

NOW_S = 1_800_000_000.0


@asynccontextmanager
async def sharing_door(membership: Membership, share: Share) -> AsyncIterator[Door]:
    """Listens as a keeper that asks the others before it lets anybody in."""
    desk = EnrolmentServer(membership, share=share)
    async with serving(desk.serve, membership.tls.server) as port:
        yield Door(Address(LOOPBACK, port))


class Keepers:
    """Two keepers of one flock."""

    def __init__(self, path: Path) -> None:
        self.first = first(path)
        self.second: Membership
        self.places: AddressesOf = at()

    @classmethod
    async def gathered(cls, path: Path) -> Keepers:
        keepers = cls(path)
        async with open_door(keepers.first) as door:
            invitation = await invited(keepers.first, door)
            keepers.second = await join_flock(path / "b", invitation, "b")
        await appointed(keepers.first, keepers.second)
        assert keepers.second.keeper
        return keepers

    async def invited_by_first(self, door: Door, uses: int = 1) -> Invitation:
        """And the second knows of it."""
        invitation = await invited(self.first, door, uses=uses)
        assert await self.share_first() == [self.second.node_id]
        return invitation

    async def share_first(self, among: Collection[str] | None = None) -> list[str]:
        return await share_book(self.first, self.places, among)

    async def share_second(self, among: Collection[str] | None = None) -> list[str]:
        return await share_book(self.second, self.places, among)

    @asynccontextmanager
    async def doors(self) -> AsyncIterator[tuple[Door, Door]]:
        async with (
            sharing_door(self.first, self.share_first) as one,
            sharing_door(self.second, self.share_second) as two,
        ):
            self.places = at((self.first, one), (self.second, two))
            yield one, two


@pytest.fixture
async def keepers(tmp_path: Path) -> Keepers:
    return await Keepers.gathered(tmp_path)


def led_to(invitation: Invitation, *doors: Door) -> Invitation:
    return msgspec.structs.replace(invitation, addresses=tuple(door.address for door in doors))


async def test_any_keeper_lets_in_whom_one_invited(tmp_path: Path, keepers: Keepers) -> None:
    async with keepers.doors() as (one, two):
        invitation = await keepers.invited_by_first(one)
    async with open_door(keepers.second) as alone:  # the inviting one is switched off
        newcomer = await join_flock(tmp_path / "c", led_to(invitation, one, two, alone), "newcomer")
    assert newcomer.roster.founder == keepers.first.node_id
    assert keepers.first.roster.founder == keepers.first.node_id
    await keepers.first.merge_roster(newcomer.roster.to_bytes())
    assert keepers.first.roster.objection_to(newcomer.member.certificate) is None


async def test_a_use_at_one_keeper_is_used_at_all(tmp_path: Path, keepers: Keepers) -> None:
    async with keepers.doors() as (one, two):
        invitation = await keepers.invited_by_first(one)
        await join_flock(tmp_path / "c", led_to(invitation, two), "newcomer")
        assert "used up" in await refusal(tmp_path / "d", led_to(invitation, one))
        assert not keepers.first.book().outstanding(keepers.first.clock())


async def test_what_one_keeper_withdraws_is_withdrawn(tmp_path: Path, keepers: Keepers) -> None:
    async with keepers.doors() as (one, _):
        invitation = await keepers.invited_by_first(one)
        entry = keepers.second.book().outstanding(keepers.second.clock())[0]
        assert await keepers.second.withdraw(entry.number)
        await keepers.share_second()
        told = await refusal(tmp_path / "c", led_to(invitation, one))
        assert "does not know the invitation, or withdrew it" in told


async def test_the_secret_is_told_to_no_machine_that_does_not_know_the_invitation(
    tmp_path: Path, keepers: Keepers
) -> None:
    async with open_door(keepers.first) as door:
        mine = await invited(keepers.first, door)
    async with open_door(keepers.second) as door:  # it was not told of it
        told = await refusal(tmp_path / "c", led_to(mine, door))
    assert "knows nothing of the invitation" in told


async def test_keepers_that_are_cut_off_let_in_one_each_and_no_more(
    tmp_path: Path, keepers: Keepers
) -> None:
    async with keepers.doors() as (one, two):
        invitation = await keepers.invited_by_first(one)
        keepers.places = at()
        await join_flock(tmp_path / "c", led_to(invitation, one), "c")
        await join_flock(tmp_path / "d", led_to(invitation, two), "d")
        assert "used up" in await refusal(tmp_path / "e", led_to(invitation, one))
        assert "used up" in await refusal(tmp_path / "f", led_to(invitation, two))


async def test_invitations_end_with_the_expulsion_of_a_keeper_that_knew_them(
    tmp_path: Path, keepers: Keepers
) -> None:
    async with keepers.doors() as (one, two):
        stolen = await keepers.invited_by_first(one, uses=5)
        await expel(keepers.second, keepers.first.node_id, keepers.first.phrase)
        told = await refusal(tmp_path / "c", led_to(stolen, two))
        assert "knows nothing of the invitation" in told
        assert keepers.second.book().redeem(stolen.secret, "x", NOW_S) is not None


async def test_what_an_expelled_keeper_slipped_into_the_book_lets_nobody_in(
    tmp_path: Path, keepers: Keepers
) -> None:
    """It says that its invitation is made later than anybody expels it, and for ever; and it tells
    one that does not know yet that it is expelled."""

    keeper, expelled = keepers.second, keepers.first
    async with keepers.doors() as (_, two):
        third = await join_flock(tmp_path / "c", await invited(keeper, two), "c")
        for one, other in ((expelled, keeper), (keeper, expelled)):
            await one.merge_roster(other.roster.to_bytes())
            await appoint(one, third.node_id, KEEPER)
        await third.merge_roster(keeper.roster.to_bytes())
        await keep_up(third, at((keeper, two)))
        assert third.keeper
        slipped = await invited(expelled, two, uses=200)
        book = expelled.book()
        (own,) = [each for each in book.entries if book.find(slipped.secret) == each]
        forged = msgspec.structs.replace(own, made_s=2**40, expires_s=2**40)
        await keeper.join_book([forged])
        await expel(keeper, expelled.node_id, expelled.phrase)
        await third.join_book([forged])
        await third.merge_roster(keeper.roster.to_bytes())
        for one in (keeper, third):
            assert certain(one.book().find(slipped.secret)).withdrawn
        keeper.clock = third.clock = Hands(60)
        made_since = await invited(keeper, two)
        await third.join_book(keeper.book().entries)
        await third.end_known_invitations()
        assert not certain(third.book().find(made_since.secret)).withdrawn


async def test_a_used_invitation_lets_nobody_in_at_a_keeper_that_was_off_meanwhile(
    tmp_path: Path, keepers: Keepers
) -> None:
    """Of two that burnt a use at the same time the smaller id counts: who chooses its key until its
    id is the smaller one gains nothing by that."""

    async with keepers.doors() as (one, two):
        invitation = await keepers.invited_by_first(one)
        places, keepers.places = keepers.places, at()
        used_by = await join_flock(tmp_path / "c", led_to(invitation, one), "c")
        keepers.places = places
        folder = _folder_of_smaller_id(tmp_path, used_by.node_id)
        assert "used up" in await refusal(folder, led_to(invitation, two))


async def test_a_use_that_another_keeper_burns_unseen_counts_before_anybody_gets_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keepers: Keepers
) -> None:
    """The second keeper asks the first, which then burns the only use; then the second burns it."""
    monkeypatch.setattr(enrolment, "BURNING_S_MAX", 2.0)

    asked, first_burns = asyncio.Event(), asyncio.Event()

    async def share_early(among: Collection[str] | None = None) -> list[str]:
        answering = await keepers.share_second(among)
        asked.set()
        await first_burns.wait()
        return answering

    async with (
        sharing_door(keepers.first, keepers.share_first) as one,
        sharing_door(keepers.second, share_early) as two,
    ):
        keepers.places = at((keepers.first, one), (keepers.second, two))
        invitation = await keepers.invited_by_first(one)
        larger = identity.own_key(_folder(tmp_path / "c"))
        folder = _folder_of_smaller_id(tmp_path, certificates.node_id_of(larger.public_key()))
        lucky = asyncio.create_task(join_flock(folder, led_to(invitation, two), "d"))
        await asked.wait()
        unlucky = asyncio.create_task(refusal(tmp_path / "c", led_to(invitation, one)))
        await eventually(lambda: not keepers.first.book().outstanding(keepers.first.clock()))
        first_burns.set()
        assert "used up" in await unlucky
        assert (await lucky).flock == keepers.first.flock


def _folder(path: Path) -> PrivateFolder:
    folder = PrivateFolder(path)
    folder.prepare()
    return folder


def _folder_of_smaller_id(path: Path, than: str) -> Path:
    for number in itertools.count():
        folder = _folder(path / f"key {number}")
        if certificates.node_id_of(identity.own_key(folder).public_key()) < than:
            return folder.path
    raise AssertionError


async def test_an_expelled_keeper_is_told_no_book(keepers: Keepers) -> None:
    async with keepers.doors():
        await expel(keepers.second, keepers.first.node_id, keepers.first.phrase)
        assert await keepers.share_first() == []
        assert await keepers.share_second() == []


def test_a_proof_holds_for_one_certificate_and_one_challenge() -> None:
    proof = proof_of(b"h" * 32, b"c" * 16, b"certificate")
    assert proof != proof_of(b"h" * 32, b"c" * 16, b"another")
    assert proof != proof_of(b"h" * 32, b"d" * 16, b"certificate")
    assert proof != proof_of(b"i" * 32, b"c" * 16, b"certificate")
    assert tag_of(b"h" * 32) not in b"h" * 32


NODES = st.lists(st.sampled_from(["ant", "bee", "cat", "dog"]), unique=True).map(tuple)
ENTRIES = st.builds(
    lambda used_by, withdrawn: Entry(b"h" * 32, 2, 100, used_by, 1, withdrawn), NODES, st.booleans()
)


def _plain(entry: Entry) -> Entry:
    return msgspec.structs.replace(entry, used_by=tuple(sorted(entry.used_by)))


@given(ENTRIES, ENTRIES, ENTRIES)
def test_joining_what_keepers_know_is_a_join(one: Entry, two: Entry, three: Entry) -> None:
    assert _plain(_joined(one, two)) == _plain(_joined(two, one))
    assert _plain(_joined(_joined(one, two), three)) == _plain(_joined(one, _joined(two, three)))
    assert _joined(one, one) == one
