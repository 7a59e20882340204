"""An invitation: all that a machine needs to join, in a text that fits a chat message.

It says whom to trust (the hash of the flock's authority), whom to ask (the inviting keeper, by
the hash of its key, and where it is), and proves that the bearer was invited (a secret). The
keeper is named because the secret is told to it: a node that was expelled still shows the flock's
certificate to one who cannot know yet, and must not be the one that hears the secret.

The text is ``wingbeat-`` and base32 without regard to case, so that it survives mail programs,
phones and being read aloud; spaces and line breaks inside do no harm. Its last four bytes are a
checksum, so that a typing error is found before anything is asked, and its end within a message.
With one address it has 93 characters; addresses are taken in the order given for as long as the
text stays within 150. A file holds the same text.

=========  ======  ===============================================================
field      bytes   meaning
=========  ======  ===============================================================
version    1       1
flock      16      hash of the authority's key
keeper     8       start of the hash of the keeper's key
secret     12      known to the bearer only; the keeper keeps a hash
expiry     4       seconds since 1970
port       2       of all addresses
addresses  5 or    0 and IPv4, 1 and IPv6, or 128 + length and a host name
           more
checksum   4       start of a SHA-256 of all before
=========  ======  ===============================================================
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import re
import unicodedata
from collections.abc import Iterable

from msgspec import Struct

from agent.api.errors import InVainError, MembershipError
from agent.net.addresses import Address
from agent.net.certificates import FLOCK_ID_BYTES

PREFIX = "wingbeat-"
TEXT_LENGTH_MAX = 150
KEEPER_BYTES = 8
SECRET_BYTES = 12
CHECKSUM_BYTES = 4
ADDRESSES_MAX = 8

_VERSION = 1
_IPV4, _IPV6, _NAME = 0, 1, 128
_FIXED = 1 + FLOCK_ID_BYTES + KEEPER_BYTES + SECRET_BYTES + 4 + 2
_BYTES_MAX = (TEXT_LENGTH_MAX - len(PREFIX)) * 5 // 8
_SEARCHED_MAX = 100_000
"""Of a message that holds one, in characters."""
_PREFIX = re.compile(r"\s*".join(PREFIX))
_DASH = re.compile("[\u2010-\u2015\u2212]")
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_STRANGE = re.compile(r"[^a-z2-7]")
_HOST_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9_])?")


class Invitation(Struct, frozen=True):
    """What the text of an invitation carries."""

    flock_id: str
    keeper: bytes
    secret: bytes
    expires_s: int
    addresses: tuple[Address, ...]

    @property
    def text(self) -> str:
        """The invitation as it is sent to a person."""
        body = self._head() + b"".join(_packed(address.host) for address in self.addresses)
        encoded = base64.b32encode(body + _checksum(body)).decode("ascii").rstrip("=")
        return PREFIX + encoded.lower()

    @property
    def file(self) -> bytes:
        """The invitation as a file to double-click."""
        return f"Invitation to a Wingbeat flock. Keep it to yourself.\n{self.text}\n".encode()

    def _head(self) -> bytes:
        flock = base64.b32decode(self.flock_id.upper() + "======")
        port = self.addresses[0].port.to_bytes(2, "big")
        expiry = self.expires_s.to_bytes(4, "big")
        return bytes([_VERSION]) + flock + self.keeper + self.secret + expiry + port


def usable_addresses(hosts: Iterable[str], port: int) -> tuple[Address, ...]:
    """Return the addresses of these hosts on this port, in the order given and each once, as far as
    others may reach them and the invitation has room. Left out are link-local IPv6 ones, which mean
    something else on each machine, unspecified and multicast ones and what is no host; loopback
    stays. Raise ``MembershipError`` when none is left or the port is not in 1 to 65535."""
    chosen: list[Address] = []
    room = _BYTES_MAX - _FIXED - CHECKSUM_BYTES
    for host in dict.fromkeys(hosts):
        size = len(_packed(host)) if _reachable(host) else room + 1
        if size <= room and len(chosen) < ADDRESSES_MAX:
            chosen.append(Address(host, port))
            room -= size
    if not chosen or not 0 < port < 65_536:
        raise MembershipError(
            "an invitation needs an address of this machine that others reach: "
            "connect it to the network or give an address"
        )
    return tuple(chosen)


def parse_invitation(text: str) -> Invitation:
    """Return the first invitation in a text; raise ``InVainError``, with a sentence for each
    way to be wrong; one that has expired is not wrong. What people copy with it does no harm, nor
    what mail and chat programs put around and into it: words before and after, quotation marks of
    any language, line breaks, invisible letters."""
    visible = _DASH.sub("-", "".join(filter(_visible, text[:_SEARCHED_MAX]))).lower()
    body, letters = None, None
    for place in _PREFIX.finditer(visible):
        words = [_AROUND.sub("", word) for word in visible[place.end() :].split()]
        body, letters = _first_complete(words), "".join(words)
        if body is not None:
            break
    if body is None:
        raise _incomplete(letters)
    if body[0] != _VERSION:
        raise InVainError("this invitation is of a later version: update Wingbeat here")
    return _unpacked(body)


def _visible(letter: str) -> bool:
    """Whether it is more than a hint where a line may be broken, and the like."""
    return letter.isspace() or unicodedata.category(letter) not in ("Cf", "Cc")


def _first_complete(words: list[str]) -> bytes | None:
    """Of the words together, as few as are an invitation: what follows belongs to the message."""
    letters = ""
    for word in words:
        letters += word
        if len(letters) > TEXT_LENGTH_MAX or _STRANGE.search(letters):
            return None
        body = _verified(letters)
        if body is not None:
            return body
    return None


def _incomplete(letters: str | None) -> InVainError:
    """What to say of a text that is none; only of its beginning, for a message may follow it."""
    if letters is None:
        return InVainError(f'this is no invitation: it begins with "{PREFIX}"; copy all of it')
    strange = _STRANGE.search(letters[: TEXT_LENGTH_MAX - len(PREFIX)])
    if strange:
        return InVainError(
            f'the character "{strange.group()}" does not occur in invitations: compare with the one '
            f"you were sent (it has the letters a to z and the digits 2 to 7)"
        )
    if len(letters) > TEXT_LENGTH_MAX:
        return InVainError("this is longer than an invitation: copy only the invitation")
    return InVainError(
        "this invitation has a typing error or is not complete: copy it again from its first "
        "to its last character"
    )


def _verified(letters: str) -> bytes | None:
    """The bytes before the checksum, if it is theirs and the text is written as we write it."""
    padded = letters.upper() + "=" * (-len(letters) % 8)
    try:
        data = base64.b32decode(padded)
    except ValueError:
        return None
    body, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    canonical = base64.b32encode(data).decode("ascii") == padded
    if not canonical or len(body) <= _FIXED or checksum != _checksum(body):
        return None
    return body


def _unpacked(body: bytes) -> Invitation:
    fields = _Cursor(body)
    fields.take(1)
    flock = fields.take(FLOCK_ID_BYTES)
    keeper, secret = fields.take(KEEPER_BYTES), fields.take(SECRET_BYTES)
    expires_s = int.from_bytes(fields.take(4), "big")
    port = int.from_bytes(fields.take(2), "big")
    addresses: list[Address] = []
    while fields.remaining:
        addresses.append(Address(_host(fields), port))
    if not port or len(addresses) > ADDRESSES_MAX:
        raise _unusable()
    flock_id = base64.b32encode(flock).decode("ascii").rstrip("=").lower()
    return Invitation(flock_id, keeper, secret, expires_s, tuple(addresses))


class _Cursor:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def remaining(self) -> int:
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        """Return the next bytes; raise ``InVainError`` when there are fewer."""
        if count > self.remaining:
            raise _unusable()
        self._at += count
        return self._data[self._at - count : self._at]


def _host(fields: _Cursor) -> str:
    kind = fields.take(1)[0]
    if kind == _IPV4:
        return str(ipaddress.IPv4Address(fields.take(4)))
    if kind == _IPV6:
        return str(ipaddress.IPv6Address(fields.take(16)))
    name = fields.take(max(0, kind - _NAME)).decode("ascii", "replace")
    if not _HOST_NAME.fullmatch(name):
        raise _unusable()
    return name


def _packed(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bytes([_NAME + len(host)]) + host.encode("ascii")
    return bytes([_IPV4 if address.version == 4 else _IPV6]) + address.packed


def _reachable(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _HOST_NAME.fullmatch(host) is not None
    local = address.version == 6 and address.is_link_local
    return not (local or address.is_unspecified or address.is_multicast)


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(PREFIX.encode() + body).digest()[:CHECKSUM_BYTES]


def _unusable() -> InVainError:
    return InVainError("this invitation makes no sense: ask for a new one")
