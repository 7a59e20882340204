"""The lines between node and program."""

from __future__ import annotations

import pytest

from agent.execution.words import (
    CancelledWord,
    CheckpointWord,
    ErrorWord,
    ProgressWord,
    TerminatedWord,
    Word,
    arguments,
    read_word,
)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"PROGRESS 50\n", ProgressWord(500)),
        (b"PROGRESS 12.5%\r\n", ProgressWord(125)),
        (b"PROGRESS 120\n", ProgressWord(1000)),
        (b"PROGRESS -3\n", ProgressWord(0)),
        (b"PROGRESS nan\n", None),
        (b"PROGRESS soon\n", None),
        (b"TERMINATED 17 18\n", TerminatedWord(("17", "18"))),
        (b'TERMINATED "tower 7.las" 17\n', TerminatedWord(("tower 7.las", "17"))),
        (
            b'TERMINATED 5" {"id":"a b"} "open a\n',
            TerminatedWord(('5"', '{"id":"a', 'b"}', '"open', "a")),
        ),
        (b'TERMINATED "" "a"b\n', TerminatedWord(('""', '"a"b'))),
        (b"TERMINATED\n", TerminatedWord(())),
        (b"CANCELLED\n", CancelledWord()),
        (b"CANCELLED flights\n", None),
        (b"CHECKPOINT state.bin\n", CheckpointWord("state.bin")),
        (b"CHECKPOINT\n", None),
        (b"ERROR no such file: x\n", ErrorWord("no such file: x")),
        (b"hello\n", None),
        (b"\xff\xfe\n", None),
        (b"", None),
    ],
)
def test_what_a_line_says(line: bytes, word: Word | None) -> None:
    assert read_word(line) == word


def test_raw_data_inputs_and_parameters_become_arguments() -> None:
    told = ["-p", "/data/raw", "-i", "17", "-x", "fast and good"]
    assert arguments(["/data/raw"], ["17"], "fast and good") == told
    assert arguments([], [], "") == []


def test_of_very_many_outputs_the_first_ten_thousand_count() -> None:
    word = read_word(b"TERMINATED" + b" x" * 10_001)
    assert word == TerminatedWord(("x",) * 10_000)
