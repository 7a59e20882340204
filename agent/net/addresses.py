"""Addresses as people type them: ``host``, ``host:port``, ``[IPv6]:port``.

They are typed where multicast is blocked, so a mistake in one is answered with a sentence that
names it, before anything is dialled.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import NamedTuple

DEFAULT_PORT = 29464
HOST_LENGTH_MAX = 253
ANY_HOST = ("0.0.0.0", "::")

_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")


class AddressError(ValueError):
    """One sentence for a person: what is wrong with an address, and what one looks like."""


class Address(NamedTuple):
    """Where a node may be reached."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str, default_port: int = DEFAULT_PORT) -> Address:
    """Return the address that the text names, on ``default_port`` where it names none; raise
    ``AddressError`` for text that is no address."""
    text = text.strip()
    if not text:
        raise AddressError("An address is empty; write host, host:port or [IPv6]:port.")
    host, port_text = _parted(text)
    port = default_port if port_text is None else _port(port_text, text)
    return Address(_host(host, text), port)


def is_numeric(host: str) -> bool:
    """Tell whether the host is a numeric IP address, so that no name has to be looked up."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def reached_at(listen: Sequence[str], own: Sequence[str]) -> list[str]:
    """Return the addresses at which a node is reached that listens at these: for ``0.0.0.0`` and
    ``::`` those of this machine (``own``) of the same family, and all of them where nothing is
    set."""
    found: dict[str, None] = {}
    for host in listen or own:
        family = [each for each in own if (":" in each) == (":" in host)]
        found.update(dict.fromkeys(family if host in ANY_HOST else [host]))
    return list(found)


def _parted(text: str) -> tuple[str, str | None]:
    if text.startswith("["):
        host, closing, behind = text[1:].partition("]")
        if not closing or (behind and not behind.startswith(":")):
            raise AddressError(f"'{text}' opens a bracket; write [IPv6] or [IPv6]:port.")
        if ":" not in host:
            raise AddressError(f"'{text}' has no IPv6 address in its brackets.")
        return host, behind[1:] if behind else None
    if text.count(":") > 1:
        if is_numeric(text):
            return text, None
        raise AddressError(f"'{text}' has several colons; write an IPv6 address in [brackets].")
    host, colon, port = text.partition(":")
    return host, port if colon else None


def _port(port: str, text: str) -> int:
    if not (port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= 65535):
        raise AddressError(f"'{port}' in '{text}' is not a port; ports go from 1 to 65535.")
    return int(port)


def _host(host: str, text: str) -> str:
    if ":" in host:
        if not is_numeric(host):
            raise AddressError(f"'{host}' in '{text}' is not an IPv6 address.")
        return host
    if host.replace(".", "").isdigit():
        if not is_numeric(host):
            raise AddressError(f"'{host}' in '{text}' is not an IPv4 address.")
        return host
    labels = host.removesuffix(".").split(".")
    if len(host) > HOST_LENGTH_MAX or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressError(f"'{text}' is not a host name, nor an address of IPv4 or IPv6.")
    return host
