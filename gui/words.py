"""What the windows say, in the language of the person: every sentence passes through ``tr``.

The model has no Qt, yet its sentences are translated: ``install`` gives it a translator, without
one everything stays English. Sentences carry their values by name, ``tr("done {when}", when=…)``,
because their order differs between languages; numbers that change a word go through ``tr_n``.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

Translate = Callable[[str, int | None, str], str]
"""A text, the number in it if there is one, and the note that tells two alike apart."""


class _Installed:
    """The translator of this process: one person, one language."""

    translate: Translate | None = None


def install(translate: Translate | None) -> None:
    """Translate from now on; none: stay English."""
    _Installed.translate = translate


def tr(text: str, /, **values: object) -> str:
    """Return a sentence in the language that is installed, English without one, with the values put
    in their places. Raises ``KeyError`` for one that is missing, unless none is given."""
    translate = _Installed.translate
    said = text if translate is None else translate(text, None, "")
    return said.format(**values) if values else said


def tr_n(text: str, note: str, count: int, /, **values: object) -> str:
    """Return a sentence for ``count`` things in the language that is installed, in the right
    number, with ``%n`` replaced by it and the values put in their places. ``note`` is for
    translators, and mostly empty. Raises ``KeyError`` as ``tr`` does."""
    translate = _Installed.translate
    said = _english(text, count) if translate is None else translate(text, count, note)
    said = said.replace("%n", str(count))
    return said.format(**values) if values else said


def _english(text: str, count: int) -> str:
    return text.replace("(s)", "" if count == 1 else "s")


def plain_tip(text: str) -> str:
    """Return what shows as this very text in a tool tip, which takes what looks like HTML for it: a
    name that somebody else gave would be laid out then, or load a file."""
    if "<" not in text:
        return text
    return f"<qt>{escape(text, quote=False)}</qt>".replace("\n", "<br>")
