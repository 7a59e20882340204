"""Why there is no link with a machine, or why it is not found: values, like all reasons.

A machine that refuses a link tells the other why, so these travel on the wire too.
"""

from __future__ import annotations

from typing import Literal

from agent.protocol.reasons import Opaque, Reason

LinkKind = Literal[
    "BrokeOff",
    "CalledByOther",
    "CannotHandle",
    "CertificateBegins",
    "CertificateEnded",
    "CertificateEndedHere",
    "CertificateFrom",
    "CertificateMissingHere",
    "CertificateOfOther",
    "CertificateRefusedHere",
    "CertificateRevoked",
    "CertificateRevokedHere",
    "CertificateUnreadable",
    "CertificateUntil",
    "ClosedGreeting",
    "ExpelledFrom",
    "HasLeft",
    "IdentityLinked",
    "IdentityTaken",
    "IsItself",
    "LeftFlock",
    "LinkBroke",
    "LinkClosed",
    "LinkedAlready",
    "NewerLink",
    "NoKnownProtocol",
    "NoTls",
    "NobodyAnswers",
    "NobodyListens",
    "NotLetIn",
    "NotMember",
    "NotWanted",
    "NotWingbeat",
    "OfOtherFlock",
    "OtherAnswers",
    "OtherTls",
    "OtherVersion",
    "OutOfFavour",
    "SaidGoodbye",
    "SendsTooMuch",
    "SentNonsense",
    "SentUnreadable",
    "ShowsNoCertificate",
    "ShowsNothing",
    "Silent",
    "Stopping",
    "TellsWrong",
    "TlsFailed",
    "TooManyConnections",
    "TooManyGreet",
    "TooManyTransfers",
    "TooSlow",
    "Unreachable",
    "WasExpelled",
]
"""Names of sentences of ``agent.wording.english``; one of a later version is not read here."""


class NoLink(Reason, frozen=True, omit_defaults=True):
    """Why there is no link with a machine, by its ``kind``, which says which of the values mean
    anything: ``name`` is that of a machine or a flock, ``error`` in the words of a system or
    library."""

    kind: LinkKind
    host: str = ""
    name: str = ""
    error: str = ""
    address: str = ""
    dated_ms: int = 0
    length_ms: int = 0
    count: int = 0
    limit: int = 0


class RefusesThis(Reason, frozen=True):
    """It does not want a link with this machine."""

    why: NoLink | Opaque


class LinkGone(Reason, frozen=True):
    """There was a link."""

    why: NoLink | Opaque


LinkTrouble = NoLink | RefusesThis | LinkGone | Opaque
"""Why there is no link now; ``Opaque`` what a machine of before said."""


MulticastKind = Literal[
    "MulticastFails", "NetworkRefuses", "NoNetwork", "NotAllowed", "PortOfMulticastTaken"
]


class NoMulticast(Reason, frozen=True):
    """Why machines cannot be found by multicast; ``error`` in the words of the system."""

    kind: MulticastKind
    error: str = ""
