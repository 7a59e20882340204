"""Real agents: a machine without an invitation is let in by two people, or is not.

Three members, whose third is no more than a member for most of it, and machines that want to join.
The commands are run as people run them, with what they type piped in.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent.api import admission, flock, methods, work
from agent.client.errors import RequestError
from agent.net.addresses import DEFAULT_PORT
from agent.paths import VARIABLE
from tests.hosts.host import REPOSITORY, Host
from tests.hosts.hosts import Hosts
from tests.hosts.waiting import wait_for

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(os.name != "posix", reason="hosts are made on POSIX systems"),
    pytest.mark.xdist_group("live"),
]
LIMIT_S = 40.0
COMMAND_S_MAX = 60.0


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """Four that belong, so that one of them is no keeper; and two that want to."""
    with Hosts(6) as made:
        made.make_flock([made[number] for number in range(4)])
        made.restart([made[4], made[5]])
        yield made


def test_flocks_nearby_are_seen_by_who_has_none_and_by_members(hosts: Hosts) -> None:
    """Hosts that share the loopback interface with others' may hear those too, or nobody."""
    found = hosts[4].call(methods.NEARBY, admission.Nearby()).flocks
    own = [each for each in hosts[0].call(methods.NEARBY, admission.Nearby()).flocks if each.own]
    if not own:
        assert not hosts.cables
        pytest.skip("nothing is heard by multicast here")
    (seen,) = [each for each in found if each.flock == own[0].flock]
    assert (seen.name, seen.askable, seen.own) == ("live", True, False)
    assert seen.machines == 4 or not hosts.cables


def test_a_request_is_known_to_all_and_answered_at_keepers_only(hosts: Hosts) -> None:
    asked = _ask(hosts, hosts[4])
    members = [hosts[number] for number in range(4)]
    wait_for(lambda: all(_codes(host) == [asked.code] for host in members), LIMIT_S, "all know")
    plain = next(
        host for host in members if not host.call(methods.REQUESTS, admission.Requests()).may_admit
    )
    with pytest.raises(RequestError, match="do it on a keeper"):
        plain.call(methods.ADMIT, admission.Admit(asked.code))
    told = [
        happening
        for host in members
        for _, happening in host.happenings(admission.JoinRequested)
        if happening.code == asked.code
    ]
    assert [(each.name, each.keeper) for each in told] == [("host4", asked.keeper)] * 4
    keeper = next(host for host in members if host not in (plain, _called(hosts, asked.keeper)))
    with pytest.raises(RequestError, match="another code"):
        keeper.call(methods.ADMIT, admission.Admit("host4", "000 000"))
    keeper.call(methods.REFUSE, admission.Refuse("host4"))
    _wait_state(hosts[4], "refused")
    wait_for(lambda: not any(_codes(host) for host in members), LIMIT_S, "it is over everywhere")


def test_it_joins_when_both_have_said_so_and_not_before(hosts: Hosts) -> None:
    asked = _ask(hosts, hosts[4])
    with pytest.raises(RequestError, match="not the code"):
        hosts[4].call(methods.CONFIRM_ASK, admission.ConfirmAsk("000 000"))
    keeper = _called(hosts, asked.keeper)
    keeper.call(methods.ADMIT, admission.Admit(asked.code))
    _wait_state(hosts[4], "admitted")
    assert "host4" not in _members(keeper)
    hosts[4].call(methods.CONFIRM_ASK, admission.ConfirmAsk(asked.code))
    _wait_state(hosts[4], "joined")
    hosts.wait_linked([hosts[number] for number in range(5)], LIMIT_S)


