"""What salvage reads from bare pages is what SQLite reads, row by row, as long as nothing is broken."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.storage import salvage as log_frames
from agent.storage.database import PAGE_BYTES, Row, checksum, open_to_read, stored_rows
from agent.storage.journal import Journal
from agent.storage.places import shared_index, write_ahead_log
from agent.storage.salvage import salvage

WHOLE_IN_A_LEAF = PAGE_BYTES - 35
SIZES = (
    0,
    1,
    127,
    128,
    *range(WHOLE_IN_A_LEAF - 40, WHOLE_IN_A_LEAF + 2),
    5_000,
    9_000,
    16_400,
    70_000,
)
"""Around the size from which a row continues on further pages, and some that go on for several."""


def written(folder: Path, sizes: tuple[int, ...] = SIZES) -> set[Row]:
    """A journal with rows of these sizes in one transaction each; they are not folded in."""
    rows = set()
    with closing(sqlite3.connect(folder / "journal.db", isolation_level=None)) as connection:
        for number, size in enumerate(sizes):
            name = f"t{number}" if number else ""  # as the identity has
            content = bytes([number % 250]) * size
            total = checksum(b"life", name.encode(), content)
            rows.add(("life", name, total, content))
            connection.execute(
                "INSERT INTO record (kind, id, checksum, content) VALUES (?, ?, ?, ?)",
                ("life", name, total, content),
            )
        shutil.copytree(folder, folder.with_name("crashed"))
    return rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "journal"
    Journal.open(folder).close()
    return folder


def as_read(database: Path) -> set[Row]:
    with closing(open_to_read(database)) as connection:
        return {
            (kind.decode(), name.decode(), total, content)
            for kind, name, total, content in stored_rows(connection)
        }


def test_every_row_of_a_whole_journal_is_found(folder: Path) -> None:
    rows = written(folder)
    assert not write_ahead_log(folder / "journal.db").exists()
    found = list(salvage(folder / "journal.db"))
    assert as_read(folder / "journal.db") == rows
    assert len(found) == len(rows)
    assert set(found) == rows


def test_rows_that_are_still_in_the_log_are_found_but_for_the_last_transaction(
    folder: Path,
) -> None:
    rows = written(folder)
    crashed = folder.with_name("crashed") / "journal.db"
    assert write_ahead_log(crashed).stat().st_size > 30 * PAGE_BYTES
    assert set(salvage(crashed)) == rows
    log = write_ahead_log(crashed)
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size - 1)  # the last transaction was never finished
    last = {row for row in rows if row[1] == f"t{len(SIZES) - 1}"}
    assert set(salvage(crashed)) == rows - last


def test_the_only_transaction_of_a_log_is_found(folder: Path) -> None:
    rows = written(folder, (100,))
    assert set(salvage(folder.with_name("crashed") / "journal.db")) == rows


def test_a_row_is_lost_with_any_page_that_it_goes_on_to(folder: Path) -> None:
    rows = written(folder, (100, 9_000, 200))
    content = (folder / "journal.db").read_bytes()
    whole = {row for row in rows if len(row[3]) < 9_000}
    torn = 0
    for place in range(0, len(content), PAGE_BYTES):
        page = content[place : place + PAGE_BYTES]
        if page.count(b"\x01") > 3_000:
            torn += 1
            cut = content[:place] + bytes(PAGE_BYTES) + content[place + PAGE_BYTES :]
            (folder / "cut.db").write_bytes(cut)
            assert set(salvage(folder / "cut.db")) == whole
            (folder / "cut.db").write_bytes(content[: place + PAGE_BYTES - 1])
            assert ("life", "t1") not in {row[:2] for row in salvage(folder / "cut.db")}
    assert torn == 2


def test_a_log_is_whole_when_sqlite_counts_all_of_it(folder: Path) -> None:
    written(folder, (10, 20, 30))
    crashed = folder.with_name("crashed") / "journal.db"
    log = write_ahead_log(crashed)
    counted = log_frames.counted_frames(shared_index(crashed))
    frames = (log.stat().st_size - log_frames.HEADER_BYTES) // log_frames.FRAME_BYTES
    assert counted == frames > 2
    assert not log_frames.passed_over(log, counted)
    assert not log_frames.passed_over(log, counted - 1), "the last one may not have been flushed"
    assert log_frames.passed_over(log, 0)
    assert not log_frames.passed_over(log.with_name("none"), 0)
    assert log_frames.latest_pages(log.with_name("none")) == {}
    short = log.with_name("short")
    short.write_bytes(b"\0\0")
    assert log_frames.counted_frames(short) == 0


def test_of_damaged_transactions_only_the_last_is_left_out(folder: Path) -> None:
    written(folder, (10, 20, 30))
    log = write_ahead_log(folder.with_name("crashed") / "journal.db")
    content, whole = log.read_bytes(), log_frames.latest_pages(log)
    first = log_frames.HEADER_BYTES + log_frames.FRAME_HEADER_BYTES
    for place, is_there in ((first, True), (len(content) - 1, False)):
        damaged = bytearray(content)
        damaged[place] ^= 1
        log.write_bytes(damaged)
        found = log_frames.latest_pages(log)
        assert (max(found.values()) == max(whole.values())) is is_there
        assert found.keys() == whole.keys(), "their images of before are there"
