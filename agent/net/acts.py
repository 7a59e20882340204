"""Acts on the flock: who may do what in it, each a short text that somebody has signed.

An act names what is done, to whom, when, by whose key, and the latest acts that its signer knew
(``stands_on``). So acts form a history that nobody can insert into unseen: what somebody signs who
was sent away meanwhile does not stand on that, and what stays of his words is what the others knew
when they sent him away. What acts amount to is in ``charter``.

The first one, the founding, is signed by the founder and by the flock's authority, whose hash is the
flock's name; all others stand on it. Keys are written out in full in each act, for a node is named by
the hash of its key: an act is checked without knowing its signer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from msgspec import Meta, Struct
from msgspec.structs import replace

from agent.api.errors import MembershipError
from agent.net.authority import KEPT_MAX, KEPT_STATEMENTS_MAX, Authority, Flock, NodeId, StatementId
from agent.net.certificates import SIGNATURE, PrivateKey, PublicKey, node_id_of

FOUNDED = "founded"
ROLE = "role"
KEEPER = "keeper"
EXPELLED = "expelled"
LEFT = "left"
RECOVERED = "recovered"
PHRASE = "phrase"
PAIRED = "paired"
UNPAIRED = "unpaired"
OF_PEOPLE = (PAIRED, UNPAIRED)
"""Which machines are one person's; members sign these, and versions before take none of theirs."""
ADMINISTRATOR, OPERATOR, HELPER = "administrator", "operator", "helper"
APPOINTED, WITHDRAWN = "appointed", "withdrawn"

KEY_BYTES = 33
HEADS_MAX = 64
DATA_BYTES_MAX = 2048
_SIGNED_AS = b"wingbeat act 1\0"
_CONSENT_SIGNED_AS = b"wingbeat consent 1\0"

ActId = Annotated[bytes, Meta(min_length=16, max_length=16)]
Key = Annotated[bytes, Meta(min_length=KEY_BYTES, max_length=KEY_BYTES)]
Signature = Annotated[bytes, Meta(max_length=128)]


class Act(Struct, frozen=True, array_like=True):
    """One act. Kinds of later versions are kept and passed on."""

    kind: Annotated[str, Meta(min_length=1, max_length=32)]
    whom: Annotated[str, Meta(max_length=64)]
    value: Annotated[str, Meta(max_length=64)]
    time_s: Annotated[int, Meta(ge=0, le=2**53)]
    key: Key = bytes(KEY_BYTES)
    """Of whoever signs it; none before."""
    stands_on: Annotated[tuple[ActId, ...], Meta(max_length=HEADS_MAX)] = ()
    kept: Annotated[tuple[NodeId, ...], Meta(max_length=KEPT_MAX)] = ()
    """Where a keeper goes: whom it had let in. Of a founding: who belonged before."""
    kept_statements: Annotated[tuple[StatementId, ...], Meta(max_length=KEPT_STATEMENTS_MAX)] = ()
    """Of a founding: what keepers had stated before, and still counts. Of others: acts that the signer
    knew too, and that a version before may lack; so what it has never hangs on what it has not."""
    data: Annotated[bytes, Meta(max_length=DATA_BYTES_MAX)] = b""
    signature: Signature = b""
    authority: Signature = b""
    """With the authority's key, of a founding only."""

    @property
    def by(self) -> str:
        """Who signed it: a node's id, or the name of the recovery phrase."""
        return node_id_of(_public(self.key))

    @property
    def knows(self) -> tuple[ActId, ...]:
        """The latest acts that its signer knew."""
        return self.stands_on if self.kind == FOUNDED else (*self.stands_on, *self.kept_statements)


class Consent(Struct, frozen=True, array_like=True):
    """The word of a machine that it is a person's: its key, and its signature of their names."""

    key: Key
    signature: Signature


class Sealed(Struct, frozen=True, array_like=True):
    """What the recovery phrase opens: the public half of its key, and the authority's key under it."""

    recovery: Key
    authority: Annotated[bytes, Meta(max_length=1024)]
    keepers_before: Annotated[tuple[NodeId, ...], Meta(max_length=64)] = ()
    """Of a flock that had no acts: who held the authority's key, and does so no more by right."""


