"""The identity beside the journal: which of the two counts, and that one of two writes survives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.protocol.effects import Identity
from agent.storage.identity_copy import (
    STAMP_WALL_MAX,
    IdentityCopy,
    read_copy,
    remembered,
)
from tests.certain import certain

AHEAD_MS = 60_000
PLACE_BYTES = 512  # so it is on disk, whatever version wrote it
ROW = Identity(incarnation=3, reputation=10, stamp=(100, 2))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "identity"


@pytest.mark.parametrize(
    ("row", "copy", "damaged", "counts"),
    [
        (None, None, False, None),
        (ROW, None, True, ROW),
        (None, ROW, False, ROW),
        (ROW, Identity(3, 7, (200, 0)), False, ROW),
        (ROW, Identity(2, 7, (200, 0)), False, ROW),
        (ROW, Identity(3, 7, (200, 0)), True, Identity(3, 10, (200, 0))),
        (ROW, Identity(2, 7, (50, 0)), True, ROW),
        (ROW, Identity(4, 7, (50, 0)), False, Identity(4, 10, (100, 2))),
        (ROW, Identity(4, 7, (200, 0)), False, Identity(4, 10, (200, 0))),
        (ROW, Identity(3, 7, (50, 0), notes=True), True, replace(ROW, notes=True)),
    ],
)
def test_the_copy_counts_when_the_row_may_be_an_old_one(
    row: Identity | None, copy: Identity | None, damaged: bool, counts: Identity | None
) -> None:
    assert remembered(row, copy, damaged=damaged) == counts


def test_it_is_ahead_of_what_is_used_and_written_when_that_is_reached(path: Path) -> None:
    copy = IdentityCopy(path)
    copy.cover(ROW)
    ahead = Identity(3, 10, (100 + AHEAD_MS, 0))
    assert read_copy(path) == ahead
    written = path.read_bytes()
    copy.cover(ahead)
    assert path.read_bytes() == written
    copy.cover(Identity(3, 10, (100 + AHEAD_MS, 1)))
    assert read_copy(path) == Identity(3, 10, (100 + 2 * AHEAD_MS, 0))
    assert path.read_bytes().startswith(written)
    copy.cover(Identity(4, 10, (100, 2)))
    assert read_copy(path) == Identity(4, 10, (100 + AHEAD_MS, 0)), "a new incarnation, at once"


def test_a_clock_at_the_end_of_time_goes_no_further(path: Path) -> None:
    for stamp in ((STAMP_WALL_MAX - 1, 0), (STAMP_WALL_MAX, 5)):
        IdentityCopy(path).cover(Identity(3, 10, stamp))
        assert (STAMP_WALL_MAX, 5) >= certain(read_copy(path)).stamp >= stamp


def test_a_write_that_is_cut_short_after_a_restart_leaves_the_latest(path: Path) -> None:
    torn, places = path.with_name("torn"), (slice(0, PLACE_BYTES), slice(PLACE_BYTES, None))
    for incarnation in range(3, 8):
        latest = read_copy(path)
        before = path.read_bytes() if latest else b""
        IdentityCopy(path).cover(Identity(incarnation, 10, (100, 2)))
        after = path.read_bytes()
        assert len(after) <= 2 * PLACE_BYTES
        torn.write_bytes(b"".join(before[each] for each in places if before[each] == after[each]))
        assert latest is None or read_copy(torn) == latest
