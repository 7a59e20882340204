"""Which rules the flock goes by: an administrator's choice, the same on all nodes.

A choice carries a reading of the clock, and the latest one holds. Every status tells the one that its
node goes by, so it spreads from neighbour to neighbour, to nodes that were away too, and is kept with
the node's identity. A node whose version does not know the rules that were chosen passes the choice on
and goes by the default; who goes by other rules than this node is seen in its status (``other_rules``).
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Raw

from agent.protocol.core import Core, Part, Peer
from agent.protocol.effects import PolicyChoice
from agent.protocol.events import PolicyChosen
from agent.protocol.messages import Status
from agent.protocol.policy import DEFAULT_RULE, flock_rules
from agent.protocol.records import More, NodeId, Stamp

CHOICE = "policy"
_encode = msgspec.msgpack.Encoder().encode
_choice = msgspec.msgpack.Decoder(PolicyChoice).decode


class FlockPolicy(Part):
    """Takes choices, this node's and those of others."""

    def __init__(self, core: Core, tell_status: Callable[[], None]) -> None:
        super().__init__(core)
        self._tell_status = tell_status

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {PolicyChosen: self._chosen, Status: self._told}

    def _chosen(self, event: PolicyChosen) -> None:
        self._take(PolicyChoice(event.name, self.core.stamp()))

    def _told(self, peer: Peer, message: Status) -> None:
        told = choice_in(message.more)
        if told is None or _age(told) <= _age(self.core.chosen):
            return
        if self.core.clock.observe(told.stamp, self.core.wall_ms):
            self._take(told)
        else:
            self.core.count("stamp too far ahead")

    def _take(self, choice: PolicyChoice) -> None:
        core = self.core
        core.chosen = choice
        core.rule = flock_rules.get(choice.name, flock_rules[DEFAULT_RULE])
        core.save_identity()
        core.wake = True
        self._tell_status()


def _age(choice: PolicyChoice) -> tuple[Stamp, str]:
    """Of two that were made in the same instant one has to hold as well."""
    return choice.stamp, choice.name


def other_rules(core: Core) -> dict[NodeId, str]:
    """Return the linked peers that go by other rules than this node, each with the name of its
    rules; one that names none goes by the default. Peers whose status has not come are left out."""
    return {
        peer.node: rules
        for peer in core.peers.values()
        if peer.status is not None
        and (rules := peer.status.policy or DEFAULT_RULE) != core.rule.name
    }


def carried_choice(choice: PolicyChoice) -> More:
    """Return what a status carries of a choice; nothing where none was made."""
    return {CHOICE: Raw(_encode(choice))} if choice.name else {}


def choice_in(more: More) -> PolicyChoice | None:
    """Return the choice that a status carries; None where there is none that can be read."""
    try:
        return _choice(more[CHOICE])
    except (KeyError, msgspec.MsgspecError):
        return None
