"""Why a machine is not seen, or this one does not work, with what to do.

One finding for each thing that is wrong, first what is wrong here (it explains the rest), then
machine by machine. A cause is only named where a fact shows it; where none does, the finding says
what to look at, in the order in which it is most often the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from agent.api.flock import Finding, FindingKind, MemberView, PeerView
from agent.api.reasons import (
    Diagnosis,
    DiagnosisKind,
    IdentityCopied,
    MachineAt,
    MachineNamed,
    as_why,
)
from agent.flock.operations import FlockFacts
from agent.net.copies import Copied
from agent.net.link_refusals import Cause, LinkRefusal
from agent.node.suspicions import Suspicion
from agent.protocol.link_reasons import NoMulticast
from agent.protocol.records import NodeId
from agent.wording.speech import english

CLOCK_DIFFERENCE_S_MAX = 30.0
"""Certificates and the times that people read suffer from more."""
UNHEARD_NAMED_MAX = 3

_CURES: dict[Cause, tuple[FindingKind, DiagnosisKind]] = {
    Cause.OTHER_FLOCK: ("other flock", "PeerOfOtherFlock"),
    Cause.OTHER_VERSION: ("other version", "PeerOfOtherVersion"),
    Cause.EXPIRED: ("certificate", "PeerCertificateEnded"),
    Cause.NOT_YET_VALID: ("clock", "PeerCertificateNotYet"),
    Cause.REFUSED: ("certificate", "PeerRefuses"),
    Cause.NOT_WINGBEAT: ("unreachable", "PeerNotWingbeat"),
    Cause.OTHER_NODE: ("unreachable", "PeerElsewhere"),
    Cause.SLOW: ("unreachable", "PeerSlow"),
    Cause.BUSY: ("unreachable", "PeerBusy"),
    Cause.LOST: ("unreachable", "PeerLost"),
    Cause.MISBEHAVED: ("other version", "PeerUnreadable"),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that explains why a peer is not seen, or this node does not work."""

    node: NodeId
    name: str
    port: int
    """0 without a flock: nothing listens then."""
    listen: tuple[str, ...]
    flock: FlockFacts | None
    members: tuple[MemberView, ...]
    peers: tuple[PeerView, ...]
    """Those that are linked."""
    refusals: tuple[LinkRefusal, ...]
    static_addresses: tuple[str, ...]
    discovers: bool
    """Whether multicast is used at all: not without a flock, nor where it is turned off."""
    multicast_trouble: NoMulticast | None
    """Why multicast cannot be used."""
    foreign_flocks: tuple[str, ...]
    """Ids of other flocks that were seen on this network."""
    keeping_up_error: str
    """Why the last renewal or hand-over of the authority's key failed; empty when none did."""
    journal_notices: tuple[str, ...]
    disk_usable: bool
    data_folder: str
    copied: tuple[Copied, ...] = ()
    port_wanted: int = 0
    """By the settings; 0 for any."""
    standing: Diagnosis | None = None
    """Of an invitation that was laid down here, while this node has no flock."""
    laid_down: tuple[Diagnosis, ...] = ()
    """What is wrong with the settings for all users of this machine."""
    rules: str = ""
    """By which this node decides who runs what."""
    suspicions: tuple[Suspicion, ...] = ()
    """What members were seen to do that no honest machine does."""


def findings(facts: Facts, now_s: float | None = None) -> Iterator[Finding]:
    """Yield all that is wrong, what explains most first; nothing when all is well. Without a flock,
    after an expulsion, or with a certificate that is not valid at ``now_s`` (the present by
    default), what that explains is left out."""
    clock_s = time.time() if now_s is None else now_s
    yield from _own_disk(facts)
    for wrong in facts.laid_down:
        yield _finding("settings", wrong, facts.name)
    if facts.flock is None:
        if facts.standing is not None:
            yield _finding("invitation", facts.standing, facts.name)
        if facts.standing is None or facts.standing.kind != "JoinsByInvitation":
            yield _finding("no flock", Diagnosis("NoFlock"))
        return
    yield from _own_membership(facts, facts.flock, clock_s)
    if facts.flock.expelled:
        return
    yield from _copied(facts)
    yield from _own_network(facts)
    if not facts.flock.member_valid_from_s <= clock_s <= facts.flock.member_valid_until_s:
        return  # it explains why nobody is linked, as far as anything can be told with this clock
    yield from _missing(facts)
    yield from _typed_addresses(facts)
    yield from _clocks(facts)
    if (mixed := rules_differ(facts)) is not None:
        yield _finding("rules", mixed, facts.name)
    for each in facts.suspicions:
        yield _finding(each.kind, each.why, each.subject)
    yield from _other_flocks(facts)


