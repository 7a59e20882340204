"""Which machines are one person's: whose work is whose, and who speaks for whom.

A person is a set of machines, each with a key of its own, and what one of them signs is his word. A key
of his that lay on all would be on the stolen one too, and nobody could take it away; one that lay on a
single machine would be lost with it. So no key travels, and a machine can be taken away alone. Every member is a person alone
until another machine of the same person has said that they belong together, and the new one agreed. The
person is called by the id of the machine that was first, and keeps that name when this one is lost.

A machine that was taken away from its person acts for nobody else under its key. What was submitted on
it stays the person's: so a lost machine loses its word, and the person loses no work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.protocol.records import NodeId

PersonId = str


@dataclass(frozen=True, slots=True)
class People:
    """The machines that were ever paired, as the acts on the flock have it."""

    now: Mapping[NodeId, PersonId] = field(default_factory=dict)
    """For whom each speaks; one that was taken away for itself."""
    ever: Mapping[NodeId, PersonId] = field(default_factory=dict)
    """Whose each is or was: what was submitted there is that person's."""

    def of(self, node: NodeId) -> PersonId:
        """Return the person for whom a machine speaks: itself, where it was never paired."""
        return self.now.get(node, node)

    def owner(self, home: NodeId) -> PersonId:
        """Return whose the work is that was submitted on a machine."""
        return self.ever.get(home, home)

    def is_lost(self, node: NodeId) -> bool:
        """Tell whether a machine was taken away from its person."""
        return self.of(node) == alone(node)

    def owns(self, node: NodeId, home: NodeId) -> bool:
        """Tell whether a machine has its person's word on what was submitted on another, or itself."""
        return node == home or self.of(node) == self.owner(home)

    def machines(self, person: PersonId) -> list[NodeId]:
        """Return the machines that speak for a person who has more than one key, sorted; nothing for
        who never paired any."""
        return sorted(node for node, whose in self.now.items() if whose == person)

    def others(self, node: NodeId) -> list[NodeId]:
        """Return the other machines of the person for whom one speaks."""
        return [each for each in self.machines(self.of(node)) if each != node]

    def submitter(self, home: NodeId, name: str) -> str:
        """Return as whose work counts what was submitted on a machine, empty for from afar, under a
        name: as its person's, whatever he calls himself there, where he has several machines."""
        return self.ever.get(home, name)


NO_PEOPLE = People()


def alone(node: NodeId) -> PersonId:
    """Return for whom a machine speaks that was taken away from its person."""
    return f"~{node}"
