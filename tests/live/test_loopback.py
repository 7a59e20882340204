"""Hosts without namespaces: whoever else is at work on this machine keeps its ports, and they theirs."""

from __future__ import annotations

import socket
import sys

import pytest

from agent.net.addresses import DEFAULT_PORT
from agent.net.dialling import listening_sockets
from tests.hosts.hosts import Hosts, hold_loopback

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="all of 127.0.0.0/8 is here on Linux only"),
    pytest.mark.xdist_group("live"),
]


def test_each_set_of_hosts_has_a_port_that_agents_get_and_others_do_not() -> None:
    held = [*hold_loopback(3), *hold_loopback(3)]
    places = [each.getsockname() for each in held]
    assert len(set(places)) == 6
    for set_of_hosts in (places[:3], places[3:]):
        assert len({port for _, port in set_of_hosts}) == 1
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(places[0])
    for _ in range(2):  # an agent, and the same started again
        (agent,) = listening_sockets([places[0][0]], places[0][1])
        agent.close()
    for each in held:
        each.close()


def test_the_port_that_every_agent_takes_by_itself_is_left_to_others() -> None:
    with Hosts(2, namespaces=False) as hosts:
        assert [each.spot.port for each in hosts] == [hosts[0].spot.port] * 2
        assert hosts[0].spot.port != DEFAULT_PORT
        hosts.make_flock()
