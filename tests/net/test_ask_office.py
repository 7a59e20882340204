"""What a person does while this machine asks: withdraw early, confirm twice, confirm too late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.api.errors import ServiceError
from agent.flock import own_join_request
from agent.flock.own_join_request import OwnJoinRequest
from agent.net.asking import Request
from agent.net.joining import NotThereError
from agent.settings.node_settings import NodeSettings
from tests.hosts.waiting import eventually
from tests.net.flocks import first
from tests.net.test_asking import Asked, asked_at


@dataclass
class Machine:
    """As much of a service as asking needs; its port is free, and it listens to nobody."""

    path: Path
    settings: NodeSettings = field(default_factory=NodeSettings)
    discovers: bool = False
    network: None = None
    name: str = "newcomer"
    joined: list[Request] = field(default_factory=list)
    notices: list[object] = field(default_factory=list)
    may_join: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def home(self) -> SimpleNamespace:
        return SimpleNamespace(identity=self.path)

    def check_port(self) -> None:
        """It is free."""

    def notify(self, notice: object) -> None:
        self.notices.append(notice)

    async def join_asked(self, request: Request) -> None:
        await self.may_join.wait()
        self.joined.append(request)


@asynccontextmanager
async def asking_at(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Asked, Machine, OwnJoinRequest]]:
    monkeypatch.setattr(own_join_request, "FOLLOW_EVERY_S", 0.02)
    async with asked_at(first(path)) as there:
        machine = Machine(path / "new")
        office = OwnJoinRequest(cast("Any", machine), machine.check_port, machine.join_asked)
        try:
            yield there, machine, office
        finally:
            machine.may_join.set()
            await office.close()


async def test_who_withdraws_while_it_begins_to_ask_does_not_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_at(tmp_path, monkeypatch) as (there, _, office):
        asking = asyncio.create_task(office.ask(str(there.address)))
        await asyncio.sleep(0)
        assert (await office.withdraw()).state == "ended"
        assert (await asking).state == "waiting"
        assert office.asked().state == "ended"
        assert there.requests.open() == []


async def test_a_second_question_at_once_takes_the_place_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_at(tmp_path, monkeypatch) as (there, _, office):
        place = str(there.address)
        one, two = await asyncio.gather(office.ask(place), office.ask(place))
        assert one.code != two.code
        assert [each.code for each in there.requests.open()] == [office.asked().code]


async def test_who_confirms_twice_is_not_told_that_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_at(tmp_path, monkeypatch) as (there, machine, office):
        code = (await office.ask(str(there.address))).code
        there.requests.decide(there.only.request, code, admit=True)
        assert office.confirm(code).confirmed
        await eventually(lambda: office.asked().state == "joining")
        assert office.confirm(code).state == "joining"
        with pytest.raises(ServiceError, match="not the code"):
            office.confirm("000 000")
        machine.may_join.set()
        await eventually(lambda: office.asked().state == "joined")
        assert len(machine.joined) == 1


@pytest.mark.parametrize(
    ("admit", "told"), [(True, "nobody here has said"), (False, "nobody there")]
)
async def test_who_was_too_late_is_told_on_which_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, admit: bool, told: str
) -> None:
    async with asking_at(tmp_path, monkeypatch) as (there, _, office):
        code = (await office.ask(str(there.address))).code
        if admit:
            there.requests.decide(there.only.request, code, admit=True)
            await eventually(lambda: office.asked().state == "admitted")
        there.requests._too_late(there.only.number)
        await eventually(lambda: office.asked().state == "ended")
        assert told in office.asked().reason


async def test_a_cable_that_is_pulled_for_a_while_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a keeper that is not reached it is said so; when it is reached again, it goes on."""

    async with asking_at(tmp_path, monkeypatch) as (there, _, office):
        code = (await office.ask(str(there.address))).code
        connected = Request.outcome

        async def unreached(request: Request) -> object:
            raise NotThereError("no route")

        monkeypatch.setattr(Request, "outcome", unreached)
        await eventually(lambda: "cannot be reached just now" in office.asked().reason)
        there.requests.decide(there.only.request, code, admit=True)
        monkeypatch.setattr(Request, "outcome", connected)
        await eventually(lambda: office.asked().state == "admitted")
        assert office.asked().reason == ""
