"""What members tell each other besides the protocol: the roster, where nodes can be reached, and
which machines ask to be let in.

Multicast finds neighbours where it is allowed; an invitation leads to one member only. So whoever
links tells its own addresses and those that it knows, and passes on what a peer said of itself to
the others. What was heard at second hand is not passed on: whoever it concerns tells it itself as
soon as it is linked, and a flock does not echo.

An address is a hint: TLS decides who answers there. Requests are told by the keeper that was asked,
all that are open each time, to whoever it is linked with. What is read is bounded and checked.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from agent.api.errors import MembershipError
from agent.flock.addresses import ADDRESSES_MAX
from agent.net.addresses import Address, AddressError, parse_address
from agent.net.discovery_network import own_addresses
from agent.net.join_requests import REQUESTS_MAX
from agent.net.roster import MEMBERS_MAX, ROSTER_BYTES_MAX
from agent.protocol.records import NodeId

_Text = Annotated[str, Meta(max_length=300)]
_Texts = Annotated[tuple[_Text, ...], Meta(max_length=ADDRESSES_MAX)]


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


class Gossip(Struct, frozen=True, array_like=True):
    """``roster`` is empty and ``requests`` none when only something else is told."""

    roster: Annotated[bytes, Meta(max_length=ROSTER_BYTES_MAX)] = b""
    addresses: Annotated[dict[NodeId, _Texts], Meta(max_length=MEMBERS_MAX)] = {}
    requests: Annotated[tuple[RequestWord, ...], Meta(max_length=2 * REQUESTS_MAX)] | None = None


class Heard(NamedTuple):
    """What a peer has told, in words of this program."""

    roster: bytes
    addresses: dict[NodeId, list[Address]]
    requests: tuple[RequestWord, ...] | None


_decoder = msgspec.msgpack.Decoder(Gossip)
_encode = msgspec.msgpack.Encoder().encode


def gossip_of(
    roster: bytes = b"",
    addresses: Mapping[NodeId, Sequence[Address]] | None = None,
    requests: Sequence[RequestWord] | None = None,
) -> bytes:
    """Return gossip as it is sent; ``requests`` is None where nothing is told of them."""
    told = {
        node: tuple(str(each) for each in known[:ADDRESSES_MAX])
        for node, known in (addresses or {}).items()
    }
    return _encode(Gossip(roster, told, None if requests is None else tuple(requests)))


def read_gossip(body: bytes) -> Heard:
    """Decode what a member tells; raise ``MembershipError`` for bytes that no member sends."""
    try:
        gossip = _decoder.decode(body)
        found = {
            node: [parse_address(text) for text in texts]
            for node, texts in gossip.addresses.items()
        }
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, AddressError) as error:
        raise MembershipError("it tells what no member tells") from error
    return Heard(gossip.roster, found, gossip.requests)


def own_places(listen: Iterable[str], port: int) -> list[Address]:
    """Return where others may reach this node, without link-local addresses, which mean something
    else on each machine."""
    hosts = list(listen) or list(own_addresses())
    return [Address(host, port) for host in hosts if _reachable(host)][:ADDRESSES_MAX]


def _reachable(host: str) -> bool:
    address = ipaddress.ip_address(host)
    return not (address.is_link_local or address.is_unspecified)
