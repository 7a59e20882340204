"""One identity on two machines, in sentences with the remedy.

To leave the flock is no remedy, although it comes to mind: it takes the identity, and so both
machines, out of the flock for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from agent.api.flock import PeerView
from agent.api.reasons import IdentityCopied, as_why
from agent.flock.facts import CopiedFacts
from agent.net.link_refusals import Cause
from agent.node.facts import Facts

CURE = (
    "on the machine that got the copy end Wingbeat, delete its data folder (here that is {folder}), "
    "start it again and join with a new invitation"
)


def own_identity_copied(facts: Facts) -> str:
    """Return what is wrong if another machine has the identity of this one; empty if none was
    seen."""
    seen = any(each.node == facts.node for each in facts.copied)
    told = any(each.cause == Cause.COPIED for each in facts.refusals)
    if not seen and not told:
        return ""
    cure = CURE.format(folder=facts.data_folder)
    return f"another machine has the same identity as this one, so a data folder was copied: {cure}"


def others_copied(facts: Facts) -> Iterator[tuple[CopiedFacts, str]]:
    """Yield each other identity that two machines have, with the sentence that says so."""
    for each in facts.copied:
        if each.node != facts.node:
            yield each, f"{_two_machines(each)}: {CURE.format(folder=facts.data_folder)}"


def copied_peer(peer: PeerView, copied: Iterable[CopiedFacts]) -> PeerView:
    """Return the row of a peer with why it is not to be relied on; as it is, where it is."""
    for each in copied:
        if each.node == peer.node:
            why = as_why(IdentityCopied(each.name, tuple(dict.fromkeys(each.hosts))))
            return replace(peer, why=why)
    return peer


def _two_machines(copied: CopiedFacts) -> str:
    places = " and ".join(dict.fromkeys(copied.hosts))
    return f"two machines have the identity of {copied.name} (at {places})"
