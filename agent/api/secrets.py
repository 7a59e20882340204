"""Secrets that programs of this machine may be given, such as the password of a database: by name.

A value goes in and never comes out: who may use it is asked with what its program asks for.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agent.api.permissions import SECRET_LENGTH_MAX, SECRET_PATTERN
from agent.api.rpc import Method

VALUE_LENGTH_MAX = 64 * 1024
SecretName = Annotated[
    str, Meta(min_length=1, max_length=SECRET_LENGTH_MAX, pattern=f"^{SECRET_PATTERN}$")
]
SecretValue = Annotated[str, Meta(min_length=1, max_length=VALUE_LENGTH_MAX)]
Place = Literal["key store", "file", "machine"]
"""Where a value lies: the system's store of keys, a file of the agent that its account alone can read, or
what an administrator has laid down for all."""


class Secrets(Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for the names of all secrets that are here, and where each lies; no value is told."""


class SecretView(Struct, frozen=True):
    """One that is here, and where its value lies."""

    name: str
    place: Place


class SecretsReply(Struct, frozen=True):
    """All of them, in the order of names."""

    secrets: tuple[SecretView, ...]


class SetSecret(Struct, frozen=True, forbid_unknown_fields=True):
    """Keep this value under this name, in place of one before."""

    name: SecretName
    value: SecretValue


class ForgetSecret(Struct, frozen=True, forbid_unknown_fields=True):
    """Delete the value of this name."""

    name: SecretName


class SecretForgotten(Struct, frozen=True):
    """It is not here any more."""

    name: str


# -- what is asked, and what is answered ----------------------------------------------------------

SECRETS = Method("secrets", Secrets, SecretsReply, by_members=False)
SET_SECRET = Method("set_secret", SetSecret, SecretView, by_members=False)
FORGET_SECRET = Method("forget_secret", ForgetSecret, SecretForgotten, by_members=False)
