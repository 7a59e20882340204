"""Tables and texts in the width of the terminal, so that no line is broken in the middle of a word.

What is short in a table stays whole and what is long gives way, all long ones to the same width, for
a state that cannot be read says less than a name in two lines. Where even that is too narrow to be
read, each row is told line by line.

Paragraphs of help texts are filled anew; a list of names and what they mean keeps its columns;
everything else that is indented there, as examples are, stays in one line, for people copy it.

What is wrong is told here, apart from how answers are shown: what shows those knows the whole
contract, and loading it would double the time of `wingbeat --help`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TextIO

_MEANT = re.compile(r"(?P<name>\s+\S+\s{2,})(?P<meaning>\S.*)")
_BEGINNING = re.compile(r"\s*(?:- |(?:\S+ )*\S+ {2,})?")
"""Of a point in a list, or of what has a name in a column before it."""
WIDTH_MIN = 30
GAP = 2
READABLE_MIN = 10


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """As argparse does it, but with texts that it would leave too wide."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(f"{indent}{line}" for line in folded(text, width - len(indent)))


def folded(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text wrapped at this width, but at least at ``WIDTH_MIN``: paragraphs
    are filled anew, what is meant by a name keeps its column, and other indented lines stay as they
    are."""
    width = max(width, WIDTH_MIN)
    for prose, lines in groupby(text.splitlines(), lambda line: line.strip() and line[0] != " "):
        if prose:
            yield from _wrapped(" ".join(lines), width)
        else:
            for line in lines:
                yield from _indented(line, width)


def wrapped_lines(lines: Iterable[str], width: int) -> Iterator[str]:
    """Wrap each line at this width, but at least at ``WIDTH_MIN``, and yield what comes of it; the
    rest of a line is indented to where its words begin, by half the width at most. A word that is
    longer is not broken and sticks out; an empty line stays."""
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


def column_widths(natural: Sequence[int], window: int) -> list[int] | None:
    """Return the width of each column in a window this wide: its natural one where all fit, else
    all long ones cut to the same. None where that would be too narrow to be read."""
    free = window - GAP * (len(natural) - 1)
    if sum(natural) <= free:
        return list(natural)
    cap, left = 0, free
    for place, width in enumerate(sorted(natural)):
        cap = left // (len(natural) - place)
        if width > cap:
            break
        left -= width
    return None if cap < READABLE_MIN else [min(width, cap) for width in natural]


def padded(
    rows: Iterable[Sequence[str]], widths: Sequence[int], width_of: Callable[[str], int]
) -> Iterator[str]:
    """Yield each row as a line, its cells filled up to the widths of their columns but never cut,
    without blanks at its end; ``width_of`` measures a cell. Raises ``ValueError`` for a row of
    another length."""
    for row in rows:
        cells = zip(row, widths, strict=True)
        told = (cell + " " * (width - width_of(cell) + GAP) for cell, width in cells)
        yield "".join(told).rstrip()


def stacked_rows(
    header: Sequence[str], rows: Sequence[Sequence[str]], window: int
) -> Iterator[str]:
    """Yield the lines of each row with its first cell above the others, which stand wrapped beside
    their names, and a blank line between rows; empty cells are left out. A window too narrow for
    that is exceeded. Raises ``ValueError`` for a row of another length than the header."""
    indent = max(map(len, header[1:]), default=0) + 2 * GAP
    for number, (first, *others) in enumerate(rows):
        if number:
            yield ""
        yield first
        for name, cell in zip(header[1:], others, strict=True):
            if cell:
                before = " " * GAP + name
                yield from textwrap.wrap(
                    cell,
                    max(window, indent + READABLE_MIN),
                    initial_indent=before.ljust(indent),
                    subsequent_indent=" " * indent,
                )


def complain(sentence: str) -> None:
    """Print a sentence on standard error, wrapped if that is a terminal, with a mark in the place
    of what could steer one."""
    told, window = plain(sentence), window_of(sys.stderr)
    lines = [told] if window is None else wrapped_lines([told], window)
    sys.stderr.writelines(f"{line}\n" for line in lines)


def window_of(stream: TextIO) -> int | None:
    """Return how many columns the stream has; None where it is no terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def plain(text: str) -> str:
    """Return the text with a mark in place of each character that is not to be seen: escapes, line
    ends, changes of direction."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
