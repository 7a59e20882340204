"""Why there is no link, why multicast is not used, how long and when: facts to sentences."""

from __future__ import annotations

import errno
import ssl
from typing import Any, cast

import pytest

from agent.api.wording import moment
from agent.net import link_refusals
from agent.net.copies import INSTANCES_MAX, Copies
from agent.net.discovery import explained_trouble, own_record, read_record
from agent.net.discovery_network import JUMP_S, POLL_S, AddressNews, Change, NetworkWatch, has_way
from agent.net.link_refusals import REFUSALS_MAX, Cause, LinkRefusal, Refusals, cause_of, explained
from agent.net.tls import peer_of
from agent.protocol.link_reasons import NoLink
from agent.protocol.reasons import Opaque
from agent.wording.speech import english
from tests.certain import certain


def tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, "x")
    error.reason = reason
    return error


def untrusted(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "x")
    error.verify_code, error.verify_message = code, "out of order"
    return error


@pytest.mark.parametrize(
    ("error", "cause", "text"),
    [
        (untrusted(10), Cause.EXPIRED, "its certificate has expired, or the clock here is ahead"),
        (
            untrusted(9),
            Cause.NOT_YET_VALID,
            "its certificate is not valid yet: compare the clocks",
        ),
        (untrusted(23), Cause.REFUSED, "its certificate is revoked"),
        (untrusted(19), Cause.OTHER_FLOCK, "it belongs to another flock"),
        (tls("TLSV1_ALERT_UNKNOWN_CA"), Cause.OTHER_FLOCK, "it belongs to another flock"),
        (
            tls("SSLV3_ALERT_CERTIFICATE_EXPIRED"),
            Cause.EXPIRED,
            "it says that this machine's certificate has ended, or its clock differs",
        ),
        (
            tls("HTTP_REQUEST"),
            Cause.NOT_WINGBEAT,
            "something that is not wingbeat called from there",
        ),
        (
            tls("TLSV13_ALERT_CERTIFICATE_REQUIRED"),
            Cause.REFUSED,
            "it takes members only, and this machine showed no certificate",
        ),
        (tls("UNEXPECTED_EOF_WHILE_READING"), Cause.BROKEN, "it broke the connection off"),
        (EOFError(), Cause.BROKEN, "it closed the connection"),
        (tls("NO_SHARED_CIPHER"), Cause.BROKEN, "TLS failed: NO_SHARED_CIPHER"),
        (
            ConnectionRefusedError(),
            Cause.UNREACHABLE,
            "no Wingbeat listens there: it may not be running, or on another port",
        ),
        (
            TimeoutError(),
            Cause.UNREACHABLE,
            "nothing answers: it is off, elsewhere, or behind a firewall",
        ),
        (
            ConnectionResetError(),
            Cause.BROKEN,
            "it broke the connection off",
        ),
        (OSError(1, "no way"), Cause.UNREACHABLE, "it cannot be reached: no way"),
        (OSError("lost"), Cause.UNREACHABLE, "it cannot be reached: lost"),
        (None, Cause.BROKEN, "it closed the connection"),
    ],
)
def test_why_there_is_no_link(error: Exception | None, cause: Cause, text: str) -> None:
    assert (cause_of(explained(error)), english(explained(error))) == (cause, text)


def refusal(peer: str, text: str = "no", address: str = "") -> LinkRefusal:
    return LinkRefusal(peer, address, Cause.REFUSED, Opaque(text), 0.0)


def test_of_each_peer_the_last_refusal_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", link_refusals.log.name)
    kept = Refusals(str.title)
    kept.note(refusal("ant"))
    kept.note(refusal("bee", address="b:1"))
    kept.note(refusal("ant"))
    kept.note(refusal("", "what", "c:1"))
    assert [(each.peer, each.address) for each in kept.all()] == [
        ("bee", "b:1"),
        ("ant", ""),
        ("", "c:1"),
    ]
    kept.note(refusal("ant", "never"))
    assert [each.getMessage() for each in caplog.records] == [
        "no link with Ant (): no",
        "no link with Bee (b:1): no",
        "no link with ? (c:1): what",
        "no link with Ant (): never",
    ]
    kept.linked("bee", "c:1")
    assert [each.why for each in kept.all()] == [Opaque("never")]
    kept.lost("ant", "a:1", Opaque("it is silent"))
    (lost,) = kept.all()
    assert (lost.cause, lost.address, english(lost.why)) == (
        Cause.LOST,
        "a:1",
        "its link is gone: it is silent",
    )


