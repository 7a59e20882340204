"""A sentence as a value: an English template, and what goes into its holes.

The template is a constant where the sentence arises and the key of its translations; what goes
into it is data, or a phrase in its turn. So is said what is wrong with something that a person
wrote: of such faults there are hundreds, and nobody branches on them. ``agent.api.phrases`` makes
words of them, at the edge.
"""

from __future__ import annotations

from msgspec import Struct, structs


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
    return Phrase(template, {key: _plain(value) for key, value in values.items()})


def hinted(phrase: Phrase, hint: Phrase | None) -> Phrase:
    """Return the phrase with a hint behind it."""
    return structs.replace(phrase, hint=hint)


def _plain(value: Value) -> Value:
    """The value as it can be sent: texts that know more, such as their place, are texts again."""
    return str(value) if isinstance(value, str) else value