_sealed = msgspec.msgpack.Decoder(Sealed)
_consent = msgspec.msgpack.Decoder(Consent)
_encode = msgspec.msgpack.encode


@dataclass(frozen=True, slots=True)
class Pen:
    """Signs acts of one flock with one key."""

    flock_id: str
    key: PrivateKey

    @property
    def name(self) -> str:
        """Whose acts these are."""
        return node_id_of(self.key.public_key())

    def sign(self, act: Act) -> Act:
        """Return the act with this key and its signature."""
        own = replace(act, key=compressed(self.key.public_key()))
        return replace(own, signature=self.key.sign(signed_part(self.flock_id, own), SIGNATURE))

    def consent(self, person: str) -> bytes:
        """Return the word of the machine with this key that it is this person's from now on."""
        words = _consent_words(self.flock_id, self.name, person)
        signature = self.key.sign(words, SIGNATURE)
        return _encode(Consent(compressed(self.key.public_key()), signature))


def has_consented(flock_id: str, act: Act) -> bool:
    """Tell whether the machine that a pairing act names has itself signed that it agrees to belong
    to this person; False for a consent that cannot be read."""
    try:
        consent = _consent.decode(act.data)
        key = _public(consent.key)
    except (msgspec.MsgspecError, UnicodeDecodeError, MembershipError):
        return False
    words = _consent_words(flock_id, act.whom, act.value)
    return node_id_of(key) == act.whom and _verified(key, consent.signature, words)


def _consent_words(flock_id: str, machine: str, person: str) -> bytes:
    return _CONSENT_SIGNED_AS + _encode((flock_id, machine, person))


def founding(pen: Pen, authority: Authority, act: Act) -> Act:
    """Return the first act of a flock, signed by its founder and its authority."""
    own = pen.sign(act)
    return replace(own, authority=authority.key.sign(signed_part(pen.flock_id, own), SIGNATURE))


def has_founded(flock: Flock, act: Act) -> bool:
    """Tell whether the flock's authority has signed this as the founding by whoever it names; that
    one's own signature is not checked."""
    if act.kind != FOUNDED or act.stands_on or act.whom != act.by:
        return False
    return _verified(flock.key, act.authority, signed_part(flock.flock_id, act))


def is_signed(flock_id: str, act: Act) -> bool:
    """Tell whether the act is signed with the key that it names; raise ``MembershipError`` when that
    is no key."""
    return _verified(_public(act.key), act.signature, signed_part(flock_id, act))


def act_id(flock_id: str, act: Act) -> bytes:
    """Return what other acts call this one by: a hash of all that it says, not of how it is signed."""
    return hashlib.sha256(signed_part(flock_id, act)).digest()[:16]


def signed_part(flock_id: str, act: Act) -> bytes:
    """Return what is signed of an act."""
    plain = replace(act, signature=b"", authority=b"")
    return _SIGNED_AS + _encode((flock_id, msgspec.structs.astuple(plain)))


def sealed_in(act: Act) -> Sealed:
    """Return the sealed key that a founding act, or one with a new phrase, carries; raise
    ``MembershipError`` when that cannot be read."""
    try:
        return _sealed.decode(act.data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise MembershipError("an act on the flock cannot be read") from error


def compressed(key: PublicKey) -> bytes:
    """Return a public key in as few bytes as it has."""
    encoding, form = serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint
    return key.public_bytes(encoding, form)


def name_of(key: bytes) -> str:
    """Return the name of a key in few bytes; raise ``MembershipError`` when that is none."""
    return node_id_of(_public(key))


def _public(key: bytes) -> PublicKey:
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key)
    except ValueError as error:
        raise MembershipError("an act on the flock has no readable key") from error


def _verified(key: PublicKey, signature: bytes, content: bytes) -> bool:
    try:
        key.verify(signature, content, SIGNATURE)
    except InvalidSignature:
        return False
    return True
