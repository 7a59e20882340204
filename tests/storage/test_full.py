"""A disk that is full or says no: told in words, nothing lost, and used again when there is room.

On a real small file system where this machine lets a test mount one, and everywhere with a limit
that SQLite itself keeps."""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from agent.storage import database, writer
from agent.storage.errors import (
    JournalDamaged,
    JournalFull,
    JournalRefused,
    in_words,
    refusal,
)
from agent.storage.journal import Journal
from agent.storage.writer import MARGIN_BYTES
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.storage.samples import held, persist, replayed, written
from tests.style.source import REPOSITORY

NAMESPACES = (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"])


@cache
def namespace(folder: Path) -> list[str] | None:
    """How a process gets mounts of its own here; None when it may not have any."""
    for command in NAMESPACES:
        mount = [*command, "mount", "-t", "tmpfs", "none", str(folder)]
        try:
            if subprocess.run(mount, capture_output=True, check=False).returncode == 0:
                return command
        except FileNotFoundError:
            return None
    return None


def test_on_a_real_full_disk(tmp_path: Path) -> None:
    command = namespace(tmp_path)
    if command is None:
        pytest.skip("this machine does not let a test mount a file system")
    process = subprocess.run(
        [*command, sys.executable, "-m", "tests.storage.full_disk_process", tmp_path],
        cwd=REPOSITORY,
        capture_output=True,
        timeout=EVENTUALLY_S_MAX,
        check=False,
    )
    assert process.returncode == 0, process.stderr.decode()
    saw = json.loads(process.stdout)
    sentence = saw.pop("sentence")
    assert str(tmp_path / "journal") in sentence
    assert "make room" in sentence
    assert saw.pop("kept") > 100
    assert saw.pop("pruned") > 50
    assert saw.pop("usable while full") is False
    assert saw == dict.fromkeys(saw, True)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    settings = (*database.WRITER_SETTINGS, "PRAGMA max_page_count = 6")
    monkeypatch.setattr(database, "WRITER_SETTINGS", settings)
    return Journal.open(tmp_path)


def test_a_refusal_keeps_what_was_there(
    limited: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [persist(number) for number in range(1, 200)]
    refusals = [limited.writer.submit([each]).exception(EVENTUALLY_S_MAX) for each in changes]
    assert {type(each) for each in refusals} == {JournalFull, type(None)}
    kept = [each for each, refusal in zip(changes, refusals, strict=True) if refusal is None]
    assert held(limited.read()) == replayed(kept)
    monkeypatch.undo()
    limited.close()
    assert held(written(tmp_path)) == replayed(kept)
    assert held(written(tmp_path, persist(300))) == replayed([*kept, persist(300)])


def test_the_reserve_is_given_up_and_taken_back(limited: Journal, tmp_path: Path) -> None:
    reserve = tmp_path / "reserve"
    assert reserve.exists()
    with pytest.raises(JournalFull):
        limited.writer.submit([persist(number) for number in range(1, 200)]).result()
    assert not reserve.exists()
    assert limited.writer.probe().result()
    assert reserve.exists()
    limited.close()


@pytest.mark.parametrize("code", [errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)])
def test_no_room_for_the_copy_of_the_identity_refuses_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    with Journal.open(tmp_path) as journal:
        with monkeypatch.context() as patched:
            patched.setattr("os.fsync", Mock(side_effect=OSError(code, "no room")))
            with pytest.raises(JournalFull, match="make room"):
                journal.writer.submit([persist(1)]).result()
            assert not journal.writer.probe().result()
        assert journal.writer.probe().result()
        journal.writer.submit([persist(2)]).result()
        assert held(journal.read()) == replayed([persist(2)])


@pytest.mark.parametrize(
    ("spare_bytes", "is_usable"), [(MARGIN_BYTES, True), (MARGIN_BYTES - 1, False)]
)
def test_a_disk_with_room_for_the_reserve_and_little_more_is_not_usable(
    tmp_path: Path, spare_bytes: int, is_usable: bool
) -> None:
    resource = pytest.importorskip("resource", reason="Windows has no limit of a file's size")
    with Journal.open(tmp_path) as journal:
        was = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (writer.RESERVE_BYTES + spare_bytes, was[1]))
        try:
            assert journal.writer.probe().result() is is_usable
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, was)
        assert (tmp_path / "reserve").exists() is is_usable
        assert journal.writer.probe().result()
        assert (tmp_path / "reserve").stat().st_size == writer.RESERVE_BYTES


PLENTY = 10**9
LITTLE = 256 * 1024


def sqlites(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("something")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "free_bytes", "kind", "words"),
    [
        (sqlites(sqlite3.SQLITE_FULL), PLENTY, JournalFull, "takes no more"),
        (OSError(errno.ENOSPC, "full"), PLENTY, JournalFull, "takes no more"),
        (OSError(errno.EDQUOT, "quota"), PLENTY, JournalFull, "takes no more"),
        (sqlites(sqlite3.SQLITE_IOERR_WRITE), LITTLE - 1, JournalFull, "255 KiB are free"),
        (sqlites(sqlite3.SQLITE_IOERR_WRITE), LITTLE, JournalRefused, "permissions"),
        (sqlites(sqlite3.SQLITE_BUSY), PLENTY, JournalRefused, "held by another program"),
        (sqlites(sqlite3.SQLITE_BUSY_SNAPSHOT), PLENTY, JournalRefused, "held by another program"),
        (sqlites(sqlite3.SQLITE_LOCKED), PLENTY, JournalRefused, "held by another program"),
        (sqlites(sqlite3.SQLITE_CORRUPT_INDEX), PLENTY, JournalDamaged, "restart the agent"),
        (sqlites(sqlite3.SQLITE_NOTADB), 0, JournalDamaged, "restart the agent"),
        (sqlites(sqlite3.SQLITE_READONLY), PLENTY, JournalRefused, "permissions"),
        (sqlite3.OperationalError("no code"), PLENTY, JournalRefused, "permissions"),
        (OSError(errno.EACCES, "not yours"), PLENTY, JournalRefused, "not yours"),
        (PermissionError(errno.EACCES, "denied"), PLENTY, JournalRefused, "permissions"),
        (FileNotFoundError(errno.ENOENT, "not there"), None, JournalRefused, "not there"),
    ],
)
def test_each_failure_is_told_as_what_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: sqlite3.Error | OSError,
    free_bytes: int | None,
    kind: type[JournalRefused],
    words: str,
) -> None:
    """None stands for a folder that is not there, which is no full disk."""
    folder = tmp_path if free_bytes is not None else tmp_path / "nowhere"
    if free_bytes is not None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free_bytes))
    told = refusal(folder, error)
    assert type(told) is kind
    assert words in str(told)
    assert str(folder) in str(told)
    with pytest.raises(kind), in_words(folder):
        raise error
