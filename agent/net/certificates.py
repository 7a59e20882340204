"""Keys and certificates as the flock uses them: names that are hashes, and nothing optional.

All keys are ECDSA on P-256. Ed25519 would be shorter and as good, and TLS 1.3 knows it, but
OpenSSL builds under a FIPS or company policy switch it off, on Linux and on Windows, while P-256
is what no policy forbids; and both are equally fast here. A node is named by the hash of its
public key, never by its host name or address: those change and repeat, the key does not, and a
renewed certificate keeps it.

A certificate is dated back a little, so that a peer whose clock is slow does not find it to be of
the future. Certificates are read as whatever a stranger may send: every way in which one can be
wrong ends in ``MembershipError``.

**Which keeper let a node in, as its certificate says it: signed with the keeper's own key.**

All keepers hold the authority's key, so the authority's signature cannot tell them apart, and a key
that one of them has seen cannot be taken back. Therefore a certificate also names the keeper that
issued it and carries a signature of that keeper's own key, which no other has, over the name of the
node. It is an extension of the certificate, because whoever shows the certificate in a handshake
has nothing else with it. What a keeper's word is worth at a time is in ``roster``.

**Refusals** say why somebody is not let in. A person reads it, mostly on a machine that is not
theirs, so the rule is one sentence that says what is wrong, where, and what to do. It is made where
the reason is known and passed on unchanged.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Meta, Struct

from agent.api.errors import MembershipError

PrivateKey = ec.EllipticCurvePrivateKey
PublicKey = ec.EllipticCurvePublicKey

NODE_ID_LENGTH = 20
FLOCK_ID_BYTES = 16
NAME_BYTES_MAX = 64
CERTIFICATE_BYTES_MAX = 4096
BACKDATED_S = 2 * 3600
AUTHORITY_LIFE_S = 30 * 365 * 86_400

# What reading foreign DER may raise, here and in the library's lazily read parts.
UNREADABLE = (
    ValueError,
    TypeError,
    KeyError,  # a kind of text that version 44 does not know
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.ExtensionNotFound,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
VOUCHER = x509.ObjectIdentifier("2.25.238718263455125381947202148637310927213")
"""An identifier of our own, of those that anybody may draw."""
REMEMBERED_MAX = 4_096
SIGNATURE = ec.ECDSA(hashes.SHA256())
"""Of all that keepers sign, with their own keys or the authority's."""

_SIGNED_AS = b"wingbeat voucher 1\0"
_ROLE_SIGNED_AS = b"wingbeat role 1\0"


class Member(Struct, frozen=True):
    """A node by its certificate. The host name is for people; the id says who it is."""

    node_id: str
    host_name: str
    valid_from_s: int
    valid_until_s: int
    certificate: bytes

    @property
    def renewal_due_s(self) -> int:
        """When the certificate is to be renewed: two thirds of its life after it was issued."""
        issued_s = self.valid_from_s + BACKDATED_S
        return issued_s + max(0, self.valid_until_s - issued_s) * 2 // 3


class Applicant(Struct, frozen=True):
    """Who asks for a certificate, proven to hold the key."""

    node_id: str
    host_name: str
    public_key: PublicKey


def new_key() -> PrivateKey:
    """Make a private key for a node or an authority."""
    return ec.generate_private_key(ec.SECP256R1())


def public_bytes(key: PublicKey) -> bytes:
    """Return the public key as it is hashed and compared."""
    encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(encoding, form)


def key_hash(key: PublicKey) -> bytes:
    """Return the hash that all names of a key are cut from."""
    return hashlib.sha256(public_bytes(key)).digest()


def node_id_of(key: PublicKey) -> str:
    """Return the node id of a key: 100 bits of its hash, so that nobody finds a second key with
    this name, and people can still compare it."""
    return _base32(key_hash(key))[:NODE_ID_LENGTH]


def flock_id_of(key: PublicKey) -> str:
    """Return the flock id of an authority's key: 128 bits of its hash, because an invitation trusts
    whoever shows an authority of this name."""
    return _base32(key_hash(key)[:FLOCK_ID_BYTES])


