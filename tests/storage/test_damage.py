"""Flipped, missing and foreign bytes: found, told, set aside, and never taken for a record."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.storage.errors import JournalDamaged
from agent.storage.identity_copy import AHEAD_MS, read_copy
from agent.storage.journal import Journal
from agent.storage.reading import Remembered
from agent.storage.rows import Key, Record
from tests.storage.samples import held, identity, persist, replayed

pytestmark = pytest.mark.usefixtures("unflushed")

SEED = random.SystemRandom().randrange(2**32)
CHANGES = 120
FLIPS = 70
HEADER_BYTES = 100
PAGE_BYTES = 4096
ORIGINAL = replayed(map(persist, range(1, CHANGES + 1)))


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """The folder of a journal that was properly closed."""
    folder = tmp_path / "closed"
    with Journal.open(folder) as journal:
        journal.write([persist(number) for number in range(1, CHANGES + 1)])
    return folder


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """The folder as a crash leaves it: changes in the log, one transaction each."""
    folder = tmp_path / "crashed"
    with Journal.open(tmp_path / "running") as journal:
        for number in range(1, CHANGES + 1):
            journal.write([persist(number)])
        shutil.copytree(tmp_path / "running", folder)
    (folder / "journal.db-shm").unlink()
    return folder


def flipped(path: Path, place: int, bit: int) -> bytes:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)
    return bytes(content)


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
        if not remembered.notices:
            return remembered
        journal.write([persist(CHANGES + 1)])
    with Journal.open(folder) as journal:
        assert journal.read().notices == ()
    return remembered


def lost(remembered: Remembered) -> set[Key]:
    """Which records are missing; none may say anything but what was written."""
    found = records(remembered)
    original = records_of(ORIGINAL)
    assert all(original[key] == record for key, record in found.items())
    return original.keys() - found.keys()


def records(remembered: Remembered) -> dict[Key, Record]:
    return records_of(held(remembered))


def records_of(all_held: dict[Key, Record]) -> dict[Key, Record]:
    return {key: record for key, record in all_held.items() if key[0] != "identity"}


def asides(folder: Path) -> list[Path]:
    return sorted(folder.glob("journal.damaged-*.db"))


def test_a_flipped_bit_anywhere_costs_no_more_than_its_page(closed: Path, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    size = (closed / "journal.db").stat().st_size
    places = [draw.randrange(size) for _ in range(FLIPS)]
    places += draw.sample(range(HEADER_BYTES), 20)
    told = 0
    for place, folder in zip(places, copies(closed, tmp_path), strict=False):
        where = f"seed {SEED}, byte {place}"
        damaged = flipped(folder / "journal.db", place, draw.randrange(8))
        remembered = reopened(folder)
        missing = lost(remembered)
        assert remembered.identity is not None, where
        assert remembered.identity.incarnation == identity(0).incarnation, where
        assert identity(CHANGES).stamp <= remembered.identity.stamp, where
        if remembered.notices:
            told += 1
            assert len(missing) <= 40, where
            assert [path.read_bytes() for path in asides(folder)] == [damaged], where
            assert asides(folder)[0].name in remembered.notices[0], where
        else:
            assert not missing, where
            assert not asides(folder), where
    assert told > FLIPS // 2


def test_a_structure_that_is_no_text_any_more_is_damage_like_any_other(
    closed: Path, tmp_path: Path
) -> None:
    """SQLite complains in words that quote it, which cannot be read either."""
    content = (closed / "journal.db").read_bytes()[:PAGE_BYTES]
    start = content.index(b"CREATE TABLE")
    places = range(start - 30, start + 40)
    told = 0
    for place, folder in zip(places, copies(closed, tmp_path), strict=False):
        damaged = flipped(folder / "journal.db", place, 7)
        remembered = reopened(folder)
        told += len(remembered.notices)
        kept = [damaged] if remembered.notices else []
        assert [path.read_bytes() for path in asides(folder)] == kept, f"byte {place}"
        assert remembered.notices or not lost(remembered), f"byte {place}"
    assert told > len(places) // 2


def test_a_flipped_bit_in_the_log_is_seen_unless_it_is_in_the_last_transaction(
    crashed: Path, tmp_path: Path
) -> None:
    draw = random.Random(SEED)
    log = crashed / "journal.db-wal"
    size, last = log.stat().st_size, 12 * PAGE_BYTES
    for number, folder in zip(range(FLIPS), copies(crashed, tmp_path), strict=False):
        place = number % 32 if number % 3 == 0 else draw.randrange(size)
        where = f"seed {SEED}, byte {place}"
        flipped(folder / "journal.db-wal", place, draw.randrange(8))
        remembered = reopened(folder)
        if remembered.notices:
            found = records(remembered)
            assert len(records_of(ORIGINAL).keys() - found.keys()) <= 40, where
            assert_words_of_the_past(found, where)
        elif remembered.identity != identity(CHANGES):
            assert place > size - last, where
            assert held(remembered) == replayed(map(persist, range(1, CHANGES))), where
        else:
            assert held(remembered) == ORIGINAL, where


def assert_words_of_the_past(found: dict[Key, Record], where: str) -> None:
    """Each record is one that was written under its name, if not always the latest."""
    written: dict[Key, list[Record]] = {}
    for number in range(1, CHANGES + 1):
        for key, record in replayed([persist(number)]).items():
            written.setdefault(key, []).append(record)
    assert all(record in written[key] for key, record in found.items()), where


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_file_that_was_cut_off_gives_what_is_left(closed: Path, share: float) -> None:
    database = closed / "journal.db"
    content = database.read_bytes()
    database.write_bytes(content[: int(len(content) * share)])
    remembered = reopened(closed)
    assert len(remembered.notices) == 1
    assert lost(remembered)
    assert remembered.identity is not None


@pytest.mark.parametrize("page", range(1, 8))
def test_a_page_of_zeros_costs_what_was_on_it(closed: Path, page: int) -> None:
    database = closed / "journal.db"
    content = database.read_bytes()
    start = (page - 1) * PAGE_BYTES
    database.write_bytes(content[:start] + bytes(PAGE_BYTES) + content[start + PAGE_BYTES :])
    remembered = reopened(closed)
    assert "was damaged" in remembered.notices[0]
    assert len(lost(remembered)) <= 60


def test_a_foreign_file_is_set_aside(closed: Path) -> None:
    text = b"This is not a journal.\n" * 1000
    (closed / "journal.db").write_bytes(text)
    (closed / "journal.db-wal").write_bytes(b"and this is not its log")
    remembered = reopened(closed)
    assert records(remembered) == {}
    assert "0 records could be read" in remembered.notices[0]
    [aside] = asides(closed)
    assert aside.read_bytes() == text
    assert aside.with_name(f"{aside.name}-wal").read_bytes() == b"and this is not its log"


def test_a_database_of_somebody_else_is_set_aside(closed: Path) -> None:
    (closed / "journal.db").unlink()
    connection = sqlite3.connect(closed / "journal.db")
    connection.execute("CREATE TABLE other (a)")
    connection.close()
    assert "was damaged" in reopened(closed).notices[0]


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
        journal.write([later])
    (closed / "journal.db").write_bytes(earlier)
    remembered = reopened(closed)
    assert remembered.identity is not None
    assert remembered.identity.incarnation == 9
    assert remembered.identity.stamp >= (1000, 0)


def test_the_copy_of_the_identity_is_ahead_and_seldom_written(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        journal.write([persist(1)])
        first = read_copy(tmp_path / "identity")
        journal.write([persist(AHEAD_MS)])
        assert read_copy(tmp_path / "identity") == first
        journal.write([persist(AHEAD_MS + 2)])
        second = read_copy(tmp_path / "identity")
        assert journal.read().identity == identity(AHEAD_MS + 2)
    assert first is not None
    assert second is not None
    assert first.stamp < identity(AHEAD_MS + 2).stamp < second.stamp


def test_a_copy_of_the_identity_that_was_cut_short_leaves_the_one_before(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal:
        journal.write([persist(1)])
        before = read_copy(tmp_path / "identity")
        content = (tmp_path / "identity").read_bytes()
        journal.write([persist(2 * AHEAD_MS)])
        after = read_copy(tmp_path / "identity")
    half = (tmp_path / "identity").read_bytes()[: len(content) + 30]
    (tmp_path / "identity").write_bytes(half)
    assert before is not None
    assert before != after
    assert read_copy(tmp_path / "identity") == before
    with Journal.open(tmp_path) as journal:
        journal.write([persist(2 * AHEAD_MS)])
        assert read_copy(tmp_path / "identity") == after


@pytest.mark.parametrize("content", [b"", b"00000000 {}", b"\xff" * 50, b"d0 "])
def test_a_damaged_copy_of_the_identity_does_no_harm(closed: Path, content: bytes) -> None:
    (closed / "identity").write_bytes(content)
    with Journal.open(closed) as journal:
        assert held(journal.read()) == ORIGINAL
        journal.write([persist(CHANGES)])
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
    flipped(folder / ("journal.db" if kind == "closed" else "journal.db-wal"), 20_000, 3)
    with Journal.open(shutil.copytree(folder, folder.with_name("other"))) as journal:
        undisturbed = held(journal.read())
    moves: list[Path] = []

    def killed_at(path: Path, target: Path) -> Path:
        moves.append(path)
        if len(moves) == step:
            raise Killed
        return moved(path, target)

    moved = Path.rename
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed_at)
        patched.setattr(Path, "replace", killed_at)
        try:
            Journal.open(folder).close()
        except Killed:
            pass
        else:
            assert len(moves) < step
    with Journal.open(folder) as journal:
        remembered = journal.read()
    assert held(remembered) == undisturbed
    assert len(remembered.notices) == (len(moves) == step)


def test_only_the_latest_damaged_files_are_kept(closed: Path) -> None:
    for _ in range(5):
        flipped(closed / "journal.db", 0, 0)
        with Journal.open(closed) as journal:
            assert lost(journal.read()) == set()
    assert len(asides(closed)) == 3


def test_damage_while_it_is_open_refuses_and_the_next_start_mends(closed: Path) -> None:
    with Journal.open(closed) as journal:
        database = closed / "journal.db"
        with database.open("r+b") as file:
            file.write(bytes(database.stat().st_size))
        done = [journal.submit([persist(number)]) for number in range(1, CHANGES)]
        refusals = [error for error in (future.exception() for future in done) if error]
    assert refusals
    assert all(isinstance(error, JournalDamaged) for error in refusals)
    assert "restart the agent" in str(refusals[0])
    assert "was damaged" in reopened(closed).notices[0]
