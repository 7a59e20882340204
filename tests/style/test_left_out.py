"""What the tests leave out is told at the very end, with what it lacks; what may be left out is marked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import MARKS

TESTS = Path(__file__).parents[1]
SUITE = """
import pytest

@pytest.mark.skipif(True, reason="no such tool here")
@pytest.mark.xdist_group("tools")
def test_with_a_tool(): pass

@pytest.mark.parametrize("shell", ["sh", "zsh"])
def test_in_a_shell(shell):
    if shell == "zsh": pytest.skip("zsh is not installed")
"""
FILE = 'import pytest\npytest.skip("no desktop: sway, wtype", allow_module_level=True)\n'
TOLD = [
    "Left out: 3",
    "  test_desk.py: no desktop: sway, wtype",
    "  test_tools.py::test_in_a_shell[zsh]: zsh is not installed",
    "  test_tools.py::test_with_a_tool: no such tool here",
]


def last_lines(folder: Path, *options: str) -> list[str]:
    (folder / "pytest.ini").touch()  # or names would begin with what it shares with the clone
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", *options, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("several", [[], ["-n", "2", "--dist", "loadgroup"]], ids=["one", "two"])
def test_each_is_named_with_what_it_lacks(tmp_path: Path, several: list[str]) -> None:
    (tmp_path / "test_tools.py").write_text(SUITE)
    (tmp_path / "test_desk.py").write_text(FILE)
    assert last_lines(tmp_path, *several)[-len(TOLD) :] == TOLD


def test_where_nothing_is_left_out_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_all.py").write_text("def test_it(): pass\n")
    assert "passed" in last_lines(tmp_path)[-1]


@pytest.mark.parametrize("mark", MARKS)
def test_what_makes_a_mark_is_found_in_tests(mark: str) -> None:
    files = [f"{each.as_posix()}\n{each.read_text('utf-8')}" for each in TESTS.rglob("test_*.py")]
    for sign in MARKS[mark][1]:
        assert [text for text in files if sign in text], sign
