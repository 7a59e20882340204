"""Addresses are looked at when the system has told of something, or tells nothing at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent.net.discovery_network import POLL_S, AddressNews, Change, NetworkWatch, native_news
from tests.hosts.waiting import EVENTUALLY_S_MAX

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


class Told(AddressNews):
    """News by the test's word."""

    def __init__(self) -> None:
        self.new = False

    def due(self) -> bool:
        new, self.new = self.new, False
        return new

    def close(self) -> None:
        """There is nothing."""


class Sight:
    """Addresses that are looked at, or cannot be."""

    def __init__(self) -> None:
        self.addresses = ["192.0.2.1"]
        self.looks = 0
        self.error: OSError | None = None

    def __call__(self) -> list[str]:
        self.looks += 1
        if self.error is not None:
            raise self.error
        return self.addresses


def test_addresses_are_looked_at_when_there_is_news() -> None:
    told, sight = Told(), Sight()
    watch = NetworkWatch(sight, (), told)
    sight.addresses = ["192.0.2.7"]
    assert watch.look() is Change.NOTHING
    assert sight.looks == 1
    told.new = True
    assert (watch.look(), watch.look()) == (Change.ADDRESSES, Change.NOTHING)
    assert sight.looks == 2


def test_addresses_are_looked_at_after_a_sleep_whatever_was_told() -> None:
    sight, clock = Sight(), [0.0]
    watch = NetworkWatch(sight, (lambda: clock[0],), Told())
    clock[0] += 3600.0
    sight.addresses = ["192.0.2.7"]
    assert (watch.look(), watch.addresses) == (Change.RESUMED, ("192.0.2.7",))
    clock[0] += POLL_S
    assert watch.look() is Change.NOTHING
    assert sight.looks == 2


def test_a_look_that_failed_is_made_up_for() -> None:
    told, sight = Told(), Sight()
    watch = NetworkWatch(sight, (), told)
    told.new, sight.error = True, OSError("not now")
    with pytest.raises(OSError, match="not now"):
        watch.look()
    sight.error, sight.addresses = None, ["192.0.2.7"]
    assert watch.look() is Change.ADDRESSES


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
        assert news._socket is not None
        assert news._socket.getsockname()[1] == 0b1_0001_0001
    finally:
        news.close()
