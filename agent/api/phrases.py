"""Phrases become words here: in English alone, or by a catalogue in another language.

A template that a catalogue does not have, such as one of a newer agent, stays English.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Formatter

import msgspec
from msgspec import UNSET, Raw, UnsetType

from agent.api.rpc import decoder_of
from agent.protocol.names import LEFT_OPEN as LEFT_OPEN  # noqa: PLC0414 - for clients
from agent.protocol.names import NOT_ATTACHED as NOT_ATTACHED  # noqa: PLC0414
from agent.protocol.names import composed as composed  # noqa: PLC0414 - for clients
from agent.protocol.names import fault_of_name, visible_lines
from agent.protocol.phrases import UNREADABLE, Value
from agent.protocol.phrases import Phrase as Phrase  # noqa: PLC0414
from agent.protocol.phrases import said as said  # noqa: PLC0414 - for clients

Translate = Callable[[str], str]
_encoder = msgspec.json.Encoder()
_decoder = decoder_of(Phrase)


def wrong_name(name: str) -> str:
    """Return in words what is wrong with a name; empty when nothing is."""
    fault = fault_of_name(name)
    return "" if fault is None else worded(fault)


def as_raw(phrase: Phrase) -> Raw:
    """Return what an answer carries of a phrase."""
    return Raw(_encoder.encode(phrase))


def phrase_of(carried: Raw | UnsetType) -> Phrase | None:
    """Return the phrase that an answer carries; None where it carries none, and for one that cannot
    be read, as of another version: the text beside it has to do."""
    if carried is UNSET:
        return None
    try:
        return _decoder.decode(carried)
    except UNREADABLE:
        return None


def worded(phrase: Phrase, translated: Translate = str) -> str:
    """Return the sentence in the language of a catalogue, without one in English, its hint behind
    it. A value that is missing is left empty; a template that cannot be read, from another agent,
    is returned as it is."""
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
    """Return the words as ``a, b or c``, the "or" in the language of a catalogue; a single one as
    it is, and an empty text for none."""
    *first, last = words or ("",)
    both = said("{first} or {last}", first=", ".join(first), last=last)
    return worded(both, translated) if first else last


def _value(value: Value, translated: Translate) -> str:
    match value:
        case Phrase():
            return worded(value, translated)
        case str():
            return visible_lines(value)
        case int():
            return str(value)
        case _:
            return either([_value(each, translated) for each in value], translated)
