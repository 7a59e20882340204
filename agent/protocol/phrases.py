"""Sentences as values, the errors that carry them, and whose fault it is.

The template is a constant where the sentence arises and the key of its translations; what goes
into it is data, or a phrase in its turn. So is said what is wrong with something that a person
wrote: of such faults there are hundreds, and nobody branches on them. ``agent.api.phrases`` makes
words of them, at the edge.

The errors tell by their type whose fault it is: ours, theirs, or a person's.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct, structs

UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What decoding raises for bytes that somebody else sent, however wrong they are."""


class Phrase(Struct, frozen=True, omit_defaults=True):
    """A template with named holes, ``{name}``, and a value for each. Several are alternatives.

    ``hint`` is what was probably meant, or what to do: it stands behind, after a semicolon.
    """

    template: str
    values: dict[str, str | int | Phrase | tuple[str | Phrase, ...]] = {}
    hint: Phrase | None = None


Value = str | int | Phrase | tuple[str | Phrase, ...]


def said(template: str, /, **values: Value) -> Phrase:
    """Make a phrase; the translators' tool looks for this name, so the template is written here."""
    return phrase(template, values)


def phrase(template: str, values: dict[str, Value]) -> Phrase:
    """Make a phrase of a template that is written elsewhere."""
    return Phrase(template, {key: _plain(value) for key, value in values.items()})


def hinted(phrase: Phrase, hint: Phrase | None) -> Phrase:
    """Return the phrase with a hint behind it."""
    return structs.replace(phrase, hint=hint)


def _plain(value: Value) -> Value:
    """The value as it can be sent: texts that know more, such as their place, are texts again."""
    return str(value) if isinstance(value, str) else value


class LocalProtocolError(Exception):
    """This node broke a rule of its own; the message carries the story that led there."""


class RemoteProtocolError(Exception):
    """A peer sent what no correct peer sends. It costs the peer its link, never the node."""


class RequestError(Exception):
    """A client asked for what cannot be done: what, where, what to do. Tasks stand in it by their
    ids."""

    def __init__(self, fault: Phrase) -> None:
        super().__init__(fault.template)
        self.fault = fault
