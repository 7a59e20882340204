"""What a member knows of requests at other keepers: from keepers only, and until they are over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.api.admission import JoinRequested, JoinRequestEnded, JoinRequestView
from agent.api.errors import MembershipError
from agent.flock.gossip import RequestWord, gossip_of, read_gossip
from agent.flock.known_requests import Admissions
from agent.net.joining import join_flock
from agent.net.membership import Membership
from tests.net.flocks import first, invited, nowhere, open_door

WORD = RequestWord("r" * 16, "laptop", "ada", "192.0.2.7", "418 230", 5.0, 595.0, "waiting")


@dataclass
class Office:
    """A keeper, two that it let in (of whom the last is no keeper), and what it is told."""

    keeper: Membership
    second: Membership
    plain: Membership
    notices: list[JoinRequested | JoinRequestEnded] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.admissions = Admissions(self.keeper, lambda _: None, self.notices.append)

    def hear(self, peer: Membership, *words: RequestWord) -> None:
        self.admissions.hear(peer.node_id, words)

    def told_no_more(self) -> None:
        self.hear(self.second)

    def lost(self) -> None:
        self.admissions.lost(self.second.node_id)

    @property
    def known(self) -> Sequence[JoinRequestView]:
        return self.admissions.requests(str)


@asynccontextmanager
async def office(path: Path) -> AsyncIterator[Office]:
    keeper = first(path)
    async with open_door(keeper) as door:
        invitation = await invited(keeper, door, uses=3)
        second, _, plain = [await join_flock(path / name, invitation, name) for name in "bcd"]
    assert (second.keeper, plain.keeper) == (True, False)
    made = Office(keeper, second, plain)
    yield made
    made.admissions.close()


async def test_requests_are_a_keepers_to_tell(tmp_path: Path) -> None:
    async with office(tmp_path) as there:
        there.hear(there.plain, WORD)
        assert (there.known, there.notices) == ([], [])
        there.hear(there.second, WORD)
        there.hear(there.second, WORD)
        assert [each.code for each in there.known] == ["418 230"]
        assert there.notices == [JoinRequested(WORD.request, "laptop", "ada", "418 230", "b")]
        there.hear(there.plain)
        assert len(there.known) == 1


async def test_what_a_keeper_tells_no_more_or_cannot_tell_any_more_is_over(tmp_path: Path) -> None:
    async with office(tmp_path) as there:
        for over in (there.told_no_more, there.lost):
            there.hear(there.second, WORD)
            over()
            assert there.known == []
            assert there.notices[-1] == JoinRequestEnded(WORD.request, "laptop", "ended")
        assert len(there.notices) == 4


async def test_an_answer_that_cannot_reach_the_keeper_is_told_so(tmp_path: Path) -> None:
    async with office(tmp_path) as there:
        there.hear(there.second, WORD)
        assert len(there.known) == 1
        with pytest.raises(MembershipError, match="another code, 418 230: compare again"):
            await there.admissions.decide(WORD.request, "000 000", str, nowhere, admit=True)
        with pytest.raises(MembershipError, match="is not reached: no address"):
            await there.admissions.decide(WORD.request, "418-230", str, nowhere, admit=True)
        elsewhere = Admissions(there.plain, lambda _: None, there.notices.append)
        with pytest.raises(MembershipError, match="do it on a keeper"):
            await elsewhere.decide(WORD.request, "418 230", str, nowhere, admit=True)
        elsewhere.close()


def test_no_more_requests_are_heard_than_there_may_be() -> None:
    assert read_gossip(gossip_of(requests=[WORD] * 24)).requests == (WORD,) * 24
    with pytest.raises(MembershipError):
        read_gossip(gossip_of(requests=[WORD] * 25))
