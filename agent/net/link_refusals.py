"""Why there is no link to a peer.

TLS and sockets tell it in numbers, and a person who misses a machine needs a reason. The last
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

from agent.protocol.link_reasons import LinkGone, LinkKind, LinkTrouble, NoLink
from agent.protocol.reasons import Opaque
from agent.protocol.records import NodeId
from agent.wording.speech import english

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

CAUSES: dict[LinkKind, Cause] = {
    "CalledByOther": Cause.NOT_WINGBEAT,
    "CertificateBegins": Cause.NOT_YET_VALID,
    "CertificateEnded": Cause.EXPIRED,
    "CertificateEndedHere": Cause.EXPIRED,
    "BrokeOff": Cause.BROKEN,
    "ClosedGreeting": Cause.BROKEN,
    "IdentityLinked": Cause.COPIED,
    "IdentityTaken": Cause.COPIED,
    "IsItself": Cause.MYSELF,
    "LinkedAlready": Cause.DUPLICATE,
    "NewerLink": Cause.DUPLICATE,
    "NobodyAnswers": Cause.UNREACHABLE,
    "NobodyListens": Cause.UNREACHABLE,
    "NotWanted": Cause.CLOSED,
    "NotWingbeat": Cause.NOT_WINGBEAT,
    "OfOtherFlock": Cause.OTHER_FLOCK,
    "OtherAnswers": Cause.OTHER_NODE,
    "OtherTls": Cause.OTHER_VERSION,
    "OtherVersion": Cause.OTHER_VERSION,
    "OutOfFavour": Cause.BUSY,
    "SendsTooMuch": Cause.MISBEHAVED,
    "SentNonsense": Cause.MISBEHAVED,
    "SentUnreadable": Cause.MISBEHAVED,
    "ShowsNothing": Cause.NOT_WINGBEAT,
    "Stopping": Cause.CLOSED,
    "TlsFailed": Cause.BROKEN,
    "TooManyConnections": Cause.BUSY,
    "TooManyGreet": Cause.BUSY,
    "TooManyTransfers": Cause.BUSY,
    "TooSlow": Cause.SLOW,
    "Unreachable": Cause.UNREACHABLE,
}
"""The kind of refusal that a reason makes, where it is not just ``REFUSED``."""

UNREMARKABLE = frozenset({Cause.DUPLICATE, Cause.MYSELF, Cause.CLOSED})
"""Nobody needs to be told of these."""


@dataclass(frozen=True, slots=True)
class LinkRefusal:
    """One refusal: of which peer, as far as known, where, why, when."""

    peer: NodeId
    address: str
    cause: Cause
    why: LinkTrouble
    at_s: float
    """Seconds since 1970."""


def cause_of(why: NoLink) -> Cause:
    """Return the kind of refusal that a reason makes."""
    return CAUSES.get(why.kind, Cause.REFUSED)


_TOLD_BY_TLS: dict[str, LinkKind] = {
    "UNKNOWN_CA": "OfOtherFlock",
    "CERTIFICATE_EXPIRED": "CertificateEndedHere",
    "CERTIFICATE_REQUIRED": "CertificateMissingHere",
    "CERTIFICATE_REVOKED": "CertificateRevokedHere",
    "CERTIFICATE_UNKNOWN": "CertificateRefusedHere",
    "BAD_CERTIFICATE": "CertificateRefusedHere",
    "ACCESS_DENIED": "CertificateRefusedHere",
    "DECRYPT_ERROR": "OfOtherFlock",
    "NO_APPLICATION_PROTOCOL": "OtherVersion",
    "PROTOCOL_VERSION": "OtherTls",
    "UNSUPPORTED_PROTOCOL": "OtherTls",
    "UNEXPECTED_EOF": "BrokeOff",
    "WRONG_VERSION_NUMBER": "NotWingbeat",
    "WRONG_SSL_VERSION": "NotWingbeat",
    "HTTP_REQUEST": "CalledByOther",
    "DID_NOT_RETURN_A_CERTIFICATE": "ShowsNothing",
}
_OF_CERTIFICATES: dict[int, LinkKind] = {
    CERTIFICATE_EXPIRED: "CertificateEnded",
    CERTIFICATE_NOT_YET_VALID: "CertificateBegins",
    CERTIFICATE_REVOKED: "CertificateRevoked",
}


def explained(error: Exception | None) -> NoLink:
    """Return the reason why there is no link, as an error of TLS or of a socket tells it; for None
    and other errors, that the connection was closed."""
    match error:
        case ssl.SSLCertVerificationError():
            return NoLink(_OF_CERTIFICATES.get(error.verify_code, "OfOtherFlock"))
        case ssl.SSLError():
            reason = error.reason or ""
            kinds = (kind for part, kind in _TOLD_BY_TLS.items() if part in reason)
            failed = NoLink("TlsFailed", error=reason or str(error))
            return next(map(NoLink, kinds), failed)
        case ConnectionRefusedError():
            return NoLink("NobodyListens")
        case TimeoutError():
            return NoLink("NobodyAnswers")
        case ConnectionError():
            return NoLink("BrokeOff")
        case OSError():
            return NoLink("Unreachable", error=error.strerror or str(error))
        case _:
            return NoLink("ClosedGreeting")


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
        if before is None or before.why != refusal.why:
            name = self._name_of(refusal.peer) if refusal.peer else "?"
            log.info("no link with %s (%s): %s", name, refusal.address, english(refusal.why))
        if len(self._by_key) > REFUSALS_MAX:
            del self._by_key[next(iter(self._by_key))]

    def lost(self, peer: NodeId, address: str, why: NoLink | Opaque) -> None:
        """Keep, in place of the peer's last refusal, that its link is gone and why, until a call
        tells more."""
        self._by_key.pop(peer, None)
        self._by_key[peer] = LinkRefusal(peer, address, Cause.LOST, LinkGone(why), time.time())

    def linked(self, peer: NodeId, address: str) -> None:
        """Forget the refusals of a peer that is linked now, those of its address too."""
        self._by_key.pop(peer, None)
        self._by_key.pop(address, None)

    def all(self) -> tuple[LinkRefusal, ...]:
        """Return the last refusal of each peer or address, oldest first."""
        return tuple(self._by_key.values())