def own_identity_copied(facts: Facts) -> Diagnosis | None:
    """Return what to do when another machine was seen to have the identity of this one, or this one
    was sent away for it; None otherwise."""
    seen = any(each.node == facts.node for each in facts.copied)
    told = any(each.cause == Cause.COPIED for each in facts.refusals)
    return Diagnosis("OwnIdentityCopied", folder=facts.data_folder) if seen or told else None


def rules_differ(facts: Facts) -> Diagnosis | None:
    """Return which linked machines, those that tell no rules left out, decide by other rules than
    this one who runs what; None where there are none."""
    others = [each.name for each in facts.peers if each.rules not in ("", facts.rules)]
    return Diagnosis("RulesDiffer", name=facts.rules, places=tuple(others)) if others else None


def copied_peer(peer: PeerView, copied: Iterable[Copied]) -> PeerView:
    """Return the row of a peer with the reason not to rely on it put in, where another machine has
    its identity; else the row as it is."""
    for each in copied:
        if each.node == peer.node:
            why = as_why(IdentityCopied(peer.name, tuple(dict.fromkeys(each.hosts))))
            return replace(peer, why=why)
    return peer


def missing_members(facts: Facts) -> list[MemberView]:
    """Return the members without a link, this node left out, in the order of their names."""
    linked = {peer.node for peer in facts.peers}
    away = [each for each in facts.members if not each.own and each.node not in linked]
    return sorted(away, key=lambda each: (each.name, each.node))


def last_refusal(facts: Facts, fits: Callable[[LinkRefusal], bool]) -> LinkRefusal | None:
    """Return the latest of the refusals that fit; None where none does."""
    return max(filter(fits, facts.refusals), key=lambda each: each.at_s, default=None)


def _finding(kind: FindingKind, why: Diagnosis, subject: str = "") -> Finding:
    return Finding(kind, english(why), subject, as_why(why))


def _own_disk(facts: Facts) -> Iterator[Finding]:
    if not facts.disk_usable:
        full = Diagnosis("DiskOfDataFull", folder=facts.data_folder)
        yield _finding("journal", full, facts.name)
    for notice in facts.journal_notices:
        yield _finding("journal", Diagnosis("JournalMended", error=notice), facts.name)


def _own_membership(facts: Facts, flock: FlockFacts, now_s: float) -> Iterator[Finding]:
    begins_ms, ends_ms = (
        round(at_s * 1000) for at_s in (flock.member_valid_from_s, flock.member_valid_until_s)
    )
    if flock.expelled:
        yield _finding("expelled", Diagnosis("SentAway", name=flock.name), facts.name)
    elif now_s > flock.member_valid_until_s:
        ended = Diagnosis("OwnCertificateUntil", dated_ms=ends_ms)
        yield _finding("certificate", ended, facts.name)
    elif now_s < flock.member_valid_from_s:
        begins = Diagnosis(
            "OwnCertificateFromKeeper" if flock.keeper else "OwnCertificateFrom", dated_ms=begins_ms
        )
        yield _finding("certificate", begins, facts.name)
    elif facts.keeping_up_error and now_s > flock.renewal_due_s:
        failed = Diagnosis("NotRenewed", error=facts.keeping_up_error, dated_ms=ends_ms)
        yield _finding("authority", failed, facts.name)


def _copied(facts: Facts) -> Iterator[Finding]:
    if own := own_identity_copied(facts):
        yield _finding("copied identity", own, facts.name)
    names = {each.node: each.name for each in facts.members}
    for copied in facts.copied:
        if copied.node != facts.node:
            name = names.get(copied.node, copied.node)
            places = tuple(dict.fromkeys(copied.hosts))
            two = Diagnosis(
                "IdentityOfTwo", MachineNamed(name), places=places, folder=facts.data_folder
            )
            yield _finding("copied identity", two, name)


