"""Program folders and their descriptions."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from agent.execution.programs import ProgramError, Programs, read_description


def described(folder: Path, content: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "program.json").write_text(text)
    return folder


def test_a_program_is_found_and_knows_its_command(tmp_path: Path) -> None:
    folder = described(
        tmp_path / "sums", {"command": ["{python}", "-P", "{folder}/sum.py"], "outputs": 2}
    )
    programs = Programs(tmp_path)
    assert programs.look() == ("sums",)
    program = programs.get("sums")
    assert program is not None
    assert program.outputs == 2
    line = program.command_line(["-x", "1"])
    assert line == [sys.executable, "-P", f"{folder}/sum.py", "-x", "1"]


def test_a_command_beside_the_description_is_found_there(tmp_path: Path) -> None:
    folder = described(tmp_path / "sums", {"command": ["run.sh"]})
    (folder / "run.sh").touch()
    assert read_description(folder).command_line([]) == [str(folder / "run.sh")]
    (folder / "run.sh").unlink()
    assert read_description(folder).command_line([]) == ["run.sh"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is not JSON"),
        ([], "has to hold an object"),
        ({}, "command has to be a list of words"),
        ({"command": "run"}, "command has to be a list of words"),
        ({"command": ["run", 3]}, "command has to be a list of words"),
        ({"command": ["run"], "outputs": -1}, "outputs has to be a number"),
        ({"command": ["run"], "outputs": True}, "outputs has to be a number"),
        ({"command": ["run"], "name": ""}, "name has to be a text"),
    ],
)
def test_a_wrong_description_is_named_in_a_sentence(
    tmp_path: Path, content: object, complaint: str
) -> None:
    with pytest.raises(ProgramError, match=complaint) as caught:
        read_description(described(tmp_path / "bad", content))
    assert str(tmp_path / "bad" / "program.json") in str(caught.value)


def test_one_bad_program_does_not_hide_the_others_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    described(tmp_path / "bad", "{")
    described(tmp_path / "good", {"command": ["run"]})
    described(tmp_path / "twin", {"command": ["run"], "name": "good"})
    programs = Programs(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert programs.look() == ("good",)
        assert programs.look() == ("good",)
    assert len(caplog.records) == 2


def test_a_folder_that_is_missing_holds_no_programs(tmp_path: Path) -> None:
    assert Programs(tmp_path / "missing").look() == ()
