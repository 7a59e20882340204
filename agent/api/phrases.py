"""A sentence as a value: an English template, and what goes into its holes.

The template is a constant where the sentence arises and the key of its translations; what goes
into it is data, or a phrase in its turn. Words are made of it at the edge: in English here alone,
in another language by the same function with a catalogue. A template that a catalogue does not
have, such as one of a newer agent, stays English.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Formatter

from msgspec import Struct, structs

Translate = Callable[[str], str]


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
    return Phrase(template, values)


def hinted(phrase: Phrase, hint: Phrase | None) -> Phrase:
    """Return the phrase with a hint behind it."""
    return structs.replace(phrase, hint=hint)


def worded(phrase: Phrase, translated: Translate = str) -> str:
    """Return the sentence in the language of a catalogue; without one, in English."""
    template = translated(phrase.template)
    try:
        parts = [*Formatter().parse(template)]
    except ValueError:  # said by another agent, in a way that is not ours
        return template
    text = "".join(
        literal + ("" if name is None else _value(phrase.values.get(name, ""), translated))
        for literal, name, _, _ in parts
    )
    return f"{text}; {worded(phrase.hint, translated)}" if phrase.hint else text


def either(words: Sequence[str], translated: Translate = str) -> str:
    """Return the words as ``a, b or c``."""
    *first, last = words or ("",)
    both = said("{first} or {last}", first=", ".join(first), last=last)
    return worded(both, translated) if first else last


def _value(value: Value, translated: Translate) -> str:
    match value:
        case Phrase():
            return worded(value, translated)
        case str() | int():
            return str(value)
        case _:
            return either([_value(each, translated) for each in value], translated)
