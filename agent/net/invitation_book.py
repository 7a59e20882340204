"""What keepers remember of invitations: enough to check one, not to use one.

Only a hash of each secret is kept, so that the book gives nobody a way in. A use is burnt on the
disk before its certificate is issued: a keeper that dies in between has let in nobody, and the
same machine may ask again, because the book knows which key each use was burnt for. Secrets are
compared in constant time and without stopping at the first that fits; guesses are counted per
address (per /64 of IPv6, of which one machine has as many addresses as it likes).

Keepers share the book (``joining``), so that any of them can let in whom another has invited.
Books are joined: who was let in by an invitation is the union, and what one has withdrawn is
withdrawn. A keeper asks the others before it burns a use, so that what they let in counts, and again
before it issues: long enough after the burning that whoever had asked it just before has burnt its
own meanwhile. Where two have burnt the last use, one of the two machines is refused, the same on
both. Only keepers that are cut off from each other cannot know: then each may let in as many as the
invitation has uses, and no more.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.api.errors import MembershipError
from agent.api.wording import moment
from agent.host.private_files import PrivateFolder
from agent.net.identity import read_named
from agent.net.invitation import SECRET_BYTES
from agent.wording.speech import long

BOOK_FILE = "invitations"
ENTRIES_MAX = 200
USES_MAX = 200
USED_MAX = 3 * USES_MAX
"""Keepers that were cut off from each other may have let in more than an invitation had uses."""
VALID_S_DEFAULT = 86_400
VALID_S_MAX = 30 * 86_400
REMEMBERED_S = 30 * 86_400
GUESSES_MAX = 5
GUESSES_WINDOW_S = 60.0
GUESSERS_MAX = 1024
TAG_BYTES = 8
CHALLENGE_BYTES = 16
PROOF_BYTES = 32

Id = Annotated[str, Meta(max_length=64)]


class Entry(Struct, frozen=True):
    """One invitation: who was let in by it, how many more may be, and until when."""

    secret_hash: Annotated[bytes, Meta(min_length=32, max_length=32)]
    uses: Annotated[int, Meta(ge=1, le=USES_MAX)]
    expires_s: int
    used_by: Annotated[tuple[Id, ...], Meta(max_length=USED_MAX)] = ()
    made_s: int = 0
    withdrawn: bool = False
    role: Annotated[str, Meta(max_length=32)] = ""
    """As what it lets in; empty for an operator."""

    @property
    def number(self) -> str:
        """What a person calls the invitation by."""
        return self.secret_hash.hex()[:8]


class _Book(Struct, frozen=True):
    version: int
    entries: Annotated[tuple[Entry, ...], Meta(max_length=ENTRIES_MAX)]


_book = msgspec.json.Decoder(_Book)


class InvitationBook:
    """The invitations of one keeper. Writing ones block for a disk's time; call them one by one."""

    def __init__(self, folder: PrivateFolder, flock_id: str) -> None:
        self._folder = folder
        self._flock_id = flock_id
        self._entries: Sequence[Entry] = read_named(folder, BOOK_FILE, _parse) or ()

    def outstanding(self, now_s: float) -> list[Entry]:
        """Return the invitations that still let somebody in at this time: not expired, used up or
        withdrawn."""
        return [entry for entry in self._entries if _lets_in(entry, now_s)]

    def add(self, uses: int, valid_for_s: float, now_s: float, role: str = "") -> tuple[bytes, int]:
        """Make an invitation; return its secret and when it expires, in seconds since 1970. Its
        hash is on disk before this returns; raise ``MembershipError`` for limits that are out of
        range, 200 that still let somebody in, or a disk that refuses. Of those that do no more,
        the oldest are forgotten where there are too many, and all 30 days after they expired."""
        if not 1 <= uses <= USES_MAX:
            raise MembershipError(f"an invitation has 1 to {USES_MAX} uses, not {uses}")
        if not 0 < valid_for_s <= VALID_S_MAX:
            raise MembershipError(f"an invitation is valid for at most {long(VALID_S_MAX)}")
        kept = [entry for entry in self._entries if entry.expires_s + REMEMBERED_S > now_s]
        if len(self.outstanding(now_s)) >= ENTRIES_MAX:
            raise MembershipError("there are too many open invitations: withdraw some first")
        secret = secrets.token_bytes(SECRET_BYTES)
        expires_s = int(now_s + valid_for_s)
        hashed = secret_hash(self._flock_id, secret)
        made = Entry(hashed, uses, expires_s, made_s=int(now_s), role=role)
        self._keep(_bounded([*kept, made], now_s))
        return secret, expires_s

    def withdraw(self, number: str) -> bool:
        """End an invitation, on disk; return False when there is none of that number or it was
        ended before. Raise ``NotKeptError`` when the disk refuses."""
        return self._end(lambda entry: entry.number == number)

    def end_made_until(self, time_s: float) -> bool:
        """End all invitations made until this moment, on disk, as a keeper that knew them has gone;
        return whether there was one to end. Raise ``NotKeptError`` when the disk refuses."""
        return self._end(lambda entry: entry.made_s <= time_s)

    def _end(self, chosen: Callable[[Entry], bool]) -> bool:
        ended = [
            msgspec.structs.replace(entry, withdrawn=True) if chosen(entry) else entry
            for entry in self._entries
        ]
        if ended == list(self._entries):
            return False
        self._keep(ended)
        return True

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, as other keepers are told them."""
        return tuple(self._entries)

    def join(self, told: Iterable[Entry], now_s: float) -> bool:
        """Take in entries that another keeper knows and save them; tell whether there was news. Of
        an entry known here the nodes let in are added and the narrower limits count; beyond 200 the
        oldest are forgotten, first of those that let nobody in any more. Raise ``NotKeptError``
        when the disk refuses, with nothing taken in."""
        known = {entry.secret_hash: entry for entry in self._entries}
        for entry in told:
            mine = known.get(entry.secret_hash)
            known[entry.secret_hash] = (
                _credible(entry, now_s) if mine is None else _joined(mine, entry)
            )
        entries = sorted(known.values(), key=_age)
        if entries == sorted(self._entries, key=_age):
            return False
        self._keep(_bounded(entries, now_s))
        return True

    def is_one_too_many(self, secret: bytes, node_id: str) -> bool:
        """Tell whether this node's use of the invitation does not count: the invitation is unknown
        or withdrawn, the node has burnt none, or more are burnt than it has and this is one of
        those that all keepers drop."""
        entry = self.find(secret)
        if entry is None or entry.withdrawn:
            return True
        return node_id not in sorted(entry.used_by)[: entry.uses]

    def proof(self, tag: bytes, challenge: bytes, certificate: bytes) -> bytes:
        """Return the proof, for this challenge and whoever shows this certificate, that this keeper
        knows an invitation of this tag; empty when it knows none or it was withdrawn. One that has
        expired is proven too."""
        for entry in self._entries:
            if hmac.compare_digest(tag_of(entry.secret_hash), tag) and not entry.withdrawn:
                return proof_of(entry.secret_hash, challenge, certificate)
        return b""

    def redeem(self, secret: bytes, node_id: str, now_s: float) -> str | None:
        """Burn a use of the invitation for this node, on disk; return None when done (or done
        before), else a sentence that says why not. Raise ``NotKeptError`` when the disk refuses:
        none is burnt then."""
        entry = self.find(secret)
        if entry is None or entry.withdrawn:
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
        """Return the entry of a secret, also when it has ended, or None for one that is not known,
        in a time that tells nothing about the others."""
        hashed = secret_hash(self._flock_id, secret)
        found = None
        for entry in self._entries:
            if hmac.compare_digest(entry.secret_hash, hashed):
                found = entry
        return found

    def _keep(self, entries: Sequence[Entry]) -> None:
        """First on the disk, then here: what could not be written did not happen."""
        self._folder.write(BOOK_FILE, msgspec.json.encode(_Book(1, tuple(entries))))
        self._entries = tuple(entries)


def secret_hash(flock_id: str, secret: bytes) -> bytes:
    """Return the hash of a secret, which is what keepers keep; who was invited can work it out."""
    return hashlib.sha256(b"wingbeat invitation " + flock_id.encode() + secret).digest()


def tag_of(hashed: bytes) -> bytes:
    """Return the tag by which an invitation is asked for, before its secret is told."""
    return hashlib.sha256(b"wingbeat invitation tag " + hashed).digest()[:TAG_BYTES]


def proof_of(hashed: bytes, challenge: bytes, certificate: bytes) -> bytes:
    """Return a proof, for this challenge, that whoever shows this certificate knows the hash of an
    invitation's secret: it is a keeper, or was one."""
    content = challenge + hashlib.sha256(certificate).digest()
    return hmac.new(hashed, b"wingbeat keeper " + content, hashlib.sha256).digest()


