"""What a node tells the network of itself: flock, node, port, protocol version; nothing else.

Everybody on the network can read it and anybody can write one, so it is a hint of whom to dial
and where. Who answers there is decided by TLS. What is read is bounded and checked field by field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceInfo

from agent.net.addresses import Address
from agent.protocol.records import NodeId

SERVICE = "_wingbeat._tcp.local."
ADDRESSES_MAX = 16
NAME_LENGTH_MAX = 63

_ID = re.compile(r"[!-~]{1,64}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9-]")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A node that tells of itself on this network."""

    node: NodeId
    flock: str
    protocol_version: int
    addresses: tuple[Address, ...]


def own_record(
    node: NodeId, flock: str, version: int, port: int, hosts: Sequence[str]
) -> AsyncServiceInfo:
    """Return the multicast record that announces this node at these hosts."""
    name = _NOT_IN_NAMES.sub("-", node)[:NAME_LENGTH_MAX]
    told: dict[str | bytes, str | bytes | None] = {
        "flock": flock,
        "node": node,
        "port": str(port),
        "version": str(version),
    }
    return AsyncServiceInfo(
        SERVICE,
        f"{name}.{SERVICE}",
        port=port,
        properties=told,
        server=f"{name}.local.",
        parsed_addresses=list(hosts),
    )


def read_record(record: AsyncServiceInfo) -> Sighting | None:
    """Return the node, flock, version and addresses that another node's record announces; None when
    they make no sense."""
    told = record.properties
    node, flock = _text(told, b"node"), _text(told, b"flock")
    port, version = _number(told, b"port"), _number(told, b"version")
    if not (_ID.fullmatch(node) and _ID.fullmatch(flock)) or not 1 <= port <= 65535:
        return None
    hosts = record.parsed_scoped_addresses(IPVersion.All)[:ADDRESSES_MAX]
    return Sighting(node, flock, version, tuple(Address(host, port) for host in hosts))


def _text(told: Mapping[bytes, bytes | None], key: bytes) -> str:
    return (told.get(key) or b"").decode("ascii", "replace")


def _number(told: Mapping[bytes, bytes | None], key: bytes) -> int:
    text = _text(told, key)
    return int(text) if text.isdigit() and text.isascii() and len(text) < 10 else 0
