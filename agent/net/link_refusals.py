"""Why there is no link to a peer, in words.

TLS and sockets tell it in numbers, and a person who misses a machine needs a sentence. The last
refusal of each peer, or of each address where the peer is not known, is kept for ``wingbeat
doctor`` until there is a link.
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from agent.protocol.records import NodeId

REFUSALS_MAX = 128

log = logging.getLogger(__name__)

CERTIFICATE_NOT_YET_VALID = 9
CERTIFICATE_EXPIRED = 10
CERTIFICATE_REVOKED = 23


class Cause(StrEnum):
    """The kinds of refusal."""

    OTHER_FLOCK = "other flock"
    OTHER_VERSION = "other version"
    EXPIRED = "expired certificate"
    NOT_YET_VALID = "certificate not yet valid"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    NOT_WINGBEAT = "not wingbeat"
    SLOW = "too slow"
    BUSY = "busy"
    MISBEHAVED = "misbehaved"
    OTHER_NODE = "other node"
    MYSELF = "this node"
    COPIED = "copied identity"
    DUPLICATE = "linked already"
    CLOSED = "closed"
    BROKEN = "broken off"
    LOST = "link lost"


LASTING = frozenset(
    {
        Cause.OTHER_FLOCK,
        Cause.OTHER_VERSION,
        Cause.EXPIRED,
        Cause.NOT_YET_VALID,
        Cause.REFUSED,
        Cause.COPIED,
    }
)
"""Trying again soon does not help against these."""

UNREMARKABLE = frozenset({Cause.DUPLICATE, Cause.MYSELF, Cause.CLOSED})
"""Nobody needs to be told of these."""


@dataclass(frozen=True, slots=True)
class LinkRefusal:
    """One refusal: of which peer, as far as known, where, why, when."""

    peer: NodeId
    address: str
    cause: Cause
    text: str
    at_s: float
    """Seconds since 1970."""


_TOLD_BY_TLS = {
    "UNKNOWN_CA": (Cause.OTHER_FLOCK, "It belongs to another flock."),
    "CERTIFICATE_EXPIRED": (Cause.EXPIRED, "It says that the certificate of this node expired."),
    "CERTIFICATE_REQUIRED": (Cause.REFUSED, "It got no certificate from this node."),
    "CERTIFICATE_REVOKED": (Cause.REFUSED, "It says that this node's certificate is revoked."),
    "CERTIFICATE_UNKNOWN": (Cause.REFUSED, "It does not accept the certificate of this node."),
    "BAD_CERTIFICATE": (Cause.REFUSED, "It does not accept the certificate of this node."),
    "ACCESS_DENIED": (Cause.REFUSED, "It does not accept the certificate of this node."),
    "DECRYPT_ERROR": (Cause.OTHER_FLOCK, "It belongs to another flock."),
    "NO_APPLICATION_PROTOCOL": (Cause.OTHER_VERSION, "It speaks another version of wingbeat."),
    "PROTOCOL_VERSION": (Cause.OTHER_VERSION, "It speaks another version of TLS."),
    "UNSUPPORTED_PROTOCOL": (Cause.OTHER_VERSION, "It speaks another version of TLS."),
    "WRONG_VERSION_NUMBER": (Cause.NOT_WINGBEAT, "Something that is not wingbeat answers there."),
    "WRONG_SSL_VERSION": (Cause.NOT_WINGBEAT, "Something that is not wingbeat answers there."),
    "HTTP_REQUEST": (Cause.NOT_WINGBEAT, "Something that is not wingbeat called from there."),
    "DID_NOT_RETURN_A_CERTIFICATE": (Cause.NOT_WINGBEAT, "It showed no certificate."),
}


def explained(error: Exception | None) -> tuple[Cause, str]:
    """Return the cause and a sentence for people for an error of TLS or of a socket; None, or an
    error of another kind, stands for a connection that was closed without one."""
    match error:
        case ssl.SSLCertVerificationError():
            return _certificate(error)
        case ssl.SSLError():
            reason = error.reason or ""
            for part, told in _TOLD_BY_TLS.items():
                if part in reason:
                    return told
            return Cause.BROKEN, f"TLS failed: {reason or error}."
        case ConnectionRefusedError():
            return Cause.UNREACHABLE, "The machine answers, but no agent listens there."
        case TimeoutError():
            return Cause.UNREACHABLE, "Nothing answers: it is off, elsewhere, or behind a firewall."
        case ConnectionError():
            return Cause.BROKEN, "It broke the connection off while greeting."
        case OSError():
            return Cause.UNREACHABLE, f"It cannot be reached: {error.strerror or error}."
        case _:
            return Cause.BROKEN, "It closed the connection while greeting."


def _certificate(error: ssl.SSLCertVerificationError) -> tuple[Cause, str]:
    match error.verify_code:
        case code if code == CERTIFICATE_EXPIRED:
            return Cause.EXPIRED, "Its certificate has expired, or the clock here is ahead."
        case code if code == CERTIFICATE_NOT_YET_VALID:
            return Cause.NOT_YET_VALID, "Its certificate is not valid yet: compare the clocks."
        case code if code == CERTIFICATE_REVOKED:
            return Cause.REFUSED, "Its certificate is revoked."
        case _:
            return Cause.OTHER_FLOCK, "It belongs to another flock."


class Refusals:
    """The last refusal of each peer or address; the oldest is forgotten when there are many."""

    def __init__(self, name_of: Callable[[NodeId], str] = str) -> None:
        self._name_of = name_of
        self._by_key: dict[str, LinkRefusal] = {}

    def note(self, refusal: LinkRefusal) -> None:
        """Keep the refusal in place of the earlier one of its peer, or of its address where the
        peer is not known; log it when it says something else. Of too many, the oldest is
        forgotten."""
        key = refusal.peer or refusal.address
        before = self._by_key.pop(key, None)
        self._by_key[key] = refusal
        if before is None or before.text != refusal.text:
            name = self._name_of(refusal.peer) if refusal.peer else "?"
            log.info("no link with %s (%s): %s", name, refusal.address, refusal.text)
        if len(self._by_key) > REFUSALS_MAX:
            del self._by_key[next(iter(self._by_key))]

    def lost(self, peer: NodeId, address: str, reason: str) -> None:
        """Keep, in place of the peer's last refusal, that its link is gone and why, until a call
        tells more."""
        text = f"Its link is gone: {reason}."
        self._by_key.pop(peer, None)
        self._by_key[peer] = LinkRefusal(peer, address, Cause.LOST, text, time.time())

    def linked(self, peer: NodeId, address: str) -> None:
        """Forget the refusals of a peer that is linked now, those of its address too."""
        self._by_key.pop(peer, None)
        self._by_key.pop(address, None)

    def all(self) -> tuple[LinkRefusal, ...]:
        """Return the last refusal of each peer or address, oldest first."""
        return tuple(self._by_key.values())