def _lets_in(entry: Entry, now_s: float) -> bool:
    return entry.expires_s > now_s and len(entry.used_by) < entry.uses and not entry.withdrawn


def _bounded(entries: Iterable[Entry], now_s: float) -> list[Entry]:
    """As many as may be kept: those that still let somebody in before others, then the newest."""
    ranked = sorted(entries, key=lambda entry: (_lets_in(entry, now_s), _age(entry)))
    return sorted(ranked[-ENTRIES_MAX:], key=_age)


def _age(entry: Entry) -> tuple[int, bytes]:
    return entry.made_s, entry.secret_hash


def _joined(mine: Entry, theirs: Entry) -> Entry:
    used_by = tuple(sorted({*mine.used_by, *theirs.used_by}))[:USED_MAX]
    if set(used_by) == set(mine.used_by):
        used_by = mine.used_by  # in another order it would pass for news
    return msgspec.structs.replace(
        mine,
        uses=min(mine.uses, theirs.uses),
        expires_s=min(mine.expires_s, theirs.expires_s),
        used_by=used_by,
        withdrawn=mine.withdrawn or theirs.withdrawn,
        role=mine.role or theirs.role,
    )


def _credible(told: Entry, now_s: float) -> Entry:
    """Made by now and valid no longer than any, whatever another keeper says."""
    return msgspec.structs.replace(
        told,
        made_s=min(told.made_s, int(now_s)),
        expires_s=min(told.expires_s, int(now_s + VALID_S_MAX)),
    )


