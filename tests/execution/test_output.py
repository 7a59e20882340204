"""Pieces of output taken apart: words told, the rest in a log that has an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.execution.output import FLOOD_BYTES, Output, OutputLog
from agent.execution.words import (
    CheckpointWord,
    ErrorWord,
    ProgressWord,
    TerminatedWord,
    Word,
)

FILLING = b"nothing\n" * FLOOD_BYTES


def heard(folder: Path, *pieces: bytes, bytes_max: int = 10**9) -> tuple[list[Word], bytes]:
    path, told = folder / "task" / "1.1.log", list[Word]()
    log = OutputLog(path, bytes_max)
    output = Output(log, told.append)
    for piece in pieces:
        output.hear(1, piece)
    output.finish()
    log.close()
    return told, path.read_bytes() if path.exists() else b""


def test_what_a_program_says_of_its_failure_is_in_its_log(tmp_path: Path) -> None:
    told, log = heard(tmp_path, b"block 7\nERROR no such file: x\nbye\n")
    assert told == [ErrorWord("no such file: x")]
    assert log == b"block 7\nERROR no such file: x\nbye\n"


def test_a_word_may_come_in_pieces_and_without_an_end(tmp_path: Path) -> None:
    told, log = heard(tmp_path, b"PROG", b"RESS 5\nhel", b"lo\nTERMINATED 1", b"7")
    assert told == [ProgressWord(50), TerminatedWord(("17",))]
    assert log == b"hello\n"


def test_a_program_that_prints_nothing_has_no_log(tmp_path: Path) -> None:
    assert heard(tmp_path, b"PROGRESS 5\n") == ([ProgressWord(50)], b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [b"", FILLING])
@pytest.mark.parametrize("behind", [b"", FILLING])
def test_words_in_a_flood_are_heard(tmp_path: Path, before: bytes, behind: bytes) -> None:
    words = b"PROGRESS 5\nCHECKPOINT a\nPROGRESS 6\nTERMINATED 17\nTERMINATED 18\n"
    told, log = heard(tmp_path, before + words + behind)
    assert told[-1] == TerminatedWord(("17",))
    assert set(told[:-1]) == {ProgressWord(60), CheckpointWord("a")}
    assert log == before + b"TERMINATED 18\n" + behind


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_last_word_alone_in_a_flood_is_heard(tmp_path: Path, end: bytes) -> None:
    told, _ = heard(tmp_path, FILLING + b"TERMINATED" + end + FILLING)
    assert told == [TerminatedWord(())]
    told, _ = heard(tmp_path, FILLING + b"ERROR" + end)
    assert told == [ErrorWord("")]


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    told, log = heard(tmp_path, *[bytes(50_000)] * 10, b"\nTERMINATED\n")
    assert told == [TerminatedWord(())]
    assert len(log) == 500_001


def test_a_full_log_says_so_and_has_the_end(tmp_path: Path) -> None:
    _, log = heard(tmp_path, b"first\n" * 100, FILLING, b"the end\n", bytes_max=300)
    assert log.startswith(b"first\n" * 50 + b"\n[wingbeat] the log is full at 0 kB;")
    assert b"\n[wingbeat] 254 kB were left out here\n" in log
    assert log.endswith(b"\nthe end\n")


def test_a_log_that_is_nearly_full_loses_nothing(tmp_path: Path) -> None:
    _, log = heard(tmp_path, b"first\n", b"second\n", bytes_max=8)
    assert log.replace(b"\n", b"") == (
        b"firstse[wingbeat] the log is full at 0 kB; only the end follows"
        b"[wingbeat] 0 kB were left out herecond"
    )
