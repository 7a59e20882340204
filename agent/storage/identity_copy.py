"""The identity of the node once more, beside the database, because it is dear to lose.

A node that forgets its incarnation could take the runs of its former self for its own, and one
that forgets its clock could stamp new words older than its old ones. The flock cannot bring these
back as it brings records back. So the copy is written before a commit goes beyond it: it names the
incarnation, and a stamp ahead of all that are used until it is written again, about once a minute.

The file has two places of fixed size that are written in turn: a write that is cut short spoils the
older one, a full disk is asked for no new block, and nothing is renamed under a virus scanner.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import replace
from pathlib import Path

import msgspec

from agent.protocol.effects import Identity
from agent.storage.places import keep_names, make_private_file

AHEAD_MS = 60_000
STAMP_WALL_MAX = 2**62
PLACE_BYTES = 512
PLACES = 2
_identity = msgspec.json.Decoder(Identity)


class IdentityCopy:
    """The copy on disk, and what it is known to cover."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._covers = read_copy(path)
        self._next_place = (_place_of(path, self._covers) + 1) % PLACES

    def cover(self, identity: Identity) -> None:
        """Write the copy to disk, its stamp about a minute ahead so that it need not be written
        again soon; do nothing when it already names this incarnation and a stamp not below this
        one. Raise ``OSError`` when the disk refuses."""
        covers = self._covers
        if (
            covers is not None
            and covers.incarnation == identity.incarnation
            and covers.stamp >= identity.stamp
        ):
            return
        ahead = (min(identity.stamp[0] + AHEAD_MS, STAMP_WALL_MAX), 0)
        covers = replace(identity, stamp=max(ahead, identity.stamp))
        self._write(_as_line(covers))
        self._covers = covers

    def _write(self, line: bytes) -> None:
        if not self._path.exists():
            make_private_file(self._path)
            keep_names(self._path.parent)
        with self._path.open("r+b", buffering=0) as file:
            file.seek(self._next_place * PLACE_BYTES)
            file.write(line)
            os.fsync(file.fileno())
        self._next_place = (self._next_place + 1) % PLACES


def read_copy(path: Path) -> Identity | None:
    """Return the newest identity that can be read from the copy; None when the file is missing,
    cannot be read, or is damaged in both places."""
    found = [identity for identity in _both(path) if identity is not None]
    return max(found, key=_age, default=None)


def remembered(row: Identity | None, copy: Identity | None, *, damaged: bool) -> Identity | None:
    """Return the identity to start with: the one that is there where the other is missing, None
    without both; else the row as it is, unless the journal was damaged or the row is of an earlier
    incarnation. Then of each part what is later counts, because the copy's clock is ahead of the one
    that was used, but for reputation and notes: those of the row, notes of the copy where it has
    none."""
    if row is None or copy is None:
        return row or copy
    if not damaged and copy.incarnation <= row.incarnation:
        return row
    return Identity(
        max(row.incarnation, copy.incarnation),
        row.reputation,
        max(row.stamp, copy.stamp),
        row.notes or copy.notes,
        max(row.chosen, copy.chosen, key=lambda each: each.stamp),
    )


def _age(identity: Identity) -> tuple[int, tuple[int, int]]:
    return identity.incarnation, identity.stamp


def _both(path: Path) -> list[Identity | None]:
    try:
        content = path.read_bytes()
    except OSError:
        return []
    starts = range(0, PLACES * PLACE_BYTES, PLACE_BYTES)
    return [_from_line(content[start : start + PLACE_BYTES]) for start in starts]


def _place_of(path: Path, identity: Identity | None) -> int:
    """Where the latest stands, so that the other place is written next."""
    both = _both(path)
    return both.index(identity) if identity is not None and identity in both else -1


def _as_line(identity: Identity) -> bytes:
    content = msgspec.json.encode(identity)
    return (b"%b %b" % (_sum(content), content)).ljust(PLACE_BYTES - 1) + b"\n"


def _from_line(line: bytes) -> Identity | None:
    told_sum, _, content = line.strip().partition(b" ")
    if told_sum != _sum(content):
        return None
    try:
        return _identity.decode(content)
    except msgspec.MsgspecError:
        return None


def _sum(content: bytes) -> bytes:
    return b"%08x" % zlib.crc32(content)