_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters to Unicode, and yet nothing is seen of them."""


def clean_name(text: str) -> str:
    """Return a host or flock name as a certificate holds it: its printable letters, without those
    of which nothing is seen, cut to 64 bytes of UTF-8; "unnamed" when nothing is left."""
    kept = "".join(each for each in text if each.isprintable() and each not in _BLANK).strip()
    short = kept.encode("utf-8")[:NAME_BYTES_MAX].decode("utf-8", "ignore")
    return short.strip() or "unnamed"


def private_bytes(key: PrivateKey) -> bytes:
    """Return the private key as its file holds it: PEM, without encryption. The file is what
    protects it, not a password next to it."""
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(encoding, form, serialization.NoEncryption())


def read_private(data: bytes) -> PrivateKey:
    """Return the private key in this PEM text; raise ``MembershipError`` when it is unreadable or
    of another kind than ours."""
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except UNREADABLE as error:
        raise MembershipError("holds no readable key") from error
    if not isinstance(key, PrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise MembershipError("holds a key of another kind")
    return key


def to_pem(certificate: bytes) -> bytes:
    """Return a certificate, given in DER, as PEM, which its file and TLS want; it is not
    checked."""
    body = base64.encodebytes(certificate).replace(b"\n", b"")
    lines = [body[start : start + 64] for start in range(0, len(body), 64)]
    return b"\n".join([b"-----BEGIN CERTIFICATE-----", *lines, b"-----END CERTIFICATE-----", b""])


def from_pem(data: bytes) -> bytes:
    """Return the certificate in a PEM file as DER; raise ``MembershipError`` when none can be
    read."""
    try:
        found = x509.load_pem_x509_certificate(data)
    except UNREADABLE as error:
        raise MembershipError("holds no readable certificate") from error
    return found.public_bytes(serialization.Encoding.DER)


def read_certificate(der: bytes) -> x509.Certificate:
    """Parse a certificate, in DER, that anybody may have sent; whose it is and whether it is valid
    is not asked. Raise ``MembershipError`` when it is too long or unreadable."""
    if len(der) > CERTIFICATE_BYTES_MAX:
        raise MembershipError(f"a certificate of {len(der)} bytes; at most {CERTIFICATE_BYTES_MAX}")
    try:
        return x509.load_der_x509_certificate(der)
    except UNREADABLE as error:
        raise MembershipError("its certificate cannot be read") from error


def key_hash_of(der: bytes) -> bytes:
    """Return the hash of the key in a certificate, which is not verified here and may be a
    stranger's; raise ``MembershipError`` when it cannot be read or its key is of another kind than
    ours."""
    certificate = read_certificate(der)
    try:
        return key_hash(_checked(certificate.public_key()))
    except UNREADABLE as error:
        raise MembershipError("the key in its certificate cannot be read") from error


def member_of(der: bytes) -> Member:
    """Return the node that a certificate names, without asking whether the flock accepts it
    (``Roster.objection_to``); raise ``MembershipError`` when it cannot be read or its key is of
    another kind than ours."""
    certificate = read_certificate(der)
    try:
        return Member(
            node_id=node_id_of(_checked(certificate.public_key())),
            host_name=_common_name(certificate.subject),
            valid_from_s=int(certificate.not_valid_before_utc.timestamp()),
            valid_until_s=int(certificate.not_valid_after_utc.timestamp()),
            certificate=der,
        )
    except UNREADABLE as error:
        raise MembershipError("its certificate cannot be read") from error


def may_sign_others(certificate: x509.Certificate) -> bool:
    """Tell whether it is an authority's certificate, which no node may come with; True also when
    the certificate does not say or what it says cannot be read."""
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except UNREADABLE:
        return True


def authority_key_of(certificate: x509.Certificate) -> PublicKey:
    """Return the key of an authority's certificate; raise ``MembershipError`` when that is not
    signed by itself, is a node's, or has a key of another kind than ours."""
    try:
        key = _checked(certificate.public_key())
        certificate.verify_directly_issued_by(certificate)
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except (*UNREADABLE, InvalidSignature) as error:
        raise MembershipError("holds no certificate of a flock's authority") from error
    if not constraints.ca:
        raise MembershipError("holds a node's certificate, not that of a flock's authority")
    return key


def authority_name(certificate: x509.Certificate) -> str:
    """Return the flock's name from its authority's certificate, "unnamed" where it has none; raise
    ``MembershipError`` when it cannot be read."""
    try:
        return _common_name(certificate.subject)
    except UNREADABLE as error:
        raise MembershipError("holds no name of a flock") from error


def request_certificate(key: PrivateKey, host_name: str) -> bytes:
    """Return what an applicant sends: its public key and host name, signed with the key."""
    builder = x509.CertificateSigningRequestBuilder().subject_name(_name(host_name))
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


def read_request(der: bytes) -> Applicant:
    """Return the applicant of a certificate request, in DER; raise ``MembershipError`` when it is
    too long, unreadable, not signed with the applicant's own key, or that is of another kind than
    ours."""
    if len(der) > CERTIFICATE_BYTES_MAX:
        raise MembershipError(f"a request of {len(der)} bytes; at most {CERTIFICATE_BYTES_MAX}")
    try:
        request = x509.load_der_x509_csr(der)
        key = _checked(request.public_key())
        if not request.is_signature_valid:
            raise MembershipError("the request for a certificate is not signed with its own key")
        return Applicant(node_id_of(key), _common_name(request.subject), key)
    except UNREADABLE as error:
        raise MembershipError("the request for a certificate cannot be read") from error


def authority_certificate(key: PrivateKey, flock_name: str, now_s: float) -> x509.Certificate:
    """Return a certificate of a new flock's authority, signed with its own key and valid for 30
    years; nothing is saved."""
    public = key.public_key()
    name = _name(flock_name)
    builder = _dated(name, name, public, now_s, AUTHORITY_LIFE_S)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(signs_others=True), critical=True)
    return builder.sign(key, hashes.SHA256())


