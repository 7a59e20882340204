"""What a name may have in it, and how one is shown that has more.

A name stands in sentences, windows and terminals of people who did not choose it. A letter that nobody
sees makes two names look alike; one that turns the direction of writing, or steers a terminal, makes a
sentence say something else. So no new name has any, and all are in the composed form of Unicode, in
which names that look alike are alike. Records of older versions are kept as they are, because the
replicas would differ otherwise, and shown with a word in the place of what cannot be seen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from agent.protocol.phrases import Phrase, said

NAME_CHARACTERS_MAX = 200
LEFT_OPEN = "?"
"""Ends the name of what a person may attach to a gate and need not."""
NOT_ATTACHED = "(not attached)"
"""The identifier that stands for it then; no program is told of it."""
SHOWN_MAX = 60
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks by their category, and nothing to be seen."""


def fault_of_names(names: Iterable[str]) -> Phrase | None:
    """Return why the first of these that is no name is none (``fault_of_name``); None where all are
    names. An empty one counts as a name."""
    return next(filter(None, map(fault_of_name, dict.fromkeys(names))), None)


def fault_of_name(name: str) -> Phrase | None:
    """Return which rule a name breaks, the first of: more than ``NAME_CHARACTERS_MAX`` characters,
    one that cannot be seen, letters not in composed form (NFC). None when it breaks none; an empty
    name breaks none."""
    if name.isascii() and name.isprintable() and len(name) <= NAME_CHARACTERS_MAX:
        return None
    shown = f'"{visible(name)[:SHOWN_MAX]}"'
    if len(name) > NAME_CHARACTERS_MAX:
        return said(
            "the name {name} has more than {most} characters", name=shown, most=NAME_CHARACTERS_MAX
        )
    hidden = next(filter(_is_hidden, name), None)
    if hidden is not None:
        return said(
            "the name {name} has a character that cannot be seen (U+{code}): leave it out",
            name=shown,
            code=f"{ord(hidden):04X}",
        )
    if not unicodedata.is_normalized("NFC", name):
        return said(
            "the name {name} is written in parts of letters: write it in whole letters (NFC)",
            name=shown,
        )
    return None


def visible(text: str) -> str:
    """Return a text as it may be shown in one line: a word like <U+202E> in the place of each
    character that cannot be seen; most texts as they are."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"<U+{ord(each):04X}>" if _is_hidden(each) else each for each in text)


def visible_lines(text: str) -> str:
    """Return the same of a text that may have several lines."""
    return (
        text if text.isascii() and text.isprintable() else "\n".join(map(visible, text.split("\n")))
    )


def composed(text: str) -> str:
    """Return a text in the composed form, as names are written."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in _HIDDEN or letter in _BLANK
