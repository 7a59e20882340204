"""How much of everything a file may have: the last that fits, and the first that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.api.phrases import either, worded
from agent.api.wording import near
from agent.protocol.phrases import said
from agent.workflow.faults import Faults, FaultsError, Place, shown
from agent.workflow.program_folder import read_program
from agent.workflow.reading import Asked, read_workflow_text


def faults_of(text: str, folder: Path, **variables: str) -> list[str]:
    asked = Asked(variables, None, start=folder)
    try:
        read_workflow_text(text.encode(), folder / "w.wingbeat.yaml", asked)
    except FaultsError as error:
        return [each.words() for each in error.faults]
    return []


def task(fields: str) -> str:
    return f"tasks: {{a: {{program: p, {fields}}}}}"


USES_C = task("parameters: '${c}'")


def listed(count: int) -> str:
    return ", ".join(f"v{number}" for number in range(count))


def variables(count: int) -> str:
    names = [f"v{number}" for number in range(count)]
    declared = ", ".join(f"{name}: x" for name in names)
    used = "".join(f"${{{name}}}" for name in names)
    return f"variables: {{{declared}}}\n" + task(f"parameters: '{used}'")


def gathered(count: int) -> str:
    fan = ", ".join(f"x{number}: [1]" for number in range(count))
    used = "".join(f"${{x{number}}}" for number in range(count))
    return (
        f"tasks: {{a: {{program: p, for_each: {{{fan}}}, parameters: '{used}'}}, "
        f"b: {{program: q, inputs: ['a/*']}}}}"
    )


@pytest.mark.parametrize(
    ("most", "text"),
    [
        (80, lambda n: f"tasks: {{{'t' * n}: {{program: p}}}}"),
        (128, lambda n: f"name: {'n' * n}\n" + task("retries: 1")),
        (99, lambda n: task(f"retries: {n}")),
        (200, variables),
        (4, gathered),
        (65_536, lambda n: task(f"parameters: '{'x' * n}'")),
        (200, lambda n: f"variables: {{c: {{default: v0, choices: [{listed(n)}]}}}}\n" + USES_C),
        (4_096, lambda n: f"variables: {{c: '{'x' * n}'}}\n" + USES_C),
        (100, lambda n: f"priority: {n}\n" + task("retries: 1")),
        (9_999, lambda n: f"tasks: {{a: {{program: p}}, b: {{program: q, inputs: [a/{n}]}}}}"),
        (31_536_000, lambda n: task(f"expected: {n} s")),
        (
            100_000,
            lambda n: (
                f"tasks: {{a: {{program: p, for_each: {{x: {{from: 1, to: {n}}}}}, "
                "parameters: '${x}'}}"
            ),
        ),
    ],
    ids=("task names retries variables fan parameters choices value priority output expected range")
    .replace("task names", "task name")
    .split(),
)
def test_the_last_that_fits_and_the_first_that_does_not(
    most: int, text: object, tmp_path: Path
) -> None:
    assert callable(text)
    assert faults_of(text(most), tmp_path) == []
    assert faults_of(text(most + 1), tmp_path)


def program(folder: Path, text: str) -> list[str]:
    (folder / "program.yaml").write_text(text)
    try:
        read_program(folder)
    except FaultsError as error:
        return [each.words() for each in error.faults]
    return []


@pytest.mark.parametrize(
    ("most", "text"),
    [
        (128, lambda n: f"name: {'p' * n}\ncommand: [x]\n"),
        (1_000, lambda n: f"name: p\ncommand: [{listed(n)}]\n"),
        (256 * 1024, lambda n: "name: p\ncommand: [x]\n#".ljust(n, "x")),
        (64 * 1024, lambda n: f"name: p\ncommand: [x]\ndocs: '{'d' * n}'\n"),
    ],
    ids=["name", "words", "file", "docs"],
)
def test_what_a_description_may_have(most: int, text: object, tmp_path: Path) -> None:
    assert callable(text)
    assert program(tmp_path, text(most)) == []
    assert program(tmp_path, text(most + 1))


@pytest.mark.parametrize(
    ("size", "fits"), [(16 * 1024 * 1024, True), (16 * 1024 * 1024 + 1, False)]
)
def test_how_large_a_script_may_be(size: int, fits: bool, tmp_path: Path) -> None:
    with (tmp_path / "s.py").open("wb") as file:
        file.truncate(size)
    text = "programs: {s: s.py}\ntasks: {a: {program: s}}"
    told = faults_of(text, tmp_path)
    assert told == ([] if fits else ["a script has at most 16 MB: make it a folder"])


# -- what is said of what does not fit ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("x" * 60, f'"{"x" * 60}"'),
        ("x" * 61, f'"{"x" * 59}…"'),
        ("a\n b", '"a b"'),
    ],
)
def test_what_is_long_is_cut(text: str, quoted: str) -> None:
    assert shown(text) == quoted


@pytest.mark.parametrize(
    ("words", "text"),
    [(["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")],
)
def test_one_of_several(words: list[str], text: str) -> None:
    assert either(words) == text


def test_what_may_be_meant() -> None:
    hint = near("programm", ["program", "data"])
    assert hint is not None
    assert worded(hint) == "did you mean program?"
    assert near("xyz", ["program", "data"]) is None


@pytest.mark.parametrize(("count", "told"), [(99, 99), (100, 100), (101, 101), (250, 101)])
def test_a_hundred_faults_are_told_and_how_many_more(count: int, told: int) -> None:

    faults = Faults("w")
    for number in range(count):
        faults.add(Place(number + 1, 1), said("wrong"))
    listing = faults.listing()
    assert len(listing) == told
    if count > 100:
        assert listing[-1].words() == f"and {count - 100} more faults"
