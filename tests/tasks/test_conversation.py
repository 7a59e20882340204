"""What programs and nodes say to each other: each word of the source's table 3.4."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tasks.inspection.conversation import Do, Work, WorkError, read_parameters
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended
from tests.tasks.flown import REPOSITORY, said_by

STOPS = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
from tasks.inspection.conversation import main

def do(work):
    while True:
        work.progress(0.25)
        work.unwanted.wait(0.01)

main(do)
"""


def refused(_: Work) -> Sequence[str]:
    raise WorkError("scan.raw has not one good record")


@pytest.mark.parametrize(
    ("do", "line"),
    [
        (lambda _: ("a.las", "b.txt"), "TERMINATED a.las b.txt"),
        (refused, "ERROR scan.raw has not one good record"),
        (
            lambda _: [Path("/nowhere/x").read_text()],
            "ERROR /nowhere/x cannot be used: No such file or directory",
        ),
    ],
    ids=["files", "an error", "a missing file"],
)
def test_a_program_ends_with_one_line(do: Do, line: str) -> None:
    said = said_by(do, [])
    assert (said.lines, said.code) == ([line], int(line.startswith("ERROR")))


def test_arguments_are_read_as_the_source_gives_them() -> None:
    work = Work()
    said_by(lambda _: (), ["-p", "/raw", "-i", "1", "-i", "2", "-x", "clearance_m=5"], work)
    assert (work.raw, work.inputs) == ([Path("/raw")], [Path("1"), Path("2")])
    assert work.parameter("clearance_m", 1.0) == 5.0


def test_progress_is_told_in_percent_and_not_too_often() -> None:
    def do(work: Work) -> Sequence[str]:
        for number in range(1_000):
            work.progress(number / 1_000)
        return ()

    said = said_by(do, [])
    assert said.lines[0] == "PROGRESS 0"
    assert len(said.lines) < 100


def test_a_fault_of_the_program_leaves_its_traceback_in_the_log() -> None:
    said = said_by(lambda _: [str(1 // 0)], [])
    assert said.last.startswith("ERROR this program is at fault: ZeroDivisionError")
    assert "Traceback" in said.errors


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-i"], "nothing stands behind -i"),
        (["--fast"], "'--fast' is no argument: -p raw, -i input and -x parameters are"),
        (["-x", "fast"], "the parameter 'fast' has no value: write name=value"),
        (["-x", "<a"], "the parameters are not XML: unclosed token: line 1, column 0"),
    ],
)
def test_a_wrong_argument_is_answered_with_a_sentence(words: list[str], sentence: str) -> None:
    said = said_by(lambda _: (), words)
    assert (said.lines, said.code) == ([f"ERROR {sentence}"], 1)


def test_parameters_come_as_words_as_a_file_or_as_xml(tmp_path: Path) -> None:
    file = tmp_path / "parameters.xml"
    file.write_text("<parameters>\n <a>1</a><parameter name='b'> 2 </parameter>\n</parameters>\n")
    assert read_parameters("a=1 b=2") == {"a": "1", "b": "2"}
    assert read_parameters("a=1\nb=2\n") == {"a": "1", "b": "2"}
    told = '{"a": 1, "who": "A. Person, of = us", "none": null}'
    assert read_parameters(told) == {"a": "1", "who": "A. Person, of = us", "none": ""}
    assert read_parameters('{"long": "' + 5_000 * "n " + '"}')["long"].startswith("n n")
    for wrong in ('{"a": [1]}', '{"a": ', "{" * 100_000):
        with pytest.raises(WorkError, match="the parameter"):
            read_parameters(wrong)
    assert read_parameters(str(file)) == {"a": "1", "b": "2"}


def test_a_parameter_that_is_no_number_is_said() -> None:
    with pytest.raises(WorkError, match="clearance_m is 'far' and has to be a number"):
        Work(parameters={"clearance_m": "far"}).parameter("clearance_m", 5.0)


@pytest.mark.parametrize("how", ["CANCEL", "gone"])
def test_a_program_stops_when_it_is_asked_to_or_its_node_is_gone(how: str) -> None:
    started = subprocess.Popen(
        [sys.executable, "-I", "-c", STOPS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with ended(started) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "PROGRESS 25\n"
        if how == "CANCEL":
            process.stdin.write("CANCEL\n")
            process.stdin.flush()
        else:
            process.stdin.close()
        lines = process.stdout.read().splitlines()
        assert process.wait(EVENTUALLY_S_MAX) == 0
    assert lines[-1] == "CANCELLED"


def test_what_an_earlier_attempt_saved_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, work = tmp_path / "saved", Work()
    saved.write_text("state")
    monkeypatch.setenv("WINGBEAT_CHECKPOINT", str(saved))
    said_by(lambda _: (), [], work)
    assert work.checkpoint == saved
    assert os.environ["WINGBEAT_CHECKPOINT"] == str(saved)
