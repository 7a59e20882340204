"""What wakes a machine leaves by the interface that is on its network, and is what its card waits for."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent.net.waking import Interface, interfaces, magic_packet, own_wake_addresses, wake
from agent.protocol.capabilities import WAKE_ADDRESSES_MAX, WakeAddress
from tests.hosts.lan import Lan, why_no_namespaces

OWN = Interface("127.0.0.2", "127.255.255.255", "02:00:00:00:00:01")
LISTENS = """
import socket, sys
heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
heard.bind(("", 9))
heard.settimeout(60)
print("ready", flush=True)
print(heard.recv(1024).hex(), flush=True)
"""
WAKES = """
import sys
from agent.net.waking import wake
from agent.protocol.capabilities import WakeAddress
print(wake([WakeAddress(*each.split("/")) for each in sys.argv[1:]]))
"""
SHOWS = """
from agent.net.waking import own_wake_addresses
print(*(f"{each.hardware}/{each.broadcast}" for each in own_wake_addresses()))
"""


def test_a_magic_packet_is_six_bytes_of_ones_and_the_address_sixteen_times() -> None:
    packet = magic_packet("02:1f:00:00:00:a7")
    assert packet == b"\xff" * 6 + b"\x02\x1f\x00\x00\x00\xa7" * 16


@pytest.mark.parametrize("wrong", ["", "02:1f", "02:1f:00:00:00:a7:00", "anything at all"])
def test_what_is_no_hardware_address_is_not_sent(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"hex|no hardware address"):
        magic_packet(wrong)
    assert wake([WakeAddress(wrong, OWN.broadcast)], lambda: [OWN]) == 0


def test_where_a_machine_can_be_woken_is_sorted_and_bounded() -> None:
    many = [Interface("", f"10.0.{n}.255", "02:00:00:00:00:01") for n in reversed(range(20))]
    told = own_wake_addresses(lambda: many)
    assert len(told) == WAKE_ADDRESSES_MAX
    assert list(told) == sorted(told, key=lambda each: each.broadcast)

    def unseen() -> list[Interface]:
        raise OSError

    assert own_wake_addresses(unseen) == ()


def test_interfaces_are_those_on_a_network_with_others() -> None:
    for each in interfaces():
        assert not each.address.startswith("127.")
        assert len(each.hardware) == 17


def test_nothing_is_sent_to_a_network_that_this_machine_is_not_on() -> None:
    elsewhere = WakeAddress("02:00:00:00:00:07", "10.9.8.255")
    assert wake([elsewhere], lambda: [OWN]) == 0


@pytest.mark.skipif(bool(why_no_namespaces()), reason="no network namespaces here")
def test_a_machine_on_the_same_network_hears_it(tmp_path: Path) -> None:
    """In namespaces of this test: one machine tells where it can be woken, another sends."""
    here = Path(__file__).parents[2]
    with closing(Lan(2)) as lan:

        def inside(number: int, program: str, *words: str) -> subprocess.Popen[str]:
            enter = ("ip", "netns", "exec", lan.namespace(number))
            return subprocess.Popen(
                [*enter, sys.executable, "-c", program, *words],
                cwd=here,
                stdout=subprocess.PIPE,
                text=True,
            )

        with inside(1, SHOWS) as asked:
            (told,) = (asked.communicate()[0]).split()
        hardware, _, broadcast = told.partition("/")
        with inside(1, LISTENS) as sleeper:
            assert sleeper.stdout is not None
            assert sleeper.stdout.readline() == "ready\n"
            with inside(0, WAKES, told, f"{hardware}/10.99.99.255") as waker:
                assert waker.communicate()[0] == "1\n"
            assert sleeper.stdout.readline().strip() == magic_packet(hardware).hex()
        assert broadcast.endswith(".255")
