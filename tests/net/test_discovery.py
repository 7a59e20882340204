"""Finding each other: real multicast on loopback where it works there, and everything without it; what
the kernel tells of addresses.

Nothing leaves this machine: discovery is told to use the loopback interface only.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from agent.net import discovery, discovery_network
from agent.net.addresses import Address
from agent.net.discovery import (
    SERVICE,
    SIGHTINGS_MAX,
    Discovery,
    DiscoveryCallbacks,
    Sighting,
    own_record,
    read_record,
)
from agent.net.discovery_network import (
    AddressNews,
    Change,
    NetworkWatch,
    native_news,
    own_addresses,
)
from agent.protocol.records import NodeId
from tests.certain import certain
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually

LOOPBACK = "127.0.0.1"
FLOCK, OTHER_FLOCK = (f"{name}-{token_hex(4)}" for name in ("flock", "other"))
ANT, BEE, CAT, GOOD = (f"{name}-{token_hex(4)}" for name in ("ant", "bee", "cat", "good"))
"""Multicast reaches all tests of this machine, those that another process runs now as well."""


@dataclass
class Ear:
    """All that one discovery told."""

    found: list[tuple[NodeId | None, list[Address]]] = field(default_factory=list)
    gone: list[NodeId] = field(default_factory=list)
    foreign: list[Sighting] = field(default_factory=list)
    changes: int = 0

    def note_found(self, node: NodeId | None, addresses: Sequence[Address]) -> None:
        self.found.append((node, list(addresses)))

    def note_change(self) -> None:
        self.changes += 1

    def listening(
        self,
        node: str,
        flock: str,
        typed: Sequence[Address] = (),
        watch: NetworkWatch | None = None,
    ) -> Discovery:
        callbacks = DiscoveryCallbacks(
            self.note_found, self.gone.append, self.foreign.append, self.note_change
        )
        return Discovery(
            node, flock, callbacks, typed=typed, interfaces=[LOOPBACK], watch=watch or still()
        )


def still() -> NetworkWatch:
    return NetworkWatch(lambda: ("192.0.2.1",), ())


def multicast_refused() -> str:
    """Why multicast does not work on loopback here; empty when it does."""
    group, data = "224.0.0.251", b"wingbeat?"
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as hearing,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as saying,
    ):
        try:
            hearing.bind(("", 0))
            here = socket.inet_aton(LOOPBACK)
            hearing.setsockopt(
                socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + here
            )
            hearing.settimeout(1)
            saying.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
            saying.sendto(data, (group, hearing.getsockname()[1]))
            return "" if hearing.recv(100) == data else "something else came"
        except OSError as error:
            return str(error)


needs_multicast = pytest.mark.skipif(
    bool(refused := multicast_refused()), reason=f"no multicast on loopback: {refused}"
)


# -- multicast ---------------------------------------------------------------------------------


def _told_here(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Without agents of others that are at work on this network."""
    return [each for each in sightings if each.node in (ANT, BEE, CAT)]


@needs_multicast
async def test_nodes_of_a_flock_find_each_other_and_see_other_flocks() -> None:
    ears = [Ear(), Ear(), Ear()]
    ant = ears[0].listening(ANT, FLOCK)
    bee = ears[1].listening(BEE, FLOCK)
    cat = ears[2].listening(CAT, OTHER_FLOCK)
    for number, one in enumerate((ant, bee, cat)):
        await one.start(1001 + number)
    assert (ant.trouble, ant.trouble_text) == (None, "")
    await eventually(lambda: bool(ears[0].found and ears[1].found))
    await eventually(lambda: bool(_told_here(ears[0].foreign)))
    await eventually(lambda: len(_told_here(ears[2].foreign)) == 2)
    assert ears[0].found[0] == (BEE, [Address(LOOPBACK, 1002)])
    assert ears[1].found[0] == (ANT, [Address(LOOPBACK, 1001)])
    assert _told_here(ears[0].foreign) == [
        Sighting(CAT, OTHER_FLOCK, 1, (Address(LOOPBACK, 1003),))
    ]
    assert ears[2].found == []
    assert {each.node for each in _told_here(ant.sightings())} == {BEE, CAT}
    await bee.stop()
    await eventually(lambda: ears[0].gone == [BEE])
    await asyncio.gather(ant.stop(), cat.stop())