def test_whose_port_is_taken_is_told_before_anybody_counts_it(hosts: Hosts) -> None:
    invitation = hosts[0].call(methods.INVITE, flock.Invite())
    before = _members(hosts[0])
    with _port_taken(hosts[5]):
        for ask in (
            lambda: hosts[5].call(methods.JOIN, flock.Join(invitation.text)),
            lambda: hosts[5].call(methods.ASK, admission.Ask(_reference(hosts))),
            lambda: hosts[5].call(methods.FLOCK_CREATE, flock.FlockCreate("own")),
        ):
            with pytest.raises(RequestError, match="choose another port"):
                ask()
    assert _members(hosts[0]) == before
    assert _codes(hosts[0]) == []
    assert hosts[5].call(methods.STATUS, work.Status()).node.flock == ""


def test_people_type_it(hosts: Hosts) -> None:
    """The one compares first and waits; the other then lets it in by the code."""
    nearby = _run(hosts[5], "nearby")
    assert "can be asked" in nearby.stdout
    asking = _start(hosts[5], "ask", _reference(hosts))
    assert asking.stdin is not None
    asking.stdin.write("perhaps\nyes\n")
    asking.stdin.flush()
    wait_for(lambda: len(_codes(hosts[0])) == 1, LIMIT_S, "the request has come")
    (code,) = _codes(hosts[0])
    assert "000" in _run(hosts[0], "admit", "000-000", code=1).stderr
    assert code in _run(hosts[0], "requests").stdout
    keeper = next(host for host in hosts if _keeps(host))
    _run(keeper, "admit", "host5", typed="no\n", code=1)
    assert "host5 is let in" in _run(keeper, "admit", *code.split()).stdout
    with asking:
        said, _ = asking.communicate(timeout=COMMAND_S_MAX)
    assert asking.returncode == 0
    assert "belongs to the flock live now" in said
    hosts.wait_linked(limit_s=LIMIT_S)
    assert "belongs to the flock live already" in _run(hosts[5], "ask", "live", code=1).stderr


def _reference(hosts: Hosts) -> str:
    """How the flock is called from a host without one: where nothing is heard, by an address."""
    return "live" if hosts.cables else hosts[0].spot.address


def _ask(hosts: Hosts, host: Host) -> admission.AskView:
    asked = host.call(methods.ASK, admission.Ask(_reference(hosts)))
    assert (asked.state, asked.flock) == ("waiting", "live")
    return asked


def _wait_state(host: Host, state: str) -> None:
    def state_now() -> str:
        return host.call(methods.ASKED, admission.Asked()).state

    wait_for(lambda: state_now() == state, LIMIT_S, f"it is {state}", state_now)


def _codes(host: Host) -> list[str]:
    return [each.code for each in host.call(methods.REQUESTS, admission.Requests()).requests]


def _members(host: Host) -> list[str]:
    return sorted(each.name for each in host.call(methods.MEMBERS, flock.Members()).members)


def _called(hosts: Hosts, name: str) -> Host:
    return next(host for host in hosts if host.name == name)


def _keeps(host: Host) -> bool:
    return host.call(methods.REQUESTS, admission.Requests()).may_admit


@contextmanager
def _port_taken(host: Host) -> Iterator[None]:
    """Another program of that machine listens where its agent would."""
    place = ("0.0.0.0" if host.spot.namespace else host.spot.address, DEFAULT_PORT)
    program = f"import socket; s = socket.create_server({place!r}); print(1, flush=True); input()"
    taking = subprocess.Popen(
        [*host.inside(), sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with taking:
        assert taking.stdout is not None
        assert taking.stdout.readline()
        yield
        taking.communicate(b"\n", COMMAND_S_MAX)


def _start(host: Host, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*host.inside(), sys.executable, "-m", "agent", "flock", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, VARIABLE: str(host.home.data.parent)},
    )


def _run(
    host: Host, *words: str, typed: str = "", code: int = 0
) -> subprocess.CompletedProcess[str]:
    with _start(host, *words) as started:
        said, wrong = started.communicate(typed, COMMAND_S_MAX)
    assert started.returncode == code, said + wrong
    return subprocess.CompletedProcess(words, started.returncode, said, wrong)
