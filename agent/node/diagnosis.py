"""Why a machine is not seen, or this one does not work: facts to sentences with what to do.

One sentence for each thing that is wrong, first what is wrong here (it explains the rest), then
machine by machine. A cause is only named where a fact shows it; where none does, the sentence says
what to look at, in the order in which it is most often the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from agent.api.flock import Finding, FindingKind, MemberView, PeerView
from agent.api.reasons import IdentityCopied, as_why
from agent.api.wording import moment
from agent.flock.operations import FlockFacts
from agent.net.certificates import duration
from agent.net.copies import Copied
from agent.net.link_refusals import Cause, LinkRefusal
from agent.protocol.records import NodeId
from agent.wording.english import HOW_TO_JOIN, sent_away

CLOCK_DIFFERENCE_S_MAX = 30.0
"""Certificates and the times that people read suffer from more."""
SETTINGS = "`addresses` in settings.toml"
UNHEARD_NAMED_MAX = 3

_COPIED = (
    "on the machine that got the copy end Wingbeat, delete its data folder (here that is {folder}), "
    "start it again and join with a new invitation"
)


_CURES: dict[str, tuple[FindingKind, str]] = {
    Cause.OTHER_FLOCK: (
        "other flock",
        (
            "{name} belongs to another flock: leave that there (`wingbeat flock leave`) and join this "
            "one again with a new invitation"
        ),
    ),
    Cause.OTHER_VERSION: (
        "other version",
        "{name} runs a version of Wingbeat that this one cannot talk to: update the older of both",
    ),
    Cause.EXPIRED: (
        "certificate",
        (
            "the certificate of {name} has ended, or a clock is wrong: compare the clocks of both; if "
            "they are right, leave the flock on {name} and join again with a new invitation"
        ),
    ),
    Cause.NOT_YET_VALID: (
        "clock",
        (
            "the certificate of {name} is not valid yet by the clock of this machine: set both clocks "
            "by the same time server"
        ),
    ),
    Cause.REFUSED: (
        "certificate",
        (
            "{name} and this machine do not accept each other ({text}): compare the clocks of both, "
            "and look at `wingbeat flock members` on both for who was sent away and joins again"
        ),
    ),
    Cause.NOT_WINGBEAT: (
        "unreachable",
        "something that is not Wingbeat answers at the address of {name} ({address}): give "
        "Wingbeat another port there, or correct the address in " + SETTINGS,
    ),
    Cause.OTHER_NODE: (
        "unreachable",
        (
            "another machine than {name} answers at {address}: see where {name} is now, and correct "
            "the address if it was typed in, " + SETTINGS
        ),
    ),
    Cause.SLOW: (
        "unreachable",
        "{name} at {address} answers too slowly to be greeted: look at its load and its network",
    ),
    Cause.BUSY: (
        "unreachable",
        "{name} takes no more connections for now: wait a minute, then look at its log",
    ),
    Cause.LOST: (
        "unreachable",
        (
            "{name} was linked and is gone ({text}): see that it is switched on, awake and runs "
            "Wingbeat, and that its network works"
        ),
    ),
    Cause.MISBEHAVED: (
        "other version",
        "{name} sent what this machine cannot read ({text}): update Wingbeat on both",
    ),
}
_UNREACHABLE = (
    "{name} does not answer at {address} ({text}): see that it is switched on and awake, that both "
    "are on one network, and that its firewall lets Wingbeat accept connections"
)


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
    multicast_trouble: str | None
    """Why multicast cannot be used; empty when it can, None while it is not used: without a flock,
    or because it is turned off."""
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


def findings(facts: Facts, now_s: float | None = None) -> Iterator[Finding]:
    """Yield all that is wrong, what explains most first; nothing when all is well. Without a flock,
    after an expulsion, or with a certificate that is not valid at ``now_s`` (the present by
    default), what that explains is left out."""
    clock_s = time.time() if now_s is None else now_s
    yield from _own_disk(facts)
    if facts.flock is None:
        yield Finding("no flock", HOW_TO_JOIN)
        return
    yield from _own_membership(facts, clock_s)
    if facts.flock.expelled:
        return
    yield from _copied(facts)
    yield from _own_network(facts)
    if not facts.flock.member_valid_from_s <= clock_s <= facts.flock.member_valid_until_s:
        return  # it explains why nobody is linked, as far as anything can be told with this clock
    yield from _missing(facts)
    yield from _typed_addresses(facts)
    yield from _clocks(facts)
    yield from _other_flocks(facts)


def own_identity_copied(facts: Facts) -> str:
    """Return a sentence with what to do when another machine was seen to have the identity of this
    one, or this one was sent away for it; empty otherwise."""
    seen = any(each.node == facts.node for each in facts.copied)
    told = any(each.cause == Cause.COPIED for each in facts.refusals)
    if not seen and not told:
        return ""
    cure = _COPIED.format(folder=facts.data_folder)
    return f"another machine has the same identity as this one, so a data folder was copied: {cure}"


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


def _own_disk(facts: Facts) -> Iterator[Finding]:
    if not facts.disk_usable:
        text = f"the disk of {facts.data_folder} is full: make room, new work is refused until then"
        yield Finding("journal", text, facts.name)
    for notice in facts.journal_notices:
        text = f"the journal was mended ({notice}): what it lacks is taken from other machines"
        yield Finding("journal", text, facts.name)


def _own_membership(facts: Facts, now_s: float) -> Iterator[Finding]:
    flock = facts.flock
    if flock is None:
        return
    if flock.expelled:
        yield Finding("expelled", sent_away(flock.name), facts.name)
    elif now_s > flock.member_valid_until_s:
        text = (
            f"the certificate of this machine ended on {moment(flock.member_valid_until_s)}, "
            f"so nobody lets it in: if the clock here is right, leave the flock (`wingbeat flock "
            f"leave`) and join again with a new invitation"
        )
        yield Finding("certificate", text, facts.name)
    elif now_s < flock.member_valid_from_s:
        cure = (
            "this machine, a keeper, makes itself a new one within an hour, or at once when you "
            "start its agent anew"
            if flock.keeper
            else "leave the flock (`wingbeat flock leave`) and join again with a new invitation"
        )
        text = (
            f"the certificate of this machine begins only on {moment(flock.member_valid_from_s)}, "
            f"so nobody lets it in: if the clock here is right, one was wrong before, so {cure}"
        )
        yield Finding("certificate", text, facts.name)
    elif facts.keeping_up_error and now_s > flock.renewal_due_s:
        text = (
            f"the certificate of this machine ends on {moment(flock.member_valid_until_s)} and "
            f"could not be renewed ({facts.keeping_up_error}): switch on a keeper of the flock"
        )
        yield Finding("authority", text, facts.name)


def _copied(facts: Facts) -> Iterator[Finding]:
    if own := own_identity_copied(facts):
        yield Finding("copied identity", own, facts.name)
    for copied in facts.copied:
        if copied.node != facts.node:
            name = next(
                (each.name for each in facts.members if each.node == copied.node), copied.node
            )
            places = " and ".join(dict.fromkeys(copied.hosts))
            cure = _COPIED.format(folder=facts.data_folder)
            text = f"two machines have the identity of {name} (at {places}): {cure}"
            yield Finding("copied identity", text, name)


def _own_network(facts: Facts) -> Iterator[Finding]:
    if not facts.port:
        text = "this machine listens nowhere: look into its log, and start the agent again"
        yield Finding("listening", text, facts.name)
    elif facts.port_wanted not in (0, facts.port) and missing_members(facts):
        text = (
            f"port {facts.port_wanted} was used by another program when the agent started, so this "
            f"machine is reached at {facts.port}: see that firewalls let TCP {facts.port} pass, or "
            "choose a port of its own (`wingbeat settings --port`)"
        )
        yield Finding("listening", text, facts.name)
    if facts.multicast_trouble is None:
        text = f"discovery is switched off here: type the addresses of other machines, {SETTINGS}"
        yield Finding("multicast", text, facts.name)
    elif facts.multicast_trouble:
        text = (
            f"multicast cannot be used here ({_inner(facts.multicast_trouble)}): until that is "
            f"mended, type the addresses of other machines, {SETTINGS}"
        )
        yield Finding("multicast", text, facts.name)
    elif missing_members(facts) and not facts.peers and not facts.refusals:
        text = (
            "nobody is heard by multicast although it can be used: see that the network is marked "
            f"as private, that firewalls let UDP 5353 and TCP {facts.port} pass, and that the "
            f"access point does not keep machines apart; or type addresses, {SETTINGS}"
        )
        yield Finding("firewall", text, facts.name)


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
            yield _explained(member.name, refusal)
    if len(unheard) <= UNHEARD_NAMED_MAX:
        for name in unheard:
            yield _unheard(name, name, "it is", "its address")
    else:
        named = ", ".join(unheard[:UNHEARD_NAMED_MAX])
        names = f"{named} and {len(unheard) - UNHEARD_NAMED_MAX} more"
        yield _unheard(names, "", "they are", "their addresses")


def _of(node: NodeId, refusal: LinkRefusal) -> bool:
    return refusal.peer == node


def _unheard(names: str, subject: str, are: str, addresses: str) -> Finding:
    run = "runs" if subject else "run"
    text = (
        f"nothing was heard of {names} since this agent started: see that {are} switched on and "
        f"{run} Wingbeat on the same network, or type {addresses}, {SETTINGS}"
    )
    return Finding("unreachable", text, subject)


def _typed_addresses(facts: Facts) -> Iterator[Finding]:
    """Refusals of somebody who did not say who it is, at an address that a person typed."""
    for address in facts.static_addresses:
        refusal = last_refusal(facts, partial(_unnamed_at, address))
        if refusal is not None:
            yield _explained(f"the machine at {address}", refusal)


def _unnamed_at(address: str, refusal: LinkRefusal) -> bool:
    return not refusal.peer and refusal.address == address


def _explained(name: str, refusal: LinkRefusal) -> Finding:
    kind, sentence = _CURES.get(refusal.cause, ("unreachable", _UNREACHABLE))
    address = refusal.address or "an unknown address"
    text = sentence.format(name=name, address=address, text=_inner(refusal.text))
    return Finding(kind, text, name)


def _clocks(facts: Facts) -> Iterator[Finding]:
    known = [(each.name, each.clock_ahead_ms) for each in facts.peers]
    ahead_s = [(name, by_ms / 1000) for name, by_ms in known if by_ms is not None]
    if _clock_here_is_wrong([by_s for _, by_s in ahead_s]):
        _, by_s = ahead_s[0]
        yield _clock(facts.name, "this machine", -by_s, "those of all others")
        return
    for name, by_s in ahead_s:
        if abs(by_s) > CLOCK_DIFFERENCE_S_MAX:
            yield _clock(name, name, by_s, "the one here")


def _clock_here_is_wrong(ahead_s: list[float]) -> bool:
    """Several others agree with each other, and not with this one."""
    return (
        len(ahead_s) > 1
        and min(map(abs, ahead_s)) > CLOCK_DIFFERENCE_S_MAX
        and max(ahead_s) - min(ahead_s) <= CLOCK_DIFFERENCE_S_MAX
    )


def _clock(name: str, whose: str, ahead_s: float, compared: str) -> Finding:
    direction = "ahead of" if ahead_s > 0 else "behind"
    text = f"the clock of {whose} is {duration(abs(ahead_s))} {direction} {compared}"
    return Finding("clock", f"{text}: set all by the same time server", name)


def _other_flocks(facts: Facts) -> Iterator[Finding]:
    """Only where somebody is missed: two flocks on one network are nobody's fault."""
    alone = all(member.own for member in facts.members)
    if facts.foreign_flocks and (alone or missing_members(facts)):
        count = len(facts.foreign_flocks)
        others = "another flock is" if count == 1 else f"{count} other flocks are"
        text = (
            f"{others} on this network too: if the machine you miss belongs there, leave that "
            f"flock on it (`wingbeat flock leave`) and join this one"
        )
        yield Finding("other flock", text)


def _inner(sentence: str) -> str:
    """A sentence as a part of another one."""
    text = sentence.strip().rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
