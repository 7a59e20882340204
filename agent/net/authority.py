"""The flock's own authority: the one thing that all members trust, and the only one.

A company's certificates or a public authority would let in machines that nobody invited, so each
flock is its own: ``Flock`` is its public half, a self-signed certificate that every member has,
``Authority`` adds the key. The flock is named by the hash of that key, so that whoever knows the
name can check the certificate and needs to trust nobody for it.

The **keepers** hold the key, the founder and whom administrators have appointed: each can let
machines in and renew. A key that was seen cannot be taken back, so nothing counts
by it alone: what a keeper issues or states it also signs with its own key (``certificates``), and what
an expelled keeper signs is worth nothing (``roster``).

What an authority says about members besides certificates are **statements**: short, signed, never
taken back. They are signed under texts of their own, so that none can pass as a certificate.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from msgspec import Meta, Struct

from agent.api.errors import MembershipError
from agent.net import certificates
from agent.net.certificates import (
    SIGNATURE,
    Applicant,
    Member,
    PrivateKey,
    PublicKey,
    Signer,
    has_signed,
    vouch,
)

NODE_LIFE_S = 365 * 86_400
EXPELLED = "expelled"
LEFT = "left"
KEEPER = "keeper"

_SIGNED_AS = b"wingbeat statement 1\0"
_SIGNED_BY_AS = b"wingbeat keeper's statement 1\0"

NodeId = Annotated[str, Meta(min_length=1, max_length=64)]
StatementId = Annotated[bytes, Meta(min_length=16, max_length=16)]
KEPT_MAX = 1_000
KEPT_STATEMENTS_MAX = 3_000


class Statement(Struct, frozen=True, array_like=True):
    """What the authority says of one node. Kinds of later versions are kept and passed on."""

    kind: Annotated[str, Meta(min_length=1, max_length=32)]
    node_id: NodeId
    time_s: Annotated[int, Meta(ge=0, le=2**53)]
    signature: Annotated[bytes, Meta(max_length=128)]
    by: Annotated[str, Meta(max_length=64)] = ""
    """The keeper that says it."""
    by_signature: Annotated[bytes, Meta(max_length=128)] = b""
    """With the keeper's own key, over all of it."""
    kept: Annotated[tuple[NodeId, ...], Meta(max_length=KEPT_MAX)] = ()
    """Where a keeper goes: whom it had let in."""
    kept_statements: Annotated[tuple[StatementId, ...], Meta(max_length=KEPT_STATEMENTS_MAX)] = ()
    """Where a keeper goes: what it had stated."""


