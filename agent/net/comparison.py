"""The short code by which two people see that nobody stands between their machines.

A machine that asks to join and the keeper that it asks know nothing of each other. Somebody between
them could show each a key of its own. So both work out a code from what they have seen: the key of
the keeper, the flock's authority, and the whole request with the asking machine's key. It is short,
because people compare it; so nobody may be able to choose keys until the codes fit. Therefore a
number of each side goes into it that the other cannot foresee: the keeper first binds itself to its
number by a hash, then hears the asking side's, and only then shows its own. It is the keeper that
is bound, because it shows its people the request before it shows its number: whoever stands between
learns no code of which nobody is told, and so has one guess in a million for each request seen.

The code is an agreement between two programs of one version; it is never stored.
"""

from __future__ import annotations

import hashlib

import msgspec

from agent.api.admission import CODE_DIGITS

NONCE_BYTES = 16
COMMITMENT_BYTES = 32

_COMMITTED_AS = b"wingbeat join commitment 1\0"
_COMPARED_AS = b"wingbeat join comparison 1\0"


def commitment_of(nonce: bytes) -> bytes:
    """Return the hash that binds the keeper to its nonce without telling it."""
    return hashlib.sha256(_COMMITTED_AS + nonce).digest()


def code_of(
    flock_id: str, keeper: bytes, request: bytes, user: str, nonces: tuple[bytes, bytes]
) -> str:
    """Return the code that two people compare for a request to a keeper with this key hash, such as
    "418 230". ``nonces``: the asking side's, then the keeper's."""
    seen = msgspec.msgpack.encode((flock_id, keeper, request, user, nonces))
    number = int.from_bytes(hashlib.sha256(_COMPARED_AS + seen).digest()[:16], "big")
    digits = f"{number % 10**CODE_DIGITS:0{CODE_DIGITS}d}"
    return f"{digits[: CODE_DIGITS // 2]} {digits[CODE_DIGITS // 2 :]}"
