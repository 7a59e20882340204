"""What a disk says becomes one sentence of what happened and what to do."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.storage.errors import (
    JournalDamaged,
    JournalFull,
    JournalInUse,
    JournalRefused,
    in_words,
    refusal,
)

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


def test_who_has_the_journal_is_named_where_that_is_known(tmp_path: Path) -> None:
    known, unknown = JournalInUse(tmp_path, 17), JournalInUse(tmp_path, None)
    assert "in use by process 17;" in str(known)
    assert "in use by another process;" in str(unknown)
    assert (known.process_id, unknown.process_id) == (17, None)