@dataclass(frozen=True, slots=True)
class Flock:
    """The public half of an authority."""

    flock_id: str
    name: str
    certificate: x509.Certificate
    key: PublicKey

    @classmethod
    def read(cls, der: bytes) -> Flock:
        """Return the flock whose authority has this certificate, in DER; raise ``MembershipError``
        when it cannot be read, is no authority's or not signed by itself."""
        certificate = certificates.read_certificate(der)
        key = certificates.authority_key_of(certificate)
        name = certificates.authority_name(certificate)
        return cls(certificates.flock_id_of(key), name, certificate, key)

    @property
    def der(self) -> bytes:
        """The certificate as it is sent and stored."""
        return self.certificate.public_bytes(serialization.Encoding.DER)

    def has_issued(self, der: bytes) -> bool:
        """Tell whether this authority issued the certificate, and to a node rather than to an
        authority; whether it is still valid is not asked. Raise ``MembershipError`` when it cannot
        be read."""
        certificate = certificates.read_certificate(der)
        try:
            certificate.verify_directly_issued_by(self.certificate)
        except (*certificates.UNREADABLE, InvalidSignature):
            return False
        return not certificates.may_sign_others(certificate)

    def has_stated(self, statement: Statement) -> bool:
        """Tell whether this authority's key has signed the statement; which keeper made it is not
        asked."""
        try:
            self.key.verify(statement.signature, _signed_part(statement), SIGNATURE)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Authority:
    """A flock with its key, as keepers hold it."""

    flock: Flock
    key: PrivateKey

    @classmethod
    def create(cls, flock_name: str, now_s: float) -> Authority:
        """Make and return a new flock's authority, with a new key, without saving it; raise
        ``MembershipError`` for a name that is empty, too long or not printable."""
        name = flock_name.strip()
        if not name or name != certificates.clean_name(name):
            most = certificates.NAME_BYTES_MAX
            raise MembershipError(
                f"a flock's name has 1 to {most} printable characters (fewer with accents): "
                f"choose another one"
            )
        key = certificates.new_key()
        certificate = certificates.authority_certificate(key, name, now_s)
        return cls(Flock.read(certificate.public_bytes(serialization.Encoding.DER)), key)

    @classmethod
    def read(cls, flock: Flock, key_file: bytes) -> Authority:
        """Return the authority of a known flock from the content of its key file; raise
        ``MembershipError`` when that is no key or another flock's."""
        key = certificates.read_private(key_file)
        if certificates.flock_id_of(key.public_key()) != flock.flock_id:
            raise MembershipError(f"holds the key of another flock than {flock.name}")
        return cls(flock, key)

    @property
    def key_file(self) -> bytes:
        """The key as it is stored, and handed to another keeper."""
        return certificates.private_bytes(self.key)

    def issue(
        self,
        applicant: Applicant,
        now_s: float,
        life_s: float = NODE_LIFE_S,
        signer: Signer | None = None,
        role: str = "",
    ) -> Member:
        """Sign a certificate for an applicant, without saving it, and return the member that it
        makes. It ends after ``life_s``, but no later than the authority's own, and carries the
        voucher of ``signer``, the keeper that signs, with the ``role`` of the invitation; for None
        it carries none."""
        left_s = self.flock.certificate.not_valid_after_utc.timestamp() - now_s
        voucher = None if signer is None else vouch(signer, applicant.node_id, role)
        der = certificates.node_certificate(
            self.flock.certificate, self.key, applicant, now_s, min(life_s, left_s), voucher
        )
        return certificates.member_of(der)

    def state(
        self,
        kind: str,
        node_id: str,
        now_s: float,
        signer: Signer | None = None,
        kept: tuple[tuple[str, ...], tuple[bytes, ...]] = ((), ()),
    ) -> Statement:
        """Sign and return a statement of this kind about a node, also with the key of ``signer``,
        the keeper that makes it, if one is given. ``kept``: of a keeper that goes, whom it had let
        in and what it had stated that stays; left out without a signer."""
        unsigned = Statement(kind, node_id, int(now_s), b"")
        signature = self.key.sign(_signed_part(unsigned), SIGNATURE)
        if signer is None:
            return Statement(kind, node_id, int(now_s), signature)
        said = Statement(kind, node_id, int(now_s), signature, signer.node_id, b"", *kept)
        return msgspec.structs.replace(
            said, by_signature=signer.key.sign(_signed_by_part(said), SIGNATURE)
        )


def stated_by(statement: Statement, keeper_certificate: bytes) -> bool:
    """Tell whether the keeper with this certificate has made the statement in its own name; raise
    ``MembershipError`` when the certificate cannot be read."""
    return has_signed(keeper_certificate, statement.by_signature, _signed_by_part(statement))


def statement_id(statement: Statement) -> bytes:
    """Return what a statement is called in lists: a hash of all that it says, not of how it is
    signed."""
    return hashlib.sha256(_signed_by_part(statement)).digest()[:16]


def _signed_by_part(statement: Statement) -> bytes:
    content = (
        statement.kind,
        statement.node_id,
        statement.time_s,
        statement.by,
        statement.kept,
        statement.kept_statements,
    )
    return _SIGNED_BY_AS + msgspec.msgpack.encode(content)


def _signed_part(statement: Statement) -> bytes:
    content = (statement.kind, statement.node_id, statement.time_s)
    return _SIGNED_AS + msgspec.msgpack.encode(content)
