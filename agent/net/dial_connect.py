"""The first of several addresses that answers, and the sockets that others dial.

A machine has addresses of two families and on networks that are not ours to reach, and a dead
one may swallow a call for minutes. So addresses are called one after another with a short lead,
and the first that answers wins.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import sys
from collections.abc import Sequence
from typing import Any

from agent.net.addresses import Address

CONNECT_S = 3.0
LEAD_S = 0.2
ANY_HOST = ("0.0.0.0", "::")
BACKLOG = 128
ANY_PORT_TRIES = 20

_Candidate = tuple[Address, int, Any]


async def connect(addresses: Sequence[Address]) -> tuple[socket.socket, Address]:
    """Connect to the first of these addresses that answers; return the socket and its address. If
    none does, raise of all failures the ``OSError`` that says most of who is there."""
    failures: list[OSError] = []
    try:
        async with asyncio.timeout(CONNECT_S):
            candidates = await _looked_up(addresses)
            if len(candidates) == 1:
                return await _call(candidates[0])
            return await _race(candidates, failures)
    except OSError as error:
        raise max([error, *failures], key=_tells) from error


def _tells(error: OSError) -> int:
    """Who refuses is there; silence may be a firewall; the rest is about the way only."""
    return 2 if isinstance(error, ConnectionRefusedError) else int(isinstance(error, TimeoutError))


async def _race(
    candidates: Sequence[_Candidate], failures: list[OSError]
) -> tuple[socket.socket, Address]:
    calls: set[asyncio.Task[tuple[socket.socket, Address]]] = set()
    waiting = list(candidates)
    try:
        while waiting or calls:
            if waiting:
                calls.add(asyncio.create_task(_call(waiting.pop(0))))
            done, calls = await asyncio.wait(
                calls,
                timeout=LEAD_S if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for call in done:
                failed = call.exception()
                if failed is None:
                    calls |= done - {call}
                    return call.result()
                failures.append(failed if isinstance(failed, OSError) else OSError(str(failed)))
    finally:
        await _hang_up(calls)
    raise failures[-1]


async def _hang_up(calls: set[asyncio.Task[tuple[socket.socket, Address]]]) -> None:
    for call in calls:
        call.cancel()
    for called in await asyncio.gather(*calls, return_exceptions=True):
        if not isinstance(called, BaseException):
            called[0].close()


async def _call(candidate: _Candidate) -> tuple[socket.socket, Address]:
    address, family, place = candidate
    connected = socket.socket(family, socket.SOCK_STREAM)
    try:
        connected.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connected, place)
    except BaseException:
        connected.close()
        raise
    return connected, address


async def _looked_up(addresses: Sequence[Address]) -> list[_Candidate]:
    loop = asyncio.get_running_loop()
    candidates: list[_Candidate] = []
    error: OSError | None = None
    for address in addresses:
        try:
            found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except OSError as failed:
            error = OSError(failed.errno, f"the name {address.host} is not known")
            continue
        candidates += [(address, family, place) for family, _, _, _, place in found]
    if not candidates:
        raise error or OSError(errno.EADDRNOTAVAIL, "there is no address to dial")
    return candidates


def listening_sockets(hosts: Sequence[str], port: int) -> list[socket.socket]:
    """Return one listening socket for each host, all on one port; 0 takes any that is free on all
    of them. A family that this machine lacks is left out; raise ``OSError`` for a port that is
    taken or not allowed."""
    tries = 1 if port else ANY_PORT_TRIES
    while True:
        tries -= 1
        try:
            return _on_one_port(hosts, port)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            if error.errno == errno.EADDRINUSE and tries:
                continue  # what the first host had free another one has not
            raise OSError(error.errno, _taken(port)) from error


def _taken(port: int) -> str:
    if port:
        return f"Port {port} is used by another program, or reserved; choose another port."
    return "No port is free on all addresses of this machine; choose one, or end what holds them."


def _on_one_port(hosts: Sequence[str], port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for host in hosts:
            opened = _listening(host, sockets[0].getsockname()[1] if sockets else port)
            if opened is not None:
                sockets.append(opened)
    except OSError:
        for opened in sockets:
            opened.close()
        raise
    if not sockets:
        raise OSError(errno.EADDRNOTAVAIL, f"None of the addresses {list(hosts)} is here.")
    return sockets


def _listening(host: str, port: int) -> socket.socket | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        opened = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        return None
    try:
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if sys.platform == "win32":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        elif os.name == "posix":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.setblocking(False)
        opened.bind((host, port))
        opened.listen(BACKLOG)
    except OSError as error:
        opened.close()
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return None
        raise
    return opened
