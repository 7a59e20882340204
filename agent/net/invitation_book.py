"""What an inviting keeper remembers of its invitations: enough to check one, not to use one.

Only a hash of each secret is kept, so that the book gives nobody a way in. A use is burnt on the
disk before its certificate is issued: a keeper that dies in between has let in nobody, and the
same machine may ask again, because the book knows which key each use was burnt for. Secrets are
compared in constant time and without stopping at the first that fits; guesses are counted per
address (per /64 of IPv6, of which one machine has as many addresses as it likes).

The book is this keeper's alone. Were it shared, two keepers cut off from each other could let in
two machines with a one-time invitation.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.net.identity import read_named
from agent.net.invitation import SECRET_BYTES
from agent.net.private_files import PrivateFolder
from agent.net.refusals import MembershipError, duration, moment

BOOK_FILE = "invitations"
ENTRIES_MAX = 200
USES_MAX = 200
VALID_S_DEFAULT = 86_400
VALID_S_MAX = 30 * 86_400
REMEMBERED_S = 30 * 86_400
GUESSES_MAX = 5
GUESSES_WINDOW_S = 60.0
GUESSERS_MAX = 1024

Id = Annotated[str, Meta(max_length=64)]


class Entry(Struct, frozen=True):
    """One invitation: who was let in by it, how many more may be, and until when."""

    secret_hash: Annotated[bytes, Meta(min_length=32, max_length=32)]
    uses: Annotated[int, Meta(ge=1, le=USES_MAX)]
    expires_s: int
    used_by: Annotated[tuple[Id, ...], Meta(max_length=USES_MAX)] = ()

    @property
    def number(self) -> str:
        """What a person calls it by."""
        return self.secret_hash.hex()[:8]


class _Book(Struct, frozen=True):
    version: int
    entries: Annotated[tuple[Entry, ...], Meta(max_length=ENTRIES_MAX)]


class InvitationBook:
    """The invitations of one keeper. Writing ones block for a disk's time; call them one by one."""

    def __init__(self, folder: PrivateFolder, flock_id: str) -> None:
        self._folder = folder
        self._flock_id = flock_id
        self._entries: Sequence[Entry] = read_named(folder, BOOK_FILE, _parse) or ()

    def outstanding(self, now_s: float) -> list[Entry]:
        """The invitations that still let somebody in."""
        return [
            entry
            for entry in self._entries
            if entry.expires_s > now_s and len(entry.used_by) < entry.uses
        ]

    def add(self, uses: int, valid_for_s: float, now_s: float) -> tuple[bytes, int]:
        """A new secret and when it expires; on the disk as a hash before this returns."""
        if not 1 <= uses <= USES_MAX:
            raise MembershipError(f"an invitation has 1 to {USES_MAX} uses, not {uses}")
        if not 0 < valid_for_s <= VALID_S_MAX:
            raise MembershipError(f"an invitation is valid for at most {duration(VALID_S_MAX)}")
        kept = [entry for entry in self._entries if entry.expires_s + REMEMBERED_S > now_s]
        if len(kept) >= ENTRIES_MAX:
            raise MembershipError("there are too many open invitations: withdraw some first")
        secret = secrets.token_bytes(SECRET_BYTES)
        expires_s = int(now_s + valid_for_s)
        self._keep([*kept, Entry(self._hashed(secret), uses, expires_s)])
        return secret, expires_s

    def withdraw(self, number: str) -> bool:
        """Ends an invitation; False when there is none of that number."""
        kept = [entry for entry in self._entries if entry.number != number]
        found = len(kept) < len(self._entries)
        if found:
            self._keep(kept)
        return found

    def redeem(self, secret: bytes, node_id: str, now_s: float) -> str | None:
        """Burns a use for this node; a sentence when there is none to burn."""
        entry = self.find(secret)
        if entry is None:
            return "this keeper does not know the invitation, or withdrew it: ask for a new one"
        if entry.expires_s <= now_s:
            return f"the invitation expired on {moment(entry.expires_s)}: ask for a new one"
        if node_id in entry.used_by:
            return None
        if len(entry.used_by) >= entry.uses:
            return "the invitation is used up: ask for a new one"
        burnt = msgspec.structs.replace(entry, used_by=(*entry.used_by, node_id))
        self._keep([burnt if one is entry else one for one in self._entries])
        return None

    def find(self, secret: bytes) -> Entry | None:
        """The entry of a secret, in a time that tells nothing about the others."""
        hashed = self._hashed(secret)
        found = None
        for entry in self._entries:
            if hmac.compare_digest(entry.secret_hash, hashed):
                found = entry
        return found

    def _hashed(self, secret: bytes) -> bytes:
        return hashlib.sha256(b"wingbeat invitation " + self._flock_id.encode() + secret).digest()

    def _keep(self, entries: Sequence[Entry]) -> None:
        """First on the disk, then here: what could not be written did not happen."""
        self._folder.write(BOOK_FILE, msgspec.json.encode(_Book(1, tuple(entries))))
        self._entries = tuple(entries)


class GuessLimit:
    """How many wrong secrets an address may try. Bounded: the longest silent are forgotten."""

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def blocked(self, host: str, now_s: float) -> bool:
        """Whether an address has guessed too often of late."""
        return len(self._recent(host, now_s)) >= GUESSES_MAX

    def wrong(self, host: str, now_s: float) -> None:
        """Counts a wrong secret."""
        recent = self._recent(host, now_s)
        self._wrong[_origin(host)] = [*recent, now_s][-GUESSES_MAX:]
        self._wrong.move_to_end(_origin(host))
        while len(self._wrong) > GUESSERS_MAX:
            self._wrong.popitem(last=False)

    def _recent(self, host: str, now_s: float) -> list[float]:
        times = self._wrong.get(_origin(host), [])
        return [time_s for time_s in times if now_s - time_s < GUESSES_WINDOW_S]


def _origin(host: str) -> str:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, 64), strict=False))


def _parse(data: bytes) -> tuple[Entry, ...]:
    try:
        book = msgspec.json.decode(data, type=_Book)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MembershipError("cannot be read (remove it, all invitations end)") from error
    return book.entries
