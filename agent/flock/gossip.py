"""What members tell each other besides the protocol: the roster, where nodes can be reached, and
which machines ask to be let in.

Multicast finds neighbours where it is allowed; an invitation leads to one member only. So whoever
links tells its own addresses and those that it knows, and passes on what a peer said of itself to
the others. What was heard at second hand is not passed on: whoever it concerns tells it itself as
soon as it is linked, and a flock does not echo.

An address is a hint: TLS decides who answers there. Requests are told by the keeper that was asked,
all that are open each time, to whoever it is linked with. What is read is bounded and checked.

Where members can be reached, by their own word or by that of others, is kept on disk. Whoever joined with an invitation knows one address and no other way to it where multicast is
blocked; after a restart it must still find its flock. It is a hint and not more: who answers there
is decided by TLS. A file that cannot be read or written costs a slower start, so it is only said.
"""

from __future__ import annotations

import ipaddress
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from agent.api.errors import MembershipError
from agent.net.addresses import Address, AddressError, parse_address, reached_at
from agent.net.discovery_network import own_addresses
from agent.net.join_requests import REQUESTS_MAX
from agent.net.roster import MEMBERS_MAX, ROSTER_BYTES_MAX
from agent.protocol.records import NodeId

NODES_MAX = 1_000
ADDRESSES_MAX = 8
FILE_BYTES_MAX = 1024 * 1024

log = logging.getLogger(__name__)
_Text = Annotated[str, Meta(max_length=300)]
_Texts = Annotated[tuple[_Text, ...], Meta(max_length=ADDRESSES_MAX)]
_encode = msgspec.msgpack.Encoder().encode


class AddressBook:
    """Addresses by node, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[NodeId, tuple[Address, ...]] = {}

    def load(self) -> None:
        """Read the addresses from the file, if there is one, of at most a thousand nodes; a file
        that cannot be read or is damaged is logged and counts as empty."""
        try:
            with self._path.open("rb") as file:
                entries = json.loads(file.read(FILE_BYTES_MAX))
            for node, texts in list(entries.items())[:NODES_MAX]:
                self._known[node] = tuple(parse_address(text) for text in texts[:ADDRESSES_MAX])
        except FileNotFoundError:
            return
        except (OSError, ValueError, AttributeError, TypeError, AddressError) as error:
            log.warning("%s cannot be read (%s); it is written anew", self._path, error)
            self._known.clear()

    def known(self) -> dict[NodeId, tuple[Address, ...]]:
        """Return all known addresses, by node."""
        return dict(self._known)

    def of(self, node: NodeId) -> tuple[Address, ...]:
        """Return the addresses of one node, in the order in which they were told; empty when none
        is known."""
        return self._known.get(node, ())

    def note(self, node: NodeId, addresses: Sequence[Address], *, first_hand: bool) -> bool:
        """Note addresses of a node, without saving them, and tell whether they are news. What a
        node says of itself (``first_hand``) replaces the rest, what others say is added behind.
        Eight of each node are kept; of more than a thousand nodes, the one whose news is oldest
        goes."""
        known = self.of(node)
        if first_hand:
            merged = tuple(addresses)[:ADDRESSES_MAX]
        else:
            merged = tuple(dict.fromkeys((*known, *addresses)))[:ADDRESSES_MAX]
        if merged == known:
            return False
        self._known.pop(node, None)
        self._known[node] = merged
        while len(self._known) > NODES_MAX:
            del self._known[next(iter(self._known))]
        return True

    def save(self) -> None:
        """Write all addresses in the place of the file; a failure is only logged."""
        text = json.dumps(
            {node: [str(each) for each in found] for node, found in self._known.items()}
        )
        fresh = self._path.with_suffix(".unfinished")
        try:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(self._path)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error.strerror)

    def forget(self) -> None:
        """Forget all addresses and delete the file, as this node belongs to that flock no more;
        raise ``OSError`` when it cannot be deleted."""
        self._known.clear()
        self._path.unlink(missing_ok=True)


class RequestWord(Struct, frozen=True, array_like=True):
    """A machine that asks to be let in, or did until now."""

    request: Annotated[str, Meta(min_length=1, max_length=32)]
    name: Annotated[str, Meta(max_length=64)]
    user: Annotated[str, Meta(max_length=64)]
    address: Annotated[str, Meta(max_length=64)]
    code: Annotated[str, Meta(max_length=16)]
    age_s: Annotated[float, Meta(ge=0, le=86_400)]
    left_s: Annotated[float, Meta(ge=0, le=86_400)]
    state: Literal["waiting", "admitted", "joined", "refused", "ended"]


AuditNumber = Annotated[int, Meta(ge=0, le=2**53)]
AuditHash = Annotated[str, Meta(max_length=64)]


class Gossip(Struct, frozen=True, array_like=True):
    """``roster`` is empty and ``requests`` none when only something else is told."""

    roster: Annotated[bytes, Meta(max_length=ROSTER_BYTES_MAX)] = b""
    addresses: Annotated[dict[NodeId, _Texts], Meta(max_length=MEMBERS_MAX)] = {}
    requests: Annotated[tuple[RequestWord, ...], Meta(max_length=2 * REQUESTS_MAX)] | None = None
    audit: tuple[AuditNumber, AuditHash] | None = None


class Heard(NamedTuple):
    """What a peer has told, in words of this program."""

    roster: bytes
    addresses: dict[NodeId, list[Address]]
    requests: tuple[RequestWord, ...] | None
    audit: tuple[int, str] | None


_decoder = msgspec.msgpack.Decoder(Gossip)


def gossip_of(
    roster: bytes = b"",
    addresses: Mapping[NodeId, Sequence[Address]] | None = None,
    requests: Sequence[RequestWord] | None = None,
    audit: tuple[int, str] | None = None,
) -> bytes:
    """Return gossip as it is sent, with at most eight addresses of each node; what is left out is
    not told of, and ``requests`` is None where nothing is told of them. ``audit`` is the end of the
    sender's own: number and hash of its last entry."""
    told = {
        node: tuple(str(each) for each in known[:ADDRESSES_MAX])
        for node, known in (addresses or {}).items()
    }
    return _encode(Gossip(roster, told, None if requests is None else tuple(requests), audit))


def read_gossip(body: bytes) -> Heard:
    """Return what a member tells, decoded; raise ``MembershipError`` for bytes that do not decode, or
    hold an address that is none. Their length is not checked here."""
    try:
        gossip = _decoder.decode(body)
        found = {
            node: [parse_address(text) for text in texts]
            for node, texts in gossip.addresses.items()
        }
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, AddressError) as error:
        raise MembershipError("it tells what no member tells") from error
    return Heard(gossip.roster, found, gossip.requests, gossip.audit)


def own_places(listen: Iterable[str], port: int) -> list[Address]:
    """Return where others may reach this node on this port, eight places at most: where it listens,
    or, if nothing or ``::`` or ``0.0.0.0`` is set, at this machine's addresses. Link-local ones are
    left out, even if none remains. Raise ``OSError`` when the system does not tell them,
    ``ValueError`` for a name in ``listen``."""
    hosts = reached_at(tuple(listen), own_addresses())
    return [Address(host, port) for host in hosts if _reachable(host)][:ADDRESSES_MAX]


def _reachable(host: str) -> bool:
    return not ipaddress.ip_address(host).is_link_local
