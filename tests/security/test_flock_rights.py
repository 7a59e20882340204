"""No single member takes the flock: attacks by modified agents on live ones, over their real links.

Each attack is tried twice: against agents as they are, and against agents of which the guard was taken
out, where it succeeds; so it is the guard that holds, and not the attack that is none.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from agent.flock.gossip import gossip_of
from agent.net import acts
from agent.net.acts import ADMINISTRATOR, Act
from agent.net.addresses import Address
from agent.net.administration import appoint
from agent.net.charter import Charter
from agent.net.enrolment_messages import AuthorityKey, Expel, Refused, TakeAuthority
from agent.net.joining import ask_keeper
from agent.net.membership import Membership
from agent.net.rights import Rights
from agent.net.roster import Roster
from agent.node.agent import Agent
from tests.certain import certain
from tests.driver.nodes import flock_of, services
from tests.hosts.waiting import eventually

PORTS = itertools.count(1)
GUARDED = pytest.mark.parametrize("guarded", [True, False], ids=["as it is", "guard taken out"])


@asynccontextmanager
async def flock(folder: Path) -> AsyncIterator[tuple[Agent, Agent, Agent, str]]:
    """Ant has founded it; with the recovery phrase."""
    async with services(folder, "ant", "bee", "cat") as (ant, bee, cat):
        phrase = (await ant.flock.create("office")).phrase
        await flock_of(ant, bee, cat)
        yield ant, bee, cat, phrase


def of(agent: Agent) -> Membership:
    return certain(agent.network).membership


def names(agent: Agent) -> set[str]:
    return {each.name for each in agent.flock.members()}


def signed(by: Agent, kind: str, whom: Agent, value: str = "") -> Act:
    """By a modified agent, that asks nobody."""
    heads = of(by).roster.charter.heads
    return of(by).pen.sign(Act(kind, whom.node_id, value, 1, stands_on=heads))


async def tell(by: Agent, to: Agent, *said: Act) -> None:
    """Send it by the link, past all of the sender's own checks, and wait until it was heard there."""
    links, heard = certain(by.network).links, certain(to.network)
    roster = msgspec.msgpack.decode(of(by).roster.to_bytes())
    roster[5] += [msgspec.msgpack.decode(msgspec.msgpack.encode(each)) for each in said]
    links.gossip(to.node_id, gossip_of(msgspec.msgpack.encode(roster)))
    behind = Address("127.0.0.1", next(PORTS))
    links.gossip(to.node_id, gossip_of(addresses={by.node_id: [behind]}))
    await eventually(lambda: behind in heard.addresses_of(by.node_id))
    await eventually(lambda: not heard._gossiped)


async def asked(by: Agent, keeper: Agent, question: Expel | TakeAuthority) -> object:
    """What a member is answered that asks as versions before did."""
    return await ask_keeper(of(by), Address("127.0.0.1", keeper.port), question)


async def test_member_cannot_have_a_keeper_expel(tmp_path: Path) -> None:
    async with flock(tmp_path) as (ant, bee, cat, _):
        assert isinstance(await asked(bee, ant, Expel(cat.node_id)), Refused)
        assert names(ant) == {"ant", "bee", "cat"}


@GUARDED
async def test_member_cannot_expel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    if not guarded:
        monkeypatch.setattr(Charter, "_may_sign", lambda *_: True)
        monkeypatch.setattr(Rights, "has_voice", lambda *_: True)
        monkeypatch.setattr(Rights, "is_agreed", lambda *_: True)
    async with flock(tmp_path) as (ant, bee, cat, _):
        await tell(bee, ant, signed(bee, acts.EXPELLED, cat))
        assert ("cat" in names(ant)) is guarded
        if guarded:
            for each in (ant, cat):
                await tell(bee, each, signed(bee, acts.EXPELLED, ant))
            assert names(ant) == names(cat) == {"ant", "bee", "cat"}
            assert cat.node_id in [each.node for each in ant.now().peers]


@GUARDED
async def test_member_gives_nobody_a_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    if not guarded:
        monkeypatch.setattr(Charter, "_may_sign", lambda *_: True)
        monkeypatch.setattr(Rights, "has_voice", lambda *_: True)
        monkeypatch.setattr(Rights, "is_agreed", lambda *_: True)
    async with flock(tmp_path) as (ant, bee, _, _):
        await tell(bee, ant, signed(bee, acts.ROLE, bee, ADMINISTRATOR))
        await tell(bee, ant, signed(bee, acts.KEEPER, bee, acts.APPOINTED))
        found = of(ant).roster
        assert (bee.node_id in found.administrators()) is not guarded
        assert (bee.node_id in found.keepers()) is not guarded


@GUARDED
async def test_expulsion_appoints_nobody_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with flock(tmp_path) as (ant, bee, _, _):
        await ant.flock.expel("cat")
        if not guarded:
            monkeypatch.setattr(Rights, "is_keeper", lambda *_: True)
        await eventually(lambda: names(bee) == {"ant", "bee"})
        if guarded:
            assert of(bee).roster.keepers() == [ant.node_id]
            assert not (tmp_path / "bee" / "data" / "identity" / "authority.key").exists()
            assert not of(bee).keeper
        else:
            assert of(bee).roster.standing.is_keeper(bee.node_id)


@GUARDED
async def test_unappointed_member_gets_no_authority_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with flock(tmp_path) as (ant, bee, _, _):
        if not guarded:
            everybody = [each.node_id for each in of(ant).roster.members()]
            monkeypatch.setattr(Roster, "keepers", lambda _: everybody)
        answer = await asked(bee, ant, TakeAuthority())
        assert isinstance(answer, Refused if guarded else AuthorityKey)


@GUARDED
async def test_single_administrator_cannot_expel_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with flock(tmp_path) as (ant, bee, cat, phrase):
        assert await appoint(of(ant), bee.node_id, ADMINISTRATOR, phrase) == []
        await eventually(lambda: bee.node_id in of(bee).roster.administrators())
        assert await appoint(of(ant), cat.node_id, ADMINISTRATOR) == ["ant"]
        await eventually(lambda: bool(of(bee).roster.charter.rights.pending))
        assert await appoint(of(bee), cat.node_id, ADMINISTRATOR) == []
        await eventually(lambda: len(of(ant).roster.administrators()) == 3)
        if not guarded:
            monkeypatch.setattr(Rights, "is_agreed", lambda *_: True)
        await tell(bee, cat, signed(bee, acts.EXPELLED, ant))
        assert ("ant" in names(cat)) is guarded
        if guarded:
            await cat.flock.expel("ant")  # the second voice
            await eventually(lambda: "ant" not in names(bee))


async def test_a_modified_keeper_that_serves_expel_moves_nobody(tmp_path: Path) -> None:
    """It states under the authority's key, as versions before did, that a member is expelled."""
    async with flock(tmp_path) as (ant, bee, cat, phrase):
        await appoint(of(ant), bee.node_id, acts.KEEPER, phrase)
        await eventually(lambda: of(bee).keeper)
        authority = of(bee).authority("steal")
        for victim in (cat, ant):
            stated = authority.state("expelled", victim.node_id, 1, of(bee).signer)
            assert not of(ant).roster.record(stated)
            assert not of(cat).roster.record(stated)
        assert names(ant) == names(cat) == {"ant", "bee", "cat"}
