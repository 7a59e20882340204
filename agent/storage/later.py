"""Data that a later version has written: refused, and left as it is.

An older program could only lose what it does not understand, and a database that it takes for damaged
is set aside. So each says of which format it is, in the place that SQLite has for that, and this is
looked at before anything is opened. The journal has more to say of itself (``formats``).
"""

from __future__ import annotations

from pathlib import Path

from agent.api.errors import ServiceError

FORMAT = 1
"""Of history, logs of others and the index of datasets alike; a later one has another number."""
MARK = f"PRAGMA user_version = {FORMAT};"
"""Ends what makes the tables of such a database."""
_AT, _BYTES = 60, 4
_BEGINNING = b"SQLite format 3\0"


class LaterDataError(ServiceError):
    """A later version of the program wrote it."""


def refuse_later_data(files: dict[str, Path]) -> None:
    """Raise ``LaterDataError``, with nothing changed, where one of these databases, by what people
    call it, is of a later format than this program knows; one that is missing, damaged or cannot be
    read is left to whoever opens it."""
    for what, path in files.items():
        try:
            with path.open("rb") as file:
                head = file.read(_AT + _BYTES)
        except OSError:
            continue
        found = int.from_bytes(head[_AT:], "big") if head.startswith(_BEGINNING) else 0
        if FORMAT < found < 2**16:  # beyond it is damaged, not later
            raise LaterDataError(
                f"{what} in {path} was written by a later version of Wingbeat (format {found}, known "
                f"here up to {FORMAT}) and was left as it is: install that version again, or move "
                f"that file away to go on without it."
            )
