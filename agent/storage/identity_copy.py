"""The identity of the node once more, beside the database, because it is dear to lose.

A node that forgets its incarnation could take the runs of its former self for its own, and one
that forgets its clock could stamp new words older than its old ones. The flock cannot bring these
back as it brings records back. So the copy is written before a commit goes beyond it: it names the
incarnation, and a stamp ahead of all that are used until it is written again, about once a minute.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import msgspec

from agent.protocol.effects import Identity
from agent.storage.places import write_whole

AHEAD_MS = 60_000
STAMP_WALL_MAX = 2**62


class IdentityCopy:
    """The copy on disk, and what it is known to cover."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._covers = read_copy(path)

    def cover(self, identity: Identity) -> None:
        """Have the copy name this incarnation and a stamp not below this one."""
        covers = self._covers
        if (
            covers is not None
            and covers.incarnation == identity.incarnation
            and covers.stamp >= identity.stamp
        ):
            return
        ahead = (min(identity.stamp[0] + AHEAD_MS, STAMP_WALL_MAX), 0)
        covers = Identity(identity.incarnation, identity.reputation, max(ahead, identity.stamp))
        write_whole(self._path, _as_line(covers))
        self._covers = covers


def read_copy(path: Path) -> Identity | None:
    """What the copy says; None when there is none or it is damaged."""
    try:
        sum_text, _, content = path.read_bytes().strip().partition(b" ")
        if sum_text != _sum(content):
            return None
        return msgspec.json.decode(content, type=Identity)
    except (OSError, msgspec.MsgspecError):
        return None


def remembered(row: Identity | None, copy: Identity | None, *, damaged: bool) -> Identity | None:
    """The identity to start with.

    The copy's clock is ahead of the clock that was used, so the copy counts only when the row may
    be an old one: it is missing, the journal was damaged, or it is of an earlier incarnation.
    """
    if row is None or copy is None:
        return row or copy
    if not damaged and copy.incarnation <= row.incarnation:
        return row
    return Identity(
        max(row.incarnation, copy.incarnation), row.reputation, max(row.stamp, copy.stamp)
    )


def _as_line(identity: Identity) -> bytes:
    content = msgspec.json.encode(identity)
    return b"%b %b\n" % (_sum(content), content)


def _sum(content: bytes) -> bytes:
    return b"%08x" % zlib.crc32(content)
