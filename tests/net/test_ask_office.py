"""What a person does while this machine asks: withdraw early, confirm twice, confirm too late; what
members know of requests at other keepers, until they are over; and false flocks nearby.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.api.admission import JoinRequested, JoinRequestEnded, JoinRequestView
from agent.api.errors import MembershipError, ServiceError
from agent.flock import nearby, own_join_request
from agent.flock.gossip import RequestWord, gossip_of, read_gossip
from agent.flock.known_requests import Admissions
from agent.flock.nearby import NearbyFlocks
from agent.flock.own_join_request import OwnJoinRequest
from agent.net import asking
from agent.net.addresses import Address
from agent.net.asking import Request, find_door
from agent.net.discovery import Sighting
from agent.net.enrolment import EnrolmentServer
from agent.net.joining import NotThereError
from agent.net.membership import Membership
from agent.settings.node_settings import NodeSettings
from tests.hosts.waiting import eventually
from tests.net.flocks import (
    LOOPBACK,
    Door,
    appointed,
    members,
    nowhere,
    serving,
)
from tests.net.test_asking import Asked


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


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "new")


@pytest.fixture
async def office(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[OwnJoinRequest]:
    monkeypatch.setattr(own_join_request, "FOLLOW_EVERY_S", 0.02)
    office = OwnJoinRequest(cast("Any", machine), machine.check_port, machine.join_asked)
    yield office
    machine.may_join.set()
    await office.close()


async def test_who_withdraws_while_it_begins_to_ask_does_not_ask(
    there: Asked, office: OwnJoinRequest
) -> None:
    asking = asyncio.create_task(office.ask(str(there.address)))
    await asyncio.sleep(0)
    assert (await office.withdraw()).state == "ended"
    assert (await asking).state == "waiting"
    assert office.asked().state == "ended"
    assert there.requests.open() == []


async def test_a_second_question_at_once_takes_the_place_of_the_first(
    there: Asked, office: OwnJoinRequest
) -> None:
    place = str(there.address)
    one, two = await asyncio.gather(office.ask(place), office.ask(place))
    assert one.code != two.code
    assert [each.code for each in there.requests.open()] == [office.asked().code]


async def test_who_confirms_twice_is_not_told_that_nothing_is_asked(
    there: Asked, machine: Machine, office: OwnJoinRequest
) -> None:
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
    there: Asked, office: OwnJoinRequest, *, admit: bool, told: str
) -> None:
    code = (await office.ask(str(there.address))).code
    if admit:
        there.requests.decide(there.only.request, code, admit=True)
        await eventually(lambda: office.asked().state == "admitted")
    there.requests._too_late(there.only.number)
    await eventually(lambda: office.asked().state == "ended")
    assert told in office.asked().reason


async def test_a_cable_that_is_pulled_for_a_while_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, there: Asked, office: OwnJoinRequest
) -> None:
    """Of a keeper that is not reached it is said so; when it is reached again, it goes on."""

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


# -- what a member knows of requests at other keepers ----------------------------------------------


WORD = RequestWord("r" * 16, "laptop", "ada", "192.0.2.7", "418 230", 5.0, 595.0, "waiting")


@dataclass
class Office:
    """A keeper, two that it let in (of whom the last is no keeper), and what it is told."""

    keeper: Membership
    second: Membership
    plain: Membership
    notices: list[JoinRequested | JoinRequestEnded] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.admissions = Admissions(self.keeper, lambda _: None, self.notices.append, str)

    def hear(self, peer: Membership, *words: RequestWord) -> None:
        self.admissions.hear(peer.node_id, words)

    def told_no_more(self) -> None:
        self.hear(self.second)

    def lost(self) -> None:
        self.admissions.lost(self.second.node_id)

    @property
    def known(self) -> Sequence[JoinRequestView]:
        return self.admissions.requests()


@pytest.fixture
async def flock(tmp_path: Path, keeper: Membership, door: Door) -> AsyncIterator[Office]:
    second, _, plain = await members(tmp_path, keeper, door, *"bcd")
    await appointed(keeper, second)
    assert (second.keeper, plain.keeper) == (True, False)
    made = Office(keeper, second, plain)
    yield made
    made.admissions.close()


async def test_requests_are_a_keepers_to_tell(flock: Office) -> None:
    flock.hear(flock.plain, WORD)
    assert (flock.known, flock.notices) == ([], [])
    flock.hear(flock.second, WORD)
    flock.hear(flock.second, WORD)
    assert [each.code for each in flock.known] == ["418 230"]
    by = flock.second.node_id
    assert flock.notices == [JoinRequested(WORD.request, "laptop", "ada", "418 230", by)]
    flock.hear(flock.plain)
    assert len(flock.known) == 1


async def test_what_a_keeper_tells_no_more_or_cannot_tell_any_more_is_over(flock: Office) -> None:
    for over in (flock.told_no_more, flock.lost):
        flock.hear(flock.second, WORD)
        over()
        assert flock.known == []
        assert flock.notices[-1] == JoinRequestEnded(WORD.request, "laptop", "ended")
    assert len(flock.notices) == 4


async def test_an_answer_that_cannot_reach_the_keeper_is_told_so(flock: Office) -> None:
    flock.hear(flock.second, WORD)
    assert len(flock.known) == 1
    with pytest.raises(MembershipError, match="another code, 418 230: compare again"):
        await flock.admissions.decide(WORD.request, "000 000", nowhere, admit=True)
    with pytest.raises(MembershipError, match="is not reached: no address"):
        await flock.admissions.decide(WORD.request, "418-230", nowhere, admit=True)
    elsewhere = Admissions(flock.plain, lambda _: None, flock.notices.append, str)
    with pytest.raises(MembershipError, match="do it on one of an administrator"):
        await elsewhere.decide(WORD.request, "418 230", nowhere, admit=True)
    elsewhere.close()


def test_no_more_requests_are_heard_than_there_may_be() -> None:
    assert read_gossip(gossip_of(requests=[WORD] * 24)).requests == (WORD,) * 24
    with pytest.raises(MembershipError):
        read_gossip(gossip_of(requests=[WORD] * 25))


# -- false flocks nearby ---------------------------------------------------------------------------


ADDRESSES, FLOCKS = 1_000, 10
SILENT_S = 0.3


async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Takes the connection and says nothing, until the other end has had enough."""
    del writer
    await reader.read()