@needs_multicast
async def test_addresses_are_followed_and_sleep_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "POLL_S", 0.01)

    time_s = [0.0]
    addresses: list[str] = ["192.0.2.1"]
    ears = [Ear(), Ear()]
    watch = NetworkWatch(lambda: tuple(addresses), (lambda: time_s[0],))
    ant = ears[0].listening(ANT, FLOCK, watch=watch)
    bee = ears[1].listening(BEE, FLOCK)
    await ant.start(1001)
    await bee.start(1002)
    await eventually(lambda: bool(ears[1].found))
    addresses.append("192.0.2.2")
    await eventually(lambda: ears[0].changes == 1)
    ears[1].found.clear()
    ears[0].found.clear()
    time_s[0] += 3600
    await eventually(lambda: ears[0].changes == 2)
    await eventually(lambda: (BEE, [Address(LOOPBACK, 1002)]) in ears[0].found)
    await asyncio.gather(ant.stop(), bee.stop())


@needs_multicast
async def test_nonsense_on_the_network_is_passed_over() -> None:
    ear = Ear()
    ant = ear.listening(ANT, FLOCK)
    await ant.start(1001)
    async with AsyncZeroconf(interfaces=[LOOPBACK]) as other:
        for name, told in (("a", {}), ("b", {"flock": FLOCK, "node": "b", "port": "0"})):
            record = AsyncServiceInfo(
                SERVICE,
                f"{name}-{GOOD}.{SERVICE}",
                port=9,
                properties=told,
                parsed_addresses=[LOOPBACK],
            )
            await other.async_register_service(record, cooperating_responders=True)
        good = own_record(GOOD, FLOCK, 1, 1002, [LOOPBACK])
        await other.async_register_service(good, cooperating_responders=True)
        await eventually(lambda: bool(ear.found))
    assert {node for node, _ in ear.found} == {GOOD}, "a busy network may tell of it twice"
    # Agents of others may be at work on this network: only what was said here is judged.
    assert not {"", "a", "b"} & {sighting.node for sighting in ant.sightings()}
    await ant.stop()


@pytest.mark.parametrize("told", [OTHER_FLOCK, FLOCK], ids=["another flock", "this flock"])
def test_mdns_flood_hides_no_member(told: str) -> None:
    """Whoever is on the network can make up as many as they like, of this flock too."""
    ear = Ear()
    ant = ear.listening(ANT, FLOCK)
    for number in range(2 * SIGHTINGS_MAX):
        node = f"{number:032x}"
        ant._note(node, own_record(node, told, 1, 1_000, ["192.0.2.1"]))
    ant._note(BEE, own_record(BEE, FLOCK, 1, 1_002, [LOOPBACK]))
    assert (BEE, [Address(LOOPBACK, 1002)]) in ear.found
    assert BEE in {each.node for each in ant.sightings()}
    assert len(ant.sightings()) == SIGHTINGS_MAX
    for number in range(2 * SIGHTINGS_MAX):
        node = f"{number:032x}"
        ant._note(node, own_record(node, "f" * len(FLOCK), 1, 1_000, ["192.0.2.1"]))
    assert BEE in {each.node for each in ant.sightings()}, "others do not take a member's place"


# -- without multicast -------------------------------------------------------------------------


def refuse(error: Exception) -> Callable[..., None]:
    def refused(**_: object) -> None:
        raise error

    return refused


async def test_typed_addresses_are_told_where_multicast_does_not_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = OSError(errno.EADDRINUSE, "taken")
    monkeypatch.setattr(discovery, "AsyncZeroconf", refuse(taken))
    monkeypatch.setattr(discovery, "POLL_S", 0.01)
    monkeypatch.setattr(discovery, "TRY_AGAIN_S", 0.02)

    ear = Ear()
    typed = [Address("workshop", 1), Address("::1", 2)]
    ant = ear.listening("ant", "flock", typed)
    await ant.start(1001)
    assert ear.found == [(None, typed)]
    assert ant.trouble_text == (
        "Nodes cannot be found by multicast: another program keeps UDP port 5353 to itself; "
        "give addresses by hand."
    )
    monkeypatch.undo()
    monkeypatch.setattr(discovery, "POLL_S", 0.01)
    if not refused:
        monkeypatch.setattr(discovery, "TRY_AGAIN_S", 0.02)
        await eventually(lambda: ant.trouble is None)
    await ant.stop()


