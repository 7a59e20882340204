"""Acts on the flock: who is an administrator, keeper, operator or helper, and the way back."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agent.api.rpc import Method
from agent.api.values import Reference

Given = Literal["administrator", "keeper"]
PhraseText = Annotated[str, Meta(max_length=200)]


class Appoint(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Make a member an administrator or keeper, or (``withdraw``) end that. The recovery ``phrase``
    stands in for an administrator where one is missing."""

    member: Reference
    what: Given
    withdraw: bool = False
    phrase: PhraseText = ""


class SetRole(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Make a member an operator, who may submit, or a helper, which only runs what others submit."""

    member: Reference
    role: Literal["operator", "helper"]
    phrase: PhraseText = ""


class Acted(Struct, frozen=True):
    """It is signed. Where ``agreed`` names administrators it is not enough yet: one more has to say
    the same."""

    node: str
    name: str
    agreed: tuple[str, ...] = ()


class Recover(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Make this machine the flock's only administrator, by its recovery phrase alone; with ``check``
    only tell whether it is the phrase."""

    phrase: PhraseText
    check: bool = False


class Recovered(Struct, frozen=True):
    """This machine administers the flock now, or, where that was asked, the phrase is right."""

    flock: str


class UpgradeFlock(Struct, frozen=True, forbid_unknown_fields=True):
    """Give a flock of before administrators: this machine is the first."""


class NewPhrase(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Draw another recovery phrase in place of the one that is known, or agree to the one that
    another administrator has drawn."""

    phrase: PhraseText = ""


class PhraseShown(Struct, frozen=True):
    """The recovery phrase: shown this once, kept nowhere. Empty where one was agreed to."""

    flock: str
    phrase: str
    agreed: tuple[str, ...] = ()


APPOINT = Method("appoint", Appoint, Acted, repeatable=False, by_members=False)
SET_ROLE = Method("set_role", SetRole, Acted, by_members=False)
RECOVER = Method("recover", Recover, Recovered, by_members=False)
UPGRADE_FLOCK = Method(
    "upgrade_flock", UpgradeFlock, PhraseShown, repeatable=False, by_members=False
)
NEW_PHRASE = Method("new_phrase", NewPhrase, PhraseShown, repeatable=False, by_members=False)