class Heard:
    """What multicast told."""

    trouble = ""

    def __init__(self, sightings: list[Sighting]) -> None:
        self._sightings = sightings

    def sightings(self) -> list[Sighting]:
        return self._sightings

    async def stop(self) -> None:
        """It holds nothing."""


async def test_many_addresses_where_nobody_answers_are_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "PROBE_S_MAX", SILENT_S)
    monkeypatch.setattr(asking, "FINDING_S_MAX", SILENT_S / 2)

    async with serving(keep_silent) as port:
        told = [Address(LOOPBACK, each) for each in (port, *range(1, ADDRESSES))]
        with pytest.raises(MembershipError, match="992 more were not tried"):
            await find_door(told)


async def test_false_flocks_hide_no_true_one_and_nobody_waits_long(
    monkeypatch: pytest.MonkeyPatch, keeper: Membership
) -> None:
    monkeypatch.setattr(nearby, "KNOCKING_S_MAX", 5.0)

    desk = EnrolmentServer(keeper)
    async with serving(keep_silent) as port, serving(desk.serve, keeper.tls.server) as good:
        flock_id = keeper.flock.flock_id
        told = [
            Sighting(f"node{number}", f"flock{number}", 1, (Address(LOOPBACK, port),))
            for number in range(FLOCKS)
        ]
        told.append(Sighting("first", flock_id, 1, (Address(LOOPBACK, good),)))
        lookout = NearbyFlocks(NodeSettings(), lambda: None, discover=False)
        monkeypatch.setattr(lookout, "_discovery", Heard(told))
        found = await lookout.flocks()
        assert [(each.name, each.askable) for each in found[:2]] == [
            ("Office", True),
            ("", False),
        ]
        assert len(found) == FLOCKS + 1
        await lookout.close()