def _own_network(facts: Facts) -> Iterator[Finding]:
    if not facts.port:
        yield _finding("listening", Diagnosis("ListensNowhere"), facts.name)
    elif facts.port_wanted not in (0, facts.port) and missing_members(facts):
        other = Diagnosis("OtherPort", port=facts.port, port_wanted=facts.port_wanted)
        yield _finding("listening", other, facts.name)
    if not facts.discovers:
        yield _finding("multicast", Diagnosis("DiscoveryOff"), facts.name)
    elif facts.multicast_trouble is not None:
        unusable = Diagnosis("MulticastUnusable", why=facts.multicast_trouble)
        yield _finding("multicast", unusable, facts.name)
    elif missing_members(facts) and not facts.peers and not facts.refusals:
        yield _finding("firewall", Diagnosis("NobodyHeard", port=facts.port), facts.name)


def _missing(facts: Facts) -> Iterator[Finding]:
    """Each with its reason; those without one in a single sentence when they are many."""
    unheard = []
    for member in missing_members(facts):
        refusal = last_refusal(facts, partial(_of, member.node))
        if refusal is not None and refusal.cause == Cause.COPIED:
            continue  # it is not the other machine that is at fault, and is told above
        if refusal is None:
            unheard.append(member.name)
        else:
            yield _explained(member.name, MachineNamed(member.name), refusal)
    if len(unheard) <= UNHEARD_NAMED_MAX:
        for name in unheard:
            yield _finding("unreachable", Diagnosis("UnheardOne", MachineNamed(name)), name)
    else:
        named, more = ", ".join(unheard[:UNHEARD_NAMED_MAX]), len(unheard) - UNHEARD_NAMED_MAX
        yield _finding("unreachable", Diagnosis("UnheardMany", name=named, count=more))


def _of(node: NodeId, refusal: LinkRefusal) -> bool:
    return refusal.peer == node


def _typed_addresses(facts: Facts) -> Iterator[Finding]:
    """Refusals of somebody who did not say who it is, at an address that a person typed."""
    for address in facts.static_addresses:
        refusal = last_refusal(facts, partial(_unnamed_at, address))
        if refusal is not None:
            yield _explained(address, MachineAt(address), refusal)


def _unnamed_at(address: str, refusal: LinkRefusal) -> bool:
    return not refusal.peer and refusal.address == address


def _explained(name: str, peer: MachineNamed | MachineAt, refusal: LinkRefusal) -> Finding:
    kind, said = _CURES.get(refusal.cause, ("unreachable", "PeerUnreachable"))
    return _finding(kind, Diagnosis(said, peer, refusal.why, address=refusal.address), name)


def _clocks(facts: Facts) -> Iterator[Finding]:
    known = [(each.name, each.clock_ahead_ms) for each in facts.peers]
    ahead_s = [(name, by_ms / 1000) for name, by_ms in known if by_ms is not None]
    if _clock_here_is_wrong([by_s for _, by_s in ahead_s]):
        _, by_s = ahead_s[0]
        said: DiagnosisKind = "OwnClockBehind" if by_s > 0 else "OwnClockAhead"
        here = Diagnosis(said, length_ms=round(abs(by_s) * 1000))
        yield _finding("clock", here, facts.name)
        return
    for name, by_s in ahead_s:
        if abs(by_s) > CLOCK_DIFFERENCE_S_MAX:
            said = "ClockAhead" if by_s > 0 else "ClockBehind"
            there = Diagnosis(said, MachineNamed(name), length_ms=round(abs(by_s) * 1000))
            yield _finding("clock", there, name)


def _clock_here_is_wrong(ahead_s: list[float]) -> bool:
    """Several others agree with each other, and not with this one."""
    return (
        len(ahead_s) > 1
        and min(map(abs, ahead_s)) > CLOCK_DIFFERENCE_S_MAX
        and max(ahead_s) - min(ahead_s) <= CLOCK_DIFFERENCE_S_MAX
    )


def _other_flocks(facts: Facts) -> Iterator[Finding]:
    """Only where somebody is missed: two flocks on one network are nobody's fault."""
    alone = all(member.own for member in facts.members)
    if facts.foreign_flocks and (alone or missing_members(facts)):
        count = len(facts.foreign_flocks)
        others = Diagnosis("OtherFlockHere" if count == 1 else "OtherFlocksHere", count=count)
        yield _finding("other flock", others)
