"""Real agents: keepers share what they know of invitations, over the network and over restarts.

Three keepers and machines that want to join. Each newcomer is led to a keeper of its own, so that
only what keepers tell each other can keep them from letting in too many.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

import msgspec
import pytest

from agent.api import flock
from agent.client.errors import RequestError
from agent.net.addresses import Address
from agent.net.invitation import parse_invitation
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="hosts are made on POSIX systems"),
    pytest.mark.xdist_group("live"),
]
KEEPERS = 3
SHORT_H = 3 / 3_600
JOIN_S_MAX = EVENTUALLY_S_MAX


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    """Three keepers, and five that belong nowhere yet."""
    with Hosts(KEEPERS + 5) as made:
        made.make_flock([made[number] for number in range(KEEPERS)], appointed=KEEPERS)
        made.restart([made[number] for number in range(KEEPERS, len(made))])
        wait_for(
            lambda: all(_keeps(each) for each in _keepers(made)), EVENTUALLY_S_MAX, "three keepers"
        )
        yield made


def test_at_all_keepers_at_once_no_more_get_in_than_are_invited(hosts: Hosts) -> None:
    """And those that got in are the same for all; over a restart of everybody, too."""
    text = _invited(hosts[0], uses=3)
    newcomers = [hosts[number] for number in range(KEEPERS, len(hosts))]
    outcomes = _join(hosts, text, {each: [each.number % KEEPERS] for each in newcomers})
    refused = [each for each, why in outcomes.items() if why]
    assert len(newcomers) - len(refused) == 3
    assert {outcomes[each] for each in refused} == {"the invitation is used up: ask for a new one"}
    _wait_members(hosts, 3 + 3)
    for host in hosts:
        host.kill()
    hosts.restart()
    hosts.wait_linked([each for each in hosts if each not in refused], EVENTUALLY_S_MAX)
    again = _join(hosts, text, {each: [each.number % KEEPERS] for each in refused})
    assert set(again.values()) == {"the invitation is used up: ask for a new one"}
    _wait_members(hosts, 3 + 3)


def test_an_invitation_ends_in_time_and_with_a_keeper_that_is_sent_away(hosts: Hosts) -> None:
    short, known = _invited(hosts[1], uses=2, hours=SHORT_H), _invited(hosts[2], uses=5)
    (joined,) = _join(hosts, known, {hosts[3]: [0]}).values()
    assert joined == ""
    expires_s = parse_invitation(short).expires_s
    wait_for(lambda: time.time() > expires_s + 1, EVENTUALLY_S_MAX, "it has expired")
    (why,) = _join(hosts, short, {hosts[4]: [2]}).values()
    assert "expired" in why
    for administrator in (hosts[0], hosts[1]):
        administrator.call(flock.EXPEL, flock.Expel(hosts[2].name))
    wait_for(lambda: not hosts[2].linked(), EVENTUALLY_S_MAX, "it is cut off")
    outcomes = _join(hosts, known, {hosts[5]: [0], hosts[6]: [1], hosts[7]: [2]})
    assert all(outcomes.values()), outcomes
    _wait_members(hosts, 3)  # two keepers and the one that was let in before
    assert list(_join(hosts, _invited(hosts[0]), {hosts[4]: [1]}).values()) == [""]


def test_keepers_that_do_not_see_each_other_let_in_as_many_each_and_no_more(hosts: Hosts) -> None:
    if not hosts.cables:
        pytest.skip(f"cables cannot be pulled: {hosts.why_no_cables}")
    text = _invited(hosts[0], uses=1)
    apart = [2, 5, 6]
    hosts.lan.partition(apart)
    wait_for(lambda: not hosts[2].linked(), EVENTUALLY_S_MAX, "the partition is noticed")
    outcomes = _join(hosts, text, {hosts[3]: [0], hosts[4]: [1], hosts[5]: [2], hosts[6]: [2]})
    sides = [[hosts[3], hosts[4]], [hosts[5], hosts[6]]]
    assert [sum(outcomes[each] == "" for each in side) for side in sides] == [1, 1]
    hosts.lan.partition([])
    _wait_members(hosts, 3 + 2)
    assert "used up" in _join(hosts, text, {hosts[7]: [1]})[hosts[7]]
    _wait_members(hosts, 3 + 2)


def _keepers(hosts: Hosts) -> list[Host]:
    return [hosts[number] for number in range(KEEPERS)]


def _keeps(host: Host) -> bool:
    members = host.call(flock.MEMBERS, flock.Members()).members
    return (
        sum(each.keeper for each in members) == KEEPERS
        and (host.home.identity / "authority.key").exists()
    )


def _invited(host: Host, uses: int = 1, hours: float = 1.0) -> str:
    return host.call(flock.INVITE, flock.Invite(uses, hours)).text


def _join(hosts: Hosts, text: str, ways: dict[Host, Sequence[int]]) -> dict[Host, str]:
    """All at once, each by the keepers of these numbers; why not, empty for who got in."""
    invitation = parse_invitation(text)
    port = invitation.addresses[0].port
    asked: dict[Host, Future[flock.Joined]] = {}
    for host, keepers in ways.items():
        places = tuple(Address(hosts[each].spot.address, port) for each in keepers)
        led = msgspec.structs.replace(invitation, addresses=places)
        asked[host] = host.client.ask(flock.JOIN, flock.Join(led.text))
    return {host: _why_not(future) for host, future in asked.items()}


def _why_not(asked: Future[flock.Joined]) -> str:
    try:
        asked.result(JOIN_S_MAX)
    except RequestError as error:
        return str(error)
    return ""


def _wait_members(hosts: Hosts, count: int) -> None:
    """Until all that belong count the same."""

    def counted() -> list[int]:
        names = {each.name for each in hosts[0].call(flock.MEMBERS, flock.Members()).members}
        belonging = [each for each in hosts if each.name in names]
        return [len(each.call(flock.MEMBERS, flock.Members()).members) for each in belonging]

    wait_for(
        lambda: set(counted()) == {count},
        EVENTUALLY_S_MAX,
        f"{count} members",
        lambda: str(counted()),
    )
