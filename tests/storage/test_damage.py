"""Flipped, missing and foreign bytes: found, told, set aside, and never taken for a record."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from agent.storage.database import Key, Record, Remembered
from agent.storage.errors import JournalDamaged
from agent.storage.identity_copy import read_copy
from agent.storage.journal import Journal
from tests.storage.samples import flipped, held, identity, persist, replayed, written

pytestmark = pytest.mark.usefixtures("unflushed")

SEED = random.SystemRandom().randrange(2**32)
CHANGES = 110  # as many as one log takes: were it folded, the last would stand in front
FLIPS = 30 + settings().max_examples
HEADER_BYTES = 100
PAGE_BYTES = 4096
CHANGED = [persist(number) for number in range(1, CHANGES + 1)]
ORIGINAL = replayed(CHANGED)


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """The folder of a journal that was properly closed."""
    written(tmp_path / "closed", *CHANGED)
    return tmp_path / "closed"


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """The folder as a crash leaves it: changes in the log, one transaction each."""
    folder = tmp_path / "crashed"
    with Journal.open(tmp_path / "running") as journal:
        for each in CHANGED:
            journal.writer.submit([each]).result()
        shutil.copytree(tmp_path / "running", folder)
    (folder / "journal.db-shm").unlink()
    return folder


def copies(folder: Path, tmp_path: Path) -> Iterator[Path]:
    """One copy of a folder after the other, of which only the last is kept."""
    copy = tmp_path / "copy"
    while True:
        shutil.copytree(folder, copy)
        yield copy
        shutil.rmtree(copy)


def reopened(folder: Path) -> Remembered:
    """What a start reads, after checking that the start after it finds nothing to say."""
    with Journal.open(folder) as journal:
        remembered = journal.read()
        journal.writer.submit([persist(CHANGES + 1)] if remembered.notices else []).result()
    assert not remembered.notices or written(folder).notices == ()
    return remembered


def lost(remembered: Remembered) -> set[Key]:
    """Which records are missing; none may say anything but what was written."""
    found, original = records_of(held(remembered)), records_of(ORIGINAL)
    assert found.items() <= original.items()
    return original.keys() - found.keys()


def records_of(all_held: dict[Key, Record]) -> dict[Key, Record]:
    return {key: record for key, record in all_held.items() if key[0] != "identity"}


def asides(folder: Path) -> list[Path]:
    return sorted(folder.glob("journal.damaged-*.db"))


@pytest.mark.hunting
def test_a_flipped_bit_anywhere_costs_no_more_than_its_page(closed: Path, tmp_path: Path) -> None:
    """Also in the structure: SQLite complains in words that quote it, which may be no text any more."""
    draw = random.Random(SEED)
    content = (closed / "journal.db").read_bytes()
    structure = content[:PAGE_BYTES].index(b"CREATE TABLE")
    places = [(draw.randrange(len(content)), draw.randrange(8)) for _ in range(FLIPS)]
    places += [(place, draw.randrange(8)) for place in draw.sample(range(HEADER_BYTES), 20)]
    anywhere = len(places)
    places += [(place, 7) for place in range(structure - 30, structure + 40)]
    told = []
    for (place, bit), folder in zip(places, copies(closed, tmp_path), strict=False):
        where = f"seed {SEED}, byte {place}"
        damaged = flipped(folder / "journal.db", place, 1 << bit)
        remembered = reopened(folder)
        assert remembered.identity is not None, where
        assert remembered.identity.incarnation == identity(0).incarnation, where
        assert identity(CHANGES).stamp <= remembered.identity.stamp, where
        told.append(bool(remembered.notices))
        kept = [damaged] if told[-1] else []
        assert [path.read_bytes() for path in asides(folder)] == kept, where
        assert all(path.name in remembered.notices[0] for path in asides(folder)), where
        assert len(lost(remembered)) <= 40 * told[-1] or (len(told) > anywhere and told[-1]), where
    assert sum(told[:anywhere]) > FLIPS // 2
    assert sum(told[anywhere:]) > 35


@pytest.mark.hunting
def test_a_flipped_bit_in_the_log_is_seen_unless_it_is_in_the_last_transaction(
    crashed: Path, tmp_path: Path
) -> None:
    draw = random.Random(SEED)
    size, last = (crashed / "journal.db-wal").stat().st_size, 12 * PAGE_BYTES
    for number, folder in zip(range(FLIPS), copies(crashed, tmp_path), strict=False):
        place = number % 32 if number % 3 == 0 else draw.randrange(size)
        where = f"seed {SEED}, byte {place}"
        flipped(folder / "journal.db-wal", place, 1 << draw.randrange(8))
        remembered = reopened(folder)
        if remembered.notices:
            found = records_of(held(remembered))
            assert len(records_of(ORIGINAL).keys() - found.keys()) <= 40, where
            assert_words_of_the_past(found, where)
        elif remembered.identity != identity(CHANGES):
            assert place > size - last, where
            assert held(remembered) == replayed(CHANGED[:-1]), where
        else:
            assert held(remembered) == ORIGINAL, where


def assert_words_of_the_past(found: dict[Key, Record], where: str) -> None:
    """Each record is one that was written under its name, if not always the latest."""
    assert all(record in all_written()[key] for key, record in found.items()), where


@cache
def all_written() -> dict[Key, list[Record]]:
    every = defaultdict[Key, list[Record]](list)
    for each in CHANGED:
        for key, record in replayed([each]).items():
            every[key].append(record)
    return every


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_file_that_was_cut_off_gives_what_is_left(closed: Path, share: float) -> None:
    database = closed / "journal.db"
    os.truncate(database, int(database.stat().st_size * share))
    remembered = reopened(closed)
    assert len(remembered.notices) == 1
    assert lost(remembered)
    assert remembered.identity is not None


@pytest.mark.parametrize("page", range(1, 8))
def test_a_page_of_zeros_costs_what_was_on_it(closed: Path, page: int) -> None:
    with (closed / "journal.db").open("r+b") as file:
        file.seek((page - 1) * PAGE_BYTES)
        file.write(bytes(PAGE_BYTES))
    remembered = reopened(closed)
    assert "was damaged" in remembered.notices[0]
    assert len(lost(remembered)) <= 60


@pytest.mark.parametrize("kind", ["text", "database"])
def test_what_is_no_journal_of_ours_is_set_aside(closed: Path, tmp_path: Path, kind: str) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"This is not a journal.\n" * 1000 if kind == "text" else b"")
    if kind == "database":
        with closing(sqlite3.connect(other)) as connection:
            connection.execute("CREATE TABLE other (a)")
    shutil.copy(other, closed / "journal.db")
    (closed / "journal.db-wal").write_bytes(b"and this is not its log")
    remembered = reopened(closed)
    assert records_of(held(remembered)) == {}
    assert "was damaged" in remembered.notices[0]
    assert "0 records could be read" in remembered.notices[0]
    [aside] = asides(closed)
    assert aside.read_bytes() == other.read_bytes()
    assert aside.with_name(f"{aside.name}-wal").read_bytes() == b"and this is not its log"


def test_a_lost_journal_is_told_and_the_node_stays_who_it_is(closed: Path) -> None:
    (closed / "journal.db").unlink()
    remembered = reopened(closed)
    assert "was gone" in remembered.notices[0]
    assert remembered.identity is not None
    assert remembered.identity.incarnation == identity(0).incarnation
    assert remembered.identity.stamp >= identity(CHANGES).stamp


def test_a_journal_put_back_from_an_earlier_day_keeps_the_later_incarnation(closed: Path) -> None:
    earlier = (closed / "journal.db").read_bytes()
    with Journal.open(closed) as journal:
        later = persist(1000)
        object.__setattr__(later.identity, "incarnation", 9)
        journal.writer.submit([later]).result()
    (closed / "journal.db").write_bytes(earlier)
    remembered = reopened(closed)
    assert remembered.identity is not None
    assert remembered.identity.incarnation == 9
    assert remembered.identity.stamp >= (1000, 0)


@pytest.mark.parametrize("content", [b"", b"00000000 {}", b"\xff" * 50, b"d0 "])
def test_a_damaged_copy_of_the_identity_does_no_harm(closed: Path, content: bytes) -> None:
    (closed / "identity").write_bytes(content)
    assert held(written(closed)) == ORIGINAL
    written(closed, persist(CHANGES))
    assert read_copy(closed / "identity") is not None


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("step", range(1, 4))
@pytest.mark.parametrize("kind", ["closed", "crashed"])
def test_mending_that_was_killed_is_completed_by_the_next_start(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: str, step: int
) -> None:
    folder: Path = request.getfixturevalue(kind)
    (folder / "identity").unlink()
    flipped(folder / ("journal.db" if kind == "closed" else "journal.db-wal"), 20_000, 8)
    undisturbed = held(written(shutil.copytree(folder, folder.with_name("other"))))
    moves: list[Path] = []

    def killed_at(path: Path, target: Path) -> Path:
        moves.append(path)
        if len(moves) == step:
            raise Killed
        return moved(path, target)

    moved = Path.rename
    with monkeypatch.context() as patched, suppress(Killed):
        patched.setattr(Path, "rename", killed_at)
        patched.setattr(Path, "replace", killed_at)
        Journal.open(folder).close()
        assert len(moves) < step
    remembered = written(folder)
    assert held(remembered) == undisturbed
    assert len(remembered.notices) == (len(moves) == step)


def test_only_the_latest_damaged_files_are_kept(closed: Path) -> None:
    for _ in range(5):
        flipped(closed / "journal.db", 0, 1)
        assert lost(written(closed)) == set()
    assert len(asides(closed)) == 3


def test_damage_while_it_is_open_refuses_and_the_next_start_mends(closed: Path) -> None:
    with Journal.open(closed) as journal:
        database = closed / "journal.db"
        with database.open("r+b") as file:
            file.write(bytes(database.stat().st_size))
        done = [journal.writer.submit([persist(number)]) for number in range(1, CHANGES)]
        refusals = [error for error in (future.exception() for future in done) if error]
    assert refusals
    assert all(isinstance(error, JournalDamaged) for error in refusals)
    assert "restart the agent" in str(refusals[0])
    assert "was damaged" in reopened(closed).notices[0]
