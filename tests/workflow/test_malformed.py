"""Files that are wrong: each has exactly the answer that the table says.

``python -m tests.workflow.malformed_table`` writes the answers anew, for somebody who then reads every
one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.workflow.faults import FAULTS_MAX, Faults, FaultsError
from agent.workflow.reading import Asked, read_workflow_file, read_workflow_text
from agent.workflow.xml_nodes import DEPTH_MAX, read_xml
from tests.workflow.malformed_table import (
    Case,
    answer,
    cases,
    furnish,
    shortened,
)

CASES = cases()
CASES_MIN = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("beside")
    furnish(made)
    return made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_wrong_file_has_its_sentences(case: Case, folder: Path) -> None:
    assert answer(case, folder) == list(case.sentences)


def test_the_table_is_long_and_every_file_in_it_is_wrong() -> None:
    assert len(CASES) >= CASES_MIN
    assert [case.title for case in CASES if not case.sentences] == []
    assert len({case.title for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"name: \xff", "w.wingbeat.yaml:1:7: is not UTF-8 text from here on: save it as UTF-8"),
        (b"a: 1\nname: \x07", "w.wingbeat.yaml:2:7: the character U+0007 has no place here"),
        (b"[" * 200, "w.wingbeat.yaml:1:41: is nested more than 40 levels deep"),
        (
            b"x" * (16 * 1024 * 1024 + 1),
            "w.wingbeat.yaml: is larger than 16384 kB, so it is not read",
        ),
    ],
)
def test_bytes_that_are_no_file_of_text(data: bytes, sentence: str, tmp_path: Path) -> None:
    assert told(data, tmp_path) == [sentence]


def test_aliases_that_grow_are_refused(tmp_path: Path) -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for below, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]")
    said = told("\n".join(lines).encode(), tmp_path)
    assert said == ["w.wingbeat.yaml:7:16: more than 2,000,000 values, all aliases counted"]


def test_a_hundred_faults_are_enough(tmp_path: Path) -> None:
    lines = "".join(f"  t{number}: {{program: import, colour: red}}\n" for number in range(300))
    said = told(f"tasks:\n{lines}".encode(), tmp_path)
    assert len(said) == FAULTS_MAX + 1
    assert said[-1] == "w.wingbeat.yaml: and 200 more faults"


def test_a_fault_of_a_fan_out_is_told_once(tmp_path: Path) -> None:
    text = "tasks:\n  a: {program: p, for_each: {x: [1, 2, 3]}, retries: 'x'}\n"
    assert len(told(text.encode(), tmp_path)) == 1


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FaultsError) as caught:
        read_workflow_file(tmp_path / "none.wingbeat.yaml", Asked({}))
    sentences = [shortened(fault.sentence(), tmp_path) for fault in caught.value.faults]
    assert sentences == ["none.wingbeat.yaml: cannot be read: No such file or directory"]


def test_deep_xml_is_refused() -> None:
    faults = Faults("deep.xml")
    assert read_xml(b"<a>" * (DEPTH_MAX + 10), faults) is None
    assert [fault.words() for fault in faults.listing()] == ["is nested more than 40 levels deep"]


def told(data: bytes, folder: Path) -> list[str]:
    with pytest.raises(FaultsError) as caught:
        read_workflow_text(data, folder / "w.wingbeat.yaml", Asked({}))
    return [shortened(fault.sentence(), folder) for fault in caught.value.faults]
