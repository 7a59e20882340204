"""Real agents: a machine without an invitation is let in by two people, or is not.

Four members, the fourth of which is no keeper, and machines that want to join, another one for each
story that changes something: so they hold in any order. The commands are run as people run them,
with what they type piped in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from agent.api import (
    admission,
    flock,
)
from agent.client.errors import RequestError
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts, nap
from tests.hosts.machine import Following
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="hosts are made on POSIX systems"),
    pytest.mark.xdist_group("live"),
]
FOLLOW_ATTEMPTS_MAX = 300
MEMBERS = 4
OUTSIDE, ASKING, TYPING, SENT_AWAY = range(MEMBERS, MEMBERS + 4)


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """Four that belong, so that one of them is no keeper; and those that want to."""
    with Hosts(SENT_AWAY + 1) as made:
        made.make_flock(_first(made), appointed=MEMBERS - 1)
        made.restart([made[number] for number in range(MEMBERS, len(made))])
        yield made


def test_flocks_nearby_are_seen_by_who_has_none_and_by_members(hosts: Hosts) -> None:
    """Hosts that share the loopback interface with others' may hear those too, or nobody."""
    if not any(each.own for each in _nearby(hosts[0])):
        assert not hosts.cables
        pytest.skip("nothing is heard by multicast here")
    found = _wait_seen_whole(hosts)
    assert (found.name, found.askable, found.own) == ("live", True, False)


def test_a_request_is_known_to_all_and_answered_at_keepers_only(hosts: Hosts) -> None:
    asked = _ask(hosts, hosts[OUTSIDE])
    members = _first(hosts)
    wait_for(
        lambda: all(_codes(host) == [asked.code] for host in members), EVENTUALLY_S_MAX, "all know"
    )
    plain = next(
        host
        for host in members
        if not host.call(admission.REQUESTS, admission.Requests()).may_admit
    )
    with pytest.raises(RequestError, match="do it on one of an administrator"):
        plain.call(admission.ADMIT, admission.Admit(asked.code))

    def told() -> list[tuple[str, str]]:
        return [
            (happening.name, happening.keeper)
            for host in members
            for _, happening in host.happenings(admission.JoinRequested)
            if happening.code == asked.code
        ]

    wait_for(lambda: len(told()) >= 4, EVENTUALLY_S_MAX, "all were told")
    assert told() == [(hosts[OUTSIDE].name, asked.keeper)] * 4
    keeper = next(host for host in members if host not in (plain, _called(hosts, asked.keeper)))
    with pytest.raises(RequestError, match="another code"):
        keeper.call(admission.ADMIT, admission.Admit(hosts[OUTSIDE].name, "000 000"))
    keeper.call(admission.REFUSE, admission.Refuse(hosts[OUTSIDE].name))
    _wait_state(hosts[OUTSIDE], "refused")
    wait_for(
        lambda: not any(_codes(host) for host in members), EVENTUALLY_S_MAX, "it is over everywhere"
    )


def test_it_joins_when_both_have_said_so_and_not_before(hosts: Hosts) -> None:
    newcomer = hosts[ASKING]
    asked = _ask(hosts, newcomer)
    with pytest.raises(RequestError, match="not the code"):
        newcomer.call(admission.CONFIRM_ASK, admission.ConfirmAsk("000 000"))
    keeper = _called(hosts, asked.keeper)
    keeper.call(admission.ADMIT, admission.Admit(asked.code))
    _wait_state(newcomer, "admitted")
    assert newcomer.name not in _members(keeper)
    newcomer.call(admission.CONFIRM_ASK, admission.ConfirmAsk(asked.code))
    _wait_state(newcomer, "joined")
    _wait_belongs(hosts, newcomer)


def test_people_type_it(hosts: Hosts) -> None:
    """The one compares first and waits; the other then lets it in by the code."""
    newcomer = hosts[TYPING]
    assert "can be asked" in newcomer.said("flock", "nearby")
    assert newcomer.said("completion", "words", "flock", "ask", "")
    with newcomer.begin("flock", "ask", _reference(hosts)) as asking:
        assert asking.stdin is not None
        asking.stdin.write("perhaps\nyes\n")
        asking.stdin.flush()
        wait_for(lambda: len(_codes(hosts[0])) == 1, EVENTUALLY_S_MAX, "the request has come")
        (code,) = _codes(hosts[0])
        assert "000" in hosts[0].refused("flock", "admit", "000-000")
        assert code in hosts[0].said("flock", "requests")
        waiting = hosts[0].call(flock.DOCTOR, flock.Doctor()).waiting
        assert f"{newcomer.name} (user " in "\n".join(waiting)
        keeper = next(host for host in hosts if _keeps(host))
        for command in ("admit", "refuse"):
            assert keeper.said("completion", "words", "flock", command, "") == f"{newcomer.name}\n"
        keeper.refused("flock", "admit", newcomer.name, told="no\n")
        assert f"{newcomer.name} is let in" in keeper.said("flock", "admit", *code.split())
        said, _ = asking.communicate(timeout=EVENTUALLY_S_MAX)
    assert asking.returncode == 0
    assert "belongs to the flock live now" in said
    _wait_belongs(hosts, newcomer)
    assert "belongs already to the flock live" in newcomer.refused("flock", "ask", "live")


