"""The shipped program ``javascript`` by itself, as an agent starts it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.workflow.agents import JAVASCRIPT, needs_node

pytestmark = needs_node
WITHIN_S = EVENTUALLY_S_MAX
ADD = "function weevil_main(a, b) { return a + b; }"


def call(returns: str = "Number", **values: Any) -> dict[str, Any]:
    arguments = [{"name": name, "value": value} for name, value in values.items()]
    return {"entry": "weevil_main", "parameters": list(values), "returns": returns} | {
        "arguments": arguments
    }


def run(
    folder: Path, code: str, told: object, inputs: tuple[str, ...] = (), said: str = ""
) -> tuple[int, list[str], str | None]:
    """Exit code, lines, and the result."""
    (folder / "job.js").write_text(code)
    words = ["-p", "job.js"]
    for number, text in enumerate(inputs):
        (folder / f"input{number}").write_text(text)
        words += ["-i", f"input{number}"]
    parameters = told if isinstance(told, str) else json.dumps(told)
    done = subprocess.run(
        ["node", str(JAVASCRIPT / "run.js"), *words, "-x", parameters],
        cwd=folder,
        input=said,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    result = folder / "result.json"
    return (
        done.returncode,
        done.stdout.splitlines(),
        result.read_text() if result.exists() else None,
    )


def of_input(returns: str = "Number", **argument: int) -> dict[str, Any]:
    """A call whose only argument is what others returned."""
    return {**call(returns, a=None), "arguments": [{"name": "a", **argument}]}


@pytest.mark.parametrize(
    ("code", "told", "inputs", "result"),
    [
        ("function weevil_main(a, b) { return a - b; }", call(b=13, a=44), (), "31"),
        (
            "function weevil_main(a) { if (a !== undefined) return String(a); }",
            of_input("undefined", input=0),
            ("",),
            "",
        ),
        (
            "function weevil_main(a) { a = eval(a); return a.length + a[1]; }",
            of_input(gathered=2),
            ("1", "40"),
            "42",
        ),
        (
            "async function weevil_main(a) { return await Promise.resolve(a * 2); }",
            call(a=21),
            (),
            "42",
        ),
    ],
    ids=["by name", "nothing returned", "results of others", "a promise"],
)
def test_a_function_is_called_and_its_result_kept(
    tmp_path: Path, code: str, told: object, inputs: tuple[str, ...], result: str
) -> None:
    assert run(tmp_path, code, told, inputs) == (0, ["TERMINATED result.json"], result)


def test_parameters_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "parameters").write_text(json.dumps(call(a=1, b=2)))
    assert run(tmp_path, ADD, "parameters")[2] == "3"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *[("Number", 1.5), ("String", "ä\n"), ("Boolean", True), ("Array", [1, [2]])],
        *[("Object", {"a": [None]}), ("null", None)],
    ],
)
def test_values_come_back_as_they_went(kind: str, value: object, tmp_path: Path) -> None:
    told = call(kind, a=value)
    _, lines, result = run(tmp_path, "function weevil_main(a) { return a; }", told)
    assert lines == ["TERMINATED result.json"]
    assert json.loads(str(result)) == value


def test_a_pool_tells_how_far_it_is(tmp_path: Path) -> None:
    code = "function weevil_main(a) { return Array.isArray(a) ? a.length : a; }"
    one = {"entry": "weevil_main", "parameters": ["a"], "returns": "Number"}
    told = {"pool": {"processor": one, "reducer": one}}
    lines = run(tmp_path, code, told, ("[5, 6, 7]",))[1]
    assert lines == ["PROGRESS 33", "PROGRESS 66", "PROGRESS 99", "TERMINATED result.json"]


@pytest.mark.parametrize(
    ("code", "told", "error"),
    [
        (
            "function weevil_main(a) { return 'x'; }",
            call(a=1),
            "ERROR job.js returned String, but Number was to be returned",
        ),
        (
            "function weevil_main(a) { return a / 0; }",
            call(a=1),
            "ERROR job.js returned Infinity, which cannot be passed on",
        ),
        (
            "function weevil_main(a) { throw new TypeError('no\\nsuch thing'); }",
            call(a=1),
            "ERROR TypeError: no such thing",
        ),
        ("function main(a) {}", call(a=1), "ERROR job.js has no function weevil_main"),
        (
            "function weevil_main(a) { return require('fs'); }",
            call(a=1),
            "ERROR ReferenceError: require is not defined",
        ),
        (ADD, "{", "ERROR the parameters are no JSON"),
        (ADD, {}, "ERROR the parameters name no arguments"),
    ],
)
def test_what_goes_wrong_is_one_line(code: str, told: object, error: str, tmp_path: Path) -> None:
    status, (line,), result = run(tmp_path, code, told)
    assert (status, result) == (1, None)
    assert line.startswith(error)


def test_it_can_be_cancelled_while_it_computes(tmp_path: Path) -> None:
    code = "function weevil_main(a) { while (true) {} }"
    assert run(tmp_path, code, call(a=1), said="CANCEL\n") == (0, ["CANCELLED"], None)
