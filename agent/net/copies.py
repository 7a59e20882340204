"""Identities that are at work on two machines at once, which happens when a data folder is copied.

Certificates cannot tell the copy from the original. What can is the instance, which an agent draws anew
at each start: one process has one for as long as it runs. So there are two processes when

* a connection with another instance comes while the link answers, or
* an instance comes again after another one had taken its place, or
* somebody greets with the identity of this node and is not this process.

A start anew, also one in which the old link is not yet known to be gone, is none of these. It is told
for some minutes after it was last seen, because it ends when a person has mended it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from agent.protocol.records import NodeId

TOLD_S = 180.0
"""Longer than it takes a refused copy to call again."""
PEERS_MAX = 512
INSTANCES_MAX = 8

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Copied:
    """An identity, and where it was seen last: two places of others, one of this node's own."""

    node: NodeId
    hosts: tuple[str, ...]
    at_s: float
    """Seconds since 1970."""


class Copies:
    """The identities that this node has seen at work on two machines."""

    def __init__(self, name_of: Callable[[NodeId], str] = str) -> None:
        self._name_of = name_of
        self._instances: dict[NodeId, list[str]] = {}
        """The latest last."""
        self._copied: dict[NodeId, Copied] = {}

    def note_link(self, peer: NodeId, instance: str) -> bool:
        """Remember that this instance of the peer is linked now; tell whether another one had
        replaced it before, which only happens when two machines share an identity. Of more than 512
        peers the one whose link is the oldest is forgotten, of more than 8 instances the oldest."""
        had = self._instances.pop(peer, [])
        back = instance in had[:-1]
        if instance in had:
            had.remove(instance)
        self._instances[peer] = [*had, instance][-INSTANCES_MAX:]
        if len(self._instances) > PEERS_MAX:
            del self._instances[next(iter(self._instances))]
        return back

    def note(self, node: NodeId, *hosts: str) -> None:
        """Record that the node's identity is at work on these hosts, in place of earlier ones; log
        it unless it was recorded in the last three minutes."""
        if not self.known(node):
            places = " and ".join(hosts)
            log.warning("two machines have the identity of %s: %s", self._name_of(node), places)
        self._copied[node] = Copied(node, hosts, time.time())

    def known(self, node: NodeId) -> bool:
        """Tell whether a copy of the node's identity was seen lately."""
        return any(each.node == node for each in self.all())

    def all(self) -> tuple[Copied, ...]:
        """Return the identities of which a copy was seen in the last three minutes; older ones are
        forgotten."""
        since_s = time.time() - TOLD_S
        self._copied = {each.node: each for each in self._copied.values() if each.at_s > since_s}
        return tuple(self._copied.values())