def test_who_is_sent_away_is_told_so_wherever_it_looks(hosts: Hosts) -> None:
    """What watches on it, and what watches it, ends or says so."""
    gone, keeper = hosts[SENT_AWAY], hosts[0]
    gone.call(flock.JOIN, flock.Join(keeper.call(flock.INVITE, flock.Invite()).text))
    _wait_belongs(hosts, gone)
    with (
        gone.following("watch") as own,
        gone.following("watch", "--node", keeper.name) as far,
        keeper.following("watch", "--node", gone.name) as back,
    ):
        _until_all_follow(hosts, [own, far, back])
        keeper.said("flock", "expel", gone.name)
        wait_for(lambda: (far.code, back.code) == (1, 1), EVENTUALLY_S_MAX, "both have ended")
        wait_for(lambda: own.says("was sent away from live"), EVENTUALLY_S_MAX, "it is told here")
        wait_for(lambda: far.says("was sent away from live: leave"), EVENTUALLY_S_MAX, "and here")
        wait_for(lambda: back.says(f"{gone.name} was sent away"), EVENTUALLY_S_MAX, "and there")
        assert own.code is None
    assert "this machine was sent away from live" in gone.refused("status", "--node", keeper.name)
    assert "sent away" in gone.refused("flock", "invite")
    assert "leave that first" in gone.refused("flock", "ask", "live")
    if hosts.cables:
        _wait_seen_whole(hosts)


def _wait_seen_whole(hosts: Hosts) -> admission.NearbyFlock:
    """Who asks is told what was heard so far, and machines may be slow to answer; those that were
    sent away are none of the flock."""
    own = hosts[0].call(admission.NEARBY, admission.Nearby()).flocks

    def seen() -> list[admission.NearbyFlock]:
        flocks = [each.flock for each in own if each.own]
        return [each for each in _nearby(hosts[OUTSIDE]) if each.flock in flocks]

    def is_whole() -> bool:
        belong = len(_members(hosts[0]))
        return any(each.name and (each.machines == belong or not hosts.cables) for each in seen())

    wait_for(is_whole, EVENTUALLY_S_MAX, "the flock is seen as a whole", lambda: str(seen()))
    (found,) = seen()
    return found


def _nearby(host: Host) -> tuple[admission.NearbyFlock, ...]:
    return host.call(admission.NEARBY, admission.Nearby()).flocks


def _reference(hosts: Hosts) -> str:
    """How the flock is called from a host without one: where nothing is heard, by an address."""
    spot = hosts[0].spot
    return "live" if hosts.cables else f"{spot.address}:{spot.port}"


def _ask(hosts: Hosts, host: Host) -> admission.AskView:
    asked = host.call(admission.ASK, admission.Ask(_reference(hosts)))
    assert (asked.state, asked.flock) == ("waiting", "live")
    return asked


def _wait_state(host: Host, state: str) -> None:
    def state_now() -> str:
        return host.call(admission.ASKED, admission.Asked()).state

    wait_for(lambda: state_now() == state, EVENTUALLY_S_MAX, f"it is {state}", state_now)


def _codes(host: Host) -> list[str]:
    return [each.code for each in host.call(admission.REQUESTS, admission.Requests()).requests]


def _members(host: Host) -> list[str]:
    return sorted(each.name for each in host.call(flock.MEMBERS, flock.Members()).members)


def _first(hosts: Hosts) -> list[Host]:
    """Those that belong from the beginning."""
    return [hosts[number] for number in range(MEMBERS)]


def _wait_belongs(hosts: Hosts, newcomer: Host) -> None:
    """Until this one is linked with all that belong, and they with it."""
    names = {newcomer.name, *_members(newcomer), *_members(hosts[0])}
    hosts.wait_linked([each for each in hosts if each.name in names], EVENTUALLY_S_MAX)


def _called(hosts: Hosts, name: str) -> Host:
    return next(host for host in hosts if host.name == name)


def _keeps(host: Host) -> bool:
    return host.call(admission.REQUESTS, admission.Requests()).may_admit


def _until_all_follow(hosts: Hosts, watching: list[Following]) -> None:
    """A command that has just begun has missed what was before: work goes on until all tell."""
    for number in range(FOLLOW_ATTEMPTS_MAX):
        hosts[0].submit(f"seen{number}", [nap(f"seen{number}", 0.1)])
        hosts.wait_finished(hosts[0], f"seen{number}", EVENTUALLY_S_MAX)
        if all(each.says("seen") for each in watching):
            return
    told = [(each.code, each.lines[-3:]) for each in watching]
    raise AssertionError(f"a command that watches tells nothing: {told}")