def test_the_oldest_refusal_is_forgotten_of_many() -> None:
    kept = Refusals()
    for number in range(REFUSALS_MAX):
        kept.note(refusal(str(number)))
    assert (len(kept.all()), kept.all()[0].peer) == (REFUSALS_MAX, "0")
    kept.note(refusal("one more"))
    assert (len(kept.all()), kept.all()[0].peer) == (REFUSALS_MAX, "1")


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(errno.EADDRINUSE, "x"), "another program keeps UDP port 5353 to itself"),
        (PermissionError(errno.EPERM, "x"), "this system does not allow it"),
        (OSError(errno.ENODEV, "x"), "no network is up"),
        (OSError(errno.ENETUNREACH, "x"), "no network is up"),
        (OSError(errno.EADDRNOTAVAIL, "x"), "no network is up"),
        (OSError(errno.EIO, "broken"), "the network refuses it (broken)"),
        (RuntimeError("no loop"), "no loop"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_why_multicast_is_not_used(error: Exception, why: str) -> None:
    assert english(explained_trouble(error)) == why


@pytest.mark.parametrize(
    ("time_s", "text"),
    [(1_700_000_000.0, "2023-11-14 22:13 UTC"), (1e20, "second 100000000000000000000")],
)
def test_when_something_was(time_s: float, text: str) -> None:
    assert moment(time_s) == text


# -- what the network tells --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "version"),
    [
        ({"version": b"123456789"}, 123456789),
        ({"version": b"1234567890"}, 0),
        ({"version": b"x"}, 0),
        ({"version": b"\xb2"}, 0),
        ({"port": b"1"}, 3),
        ({"port": b"65535"}, 3),
        ({"port": b"65536"}, None),
        ({"port": b"0"}, None),
        ({"node": b""}, None),
        ({"node": b"a" * 64}, 3),
        ({"node": b"a" * 65}, None),
        ({"flock": b"a b"}, None),
        ({"flock": None}, None),
    ],
)
def test_each_field_of_what_others_tell_is_checked(
    told: dict[str, bytes | None], version: int | None
) -> None:
    record = own_record("ant", "moor", 3, 29464, ["192.0.2.7"])
    record._properties = {**record.properties, **{k.encode(): v for k, v in told.items()}}
    found = read_record(record)
    assert (None if found is None else found.protocol_version) == version


def test_of_many_addresses_sixteen_are_taken() -> None:
    hosts = [f"192.0.2.{number}" for number in range(1, 20)]
    assert len(certain(read_record(own_record("ant", "moor", 3, 29464, hosts))).addresses) == 16


@pytest.mark.parametrize(
    ("host", "way"),
    [
        ("192.0.2.7", True),
        ("169.254.3.4", True),
        ("fe80::1", False),
        ("fe80::1%2", True),
        ("2001:db8::1", True),
    ],
)
def test_a_local_address_without_its_interface_leads_nowhere(host: str, way: bool) -> None:
    assert has_way(host) is way


class News(AddressNews):
    def __init__(self) -> None:
        self.due_now, self.closed = False, False

    def due(self) -> bool:
        return self.due_now

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("passed_s", "change"),
    [
        (POLL_S, Change.NOTHING),
        (POLL_S + JUMP_S, Change.NOTHING),
        (15.1, Change.RESUMED),
        (-3600, Change.NOTHING),
    ],
)
@pytest.mark.parametrize("which", [0, 1])
def test_a_clock_that_jumps_tells_of_sleep(which: int, passed_s: float, change: Change) -> None:
    clocks = [0.0, 0.0]
    watch = NetworkWatch(lambda: ["192.0.2.7"], (lambda: clocks[0], lambda: clocks[1]), news=News())
    clocks[which] += passed_s
    assert watch.look() is change
    assert watch.look() is Change.NOTHING


