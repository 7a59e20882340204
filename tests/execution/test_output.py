"""The lines between node and program: words told, the rest in a log that has an end."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from agent.execution.output import (
    FLOOD_BYTES,
    CancelledWord,
    CheckpointWord,
    ErrorWord,
    Output,
    OutputLog,
    ProgressWord,
    TerminatedWord,
    Word,
    arguments,
    read_word,
    shortened,
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
    assert read_word(b"TERMINATED" + b" x" * 10_001) == TerminatedWord(("x",) * 10_000)


FULL = b"12345678\n[wingbeat] the log is full at 0 kB; only the end follows\n"
FILLING = b"nothing\n" * FLOOD_BYTES
LONGEST = b"PROGRESS 5" + b" " * 65_526


@pytest.mark.parametrize(
    ("pieces", "words", "logged"),
    [
        (
            [b"block 7\nERROR no such file: x\nbye\n"],
            [ErrorWord("no such file: x")],
            b"block 7\nERROR no such file: x\nbye\n",
        ),
        (
            [b"PROG", b"RESS 5\nhel", b"lo\nTERMINATED 1", b"7"],
            [ProgressWord(50), TerminatedWord(("17",))],
            b"hello\n",
        ),
        ([b"PROGRESS 5\n"], [ProgressWord(50)], b""),
        ([FILLING + b"TERMINATED\n" + FILLING], [TerminatedWord(())], FILLING * 2),
        ([FILLING + b"TERMINATED\r\n" + FILLING], [TerminatedWord(())], FILLING * 2),
        ([FILLING + b"ERROR\n"], [ErrorWord("")], FILLING + b"ERROR\n"),
        ([FILLING + b"ERROR\r\n"], [ErrorWord("")], FILLING + b"ERROR\r\n"),
        ([*[bytes(50_000)] * 10, b"\nTERMINATED\n"], [TerminatedWord(())], bytes(500_000) + b"\n"),
        (
            [b"".join(b"PROGRESS %d\nsaid\n" % (each % 100) for each in range(5_000))],
            [ProgressWord(990)],
            b"said\n" * 5_000,
        ),
        (
            [b"TERMINATED\n", b"PROGRESS 5\nTERM", b"INATED 2\n"],
            [TerminatedWord(())],
            b"PROGRESS 5\nTERMINATED 2\n",
        ),
        (
            [b"ERROR x\n", b"PROGRESS 5\nTERM", b"INATED 2\n"],
            [ErrorWord("x")],
            b"ERROR x\nPROGRESS 5\nTERMINATED 2\n",
        ),
        ([LONGEST, b"and more\n"], [], LONGEST + b"and more\n"),
        ([LONGEST + b" ", b"and more\n"], [ProgressWord(50)], b"and more\n"),
    ],
    ids=[
        *("what it says of its failure is in its log", "a word in pieces and without an end"),
        *("nothing printed", "alone in a flood", "alone in a flood of Windows", "a failure in one"),
        *("one of Windows", "no end of a line", "a flood of progress", "nothing behind the last"),
        *("nothing behind a failure", "as long as a word may be", "longer"),
    ],
)
def test_words_are_told_and_the_rest_is_in_the_log(
    tmp_path: Path, pieces: list[bytes], words: list[Word], logged: bytes
) -> None:
    assert heard(tmp_path, *pieces) == (words, logged)
    assert bool(logged) == any(tmp_path.iterdir()), "who prints nothing has no log"


def heard(folder: Path, *pieces: bytes, bytes_max: int = 10**9) -> tuple[list[Word], bytes]:
    path, told = folder / "task" / "1.1.log", list[Word]()
    log = OutputLog(path, bytes_max)
    output = Output(log, told.append)
    for piece in pieces:
        output.hear(1, piece)
    output.finish()
    log.close()
    return told, path.read_bytes() if path.exists() else b""


@pytest.mark.parametrize("before", [b"", FILLING])
@pytest.mark.parametrize("behind", [b"", FILLING])
def test_words_in_a_flood_are_heard(tmp_path: Path, before: bytes, behind: bytes) -> None:
    words = b"PROGRESS 5\nCHECKPOINT a\nPROGRESS 6\nTERMINATED 17\nTERMINATED 18\n"
    told, log = heard(tmp_path, before + words + behind)
    assert told[-1] == TerminatedWord(("17",))
    assert set(told[:-1]) == {ProgressWord(60), CheckpointWord("a")}
    assert log == before + b"TERMINATED 18\n" + behind


def test_a_full_log_says_so_and_has_the_end(tmp_path: Path) -> None:
    _, log = heard(tmp_path, b"first\n" * 100, FILLING, b"the end\n", bytes_max=300)
    assert log.startswith(b"first\n" * 50 + b"\n[wingbeat] the log is full at 0 kB;")
    assert b"\n[wingbeat] 254 kB were left out here\n" in log
    assert log.endswith(b"\nthe end\n")


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


DIGITS = "3f" * 32
FOLDER = Path(f"/home/ana/.local/share/wingbeat/published/{DIGITS}")
SCRATCH = Path("/var/tmp/wingbeat/7")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{FOLDER}/count.sh: 3: uniqq: not found", "count.sh:3: uniqq: not found"),
        (
            f"{FOLDER}/count.sh: line 3: uniqq: command not found",
            "count.sh:3: uniqq: command not found",
        ),
        (f"cat: {SCRATCH}/words.txt: No such file", "cat: words.txt: No such file"),
        (f"cannot read /data/{DIGITS}/book.txt", "cannot read book.txt"),
        (f'File "/x/{DIGITS}/a/run.py", line 7', 'File "a/run.py", line 7'),
        (f"D:\\data\\{DIGITS}\\book.txt is locked", "book.txt is locked"),
        (f"{DIGITS} is no image", f"{DIGITS} is no image"),
        ("/etc/passwd: 3: denied", "/etc/passwd:3: denied"),
        ("10: 20: 30", "10:20: 30"),
        ("no film in the camera", "no film in the camera"),
        ("", ""),
    ],
)
def test_folders_named_by_content_are_left_out(line: str, said: str) -> None:
    assert shortened(line, (FOLDER, SCRATCH)) == said


@pytest.mark.parametrize("path", [PurePosixPath("/srv/p"), PureWindowsPath("C:\\srv\\p")])
def test_a_folder_itself_is_left_out_whatever_divides_its_names(path: Path) -> None:
    assert shortened(f"{path / 'run.py'}: 4: oh", (path,)) == "run.py:4: oh"
