"""Which keeper let a node in, as its certificate says it: signed with the keeper's own key.

All keepers hold the authority's key, so the authority's signature cannot tell them apart, and a key
that one of them has seen cannot be taken back. Therefore a certificate also names the keeper that
issued it and carries a signature of that keeper's own key, which no other has, over the name of the
node. It is an extension of the certificate, because whoever shows the certificate in a handshake
has nothing else with it. What a keeper's word is worth at a time is in ``standing``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from msgspec import Meta, Struct

from agent.api.errors import MembershipError
from agent.net import certificates
from agent.net.certificates import PrivateKey

VOUCHER = x509.ObjectIdentifier("2.25.238718263455125381947202148637310927213")
"""An identifier of our own, of those that anybody may draw."""
REMEMBERED_MAX = 4_096
SIGNATURE = ec.ECDSA(hashes.SHA256())
"""Of all that keepers sign, with their own keys or the authority's."""

_SIGNED_AS = b"wingbeat voucher 1\0"


@dataclass(frozen=True, slots=True)
class Signer:
    """A node that signs in its own name."""

    node_id: str
    key: PrivateKey


class Voucher(Struct, frozen=True, array_like=True):
    """The keeper, and its signature over the node that it let in."""

    keeper: Annotated[str, Meta(min_length=1, max_length=64)]
    signature: Annotated[bytes, Meta(max_length=128)]


def vouch(signer: Signer, node_id: str) -> x509.UnrecognizedExtension:
    """Return the extension for a certificate of this node that says that this keeper let it in."""
    signature = signer.key.sign(_SIGNED_AS + node_id.encode(), SIGNATURE)
    voucher = Voucher(signer.node_id, signature)
    return x509.UnrecognizedExtension(VOUCHER, msgspec.msgpack.encode(voucher))


@lru_cache(REMEMBERED_MAX)
def voucher_of(certificate: bytes) -> Voucher | None:
    """Return what a certificate says of who let its node in; None when it says nothing readable."""
    try:
        read = certificates.read_certificate(certificate)
        extension = read.extensions.get_extension_for_oid(VOUCHER).value
        if not isinstance(extension, x509.UnrecognizedExtension):
            return None
        return msgspec.msgpack.decode(extension.value, type=Voucher)
    except (*certificates.UNREADABLE, MembershipError, msgspec.MsgspecError):
        return None


@lru_cache(REMEMBERED_MAX)
def is_vouched(voucher: Voucher, node_id: str, keeper_certificate: bytes) -> bool:
    """Tell whether the voucher's signature is that of the keeper's own key."""
    return has_signed(keeper_certificate, voucher.signature, _SIGNED_AS + node_id.encode())


def has_signed(certificate: bytes, signature: bytes, content: bytes) -> bool:
    """Tell whether the key of the certificate has signed the content; raise ``MembershipError``
    when the certificate cannot be read."""
    key = certificates.read_certificate(certificate).public_key()
    if not isinstance(key, certificates.PublicKey):
        return False
    try:
        key.verify(signature, content, SIGNATURE)
    except InvalidSignature:
        return False
    return True
