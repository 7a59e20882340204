"""What all acts on the flock together amount to: who may do what, and how many voices a thing takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.net.acts import ADMINISTRATOR, APPOINTED, KEEPER, PHRASE, ROLE, Act, Sealed
from agent.protocol.people import People

VOICES = 2


@dataclass(frozen=True, slots=True)
class Departed:
    """How and when a node ceased to belong; of a keeper, whom it had let in that stays."""

    kind: str
    time_s: int
    kept: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pending:
    """An act that some administrators have signed, and not enough."""

    act: Act
    by: tuple[str, ...]


@dataclass(slots=True)
class Rights:
    """What all acts together amount to; not to be changed by whoever gets it."""

    founder: str = ""
    founded_s: int = 0
    recovery: str = ""
    sealed: Sealed | None = None
    administrators: set[str] = field(default_factory=set)
    """By the names of people, not of their machines."""
    now: dict[str, str] = field(default_factory=dict)
    ever: dict[str, str] = field(default_factory=dict)
    """For whom each machine that was ever paired speaks, and whose it ever was: the two of ``people``."""
    roles: dict[str, str] = field(default_factory=dict)
    """Of the machines to which an administrator gave one; others have the one of their invitation."""
    keepers: dict[str, frozenset[str] | None] = field(default_factory=dict)
    """All who ever were: None while they are, else whom they had let in that stays."""
    departed: dict[str, Departed] = field(default_factory=dict)
    before: frozenset[str] = frozenset()
    """Who belonged before the flock had acts."""
    statements_before: frozenset[bytes] = frozenset()
    pending: tuple[Pending, ...] = ()
    signers: set[str] = field(default_factory=set)
    """Who may have signed acts: all that ever spoke for administrators, and phrases."""

    @property
    def people(self) -> People:
        """Which machines are one person's."""
        return People(self.now, self.ever)

    def person(self, signer: str) -> str:
        """Return for whom a machine speaks."""
        return self.now.get(signer, signer)

    def is_lost(self, machine: str) -> bool:
        """Tell whether it was taken away from its person; it can be given no right that a person has."""
        return self.people.is_lost(machine)

    def machines(self, person: str) -> list[str]:
        """Return the machines that speak for a person and belong; for a name under which nothing was
        ever paired, that machine alone, unless it departed."""
        known = [each for each, whose in self.now.items() if whose == person]
        if not known and person not in self.ever:
            known = [person]
        return [each for each in known if each not in self.departed]

    def is_keeper(self, node: str) -> bool:
        """Tell whether the node may hold the authority's key."""
        return node in self.keepers and self.keepers[node] is None and node not in self.departed

    def has_voice(self, signer: str) -> bool:
        """Tell whether it may say anything of others: an administrator, or the phrase."""
        return self.person(signer) in self.administrators or signer == self.recovery

    def others(self, whom: str) -> set[str]:
        """Return the administrators who have a voice where this machine is concerned."""
        return self.administrators - {self.person(whom)}

    def is_weighty(self, kind: str, whom: str, value: str) -> bool:
        """Tell whether one administrator is not enough for this."""
        if kind in (KEEPER, PHRASE) or (kind == ROLE and value == ADMINISTRATOR):
            return True
        return self.person(whom) in self.administrators or self.is_keeper(whom)

    def may_unpair(self, signer: str, whom: str) -> bool:
        """Tell whether a machine alone takes this one away: both speak for one person, who has more."""
        return (
            self.person(signer) == self.person(whom) and len(self.machines(self.person(whom))) > 1
        )

    def voices(self, whom: str, signers: Iterable[str]) -> tuple[str, ...]:
        """Return those of the signers, sorted, who speak for administrators where this machine is
        concerned."""
        others = self.others(whom)
        return tuple(sorted(each for each in signers if self.person(each) in others))

    def is_agreed(self, kind: str, whom: str, value: str, voices: Iterable[str]) -> bool:
        """Tell whether these voices are enough for an act: one administrator's or, for a weighty act,
        those of two or, where there are fewer, of all and the phrase. The person concerned does not
        count, but may alone lay down a role or the keeping."""
        said, others = set(map(self.person, voices)), self.others(whom)
        if not self.is_weighty(kind, whom, value):
            return bool(said & others)
        if (
            kind in (ROLE, KEEPER)
            and value != ADMINISTRATOR
            and value != APPOINTED
            and self.person(whom) in said
        ):
            return True
        if len(others) >= VOICES:
            return len(said & others) >= VOICES
        return self.recovery in said and others <= said
