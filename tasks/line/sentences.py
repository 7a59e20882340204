"""Sentences that know what they are made of, so that whoever shows them can say them in another language.

A program knows no window and no catalogue: it says English, and beside that the template and what stands
in it. The translators' tool looks for ``said``, so templates are written there.
"""

from __future__ import annotations

from typing import Any


class Said(str):
    """A text, with its template and the values in it."""

    __slots__ = ("template", "values")
    template: str
    values: dict[str, object]


def said(template: str, /, **values: object) -> Said:
    """Return the text that the template and its values make."""
    made = Said(template.format(**values) if values else template)
    made.template, made.values = template, values
    return made


def sentence_of(error: Exception) -> str:
    """Return what an error says, as it was said."""
    first = next(iter(error.args), None)
    return first if isinstance(first, Said) else str(error)


def in_parts(sentence: object) -> Any:
    """Return a sentence for whoever says it in another language: its template and values, or the text
    itself where it has none."""
    if not isinstance(sentence, Said):
        return sentence if isinstance(sentence, int) else str(sentence)
    return {
        "template": sentence.template,
        "values": {name: in_parts(value) for name, value in sentence.values.items()},
    }
