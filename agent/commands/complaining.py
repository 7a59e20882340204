"""How commands tell what is wrong, apart from how they show answers: what shows those knows the whole
contract, and loading it would double the time of `wingbeat --help`.
"""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

from agent.commands.columns import wrapped_lines


def complain(sentence: str) -> None:
    """Print a sentence on standard error."""
    told, window = plain(sentence), window_of(sys.stderr)
    lines = [told] if window is None else wrapped_lines([told], window)
    sys.stderr.writelines(f"{line}\n" for line in lines)


def window_of(stream: TextIO) -> int | None:
    """Return how many columns the stream has; None where it is no terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def plain(text: str) -> str:
    """Return the text with a mark in place of what is not to be seen: escapes, line ends, changes
    of direction."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
