"""Nobody gets another's machine, into another's person, or a second voice: attacks by modified agents on live
ones, over their real links, each also with its guard taken out, where it succeeds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent.api import work
from agent.api.people import MEET, Meet, Met
from agent.api.rpc import ErrorCode
from agent.client import Client
from agent.client.errors import RequestError
from agent.control.server import ControlServer
from agent.net import acts, charter, pairing
from agent.net.acts import ADMINISTRATOR, Act
from agent.net.administration import appoint
from agent.net.charter import Charter
from agent.net.pairing import CodeKey
from agent.net.recovery import Recovery, new_phrase
from agent.net.rights import Rights
from agent.node.agent import Agent
from agent.protocol.events import Cancel
from agent.protocol.people import People
from agent.protocol.requests import Requests
from tests.certain import certain
from tests.hosts.waiting import eventually
from tests.security.test_flock_rights import GUARDED, flock, of, tell
from tests.security.test_member_rights import ON_WORK, asked, client

MOMENT_S = 1


def binding(
    by: Agent, machine: Agent, whose: str, consents: Agent, at: Charter, moment_s: int = MOMENT_S
) -> Act:
    """By a modified agent, that asks nobody."""
    agreed = of(consents).pen.consent(whose)
    act = Act(acts.PAIRED, machine.node_id, whose, moment_s, data=agreed)
    return of(by).pen.sign(at.standing(act))


def goes_before(agent: Agent, mine: Act, kind: str) -> bool:
    """In the order of acts, of two that stand equally high."""
    flock_id = of(agent).flock.flock_id
    (other,) = [each for each in known(agent).acts if each.kind == kind]
    return acts.act_id(flock_id, mine) < acts.act_id(flock_id, other)


def known(agent: Agent) -> Charter:
    return of(agent).roster.charter


def persons(agent: Agent) -> People:
    return known(agent).rights.people


async def paired(first: Agent, *others: Agent) -> None:
    """By their persons' own acts, past the codes."""
    for each in others:
        consent = of(each).pen.consent(first.node_id)
        await pairing.pair(of(first), each.node_id, consent)
    for each in others:
        await eventually(lambda each=each: persons(each).of(each.node_id) == first.node_id)  # type: ignore[misc]


@GUARDED
async def test_member_binds_itself_to_no_administrator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with flock(tmp_path) as (ant, bee, cat, _):
        if not guarded:
            monkeypatch.setattr(charter._Replay, "_pair", _paired_unasked)
        await tell(bee, cat, binding(bee, bee, ant.node_id, bee, known(bee)))
        assert (bee.node_id in of(cat).roster.administrators()) is not guarded


def _paired_unasked(self: Any, act: Act, signer: str) -> None:
    del signer
    self.rights.now[act.whom] = self.rights.ever[act.whom] = act.value


@GUARDED
async def test_member_binds_no_other_machine_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with flock(tmp_path) as (_, bee, cat, _):
        if not guarded:
            monkeypatch.setattr(charter, "has_consented", lambda *_: True)
        await tell(bee, cat, binding(bee, cat, bee.node_id, bee, known(bee)))
        assert persons(cat).owns(bee.node_id, cat.node_id) is not guarded


@GUARDED
async def test_machine_that_was_taken_away_dates_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """Nor does it come back by what was said before."""
    async with flock(tmp_path) as (ant, bee, cat, _):
        await paired(ant, bee)
        before = known(bee)
        await eventually(lambda: bee.node_id in of(cat).roster.administrators())
        assert await pairing.unpair(of(ant), bee.node_id) == []
        await eventually(lambda: bee.node_id not in of(cat).roster.administrators())
        if not guarded:
            monkeypatch.setattr(charter._Replay, "voided_by", lambda *_: 0)
        old = [each for each in before.acts if each.kind == acts.PAIRED]
        again = binding(bee, bee, ant.node_id, bee, before)
        tried = (binding(bee, cat, ant.node_id, cat, before, moment) for moment in range(999))
        dated = next(each for each in tried if goes_before(ant, each, acts.UNPAIRED))
        await tell(bee, cat, *old, again, dated)
        assert bee.node_id not in of(cat).roster.administrators()
        assert (cat.node_id in of(cat).roster.administrators()) is not guarded


