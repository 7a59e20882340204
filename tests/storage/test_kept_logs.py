"""Logs kept for other machines: what is told again of them, what is cut, and what goes first."""

from __future__ import annotations

import random
import stat
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.storage.kept_logs import FILE, Kept, KeptLogs, Piece, packed


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptLogs]:
    with closing(KeptLogs.open(tmp_path / FILE)) as opened:
        yield opened


def piece(offset: int, data: bytes, begins: int = 0, run: str = "1.1.alder") -> Piece:
    return Piece("t", run, begins, offset, len(data), packed(data))


def read(kept: KeptLogs, offset: int = 0, limit: int = 99) -> tuple[bytes, int, int, int] | None:
    found = kept.read("t", "1.1.alder", offset, limit)
    return None if found is None else found[:4]


@pytest.mark.parametrize(
    ("pieces", "asked", "told"),
    [
        ([], (0, 9), None),
        ([piece(0, b"abc")], (0, 9), (b"abc", 0, 0, 3)),
        ([piece(0, b"abc"), piece(3, b"def")], (0, 9), (b"abcdef", 0, 0, 6)),
        ([piece(0, b"abc"), piece(3, b"def")], (2, 2), (b"cd", 2, 0, 6)),
        ([piece(0, b"abc"), piece(3, b"def")], (6, 9), (b"", 6, 0, 6)),
        ([piece(0, b"abc"), piece(3, b"def")], (99, 9), (b"", 6, 0, 6)),
        ([piece(0, b"abc"), piece(3, b"def", begins=3)], (0, 9), (b"def", 3, 3, 6)),
        ([piece(0, b"abc"), piece(5, b"fgh")], (0, 9), (b"fgh", 5, 5, 8)),
        ([piece(0, b"abc"), piece(3, b"def"), piece(0, b"again")], (0, 9), (b"again", 0, 0, 5)),
        ([piece(0, b"abc"), piece(2, b"xy", begins=2)], (0, 9), (b"xy", 2, 2, 4)),
        ([piece(0, b"abc"), piece(0, b"other", run="1.2.alder")], (0, 9), (b"abc", 0, 0, 3)),
        ([piece(0, b"abc"), piece(3, b"def")._replace(size=2)], (0, 9), (b"abc", 0, 0, 3)),
        ([piece(0, b"abc")._replace(packed=b"no zlib")], (0, 9), None),
    ],
    ids=[
        "nothing",
        "one piece",
        "two",
        "some of two",
        "the end",
        "behind the end",
        "what is not wanted any more goes",
        "behind a gap",
        "anew",
        "overlapping",
        "another run",
        "a bomb",
        "rubbish",
    ],
)
def test_pieces_are_one_log(
    kept: KeptLogs,
    pieces: list[Piece],
    asked: tuple[int, int],
    told: tuple[bytes, int, int, int] | None,
) -> None:
    for each in pieces:
        kept.keep([each])
    assert read(kept, *asked) == told


def test_it_is_told_after_a_start_and_belongs_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with closing(KeptLogs.open(path)) as first:
        first.keep([piece(0, b"abc")])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with closing(KeptLogs.open(path)) as again:
        found = again.read("t", "1.1.alder", 0, 9)
        assert found == Kept(b"abc", 0, 0, 3, found.at_ms if found else 0)
    path.write_bytes(b"no database at all, but long enough to be taken for something" * 99)
    with closing(KeptLogs.open(path)) as anew:
        assert read(anew) is None
    assert [each.name for each in tmp_path.glob(f"{FILE}.damaged-*")]


def test_what_is_kept_is_counted_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = random.Random(1).randbytes(1_000)
    with closing(KeptLogs.open(tmp_path / FILE)) as kept:
        for _ in range(3):
            kept.keep([piece(0, data)])
        assert kept.size_bytes == len(packed(data)) == kept.size_of(["t"])
        with monkeypatch.context() as change:
            change.setattr("time.time", lambda: 2.0**70)  # too large a number for the second
            with pytest.raises(OverflowError):
                kept.keep([piece(0, data)])
        assert kept.size_bytes == len(packed(data)) == kept.size_of(["t"])
        kept.remove(["t"])
        assert kept.size_bytes == 0


def test_the_logs_that_were_told_of_longest_ago_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random.Random(1).randbytes(1_000)
    clock = iter(range(1_000))
    monkeypatch.setattr("time.time", lambda: next(clock))
    with closing(KeptLogs.open(tmp_path / FILE, bytes_max=4 * len(zlib.compress(data)))) as kept:
        for name in ("a", "b", "c", "d"):
            kept.keep([piece(0, data, run=name)])
        kept.keep([piece(1_000, b"more", run="a")])
        left = [name for name in ("a", "b", "c", "d") if kept.read("t", name, 0, 1)]
        assert left == ["a", "c", "d"]
