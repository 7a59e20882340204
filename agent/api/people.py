"""People: which machines are one person's, and how another one becomes his."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from agent.api.administration import Acted, PhraseText
from agent.api.rpc import Method
from agent.api.values import Millis, Reference

_Words = Annotated[str, Meta(max_length=200)]
_Mac = Annotated[bytes, Meta(max_length=64)]


class Me(Struct, frozen=True, forbid_unknown_fields=True):
    """Who am I in the flock, and which machines are mine?"""


class OwnMachine(Struct, frozen=True):
    """A machine of the person; ``own``: this one."""

    node: str
    name: str
    own: bool


class MeReply(Struct, frozen=True):
    """The person for whom this machine speaks: a name that is shown and never trusted, the id behind it,
    and all his machines."""

    name: str
    person: str
    machines: tuple[OwnMachine, ...]


class Pair(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Show a code for another machine of mine; or, with the ``code`` that one shows: this is also me."""

    code: _Words = ""


class Paired(Struct, frozen=True):
    """The ``code`` to type on the other machine until then; without one this machine is the person's
    now."""

    me: MeReply
    code: str = ""
    expires_ms: Millis = 0


class Unpair(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Take a machine away from its person, for ever under its key: it is lost, or given away."""

    member: Reference
    phrase: PhraseText = ""


class Meet(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Asked by a machine of others: do you show the code that I was told? With its ``consent``: then I am
    that person's."""

    tag: _Mac
    consent: Annotated[bytes, Meta(max_length=512)] = b""


class Met(Struct, frozen=True):
    """It is shown here, for this person; the proof is made with it."""

    person: Annotated[str, Meta(max_length=64)]
    proof: _Mac


ME = Method("me", Me, MeReply, by_members=False)
PAIR = Method("pair", Pair, Paired, repeatable=False, by_members=False)
UNPAIR = Method("unpair", Unpair, Acted, by_members=False)
MEET = Method("meet", Meet, Met)