@GUARDED
async def test_two_machines_of_one_person_are_no_two_voices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with flock(tmp_path) as (ant, bee, cat, phrase):
        await appoint(of(ant), cat.node_id, ADMINISTRATOR, phrase)
        await paired(ant, bee)
        fresh = Recovery.of(new_phrase(), of(ant).flock.flock_id)
        data = msgspec.msgpack.encode(fresh.seal(of(ant).authority("replace the phrase")))
        if not guarded:
            monkeypatch.setattr(Rights, "is_agreed", _counts_machines)
        heads = known(bee)
        said = [
            of(each).pen.sign(heads.standing(Act(acts.PHRASE, "", fresh.pen.name, 1, data=data)))
            for each in (ant, bee)
        ]
        await eventually(lambda: persons(cat).of(bee.node_id) == ant.node_id)
        await tell(bee, cat, *said)
        assert (known(cat).rights.recovery == fresh.pen.name) is not guarded


def _counts_machines(self: Rights, kind: str, whom: str, value: str, voices: Iterable[str]) -> bool:
    del self, kind, whom, value
    return len(set(voices)) >= 2


# ---- codes ----


@asynccontextmanager
async def shown(folder: Path) -> AsyncIterator[tuple[Agent, Agent, Agent, CodeKey]]:
    """Ant shows a code, and serves clients of others."""
    async with flock(folder) as (ant, bee, cat, _):
        server = ControlServer(ant, ant.home.data)
        await server.start()
        ant.member_clients.serve(server.serve_member)
        try:
            code = (await ant.flock.pairing.show()).code
            yield ant, bee, cat, CodeKey.of(code, of(ant).flock.flock_id)
        finally:
            await server.stop()


async def met(of_: Agent, to: Agent, tag: bytes) -> bool:
    async with client(of_, to) as link:
        try:
            await link.call(MEET, Meet(tag))
        except RequestError as error:
            return bool(error.code != ErrorCode.REFUSED)
        return True


@GUARDED
async def test_code_is_not_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with shown(tmp_path) as (ant, bee, cat, code):
        if not guarded:
            monkeypatch.setattr(pairing, "TRIES_MAX", 1_000)
        for number in range(5):
            assert not await met(bee, ant, bytes([number]) * 32)
        assert await met(bee, ant, code.tag(bee.node_id)) is not guarded
        assert await met(cat, ant, code.tag(cat.node_id)), "nobody uses up another's tries"


@GUARDED
async def test_code_is_over_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    if guarded:
        monkeypatch.setattr(pairing, "VALID_S", 0.0)
    async with shown(tmp_path) as (ant, bee, _, code):
        assert await met(bee, ant, code.tag(bee.node_id)) is not guarded


@GUARDED
async def test_what_is_heard_of_a_code_is_worth_nothing_to_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    if not guarded:
        monkeypatch.setattr(CodeKey, "tag", lambda self, _: self.key)
    async with shown(tmp_path) as (ant, bee, cat, code):
        assert await met(bee, ant, code.tag(cat.node_id)) is not guarded


@GUARDED
async def test_member_that_answers_without_the_code_gets_no_consent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with shown(tmp_path) as (ant, bee, cat, code):
        if not guarded:
            monkeypatch.setattr(CodeKey, "proof", lambda *_: b"anything")
        cat.flock.pairing._typed = code
        answered = Met(bee.node_id, b"anything")
        assert bool(cat.flock.pairing.consent(bee.node_id, answered)) is not guarded
        passed_on = Met(bee.node_id, code.proof(cat.node_id, ant.node_id, ant.node_id))
        assert bool(cat.flock.pairing.consent(ant.node_id, passed_on)) is not guarded


# ---- work ----


@GUARDED
async def test_machine_that_was_taken_away_cancels_nothing_of_its_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """By a record that it signs itself, told past its own checks."""
    async with flock(tmp_path) as (ant, bee, cat, _):
        server = ControlServer(bee, bee.home.data)
        await server.start()
        bee.member_clients.serve(server.serve_member)
        await paired(bee, cat)
        task = work.Task("one", "tell", parameters="wait")
        async with client(cat, bee) as link:
            done = [
                (await link.call(work.SUBMIT, work.Submit(name, (task,)))).workflow
                for name in ("before", "after")
            ]
        await server.stop()
        for each in (ant, cat):
            await eventually(lambda each=each: set(done) <= each.table.workflows.keys())  # type: ignore[misc]
        monkeypatch.setattr(Requests, "_wishable", lambda self, name, _: self._workflow(name))
        await cat.ask(Cancel("", done[0]))
        await eventually(lambda: cancelled(ant, done[0]))
        await pairing.unpair(of(bee), cat.node_id)
        for each in (ant, bee, cat):
            await eventually(lambda each=each: persons(each).of(cat.node_id) != bee.node_id)  # type: ignore[misc]
        if not guarded:
            monkeypatch.setattr(People, "owns", lambda *_: True)
        refused = certain(ant.live).node.refused
        await cat.ask(Cancel("", done[1]))
        await eventually(lambda: bool(refused) if guarded else cancelled(ant, done[1]))
        assert cancelled(ant, done[1]) is not guarded


