"""What a later version has written is refused before anything of it is touched."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.storage.history import FILE, History
from agent.storage.later import FORMAT, LaterDataError, refuse_later_data


def of_format(path: Path, number: int) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("CREATE TABLE IF NOT EXISTS later (word)")
    return path


@pytest.mark.parametrize("number", [FORMAT + 1, 2**16 - 1])
def test_data_of_a_later_version_is_refused_and_left_as_it_is(tmp_path: Path, number: int) -> None:
    later = of_format(tmp_path / FILE, number)
    before = later.read_bytes()
    with pytest.raises(LaterDataError) as refused:
        refuse_later_data({"the index": tmp_path / "none", "the history": later})
    said = str(refused.value)
    assert said.startswith(f"the history in {later} was written by a later version of Wingbeat")
    assert f"(format {number}, known here up to {FORMAT})" in said
    assert later.read_bytes() == before


@pytest.mark.parametrize("number", [0, FORMAT, 2**16])
def test_what_is_known_here_or_damaged_is_left_to_whoever_opens_it(
    tmp_path: Path, number: int
) -> None:
    (tmp_path / "words").write_bytes(b"no database" + b"\1" * 99)
    kept = of_format(tmp_path / FILE, number)
    refuse_later_data({"the words": tmp_path / "words", "the history": kept, "it": tmp_path})


def test_what_is_made_here_says_of_which_format_it_is(tmp_path: Path) -> None:
    History.open(tmp_path / FILE).close()
    assert int.from_bytes((tmp_path / FILE).read_bytes()[60:64], "big") == FORMAT
