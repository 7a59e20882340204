"""Whatever bytes are read, the answer is a workflow or faults; and what was written is read back."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.api.work import Submit
from agent.workflow.faults import Faults, FaultsError
from agent.workflow.reading import Asked, read_workflow_text
from agent.workflow.xml_workflow import read_xml_text
from agent.workflow.yaml_nodes import read_yaml
from tests.workflow.malformed_table import PROGRAMS, cases

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
        workflow = read_workflow_text(data, NOWHERE / "w.wingbeat.yaml", asked)
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
    workflow = read_workflow_text(data, NOWHERE / "w.wingbeat.yaml", Asked({}))
    read = {task.id: (task.program, task.failures_max - 1) for task in workflow.submit.tasks}
    assert read == given_tasks


@given(TREES)
def test_both_parsers_of_the_library_build_the_same(tree: object) -> None:
    data = yaml.safe_dump(tree, allow_unicode=True).encode()
    nodes = read_yaml(data, Faults("w"))
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(yaml, "CSafeLoader", yaml.SafeLoader)
        assert read_yaml(data, Faults("w")) == nodes
