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

FULL = b"12345678\n[wingbeat] the log is full at 0 kB; only the end follows\n"
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


# -- at the boundaries ---------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "whole"), [(65_536, True), (65_537, False)])
def test_a_line_is_waited_for_as_long_as_it_may_be_a_word(
    tmp_path: Path, length: int, whole: bool
) -> None:
    """What is longer is given to the log at once, in pieces."""
    line = b"PROGRESS 5" + b" " * (length - 10)
    _, log = heard(tmp_path, line, b"and more\n")
    assert log == (line + b"and more\n" if whole else b"and more\n")


def test_after_the_last_word_nothing_is_a_word(tmp_path: Path) -> None:
    for word in (TerminatedWord(()), ErrorWord("x")):
        said = b"TERMINATED\n" if isinstance(word, TerminatedWord) else b"ERROR x\n"
        folder = tmp_path / type(word).__name__
        told, log = heard(folder, said, b"PROGRESS 5\nTERM", b"INATED 2\n")
        assert told == [word]
        assert log.endswith(b"PROGRESS 5\nTERMINATED 2\n")


def test_what_is_said_on_the_other_file_is_no_word(tmp_path: Path) -> None:
    log = OutputLog(tmp_path / "log", 1_000)
    told: list[Word] = []
    output = Output(log, told.append)
    output.hear(2, b"TERMINATED 1\nand")
    output.hear(1, b"PROG")
    output.hear(2, b" more")
    output.finish()
    log.close()
    assert told == []
    assert (tmp_path / "log").read_bytes() == b"TERMINATED 1\nand morePROG"


@pytest.mark.parametrize(
    ("printed", "last"),
    [
        ([], ""),
        ([b"\n \n"], ""),
        ([b"one\n", b"two \n\n"], "two"),
        ([b"on", b"e"], "one"),
        ([b"\xff\n"], "\ufffd"),
        ([b"x" * 8_192], "x" * 8_192),
        ([b"y", b"x" * 8_192], "x" * 8_192),
        ([b"y" * 8_191, b"x"], "y" * 8_191 + "x"),
    ],
)
def test_the_last_line_is_what_was_printed_last(
    tmp_path: Path, printed: list[bytes], last: str
) -> None:
    log = OutputLog(tmp_path / "log", 10)
    for each in printed:
        log.write(each)
    assert log.last_line() == last
    log.close()


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([b"12345678"], FULL),
        ([b"1234567"], b"1234567"),
        (
            [b"12345678", b"abc"],
            FULL + b"[wingbeat] 0 kB were left out here\nabc",
        ),
        (
            [b"1234567", b"8abc"],
            FULL + b"[wingbeat] 0 kB were left out here\nabc",
        ),
    ],
)
def test_a_log_is_full_with_its_last_byte(
    tmp_path: Path, pieces: list[bytes], expected: bytes
) -> None:
    log = OutputLog(tmp_path / "log", 8)
    for each in pieces:
        log.write(each)
    log.close()
    assert (tmp_path / "log").read_bytes() == expected


def test_of_what_was_left_out_whole_lines_of_the_end_are_told(tmp_path: Path) -> None:
    log = OutputLog(tmp_path / "log", 1)
    log.write(b"1")
    log.write(b"cut " * 5_000 + b"\n" + b"x" * 8_000 + b"\nend\n")
    log.close()
    written = (tmp_path / "log").read_bytes()
    assert written.endswith(b"\n[wingbeat] 20 kB were left out here\n" + b"x" * 8_000 + b"\nend\n")


def test_the_node_has_its_say_and_a_folder_for_it_alone(tmp_path: Path) -> None:
    log = OutputLog(tmp_path / "task" / "log", 100)
    log.note("it was put off")
    log.last_word(b"ERROR x")
    log.last_word(b"ERROR y\n")
    log.close()
    assert (tmp_path / "task" / "log").read_bytes() == (
        b"[wingbeat] it was put off\nERROR x\nERROR y\n"
    )
    assert (tmp_path / "task").stat().st_mode & 0o777 == 0o700


def test_a_disk_that_takes_nothing_is_no_reason_to_end_a_program(tmp_path: Path) -> None:
    (tmp_path / "task").touch()
    log = OutputLog(tmp_path / "task" / "log", 100)
    log.write(b"one\n")
    assert log.last_line() == "one"
    log.close()


def test_a_flood_of_progress_tells_the_last(tmp_path: Path) -> None:
    flood = b"".join(b"PROGRESS %d\nsaid\n" % (each % 100) for each in range(5_000))
    told, log = heard(tmp_path, flood)
    assert told == [ProgressWord(990)]
    assert log == b"said\n" * 5_000