def test_own_addresses_are_those_that_others_may_use() -> None:
    addresses = own_addresses()
    assert LOOPBACK not in addresses
    assert "::1" not in addresses
    assert list(addresses) == sorted(set(addresses))
    assert discovery_network.NetworkWatch().addresses == addresses


def test_a_sleep_is_told_once_the_addresses_can_be_read_again() -> None:
    time_s, unreadable = [0.0], [False]

    def addresses() -> tuple[str, ...]:
        if unreadable[0]:
            raise OSError("too many open files")
        return ("192.0.2.1",)

    watch = NetworkWatch(addresses, (lambda: time_s[0],))
    time_s[0], unreadable[0] = 3600.0, True
    with pytest.raises(OSError, match="too many"):
        watch.look()
    unreadable[0] = False
    assert [watch.look() for _ in range(2)] == [Change.RESUMED, Change.NOTHING]


def test_a_record_says_no_more_than_it_must() -> None:
    record = own_record("node.1", "flock", 3, 1001, ["192.0.2.1", "2001:db8::1"])
    assert set(record.properties) == {b"flock", b"node", b"port", b"version"}
    assert record.name == f"node-1.{SERVICE}"
    addresses = (Address("192.0.2.1", 1001), Address("2001:db8::1", 1001))
    assert read_record(record) == Sighting("node.1", "flock", 3, addresses)


@given(
    st.dictionaries(
        st.sampled_from(["flock", "node", "port", "version"]),
        st.one_of(st.none(), st.binary(max_size=70)),
    )
)
def test_any_record_is_a_sighting_or_passed_over(told: dict[str, bytes | None]) -> None:
    properties: dict[str | bytes, str | bytes | None] = dict(told.items())
    record = AsyncServiceInfo(SERVICE, f"x.{SERVICE}", port=1, properties=properties)
    sighting = read_record(record)
    assert sighting is None or (sighting.node.isprintable() and sighting.flock.isprintable())


# -- what the kernel tells -------------------------------------------------------------------------


REPOSITORY = Path(__file__).parents[2]
IN_A_NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]
SCENE = """
import subprocess
from agent.net.discovery_network import native_news

news = native_news()
assert news.due(), "at first there may be anything"
assert not news.due(), "nothing has happened"
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
assert news.due(), "an interface has come up"
assert not news.due(), "that was told"
subprocess.run(["ip", "address", "add", "192.0.2.1/32", "dev", "lo"], check=True)
assert news.due(), "an address has come"
news.close()
news.close()
assert news.due(), "asked anew, it does not know what was before"
news.close()
print("done")
"""


def test_of_a_system_that_tells_nothing_there_may_always_be_news() -> None:
    news = AddressNews()
    assert news.due()
    assert news.due()
    news.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of its addresses here")
def test_the_kernel_tells_of_interfaces_and_addresses() -> None:
    if subprocess.run([*IN_A_NAMESPACE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine makes no network namespaces for its users")
    command = [*IN_A_NAMESPACE, sys.executable, "-c", SCENE]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=EVENTUALLY_S_MAX,
        check=False,
    )
    assert done.stdout.strip() == "done", done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such sockets to forbid")
def test_where_the_kernel_may_not_be_asked_there_may_always_be_news(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError("not allowed")

    monkeypatch.setattr("agent.net.discovery_network.socket.socket", refused)
    news = native_news()
    assert news.due()
    assert news.due()
    news.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell in other ways")
def test_links_and_addresses_of_both_families_are_followed() -> None:
    """As the system says itself of the socket: the groups of messages that it gets."""
    from agent.net.discovery_network import NetlinkNews

    news = NetlinkNews()
    try:
        news.due()
        assert certain(news._socket).getsockname()[1] == 0b1_0001_0001
    finally:
        news.close()
