"""A script or program that comes without a workflow becomes one of a single step."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent.workflow.one_program import Alone, describe_file, is_program
from agent.workflow.reading import Asked

WORDS = '#!/bin/sh\nwc -w "$2"\n'
ODD = "my ${count} [1].sh"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Programs of all kinds, and files that are none."""
    files = {
        "count.sh": WORDS,
        ODD: WORDS,
        "tool": WORDS,
        "notes.txt": "tasks: none",
        "data": WORDS,
        "flow.yaml": "tasks: {a: {program: imprt}}\n",
        "whole/program.yaml": "command: [sh, main.sh]\n",
        "whole/main.sh": WORDS,
        **{f"book {number}.txt": "one two" for number in (1, 2)},
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    for name in ("tool", "notes.txt", "flow.yaml"):
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "program"),
    [
        *(("count.sh", True), (ODD, True), ("whole", True), ("notes.txt", False)),
        *(("flow.yaml", False), ("data", sys.platform == "win32"), ("absent.sh", False)),
        ("tool", True),
    ],
)
def test_what_is_a_program_shows_in_its_name_or_its_first_bytes(
    folder: Path, name: str, program: bool
) -> None:
    assert is_program(folder / name) is program


BOOKS = ("book 1.txt", "book 2.txt")
RUNS = {
    "once, with nothing": (Alone(), ["count: - ''"]),
    "once, with all": (Alone(BOOKS), ["count: book 1.txt, book 2.txt ''"]),
    "a pattern": (Alone(("book*.txt",)), ["count: book 1.txt, book 2.txt ''"]),
    "for each": (Alone(BOOKS, each=True), [
        "count.book_1: book 1.txt ''", "count.book_2: book 2.txt ''"]),
    "for each that a pattern fits": (Alone(("book*.txt",), each=True), [
        "count.book_1: book 1.txt ''", "count.book_2: book 2.txt ''"]),
    "for each that several patterns fit": (Alone(("book 1*", "book 2*"), each=True), [
        "count.book_1: book 1.txt ''", "count.book_2: book 2.txt ''"]),
    "often": (Alone(times=2, parameters="fast ${x}"), [
        "count.1: - 'fast ${x} 1'", "count.2: - 'fast ${x} 2'"]),
    "often for each": (Alone(BOOKS[:1], each=True, times=2), [
        "count.book_1.1: book 1.txt '1'", "count.book_1.2: book 1.txt '2'"]),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_script_runs_with_these_files_so_often(folder: Path, name: str) -> None:
    alone, wanted = RUNS[name]
    found = describe_file(folder / "count.sh", Asked({}, {}, start=folder), alone)
    assert found.faults == ()
    assert found.workflow is not None
    assert found.workflow.submit.name == "count"
    assert found.workflow.programs["count"].path == folder / "count.sh"
    files = found.workflow.files
    assert wanted == [
        f"{task.id}: {', '.join(files[each.dataset].name for each in task.raw) or '-'} "
        f"{task.parameters!r}"
        for task in found.workflow.submit.tasks
    ]


@pytest.mark.parametrize(("name", "called"), [(ODD, "my-count-[1]"), ("whole", "whole")])
def test_any_name_of_a_program_will_do(folder: Path, name: str, called: str) -> None:
    found = describe_file(folder / name, Asked({}, {}, start=folder), Alone())
    assert found.workflow is not None, found.faults
    assert [each.program for each in found.workflow.submit.tasks] == [called]


@pytest.mark.parametrize(
    ("name", "alone", "begins"),
    [
        ("count.sh", Alone(("bok.txt",)), "there is no file"),
        ("count.sh", Alone(each=True), "choose the files for each of which"),
        ("notes.txt", Alone(), "notes.txt is neither a workflow nor a program: a workflow ends in"),
        ("absent.sh", Alone(), "cannot be read: No such file"),
    ],
)
def test_what_is_wrong_is_said_of_the_whole_file(
    folder: Path, name: str, alone: Alone, begins: str
) -> None:
    found = describe_file(folder / name, Asked({}, {}, start=folder), alone)
    assert found.workflow is None
    assert found.faults[0].words().startswith(begins), found.faults
    assert found.faults[0].place.line == 0