class GuessLimit:
    """How many wrong secrets an address may try. Bounded: the longest silent are forgotten."""

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def blocked(self, host: str, now_s: float) -> bool:
        """Tell whether five or more wrong secrets came from this host, or its network, in the last
        minute."""
        return len(self._recent(host, now_s)) >= GUESSES_MAX

    def note_wrong(self, host: str, now_s: float) -> None:
        """Remember a wrong secret from this host, which counts towards its limit of guesses for a
        minute; of too many hosts, the longest silent is forgotten."""
        recent = self._recent(host, now_s)
        self._wrong[origin_of(host)] = [*recent, now_s][-GUESSES_MAX:]
        self._wrong.move_to_end(origin_of(host))
        while len(self._wrong) > GUESSERS_MAX:
            self._wrong.popitem(last=False)

    def _recent(self, host: str, now_s: float) -> list[float]:
        times = self._wrong.get(origin_of(host), [])
        return [time_s for time_s in times if now_s - time_s < GUESSES_WINDOW_S]


@lru_cache(maxsize=1024)
def origin_of(host: str) -> str:
    """Return who counts as one guesser: an IPv4 address itself, of IPv6 its network of 64 bits,
    because one machine has many; text that is no address as it is."""
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
        book = _book.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MembershipError("cannot be read (remove it, all invitations end)") from error
    return book.entries