def node_certificate(
    authority: x509.Certificate,
    key: PrivateKey,
    applicant: Applicant,
    now_s: float,
    life_s: float,
    voucher: x509.UnrecognizedExtension | None = None,
) -> bytes:
    """Return, as DER, a certificate for the applicant, signed with ``key``, that of the authority,
    for both ends of a connection and nothing else. It is valid for ``life_s`` from now, and was so
    two hours before; ``voucher`` says which keeper let the node in."""
    name = _name(applicant.host_name)
    builder = _dated(name, authority.subject, applicant.public_key, now_s, life_s)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    both_ends = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
    builder = builder.add_extension(_usage(signs_others=False), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage(both_ends), critical=False)
    builder = builder.add_extension(issuer, critical=False)
    if voucher is not None:
        builder = builder.add_extension(voucher, critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


def _dated(
    subject: x509.Name, issuer: x509.Name, key: PublicKey, now_s: float, life_s: float
) -> x509.CertificateBuilder:
    now = datetime.fromtimestamp(now_s, UTC).replace(microsecond=0)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(seconds=BACKDATED_S))
        .not_valid_after(now + timedelta(seconds=int(life_s)))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs_others: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_others,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _checked(key: object) -> PublicKey:
    if not isinstance(key, PublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise MembershipError("its key is of another kind than the flock's")
    return key


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, clean_name(text))])


def _common_name(name: x509.Name) -> str:
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return clean_name(str(found[0].value)) if found else "unnamed"


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode("ascii").rstrip("=").lower()


@dataclass(frozen=True, slots=True)
class Signer:
    """A node that signs in its own name."""

    node_id: str
    key: PrivateKey


class Voucher(Struct, frozen=True, array_like=True):
    """The keeper, and its signature over the node that it let in."""

    keeper: Annotated[str, Meta(min_length=1, max_length=64)]
    signature: Annotated[bytes, Meta(max_length=128)]
    role: Annotated[str, Meta(max_length=32)] = ""
    """As what it was invited; empty where nobody said."""
    role_signature: Annotated[bytes, Meta(max_length=128)] = b""


_voucher = msgspec.msgpack.Decoder(Voucher)


def vouch(signer: Signer, node_id: str, role: str = "") -> x509.UnrecognizedExtension:
    """Return the extension for a certificate of this node that says, signed with the keeper's own
    key, that this keeper let it in, and as what."""
    signature = signer.key.sign(_SIGNED_AS + node_id.encode(), SIGNATURE)
    voucher = Voucher(signer.node_id, signature)
    if role:
        signed = signer.key.sign(_as_what(node_id, role), SIGNATURE)
        voucher = Voucher(signer.node_id, signature, role, signed)
    return x509.UnrecognizedExtension(VOUCHER, msgspec.msgpack.encode(voucher))


def role_of(members: Mapping[str, Member], member: Member) -> str:
    """Return as what a member was invited, by the word of the keeper that let it in, whose own
    certificate is among the ``members``; empty where nobody said."""
    voucher = voucher_of(member.certificate)
    keeper = members.get(voucher.keeper) if voucher else None
    if voucher is None or keeper is None or not voucher.role:
        return ""
    signed = _as_what(member.node_id, voucher.role)
    return voucher.role if has_signed(keeper.certificate, voucher.role_signature, signed) else ""


def _as_what(node_id: str, role: str) -> bytes:
    return _ROLE_SIGNED_AS + node_id.encode() + b"\0" + role.encode()


@lru_cache(REMEMBERED_MAX)
def voucher_of(certificate: bytes) -> Voucher | None:
    """Return what a certificate says of who let its node in, which is not verified here; None when
    it says nothing readable, or is not readable itself."""
    try:
        read = read_certificate(certificate)
        extension = read.extensions.get_extension_for_oid(VOUCHER).value
        if not isinstance(extension, x509.UnrecognizedExtension):
            return None
        return _voucher.decode(extension.value)
    except (*UNREADABLE, MembershipError, msgspec.MsgspecError):
        return None


@lru_cache(REMEMBERED_MAX)
def is_vouched(voucher: Voucher, node_id: str, keeper_certificate: bytes) -> bool:
    """Tell whether the voucher's signature over this node is that of the keeper's own key; raise
    ``MembershipError`` when the keeper's certificate cannot be read."""
    return has_signed(keeper_certificate, voucher.signature, _SIGNED_AS + node_id.encode())


def has_signed(certificate: bytes, signature: bytes, content: bytes) -> bool:
    """Tell whether the key of the certificate has signed the content, False for a key of another
    kind than ours; raise ``MembershipError`` when the certificate cannot be read."""
    key = _key_in(certificate)
    if key is None:
        return False
    try:
        key.verify(signature, content, SIGNATURE)
    except InvalidSignature:
        return False
    return True


@lru_cache(REMEMBERED_MAX)
def _key_in(certificate: bytes) -> PublicKey | None:
    """To parse one takes as long as to check a signature, and records come by the thousand."""
    key = read_certificate(certificate).public_key()
    return key if isinstance(key, PublicKey) else None
