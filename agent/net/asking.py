"""Asking a flock nearby to let this machine in, from the side of the machine.

What multicast tells of a flock nobody has vouched for, and nothing here trusts it: whoever answers
may be anybody with a name that looks right. What makes it the right flock is the comparison code
(``join_requests``), which a person sees here and at the keeper. The keeper is known by its certificate
from the first word to the last, and what it issues counts only once a person has said here that the
codes are the same; the caller sees to that.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.api.errors import MembershipError
from agent.host.key_store import KeyStore
from agent.host.private_files import FileGuard
from agent.net import certificates, identity
from agent.net.addresses import Address
from agent.net.authority import Flock
from agent.net.certificates import PrivateKey, clean_name
from agent.net.enrolment import clock_fault
from agent.net.enrolment_messages import (
    Answer,
    AskAuthority,
    AskOutcome,
    AskToJoin,
    AuthorityIs,
    Collect,
    Question,
    Refused,
    RequestBegun,
    RequestIs,
    RequestShown,
    ShowNonce,
    Welcome,
    WithdrawRequest,
)
from agent.net.join_requests import NONCE_BYTES, code_of, commitment_of, keeper_key_of
from agent.net.joining import (
    NotThereError,
    certificate_of,
    exchange,
    same_as,
    settle,
)
from agent.net.membership import Membership, refuse_second_flock
from agent.net.roster import Clock
from agent.net.tls import JOIN, TlsObject, client_context, unverified_context

PROBES_AT_ONCE = 8
PROBE_S_MAX = 4.0
FINDING_S_MAX = 12.0
"""Anybody can tell of thousands of addresses where nobody answers; a person waits meanwhile."""
COLLECT_AGAIN_S, COLLECT_AGAIN_MAX = 1.0, 4


@dataclass(frozen=True, slots=True)
class Door:
    """A keeper that answers at an address, and the flock that it keeps."""

    address: Address
    flock: Flock
    certificate: bytes
    time_s: int
    name: str = ""

    @property
    def keeper(self) -> str:
        """Return what the keeper's machine calls itself, else how its certificate names it."""
        if self.name:
            return certificates.clean_name(self.name)
        return certificates.member_of(self.certificate).host_name


class Request:
    """One request of this machine: begun, followed, and in the end collected or withdrawn."""

    def __init__(
        self, folder: identity.IdentityFolder, key: PrivateKey, door: Door, number: bytes, code: str
    ) -> None:
        self._folder, self._key, self._number = folder, key, number
        self._context = client_context(door.flock, None, JOIN)
        self.door, self.code = door, code

    async def outcome(self) -> RequestIs:
        """Ask the keeper what has become of the request and return it; raise ``NotThereError`` when
        the keeper is not reached just now, ``MembershipError`` when it does not know the request
        any more or its answer makes no sense."""
        return _state_in(await self._ask(AskOutcome(self._number)))

    async def withdraw(self) -> None:
        """Tell the keeper that this machine does not want to join any more, and wait for its
        answer; raise ``NotThereError`` when it is not reached, ``MembershipError`` when it does not
        know the request."""
        await self._ask(WithdrawRequest(self._number))

    async def collect(self, clock: Clock = time.time) -> Membership:
        """Fetch the certificate of a request that was let in, asking up to five times while the
        keeper is not reached; save the membership made of it and return it. Raise
        ``MembershipError`` when this machine has a flock, was not let in, the keeper stays away or
        the disk refuses."""
        refuse_second_flock(self._folder, self.door.flock.flock_id, clock())
        answer = await self._certificate()
        if not isinstance(answer, Welcome):
            raise _senseless()
        return settle(self._folder, self._key, self.door.flock, answer, clock)

    async def _certificate(self) -> Answer:
        """An answer that is lost on its way would leave a member that does not know of it."""
        for _ in range(COLLECT_AGAIN_MAX):
            try:
                return await self._ask(Collect(self._number))
            except NotThereError:
                await asyncio.sleep(COLLECT_AGAIN_S)
        return await self._ask(Collect(self._number))

    async def _ask(self, question: Question) -> Answer:
        return await _asked(self.door, self._context, question)


