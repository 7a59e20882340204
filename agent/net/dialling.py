"""Whom to call, and when to try again.

Both of a pair could call, and one suffices: the lower node id calls. An address typed by hand
says nothing of who is there, so it is called whoever that is; and a higher node calls after all
when the lower has not come for a while, because firewalls are often open in one direction only.

A failed call is repeated after 50 ms, then ever later up to 2 s, by chance a little earlier, so
that a flock that lost its switch does not call in step. What repeating does not help, such as
another flock, is tried less often. News of an address makes the next call at once.

Anybody on the network can tell of addresses, in anybody's name, and take them back. So where a
member was, by a link or by the word of others, is never given up for what multicast tells: it stays
among those that are called, and whoever does not announce itself any more is called rarely. Other
addresses are tried in turn, those that failed behind the rest, so that a true one has its turn however
many are told of; and who was only heard of makes room for others.

**The first of several addresses that answers, and the sockets that others dial.**

A machine has addresses of two families and on networks that are not ours to reach, and a dead
one may swallow a call for minutes. So addresses are called one after another with a short lead,
and the first that answers wins.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from agent.net.addresses import Address
from agent.net.link_refusals import LASTING, Cause, LinkRefusal
from agent.protocol.records import NodeId

BACK_OFF_FIRST_S = 0.05
BACK_OFF_MAX_S = 2.0
BACK_OFF_LASTING_FIRST_S = 1.0
BACK_OFF_LASTING_MAX_S = 15.0
UNANNOUNCED_S = 60.0
"""A member that does not announce itself any more, as far as multicast can be believed."""
LOWER_COMES_WITHIN_S = 3.0
SHORT_LIVED_S = 5.0
"""A link that ends sooner counts as a failed call."""
TARGETS_MAX = 512
ADDRESSES_MAX = 64
"""Of one peer; so many have to be invented before a true one has no room."""
AT_ONCE_MAX = 8
"""Of these so many are called together, or the last would not have its turn in time."""
PROVEN_MAX = 4

log = logging.getLogger(__name__)

Call = Callable[[Sequence[Address], NodeId | None], Awaitable[tuple[NodeId, LinkRefusal | None]]]
"""One attempt: whom to expect; who answered, and how it ended, ``None`` for well."""
CONNECT_S = 3.0
LEAD_S = 0.2
BACKLOG = 128
ANY_PORT_TRIES = 20
NEXT_PORTS = 32
"""So many are tried from the one that is set; more agents than that are on no machine."""
PORT_MAX = 65_535

_Candidate = tuple[Address, int, Any]


@dataclass(slots=True, eq=False)
class Target:
    """Somebody to call: a peer, or whoever is at a typed address."""

    addresses: list[Address]
    peer: NodeId | None
    """Who is there, or was when somebody answered."""
    typed: bool
    """The address came from a person, without a name."""
    failures: int = 0
    lasting: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    proven: list[Address] = field(default_factory=list)
    """Of the addresses those that a link or members have shown, the newest first."""
    failed: dict[Address, None] = field(default_factory=dict)
    """Where a call has failed since the last link, the longest ago first."""
    unannounced: bool = False


class Dialler:
    """Calls whoever is known and not linked."""

    def __init__(
        self, me: NodeId, call: Call, linked: Callable[[NodeId], bool], random: Random
    ) -> None:
        self._me, self._call, self._linked, self._random = me, call, linked, random
        self._targets: dict[str, Target] = {}
        self._stopped = False

    # -- what is known ---------------------------------------------------------------------

    def found(
        self, peer: NodeId | None, addresses: Sequence[Address], *, proven: bool = False
    ) -> None:
        """Learn that these addresses lead to the peer, or with None each to whoever is there, and
        call those who are not linked: where an address is news at once, or after three seconds for
        a peer with a lower id. Does not wait for the calls. ``proven``: a link or a member has shown
        it, so that nothing that strangers tell takes its place. This node's own, those that find no
        room, which is logged, and all after ``stop`` are ignored."""
        if peer == self._me or self._stopped:
            return
        if peer is not None:
            self._learn(peer, peer, addresses, proven=proven)
            return
        for address in addresses:
            self._learn(str(address), None, [address])

    def proven(self, peer: NodeId, address: Address) -> None:
        """Note that the peer was linked there, where it is known here by other addresses."""
        if peer in self._targets:
            self.found(peer, [address], proven=True)

    def unannounced(self, peer: NodeId) -> None:
        """Forget how to reach a peer that took its multicast announcement back and is not linked,
        unless a link or member had shown its address: such a peer is still called, but rarely."""
        target = self._targets.get(peer)
        if target is None or not target.proven:
            self.gone(peer)
            return
        target.unannounced = True
        if not self._linked(peer):
            target.addresses = list(target.proven)

    def gone(self, peer: NodeId) -> None:
        """Forget where the peer may be and call it no more, unless it is linked; then nothing
        changes."""
        if not self._linked(peer):
            self._forget(peer)

    def withdrawn(self, address: Address) -> None:
        """Forget an address that was typed by hand."""
        self._forget(str(address))

    def addresses_of(self, peer: NodeId) -> list[Address]:
        """Return where the peer may be, the likeliest first, some at most; empty when nothing is
        known."""
        known = [target for target in self._targets.values() if target.peer == peer]
        return [address for target in known for address in target.addresses[:AT_ONCE_MAX]]

    def retry(self) -> None:
        """Have everybody who is not linked called again at once, peers with a lower id after three
        seconds, as the network has changed; does not wait for the calls."""
        for target in self._targets.values():
            self._renew(target)

    def unlinked(self, peer: NodeId, lived_s: float, *, lasting: bool = False) -> None:
        """Note that the link with a peer is gone, so that it is called again: later and later after
        links that lived briefly, and still later where the reason is ``lasting``. A peer with no
        known address is not called."""
        for target in self._targets.values():
            if target.peer == peer:
                target.lasting = lasting
                target.failures = target.failures + 1 if lived_s < SHORT_LIVED_S else 0
                target.news.set()

    async def stop(self) -> None:
        """Cancel all calls, wait until they have ended, forget all addresses, and call nobody any
        more."""
        self._stopped = True
        tasks = [target.task for target in self._targets.values() if target.task is not None]
        self._targets.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _learn(
        self,
        key: str,
        peer: NodeId | None,
        addresses: Sequence[Address],
        *,
        proven: bool = False,
    ) -> None:
        target = self._targets.get(key)
        if target is None:
            if len(self._targets) >= TARGETS_MAX and not self._made_room():
                log.warning("more than %d addresses are known; %s is left out", TARGETS_MAX, key)
                return
            target = Target([], peer, typed=peer is None)
            self._targets[key] = target
            target.task = asyncio.create_task(self._pursue(target))
        if proven:
            target.proven = list(dict.fromkeys([*addresses, *target.proven]))[:PROVEN_MAX]
        known = _in_order(target, addresses)
        if set(known) != set(target.addresses) or self._wanted(target):
            target.addresses = known
            self._renew(target)

    def _made_room(self) -> bool:
        """Forget who was heard of longest ago, and only heard of."""
        for key, target in self._targets.items():
            linked = target.peer is not None and self._linked(target.peer)
            if not (target.typed or target.proven or linked):
                self._forget(key)
                return True
        return False

    def _renew(self, target: Target) -> None:
        target.failures, target.lasting, target.unannounced = 0, False, False
        if target.typed and target.peer == self._me:
            target.peer = None
        target.news.set()

    def _forget(self, key: str) -> None:
        target = self._targets.pop(key, None)
        if target is not None and target.task is not None:
            target.task.cancel()

    # -- calling ---------------------------------------------------------------------------

    async def _pursue(self, target: Target) -> None:
        while True:
            if not self._wanted(target):
                await target.news.wait()
                target.news.clear()
            elif not await self._heard_news(target, self._delay_s(target)):
                await self._attempt(target)

    def _wanted(self, target: Target) -> bool:
        if target.peer == self._me or not target.addresses:
            return False
        return target.peer is None or not self._linked(target.peer)

    def _delay_s(self, target: Target) -> float:
        if target.unannounced:
            return UNANNOUNCED_S * self._random.uniform(0.5, 1.0)
        if target.failures:
            first_s, longest_s = BACK_OFF_FIRST_S, BACK_OFF_MAX_S
            if target.lasting:
                first_s, longest_s = BACK_OFF_LASTING_FIRST_S, BACK_OFF_LASTING_MAX_S
            doubled_s: float = first_s * 2 ** min(target.failures - 1, 16)
            return min(longest_s, doubled_s) * self._random.uniform(0.5, 1.0)
        if target.typed or target.peer is None or self._me < target.peer:
            return 0.0
        return LOWER_COMES_WITHIN_S

    async def _heard_news(self, target: Target, within_s: float) -> bool:
        if not within_s:
            target.news.clear()
            return False
        try:
            async with asyncio.timeout(within_s):
                await target.news.wait()
        except TimeoutError:
            return False
        target.news.clear()
        return True

    async def _attempt(self, target: Target) -> None:
        expected = None if target.typed else target.peer
        called = tuple(target.addresses[:AT_ONCE_MAX])
        peer, refusal = await self._call(called, expected)
        own_copy = peer == self._me and refusal is not None and refusal.cause is Cause.COPIED
        if target.typed and peer and not own_copy:
            target.peer = peer
        target.lasting = refusal is not None and refusal.cause in LASTING
        if refusal is None:
            target.failed.clear()
            return
        target.failures += 1
        if refusal.cause is not Cause.DUPLICATE:
            _note_failed(target, called, refusal)
        target.addresses = _in_order(target, ())


def _note_failed(target: Target, called: Sequence[Address], refusal: LinkRefusal) -> None:
    """The one address at which somebody answered, or all that were called."""
    answered = [each for each in called if str(each) == refusal.address]
    for address in called if refusal.cause is Cause.UNREACHABLE or not answered else answered:
        target.failed.pop(address, None)
        target.failed[address] = None
    for address in [each for each in target.failed if each not in target.addresses]:
        del target.failed[address]


def _in_order(target: Target, addresses: Sequence[Address]) -> list[Address]:
    """What is known of a target with these addresses, the next to be called first: where it was
    last, what has not been tried, and what has failed, the longest ago first."""
    proven, turn = target.proven, {each: number for number, each in enumerate(target.failed, 1)}
    known = list(dict.fromkeys([*proven[:1], *target.addresses, *addresses, *proven]))
    known.sort(key=lambda each: turn.get(each, 0))
    spare = [each for each in known if each not in proven][: ADDRESSES_MAX - len(proven)]
    return [each for each in known if each in proven or each in spare]


async def connect(addresses: Sequence[Address]) -> tuple[socket.socket, Address]:
    """Connect to the first of these addresses that answers, within three seconds in all; return the
    socket, which the caller closes, and the address that answered. If none does, raise of all
    failures the ``OSError`` that says most of who is there."""
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
    """Return listening sockets for these hosts, all on one port; 0 takes any that is free on all of
    them. A host or a family that this machine lacks is left out. Raise ``OSError`` for a port that
    is taken or not allowed, or when none of the hosts is here; then none stays open."""
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


def listening_sockets_near(hosts: Sequence[str], port: int) -> list[socket.socket]:
    """Return listening sockets for these hosts on this port; where it is used or reserved, on the
    next free one, which is logged, so that a second agent has the same at most of its starts, else
    on any; for 0 on any. Raise ``OSError``, with none open, when no port is free or no host is
    here."""
    behind = range(port, min(port + NEXT_PORTS, PORT_MAX + 1)) if port else ()
    for each in behind:
        try:
            opened = listening_sockets(hosts, each)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
        else:
            if each != port:
                log.warning("port %d is used by another program: listening on %d", port, each)
            return opened
    return listening_sockets(hosts, 0)


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
