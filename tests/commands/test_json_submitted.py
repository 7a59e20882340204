"""Workflows in JSON from the command line: what is wrong with one is said as of any other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import cli
from agent.commands import exits
from tests.agent.processes import Machine

TASK = {"id": "a", "program": "nobody-has-this"}


@pytest.fixture(scope="module")
def birch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("birch"))
    with machine.agent("--name", "birch", "--port", "0"):
        yield machine


@pytest.fixture
def here(birch: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WINGBEAT_HOME", str(birch.folder))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("content", "words", "reason"),
    [
        (b"", [], "there is nothing in it"),
        (b" \n", [], "there is nothing in it"),
        (b"{", [], "it is not JSON: Input data was truncated"),
        (b"\xff", [], "it is not UTF-8 (byte 0)"),
        (b"[" * 50_000, [], "it is nested too deeply"),
        (b"[1]", [], "it has to be an object with name and tasks"),
        ({"name": 3, "tasks": [TASK]}, [], "name must be a text, not a whole number"),
        ({"name": "w", "tsks": [TASK]}, [], "there is no tsks; did you mean tasks?"),
        ({"name": "w", "tasks": []}, [], "tasks must be a list of at least 1 entry"),
        ({"name": "w" * 129, "tasks": [TASK]}, [], "name must be a text of at most 128 characters"),
        ({"tasks": [TASK]}, [], "name is missing"),
        (
            {"name": "w", "tasks": [TASK]},
            ["--set", "a=1"],
            "it is JSON, which has no variables: --set is for workflow files",
        ),
    ],
)
def test_each_way_to_be_wrong_is_one_sentence(
    content: object, words: list[str], reason: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (here / "w.json").write_bytes(data)
    end = "" if reason.endswith("?") else "."
    assert cli.main(["submit", "w.json", *words]) == exits.FAILED
    assert capsys.readouterr() == ("", f"wingbeat: w.json is no workflow: {reason}{end}\n")


def test_a_mark_at_its_beginning_and_another_name_do_no_harm(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "w.json").write_bytes(b"\xef\xbb\xbf" + json.dumps({"tasks": [TASK]}).encode())
    assert cli.main(["submit", "w.json", "--name", "x" * 128]) == exits.DONE
    assert capsys.readouterr().out.startswith("x" * 128 + " is accepted")
