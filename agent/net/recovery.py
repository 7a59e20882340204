"""The recovery phrase: nine words that stand in for an administrator who is missing.

It is made with the flock, shown once and kept by nobody but people. Its key is worked out from it
(scrypt, salted with the flock's name); the flock knows the public half. It also opens the authority's
key, which lies under it in the founding, so that losing the only keeper does not lose the flock.

Words are five letters that can be read aloud, consonants and vowels in turn, 16 bits each: eight of
chance, too many to be guessed whatever a guess costs, and one that finds typing errors.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from agent.api.errors import MembershipError
from agent.net.acts import FOUNDED, Act, Pen, Sealed, compressed, founding
from agent.net.authority import Authority, Flock

WORDS = 9
CHECK_BYTES = 2
_CHANCE_BYTES = 16
_WORK, _BLOCK, _MEMORY_MAX = 2**14, 8, 64 * 1024 * 1024
"""Of scrypt: 16 MiB and some 50 ms. The phrase has 128 bits of chance, so no more is wanted."""
_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aiou"
_NONCE = bytes(12)
"""A key that opens one text is drawn anew with each phrase and flock."""
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of the points of P-256: a private key is below it."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What one phrase can do in one flock."""

    pen: Pen
    _seal: bytes

    @classmethod
    def of(cls, phrase: str, flock_id: str) -> Recovery:
        """Derive the recovery keys of a flock from its phrase, which takes a moment; raise
        ``MembershipError`` when the phrase has a typing error."""
        content = read_words(phrase, WORDS, "the recovery phrase")
        made = worked_out(content, b"wingbeat recovery 1\0" + flock_id.encode(), 48 + 32)
        number = int.from_bytes(made[:48], "big") % (_ORDER - 1) + 1
        return cls(Pen(flock_id, ec.derive_private_key(number, ec.SECP256R1())), made[48:])

    def seal(self, authority: Authority, keepers_before: tuple[str, ...] = ()) -> Sealed:
        """Return what the flock is told of the phrase."""
        hidden = AESGCM(self._seal).encrypt(_NONCE, authority.key_file, None)
        return Sealed(compressed(self.pen.key.public_key()), hidden, keepers_before)

    def open(self, flock: Flock, sealed: Sealed) -> Authority:
        """Return the authority that was sealed under this phrase; raise ``MembershipError`` when it
        was sealed under another one."""
        try:
            content = AESGCM(self._seal).decrypt(_NONCE, sealed.authority, None)
        except (InvalidTag, ValueError) as error:
            raise MembershipError("this is not the recovery phrase of the flock") from error
        return Authority.read(flock, content)


def new_phrase() -> str:
    """Draw a phrase."""
    return written(secrets.token_bytes(_CHANCE_BYTES))


def founded(
    authority: Authority,
    pen: Pen,
    phrase: str,
    now_s: float,
    before: Sequence[str] = (),
    statements: Sequence[bytes] = (),
    keepers: Sequence[str] = (),
) -> Act:
    """Return the signed act that founds a flock's acts, with the authority's key sealed under the
    phrase; for a flock that had none so far also who belonged ``before``, what ``keepers`` had
    stated, and who they were. Takes a moment."""
    sealed = Recovery.of(phrase, pen.flock_id).seal(authority, tuple(keepers))
    first = Act(
        FOUNDED,
        pen.name,
        "",
        int(now_s),
        kept=tuple(before),
        kept_statements=tuple(statements),
        data=msgspec.msgpack.encode(sealed),
    )
    return founding(pen, authority, first)


def worked_out(content: bytes, salt: bytes, length: int) -> bytes:
    """Return so many bytes worked out of what words say, which takes a moment for each guess."""
    return hashlib.scrypt(
        content, salt=salt, n=_WORK, r=_BLOCK, p=1, maxmem=_MEMORY_MAX, dklen=length
    )


def written(content: bytes) -> str:
    """Return an even number of bytes as words, with one more that finds typing errors."""
    whole = content + _check(content)
    return " ".join(
        _word(int.from_bytes(whole[place : place + 2], "big")) for place in range(0, len(whole), 2)
    )


def _word(number: int) -> str:
    return "".join(
        (
            _CONSONANTS[number >> 12 & 15],
            _VOWELS[number >> 10 & 3],
            _CONSONANTS[number >> 6 & 15],
            _VOWELS[number >> 4 & 3],
            _CONSONANTS[number & 15],
        )
    )


def read_words(text: str, count: int, what: str) -> bytes:
    """Return the bytes that ``count`` words spell; case, dashes and spaces do not matter. Raise
    ``MembershipError``, which calls them ``what``, for a typing error."""
    letters = "".join(filter(str.isalpha, text.casefold()))
    words = [letters[place : place + 5] for place in range(0, len(letters), 5)]
    try:
        if len(words) != count:
            raise ValueError
        whole = b"".join(_number(word).to_bytes(2, "big") for word in words)
    except ValueError:
        raise _mistyped(count, what) from None
    content, check = whole[:-CHECK_BYTES], whole[-CHECK_BYTES:]
    if check != _check(content):
        raise _mistyped(count, what)
    return content


def _number(word: str) -> int:
    number = 0
    for place, letter in enumerate(word):
        letters, bits = (_VOWELS, 2) if place % 2 else (_CONSONANTS, 4)
        number = number << bits | letters.index(letter)
    return number


def _check(content: bytes) -> bytes:
    return hashlib.sha256(b"wingbeat phrase\0" + content).digest()[:CHECK_BYTES]


def _mistyped(count: int, what: str) -> MembershipError:
    return MembershipError(
        f"{what} has {count} words of five letters, and these are not it: "
        f"compare it with what was written down"
    )
