"""Which rows a person's few typed words mean: every word has to occur, in whatever order and case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Row = TypeVar("Row")


def matching(rows: Iterable[Row], typed: str, text_of: Callable[[Row], str]) -> list[Row]:
    """Return the rows whose text has every typed word, in any order and case; all of them while
    nothing is typed."""
    words = typed.casefold().split()
    if not words:
        return list(rows)
    return [row for row in rows if has_all(text_of(row).casefold(), words)]


def has_all(text: str, words: list[str]) -> bool:
    """Tell whether the text has all the words; both have to be case-folded."""
    return all(word in text for word in words)