@GUARDED
async def test_over_a_link_a_machine_acts_for_its_person_until_it_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    async with flock(tmp_path) as (ant, bee, cat, _):
        servers = [ControlServer(each, each.home.data) for each in (ant, bee)]
        for server, each in zip(servers, (ant, bee), strict=True):
            await server.start()
            each.member_clients.serve(server.serve_member)
        tasks = (work.Task("task 0", "tell", parameters="wait"),)
        async with client(ant, bee) as link:
            await link.call(work.SUBMIT, work.Submit("bees", tasks, shared_with=("bee",)))
        await eventually(lambda: bool(ant.table.workflows))
        assert not any([await asked(cat, ant, *each) for each in ON_WORK])
        await paired(bee, cat)
        await eventually(lambda: persons(ant).of(cat.node_id) == bee.node_id)
        assert all([await asked(cat, ant, *each) for each in ON_WORK])
        await pairing.unpair(of(bee), cat.node_id)
        await eventually(lambda: persons(ant).of(cat.node_id) != bee.node_id)
        if not guarded:
            monkeypatch.setattr(People, "owns", lambda *_: True)
            monkeypatch.setattr(People, "is_lost", lambda *_: False)
        may = [await asked(cat, ant, *each) for each in ON_WORK]
        assert may == [not guarded] * len(ON_WORK)
        for server in servers:
            await server.stop()


@GUARDED
async def test_what_is_shared_by_the_name_of_a_lost_machine_is_its_persons_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """Shared before it is taken away, and after: by whichever name others know the person."""
    async with shown(tmp_path) as (ant, bee, cat, _):
        await paired(bee, cat)
        await eventually(lambda: persons(ant).of(cat.node_id) == bee.node_id)
        before = await shared_with("cat", ant, "before")
        assert await asked(cat, ant, work.CANCEL, work.Cancel(before))
        await pairing.unpair(of(bee), cat.node_id)
        await eventually(lambda: persons(ant).of(cat.node_id) != bee.node_id)
        if not guarded:
            monkeypatch.setattr(People, "of", People.owner)
        for each in (before, await shared_with("cat", ant, "after")):
            for method, params in (
                (work.CANCEL, work.Cancel(each)),
                (work.RETRY, work.Retry(each)),
            ):
                lost, kept = [await asked(who, ant, method, params) for who in (cat, bee)]
                assert (lost, kept) == (not guarded, True)


async def shared_with(whom: str, on: Agent, name: str) -> str:
    """Work that waits, submitted by whoever sits there."""
    task = work.Task("one", "tell", parameters="wait")
    own = await Client.connect(on.home)
    try:
        done = await own.call(work.SUBMIT, work.Submit(name, (task,), shared_with=(whom,)))
    finally:
        await own.close()
    return done.workflow


async def test_a_helper_is_paired_by_a_code_and_by_nothing_else(tmp_path: Path) -> None:
    async with shown(tmp_path) as (ant, bee, cat, code):
        for each in ("bee", "cat"):
            await ant.flock.administration.set_role(each, "helper", "")
        assert not await met(bee, ant, bytes(32))
        async with client(cat, ant) as link:
            answered = await link.call(MEET, Meet(code.tag(cat.node_id)))
            consent = of(cat).pen.consent(answered.person)
            await link.call(MEET, Meet(code.tag(cat.node_id), consent))
        assert persons(ant).of(cat.node_id) == ant.node_id


def cancelled(agent: Agent, workflow: str) -> bool:
    tasks = agent.table.workflows[workflow].spec.tasks
    return all(agent.table.life(each.task).cancel for each in tasks)
