"""How wide the columns of a table are where not all of it fits the window.

What is short stays whole and what is long gives way, all long ones to the same width, for a state
that cannot be read says less than a name in two lines. Where even that is too narrow to be read,
each row is told line by line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence

GAP = 2
READABLE_MIN = 10


def column_widths(natural: Sequence[int], window: int) -> list[int] | None:
    """Return the width of each column in a window this wide; None where a table could not be read
    in it."""
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
    """Yield each row as a line whose cells are as wide as their columns, without blanks at its
    end."""
    for row in rows:
        cells = zip(row, widths, strict=True)
        told = (cell + " " * (width - width_of(cell) + GAP) for cell, width in cells)
        yield "".join(told).rstrip()


def stacked_rows(
    header: Sequence[str], rows: Sequence[Sequence[str]], window: int
) -> Iterator[str]:
    """Yield the lines of each row with its first cell above the others, which stand beside their
    names, and a blank line between rows."""
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
