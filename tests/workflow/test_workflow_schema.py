"""The published schema is what the tables say, and it says what the reader accepts."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.workflow import tables
from agent.workflow.faults import Faults
from agent.workflow.program_yaml import read_program_yaml
from agent.workflow.reading import Asked
from agent.workflow.schema import (
    FILE,
    PROGRAM_SCHEMA,
    program_schema,
    text_of,
    workflow_schema,
)
from tests.workflow.malformed_table import cases
from tests.workflow.whole import read_workflow_file

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = Path(__file__).parent / "documents"
# Faults that a schema sees: of keys and values, not of what they refer to.
SEEN = (
    *("no tasks", "tasks misspelled", "an unknown section", "tasks as a list"),
    *("a task that is a word", "an unknown priority", "a task with a slash"),
    *("an unknown field", "retries in words", "too many retries", "cores of nothing"),
    *("a length without a unit that is known", "memory in words", "an unknown requirement"),
    *(
        "an unknown system",
        "requirements as a list",
        "an unknown limit",
        "a gate that asks nothing",
    ),
    *("a gate with a program", "a variable of an unknown type", "a variable with a strange name"),
    *("a program with an unknown field", "parameters as an unknown format"),
)
RIGHT = """
name: line ${line}
priority: 60
variables:
  line: {type: whole}
  fast: true
programs: {count: ./count.sh}
defaults: {retries: 1, limits: {wall: 1 h}}
tasks:
  import: {program: import, data: ['scans/*.las', 'id:DB-12'], parameters: {n: 3}}
  segment:
    program: count
    for_each: {scan: scans, n: {from: 1, to: 3}, band: [1, red]}
    retries: ${line}
    requirements: {memory: 2 GB, tags: gpu}
  merge: {program: import, inputs: ['segment/*'], expected: 90, after: [import]}
gates:
  look: {asks: Look, attach: fixed}
"""


def test_the_published_schemas_are_the_tables() -> None:
    again = "python -m agent.workflow.schema writes it anew"
    assert FILE.read_text("utf-8") == text_of(workflow_schema()), again
    assert PROGRAM_SCHEMA.read_text("utf-8") == text_of(program_schema()), again


def test_a_right_file_fits() -> None:
    assert fits(yaml.safe_load(RIGHT), workflow_schema())


@pytest.mark.parametrize("path", sorted(DOCUMENTS.rglob("*.wingbeat.yaml")), ids=lambda p: p.name)
def test_the_documents_of_the_tests_fit(path: Path) -> None:
    assert fits(yaml.safe_load(path.read_text("utf-8")), workflow_schema())


def test_the_example_of_the_tables_is_right(tmp_path: Path) -> None:
    example = textwrap.dedent(tables.__doc__.partition("\n\n")[2].rpartition("\n\n")[0])
    for name in ("scan.las", "tiles/a.las", "tiles/b.las", "count.sh", "merge.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("pass\n")
    used = example.replace("program: detect\n", "program: count\n")
    assert fits(yaml.safe_load(example), workflow_schema())
    path = tmp_path / "line.wingbeat.yaml"
    workflow = read_workflow_file(path, Asked({"line": "42"}), used.encode())
    assert [task.id for task in workflow.submit.tasks][-2:] == ["merge", "look"]


def test_the_shipped_program_fits_and_is_read() -> None:
    path = REPOSITORY / "tasks" / "javascript" / "program.yaml"
    faults = Faults(path.name)
    described = read_program_yaml(path, faults)
    assert faults.listing() == ()
    assert described is not None
    assert fits(yaml.safe_load(path.read_text("utf-8")), program_schema())


@pytest.mark.parametrize(
    "text",
    ["{}", "command: run.sh", "{command: [run.sh], outptus: [a]}", "{command: [], limits: 3}"],
)
def test_a_wrong_program_does_not_fit(text: str) -> None:
    assert not fits(yaml.safe_load(text), program_schema())


@pytest.mark.parametrize("title", SEEN)
def test_a_wrong_file_does_not(title: str) -> None:
    (text,) = (case.text for case in cases() if case.title == title)
    assert not fits(yaml.safe_load(text), workflow_schema())


def test_every_field_is_explained() -> None:
    missing = [place for place, each in fields(workflow_schema()) if not each.get("description")]
    assert missing == []


def fields(schema: Any, place: str = "") -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    if isinstance(schema, dict):
        for name, each in schema.get("properties", {}).items():
            found.append((f"{place}/{name}", each))
        for key, each in schema.items():
            found += fields(each, f"{place}/{key}")
    elif isinstance(schema, list):
        for each in schema:
            found += fields(each, place)
    return found


KINDS: dict[str, Any] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """As much of JSON Schema as the published one uses."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(KINDS[kind](value) for kind in kinds):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "anyOf" in schema and not any(fits(value, each) for each in schema["anyOf"]):
        return False
    if isinstance(value, dict):
        return _object_fits(value, schema)
    if isinstance(value, list):
        return len(value) <= schema.get("maxItems", len(value)) and all(
            fits(each, schema.get("items", {})) for each in value
        )
    return _single_fits(value, schema)


def _object_fits(value: dict[Any, Any], schema: dict[str, Any]) -> bool:
    if any(name not in value for name in schema.get("required", [])):
        return False
    for name, each in value.items():
        rules = [schema["properties"][name]] if name in schema.get("properties", {}) else []
        for pattern, rule in schema.get("patternProperties", {}).items():
            rules += [rule] if re.search(pattern, str(name)) else []
        if not rules and schema.get("additionalProperties") is False:
            return False
        if not all(fits(each, rule) for rule in rules):
            return False
    return True


def _single_fits(value: Any, schema: dict[str, Any]) -> bool:
    if isinstance(value, str):
        short = len(value) <= schema.get("maxLength", len(value))
        return short and re.search(schema.get("pattern", ""), value) is not None
    if isinstance(value, bool) or value is None:
        return True
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    return bool(low <= value <= high and value > schema.get("exclusiveMinimum", value - 1))
