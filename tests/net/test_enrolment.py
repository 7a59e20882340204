"""Joining over real sockets: who gets in, who does not and what it is told, and keeping up."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from agent.api.errors import InVainError, MembershipError
from agent.host.private_files import PrivateFolder
from agent.net import enrolment, identity, joining
from agent.net import joining as exchanging
from agent.net.addresses import Address
from agent.net.administration import expel
from agent.net.enrolment_messages import QUESTION_BYTES_MAX, Expel, Renew, TakeAuthority, close
from agent.net.invitation_book import GUESSES_MAX
from agent.net.joining import exchange, join_flock
from agent.net.membership import Membership
from agent.net.tls import NO_SERVER_NAME, TlsObject, unverified_context
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.net.flocks import (
    DAY_S,
    LOOPBACK,
    Door,
    FullDisk,
    Hands,
    appointed,
    first,
    invited,
    members,
    open_door,
    refusal,
    reopened,
    serving,
)

MACHINES = 30


async def test_a_machine_joins_and_both_know_each_other(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    joined = await join_flock(tmp_path / "b", await invited(keeper, door), "second")
    assert (joined.flock.flock_id, joined.flock.name) == (keeper.flock.flock_id, "Office")
    assert [
        one.host_name for one in sorted(keeper.roster.members(), key=lambda m: m.host_name)
    ] == [
        "first",
        "second",
    ]
    assert joined.roster.to_bytes() == keeper.roster.to_bytes()
    for path, was in ((tmp_path / "b", joined), (keeper.folder.path, keeper)):
        again = reopened(path)
        assert (again.node_id, again.roster.to_bytes()) == (was.node_id, was.roster.to_bytes())


async def test_whoever_was_appointed_holds_the_authority_and_can_admit(
    tmp_path: Path, keeper: Membership
) -> None:
    async with open_door(keeper) as door:
        joined = await members(tmp_path, keeper, door, *"bcd")
    assert [one.keeper for one in joined] == [False, False, False]
    await appointed(keeper, joined[0], joined[1])
    assert [one.keeper for one in joined] == [True, True, False]
    assert sorted(keeper.roster.keepers()) == sorted(
        [keeper.node_id, joined[0].node_id, joined[1].node_id]
    )
    async with open_door(joined[1]) as door:
        last = await join_flock(tmp_path / "last", await invited(joined[1], door), "last")
    assert len(last.roster.members()) == 5
    assert not last.keeper


async def test_thirty_machines_join_at_once_with_one_invitation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeper: Membership, door: Door
) -> None:
    """All in this one process, which may need longer for thirty than each would wait for one."""
    monkeypatch.setattr(exchanging, "CONNECT_S_MAX", EVENTUALLY_S_MAX)
    for module in (exchanging, enrolment):
        monkeypatch.setattr(module, "EXCHANGE_S_MAX", EVENTUALLY_S_MAX)

    invitation = await invited(keeper, door, uses=MACHINES)
    joined = await asyncio.gather(
        *(
            join_flock(tmp_path / str(number), invitation, f"host-{number}")
            for number in range(MACHINES)
        )
    )
    assert "used up" in await refusal(tmp_path / "late", invitation)
    assert len({one.node_id for one in joined}) == MACHINES
    assert len(keeper.roster.members()) == MACHINES + 1
    assert not any(one.keeper for one in joined)


async def test_an_invitation_lets_in_once_also_after_the_keepers_restart(
    tmp_path: Path, keeper: Membership
) -> None:
    async with open_door(keeper) as door:
        invitation = await invited(keeper, door)
        await join_flock(tmp_path / "b", invitation, "second")
        assert "used up: ask for a new one" in await refusal(tmp_path / "c", invitation)
    again = reopened(keeper.folder.path)
    async with open_door(again) as door:
        moved = msgspec.structs.replace(invitation, addresses=(door.address,))
        assert "used up" in await refusal(tmp_path / "c", moved)


async def test_a_machine_cut_off_after_its_use_was_burnt_joins_again(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    invitation = await invited(keeper, door)
    joined = await join_flock(tmp_path / "b", invitation, "second")
    (tmp_path / "b" / identity.CERTIFICATE_FILE).unlink()
    assert (await join_flock(tmp_path / "b", invitation, "second")).node_id == joined.node_id


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"secret": bytes(12)}, "does not know the invitation, or withdrew it"),
        ({"flock_id": "a" * 26}, "a machine of another flock (Office) has this address now"),
        ({"keeper": bytes(8), "secret": bytes(12)}, "knows nothing of the invitation"),
    ],
)
async def test_a_wrong_invitation_is_explained(
    tmp_path: Path, changes: dict[str, object], told: str, keeper: Membership, door: Door
) -> None:
    wrong = msgspec.structs.replace(await invited(keeper, door), **changes)
    assert told in await refusal(tmp_path / "b", wrong)


async def test_an_expired_invitation_is_refused_by_the_keepers_clock(tmp_path: Path) -> None:
    hands = Hands()
    keeper = first(tmp_path, hands=hands)
    async with open_door(keeper) as door:
        invitation = await keeper.invite([LOOPBACK], door.address.port, valid_for_s=60)
        hands.ahead_s = 61
        assert "the invitation expired on" in await refusal(tmp_path / "b", invitation)


async def test_a_withdrawn_invitation_is_refused(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    invitation = await invited(keeper, door)
    (entry,) = keeper.book().outstanding(keeper.clock())
    assert await keeper.withdraw(entry.number)
    assert "withdrew it" in await refusal(tmp_path / "b", invitation)


async def test_only_what_no_further_try_can_mend_is_called_in_vain(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    """Who joins by itself gives up by this, and not by the sentence."""
    used, withdrawn = await invited(keeper, door), await invited(keeper, door)
    await join_flock(tmp_path / "first", used, "first")
    (entry,) = keeper.book().outstanding(keeper.clock())
    await keeper.withdraw(entry.number)
    for each in (used, withdrawn):
        with pytest.raises(InVainError):
            await join_flock(tmp_path / "late", each, "late")
    with pytest.raises(MembershipError, match="ahead of") as caught:
        await join_flock(tmp_path / "b", await invited(keeper, door), "b", Hands(7200))
    assert not isinstance(caught.value, InVainError)


@pytest.mark.parametrize(
    ("ahead_s", "told"), [(7200, "2 h ahead of"), (-4 * DAY_S, "4 days behind")]
)
async def test_clocks_too_far_apart_are_told_and_burn_nothing(
    tmp_path: Path, ahead_s: float, told: str, keeper: Membership, door: Door
) -> None:
    invitation = await invited(keeper, door)
    assert told in await refusal(tmp_path / "b", invitation, Hands(ahead_s))
    await join_flock(tmp_path / "b", invitation, "second")


async def test_the_keeper_checks_the_clock_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeper: Membership, door: Door
) -> None:
    monkeypatch.setattr(joining, "clock_fault", lambda _: None)
    told = await refusal(tmp_path / "b", await invited(keeper, door), Hands(7260))
    assert told.startswith("the clock of this machine is 2 h ahead")


async def test_each_address_that_failed_is_told(tmp_path: Path) -> None:
    keeper, other = first(tmp_path), first(tmp_path, "Studio")
    async with open_door(keeper) as door:
        invitation = await keeper.invite([LOOPBACK], door.address.port, valid_for_s=60)
        gone = door.address
    async with open_door(other) as elsewhere:
        wrong = (gone, elsewhere.address)
        lost = msgspec.structs.replace(invitation, addresses=wrong)
        told = await refusal(tmp_path / "b", lost)
        assert f"{gone}: no Wingbeat listens there" in told
        assert f"{elsewhere.address}: a machine of another flock (Studio)" in told
        assert "firewall" in told
        assert "expired" not in told
        assert "the invitation expired on" in await refusal(tmp_path / "b", lost, Hands(61))


async def test_one_address_that_works_is_enough(tmp_path: Path) -> None:
    keeper, other = first(tmp_path), first(tmp_path, "Studio")
    async with open_door(keeper) as door, open_door(other) as elsewhere:
        invitation = await invited(keeper, door)
        every = (Address(LOOPBACK, 9), elsewhere.address, door.address)
        many = msgspec.structs.replace(invitation, addresses=every)
        assert (await join_flock(tmp_path / "b", many, "b")).flock.name == "Office"


async def test_a_silent_address_costs_a_limited_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeper: Membership
) -> None:
    monkeypatch.setattr(exchanging, "CONNECT_S_MAX", 0.2)

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del writer
        await reader.read()

    async with serving(silent) as port:
        invitation = await keeper.invite([LOOPBACK], port)
        assert "nothing answers" in await refusal(tmp_path / "b", invitation)


async def test_a_member_that_is_no_keeper_says_so(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    other, _, plain = await members(tmp_path, keeper, door, "b", "c", "plain")
    assert not plain.keeper
    with pytest.raises(MembershipError, match=r"do it on a keeper \(.*first"):
        await plain.invite([LOOPBACK], 5)
    with pytest.raises(MembershipError, match=r"do it on one of an administrator \(first"):
        await expel(plain, other.node_id)


async def test_guessing_is_slowed_down_and_not_for_others(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    invitation = await invited(keeper, door)
    for _ in range(GUESSES_MAX):
        guess = msgspec.structs.replace(invitation, secret=os.urandom(12))
        assert "does not know" in await refusal(tmp_path / "guesser", guess)
    assert "too many wrong" in await refusal(tmp_path / "guesser", invitation)


async def test_nothing_is_issued_when_the_use_cannot_be_written(
    tmp_path: Path, keeper: Membership, door: Door
) -> None:
    invitation = await invited(keeper, door)
    keeper.book()._folder = PrivateFolder(keeper.folder.path, FullDisk())
    assert "cannot write" in await refusal(tmp_path / "b", invitation)
    assert len(keeper.roster.members()) == 1


async def test_a_machine_joins_one_flock_at_a_time(tmp_path: Path) -> None:
    keeper, other = first(tmp_path), first(tmp_path, "Studio")
    async with open_door(keeper) as door:
        invitation = await invited(keeper, door)
        with pytest.raises(MembershipError, match="belongs to the flock Studio already"):
            await join_flock(other.folder.path, invitation, "first")


def anybody(tls: TlsObject | None) -> None:
    """No check."""


async def test_strangers_may_ask_nothing_but_to_join(keeper: Membership, door: Door) -> None:
    for question in (Expel(keeper.node_id), TakeAuthority(), Renew(b"")):
        answer = await exchange(door.address, unverified_context(), question, anybody)
        assert "only members may ask this" in str(answer)
    assert len(keeper.roster.members()) == 1


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\x00",
        (QUESTION_BYTES_MAX + 1).to_bytes(4, "big"),
        b"\xff\xff\xff\xff",
        (5).to_bytes(4, "big") + b"trash",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
async def test_garbage_costs_its_sender_the_connection_only(
    tmp_path: Path, sent: bytes, keeper: Membership, door: Door
) -> None:
    reader, writer = await asyncio.open_connection(
        *door.address, ssl=unverified_context(), server_hostname=NO_SERVER_NAME
    )
    writer.write(sent)
    async with asyncio.timeout(EVENTUALLY_S_MAX):
        if len(sent) < 4:
            await door.outcome()
        else:
            assert await reader.read() == b""
    await close(writer)
    await join_flock(tmp_path / "b", await invited(keeper, door), "b")


async def test_a_silent_stranger_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrolment, "EXCHANGE_S_MAX", 0.05)
    async with open_door(first(tmp_path)) as door:
        reader, writer = await asyncio.open_connection(
            *door.address, ssl=unverified_context(), server_hostname=NO_SERVER_NAME
        )
        async with asyncio.timeout(EVENTUALLY_S_MAX):
            assert await reader.read() == b""
        await close(writer)


async def test_a_crowd_is_told_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeper: Membership, door: Door
) -> None:
    monkeypatch.setattr(enrolment, "CONNECTIONS_MAX", 0)
    told = await refusal(tmp_path / "b", await invited(keeper, door))
    assert "what listens there is no keeper" in told or "try again in a minute" in told


async def test_joining_has_its_own_protocol(
    tmp_path: Path, keeper: Membership, door: Door, second: Membership
) -> None:
    """A link's connection that ends up at the desk is not served."""

    for protocol in ("wingbeat/1", "wingbeat-bulk/1", "wingbeat-client/1"):
        answer = await exchange(door.address, second.tls.client(protocol), TakeAuthority(), anybody)
        assert "asked under another protocol" in str(answer)
