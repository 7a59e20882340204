"""Node.js' permissions, for scripts that ask for them, with the Node that is here."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.execution import node_permissions as under_test
from agent.execution.node_permissions import option_of, permitted
from tests.workflow.agents import JAVASCRIPT, needs_node

NODE = shutil.which("node") or "node"
TRIES = """
const fs = require("node:fs");
const found = {};
const tries = {
  own: () => fs.writeFileSync("made", fs.readFileSync("mine")),
  other: () => fs.readFileSync(process.argv[2]),
  writes: () => fs.writeFileSync(__filename, ""),
  process: () => require("node:child_process").execFileSync("true"),
  worker: () => new (require("node:worker_threads").Worker)("", { eval: true }),
};
for (const [name, act] of Object.entries(tries)) {
  try { act(); found[name] = "went"; } catch (error) { found[name] = error.code; }
}
console.log(JSON.stringify(found));
"""
DENIED = "ERR_ACCESS_DENIED"


@needs_node
@pytest.mark.parametrize(("asks", "worker"), [("", DENIED), (" worker", "went")])
def test_a_script_that_asks_gets_its_own_files_and_no_more(
    tmp_path: Path, asks: str, worker: str
) -> None:
    if not option_of(NODE):
        pytest.skip("this Node has no permissions")
    folder, work = tmp_path / "program", tmp_path / "work"
    for each in (folder, work):
        each.mkdir()
    script, other = folder / "tries.js", tmp_path / "other"
    script.write_text(f"// node permissions:{asks}\n{TRIES}")
    for path in (work / "mine", other):
        path.write_text("content")
    words = permitted((NODE, str(script), str(other)), (str(folder),), (str(work),))
    done = subprocess.run(words, cwd=work, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert found == {
        "own": "went",
        "other": DENIED,
        "writes": DENIED,
        "process": DENIED,
        "worker": worker,
    }, done.stderr


def test_only_scripts_that_ask_are_told_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "option_of", lambda _: "--permission")
    plain, asks = tmp_path / "plain.js", tmp_path / "asks.js"
    plain.write_text("1;\n")
    asks.write_text('"use strict";\n// node permissions:\n')
    for command in (("node", str(plain)), ("sh", str(asks)), ("node", str(tmp_path / "none"))):
        assert permitted(command, (), ()) == command
    assert permitted(("node", str(asks), "-x"), ("/a",), ("/b",)) == (
        *("node", "--no-warnings", "--permission", "--allow-fs-read=/a", "--allow-fs-read=/b"),
        *("--allow-fs-write=/b", str(asks), "-x"),
    )
    told = permitted(("node", str(JAVASCRIPT / "run.js")), (), ())
    assert "--allow-worker" in told, "jobs of XML workflows ask, for their thread"


@needs_node
def test_a_node_without_permissions_runs_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "OPTIONS", ("--no-such-option",))
    under_test._tried.cache_clear()
    try:
        command = (NODE, str(JAVASCRIPT / "run.js"))
        assert permitted(command, (), (str(tmp_path),)) == command
    finally:
        under_test._tried.cache_clear()


def test_what_is_no_node_has_none(tmp_path: Path) -> None:
    assert option_of(str(tmp_path / "node")) == ""
