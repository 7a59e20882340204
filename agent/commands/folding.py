"""Texts in the width of the terminal, so that no line is broken in the middle of a word.

Paragraphs of help texts are filled anew; a list of names and what they mean keeps its columns;
everything else that is indented there, as examples are, stays in one line, for people copy it.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

_MEANT = re.compile(r"(?P<name>\s+\S+\s{2,})(?P<meaning>\S.*)")
_BEGINNING = re.compile(r"\s*(?:- |(?:\S+ )*\S+ {2,})?")
"""Of a point in a list, or of what has a name in a column before it."""
WIDTH_MIN = 30


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """As argparse does it, but with texts that it would leave too wide."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(f"{indent}{line}" for line in folded(text, width - len(indent)))


def folded(text: str, width: int) -> Iterator[str]:
    """Wrap a text at this width and yield its lines: paragraphs are filled anew, indented lines
    keep their columns."""
    width = max(width, WIDTH_MIN)
    for prose, lines in groupby(text.splitlines(), lambda line: line.strip() and line[0] != " "):
        if prose:
            yield from _wrapped(" ".join(lines), width)
        else:
            for line in lines:
                yield from _indented(line, width)


def wrapped_lines(lines: Iterable[str], width: int) -> Iterator[str]:
    """Wrap each line at this width and yield what comes of it; what does not fit is indented to
    where the words of its line begin."""
    for line in lines:
        beginning = _BEGINNING.match(line)
        before = beginning.group() if beginning else ""
        if len(before) > width // 2:
            before = line[: len(line) - len(line.lstrip())]
        later = " " * min(len(before), width // 2)
        yield from _wrapped(line[len(before) :], max(width, WIDTH_MIN), before, later) or [line]


def _indented(line: str, width: int) -> Iterator[str]:
    found = _MEANT.fullmatch(line)
    if found is None or len(found["name"]) > width // 2:
        yield line
    else:
        name = found["name"]
        yield from _wrapped(found["meaning"], width, name, " " * len(name))


def _wrapped(text: str, width: int, first: str = "", later: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
