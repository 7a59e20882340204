"""Phrases become words here: in English alone, or by a catalogue in another language.

A template that a catalogue does not have, such as one of a newer agent, stays English.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Formatter

from agent.protocol.phrases import Phrase, Value, said

Translate = Callable[[str], str]


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
    """Return ``a, b or c``."""
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
