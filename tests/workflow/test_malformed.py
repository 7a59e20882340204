"""Files that are wrong, too large or no text at all: each has exactly the answer that the table says.

``python -m tests.workflow.malformed_table`` writes the answers anew, for somebody who then reads every
one."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.api.phrases import either, worded
from agent.api.wording import near
from agent.api.work import Submit
from agent.protocol.phrases import said
from agent.workflow.faults import FAULTS_MAX, Faults, FaultsError, Place, shown
from agent.workflow.program_folder import read_program
from agent.workflow.reading import Asked
from agent.workflow.xml_nodes import DEPTH_MAX, read_xml
from agent.workflow.xml_workflow import read_xml_text
from agent.workflow.yaml_nodes import read_yaml
from tests.workflow.malformed_table import (
    PROGRAMS,
    Case,
    answer,
    cases,
    furnish,
    shortened,
)
from tests.workflow.whole import read_workflow_file

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


@pytest.mark.parametrize("name", ["none.wingbeat.yaml", "none.xml"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(FaultsError) as caught:
        read_workflow_file(tmp_path / name, Asked({}))
    sentences = [shortened(fault.sentence(), tmp_path) for fault in caught.value.faults]
    assert sentences == [f"{name}: cannot be read: No such file or directory"]


def test_deep_xml_is_refused() -> None:
    faults = Faults("deep.xml")
    assert read_xml(b"<a>" * (DEPTH_MAX + 10), faults) is None
    assert [fault.words() for fault in faults.listing()] == ["is nested more than 40 levels deep"]


def told(data: bytes, folder: Path) -> list[str]:
    with pytest.raises(FaultsError) as caught:
        read_workflow_file(folder / "w.wingbeat.yaml", Asked({}), data)
    return [shortened(fault.sentence(), folder) for fault in caught.value.faults]


def faults_of(text: str, folder: Path, **variables: str) -> list[str]:
    asked = Asked(variables, None, start=folder)
    try:
        read_workflow_file(folder / "w.wingbeat.yaml", asked, text.encode())
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
        (1_024, lambda n: f"variables: {{c: {{default: x, says: {'s' * n}}}}}\n" + USES_C),
        (37, lambda n: task(f"parameters: {'[' * n}1{']' * n}")),
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
    ids=(
        "task names retries variables fan parameters choices value priority says depth output expected range"
    )
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


NOWHERE = Path("/nowhere/at/all")
WORDS = st.sampled_from(
    (
        *("tasks", "gates", "program", "inputs", "for_each", "a", "b", "a/0", "b/*", "${x}"),
        *("x", "no", "010", "1_0", "2 GB", "id:", "parameters", "defaults", "limits", "after"),
        *("programs", "data", "*", "", "~", "requirements", "retries", "5", "attach", "asks"),
        *("variables", "name", "merge"),
    )
)
TREES = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)
TEXTS = st.sampled_from([case.text for case in cases() if len(case.text) < 2_000])


def yaml_answer(data: bytes) -> None:
    """Read it; anything but faults is raised on."""
    try:
        asked = Asked({}, PROGRAMS, start=NOWHERE)
        workflow = read_workflow_file(NOWHERE / "w.wingbeat.yaml", asked, data)
    except FaultsError as error:
        said = [fault.sentence() for fault in error.faults]
    else:
        said = [workflow.submit.name]
        msgspec.json.decode(msgspec.json.encode(workflow.submit), type=Submit)
    assert said
    assert all("\n" not in sentence for sentence in said)


def xml_answer(data: bytes) -> None:
    with suppress(FaultsError):
        read_xml_text(data, NOWHERE / "w.xml")


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    yaml_answer(data)
    xml_answer(data)


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    yaml_answer(text.encode("utf-8", "surrogatepass"))


@given(TREES)
def test_any_tree(tree: object) -> None:
    yaml_answer(yaml.safe_dump({"tasks": tree}, allow_unicode=True).encode())
    yaml_answer(yaml.safe_dump(tree, allow_unicode=True).encode())


@given(TEXTS, st.integers(0, 2_000), st.binary(max_size=3), st.integers(0, 20))
def test_files_that_somebody_has_damaged(text: str, at: int, put: bytes, cut: int) -> None:
    data = text.encode()
    damaged = data[:at] + put + data[at + cut :]
    yaml_answer(damaged)
    xml_answer(damaged)


@given(
    st.dictionaries(
        st.text("abcdefgh-. äß", min_size=1, max_size=12).map(str.strip).filter(bool),
        st.tuples(st.text("abc", min_size=1, max_size=5), st.integers(0, 99)),
        min_size=1,
        max_size=6,
    )
)
def test_what_was_written_is_read_back(given_tasks: dict[str, tuple[str, int]]) -> None:
    tasks = {
        name: {"program": program, "retries": retries}
        for name, (program, retries) in given_tasks.items()
    }
    data = yaml.safe_dump({"tasks": tasks}, allow_unicode=True).encode()
    workflow = read_workflow_file(NOWHERE / "w.wingbeat.yaml", Asked({}), data)
    read = {task.id: (task.program, task.failures_max - 1) for task in workflow.submit.tasks}
    assert read == given_tasks


@given(TREES)
def test_both_parsers_of_the_library_build_the_same(tree: object) -> None:
    data = yaml.safe_dump(tree, allow_unicode=True).encode()
    nodes = read_yaml(data, Faults("w"))
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(yaml, "CSafeLoader", yaml.SafeLoader)
        assert read_yaml(data, Faults("w")) == nodes