def test_addresses_are_looked_at_when_there_is_news_or_was_sleep() -> None:
    now, news, clock = ["a"], News(), [0.0]
    watch = NetworkWatch(lambda: now, (lambda: clock[0],), news=news)
    now = ["b"]
    assert (watch.look(), watch.addresses) == (Change.NOTHING, ("a",))
    news.due_now = True
    assert (watch.look(), watch.addresses) == (Change.ADDRESSES, ("b",))
    assert watch.look() is Change.NOTHING
    news.due_now, now = False, ["c"]
    clock[0] += 16.0
    assert (watch.look(), watch.addresses) == (Change.RESUMED, ("c",))
    watch.close()
    assert news.closed


def test_a_look_that_fails_is_made_up_for() -> None:
    news, fails = News(), False

    def look() -> list[str]:
        if fails:
            raise OSError("not now")
        return ["a"] if not news.due_now else ["b"]

    watch = NetworkWatch(look, (), news=news)
    news.due_now = fails = True
    with pytest.raises(OSError, match="not now"):
        watch.look()
    fails = False
    assert watch.look() is Change.ADDRESSES


# -- copies of an identity ---------------------------------------------------------------------


def test_an_instance_that_was_replaced_and_comes_back_is_a_copy() -> None:
    copies = Copies()
    told = [copies.note_link("ant", each) for each in ("1", "1", "2", "2", "1", "3", "2")]
    assert told == [False, False, False, False, True, False, True]
    assert not copies.note_link("bee", "1")


def test_of_many_instances_the_oldest_is_forgotten() -> None:
    copies = Copies()
    for number in range(INSTANCES_MAX + 1):
        copies.note_link("ant", str(number))
    assert copies.note_link("ant", "1")
    assert not copies.note_link("ant", "0")


def test_copies_are_told_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1e9]
    monkeypatch.setattr("agent.net.copies.time.time", lambda: now[0])
    copies = Copies()
    copies.note("ant", "a", "b")
    (told,) = copies.all()
    assert (told.node, told.hosts, told.at_s) == ("ant", ("a", "b"), 1e9)
    assert (copies.known("ant"), copies.known("bee")) == (True, False)
    from agent.net.copies import TOLD_S

    now[0] += TOLD_S - 1
    assert copies.known("ant")
    now[0] += 1
    assert not copies.known("ant")


# -- who is at the other end -------------------------------------------------------------------


class Secured:
    """What is known of an encrypted connection."""

    def __init__(self, shown: bytes | None, version: str, protocol: str | None) -> None:
        self._shown, self._version, self._protocol = shown, version, protocol

    def getpeercert(self, *, binary_form: bool = False) -> bytes | None:
        assert binary_form
        return self._shown

    def version(self) -> str:
        return self._version

    def selected_alpn_protocol(self) -> str | None:
        return self._protocol


class Everybody:
    """A roster that knows nobody."""

    def objection_to(self, certificate: bytes) -> NoLink:
        return NoLink("CertificateOfOther", name=certificate.decode())


NO_CERTIFICATE = NoLink("ShowsNoCertificate")
NO_PROTOCOL = NoLink("NoKnownProtocol")


@pytest.mark.parametrize(
    ("tls", "why"),
    [
        (None, NO_CERTIFICATE),
        (Secured(None, "TLSv1.3", "wingbeat/1"), NO_CERTIFICATE),
        (Secured(b"ant", "TLSv1.2", "wingbeat/1"), NO_PROTOCOL),
        (Secured(b"ant", "TLSv1.3", None), NO_PROTOCOL),
        (Secured(b"ant", "TLSv1.3", "wingbeat/1"), NoLink("CertificateOfOther", name="ant")),
    ],
)
def test_who_is_no_member(tls: Secured | None, why: NoLink) -> None:
    assert peer_of(cast("Any", tls), cast("Any", Everybody())) == why
