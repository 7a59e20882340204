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


def test_arguments_go_by_name(tmp_path: Path) -> None:
    code = "function weevil_main(a, b) { return a - b; }"
    assert run(tmp_path, code, call(b=13, a=44)) == (0, ["TERMINATED result.json"], "31")


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


def test_nothing_returned_is_an_empty_result_and_read_as_nothing(tmp_path: Path) -> None:
    code = "function weevil_main(a) { if (a !== undefined) return String(a); }"
    told = {**call("undefined"), "arguments": [{"name": "a", "input": 0}]}
    assert run(tmp_path, code, told, ("",)) == (0, ["TERMINATED result.json"], "")


def test_results_of_others_are_gathered(tmp_path: Path) -> None:
    code = "function weevil_main(a) { a = eval(a); return a.length + a[1]; }"
    told = {**call(), "arguments": [{"name": "a", "gathered": 2}]}
    assert run(tmp_path, code, told, ("1", "40"))[2] == "42"


def test_a_promise_is_waited_for(tmp_path: Path) -> None:
    code = "async function weevil_main(a) { return await Promise.resolve(a * 2); }"
    assert run(tmp_path, code, call(a=21))[2] == "42"


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
    status, lines, result = run(tmp_path, code, told)
    assert status == 1
    assert len(lines) == 1
    assert lines[0].startswith(error)
    assert result is None


def test_it_can_be_cancelled_while_it_computes(tmp_path: Path) -> None:
    code = "function weevil_main(a) { while (true) {} }"
    assert run(tmp_path, code, call(a=1), said="CANCEL\n") == (0, ["CANCELLED"], None)