async def begin_request(
    path: Path,
    door: Door,
    host_name: str,
    user: str,
    clock: Clock = time.time,
    guard: FileGuard | None = None,
    store: KeyStore | None = None,
) -> Request:
    """Ask the keeper behind a door to let this machine in, with a key that is made and saved at
    ``path`` if there is none; its people see the request, with ``user`` unless that is empty, when
    this returns. Raise ``MembershipError`` when this machine has a flock, its clock is wrong, the disk
    refuses, or the keeper declines or is not reached; the key stays then for another try. The
    authority's key goes into the ``store`` if it comes here, a file for None."""
    folder = identity.IdentityFolder(path, guard, store)
    refuse_second_flock(folder, door.flock.flock_id, clock())
    if fault := clock_fault(clock() - door.time_s):
        raise fault
    await asyncio.to_thread(folder.prepare)
    key = identity.own_key(folder)
    sent, user = certificates.request_certificate(key, host_name), clean_name(user) if user else ""
    context = client_context(door.flock, None, JOIN)
    begun = await _asked(door, context, AskToJoin(sent, user, int(clock())))
    if not isinstance(begun, RequestBegun):
        raise _senseless()
    nonces = await _exchanged(door, context, begun)
    keeper_key = keeper_key_of(door.certificate)
    code = code_of(door.flock.flock_id, keeper_key, sent, user, nonces)
    return Request(folder, key, door, begun.number, code)


async def _exchanged(
    door: Door, context: ssl.SSLContext, begun: RequestBegun
) -> tuple[bytes, bytes]:
    """The parts of the code: this machine's, and the one that the keeper was bound to before."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    shown = await _asked(door, context, ShowNonce(begun.number, nonce))
    if not isinstance(shown, RequestShown):
        raise _senseless()
    if commitment_of(shown.nonce) != begun.commitment:
        raise MembershipError(
            "what answers there tries to choose the code: it is no keeper of Wingbeat; look which "
            "machine that is, or join with an invitation"
        )
    return nonce, shown.nonce


async def find_door(addresses: Iterable[Address], flock_id: str = "") -> Door:
    """Ask at these addresses, some at once, and return the door of the first in their order where a
    keeper answers, of this flock, or of any where ``flock_id`` is empty. Raise ``NotThereError``
    with what was found at each when there is none, or none in about twelve seconds."""
    wanted, reports = list(dict.fromkeys(addresses)), list[str]()
    end_s = time.monotonic() + FINDING_S_MAX
    for start in range(0, len(wanted), PROBES_AT_ONCE):
        some = wanted[start : start + PROBES_AT_ONCE]
        if time.monotonic() > end_s:
            reports.append(f"{len(wanted) - start} more were not tried, it would take too long")
            break
        for address, found in zip(some, await _knock(some), strict=True):
            if isinstance(found, MembershipError):
                reports.append(f"{address}: {found}")
            elif flock_id in ("", found.flock.flock_id):
                return found
            else:
                reports.append(f"{address}: it is of the flock {found.flock.name} now")
    raise NotThereError("; ".join(reports) or "no address of it is known")


async def _knock(addresses: Sequence[Address]) -> list[Door | MembershipError]:
    """At all at once, because most that fail do so by keeping silent."""
    return list(await asyncio.gather(*map(_door_at, addresses)))


async def _door_at(address: Address) -> Door | MembershipError:
    """Whoever answers holds the key of the certificate that it shows, or there is no connection;
    that both are of the flock is checked when it is asked something."""
    shown: list[TlsObject | None] = []
    try:
        async with asyncio.timeout(PROBE_S_MAX):
            answer = await exchange(address, unverified_context(), AskAuthority(), shown.append)
        if not isinstance(answer, AuthorityIs):
            return NotThereError("what listens there lets nobody in")
        certificate = certificate_of(shown[0])
        flock = Flock.read(answer.authority)
        return Door(address, flock, certificate, answer.time_s, answer.name)
    except TimeoutError:
        return NotThereError("it does not answer in time")
    except MembershipError as error:
        return NotThereError(str(error))


async def _asked(door: Door, context: ssl.SSLContext, question: Question) -> Answer:
    answer = await exchange(door.address, context, question, same_as(door.certificate))
    if isinstance(answer, Refused):
        raise MembershipError(_visible(answer.reason))
    return answer


def _visible(reason: str) -> str:
    """It is a stranger's, and goes to terminals and logs."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in reason)


def _state_in(answer: Answer) -> RequestIs:
    if not isinstance(answer, RequestIs):
        raise _senseless()
    return answer


def _senseless() -> MembershipError:
    return MembershipError("the keeper's answer makes no sense: update both machines")
