"""What is loaded before it is needed: everybody waits for it, and an idle agent carries it for weeks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent import __version__
from tests.hosts.waiting import EVENTUALLY_S_MAX

REPOSITORY = Path(__file__).resolve().parents[2]
LOADED = "import sys; sys.path.insert(0, sys.argv[1]); import {}; print(*sorted(sys.modules))"


@pytest.mark.parametrize(
    ("module", "needless"),
    [
        ("agent.cli", {"asyncio", "dataclasses", "msgspec", "rich"}),
        ("agent.node.hosting", {"http", "psycopg", "rich", "xml", "yaml", "zeroconf"}),
        pytest.param(
            "agent.execution.guardian",
            {"asyncio", "re", "subprocess", "typing"},
            marks=pytest.mark.skipif(sys.platform == "win32", reason="Windows needs no guardian"),
        ),
    ],
)
def test_nothing_is_loaded_that_may_not_be_needed(module: str, needless: set[str]) -> None:
    bare = ["-S"] if module == "agent.execution.guardian" else []
    told = subprocess.run(
        [sys.executable, "-I", *bare, "-c", LOADED.format(module), str(REPOSITORY)],
        capture_output=True,
        text=True,
        check=True,
        timeout=EVENTUALLY_S_MAX,
    )
    assert needless & set(told.stdout.split()) == set()


TELLING = """
import sys; sys.path.insert(0, sys.argv.pop(1)); sys.argv[1:] = ["--version"]
before = set(sys.modules)
from agent.__main__ import main
code = main()
print(*sorted(set(sys.modules) - before)); sys.exit(code)
"""


def test_its_version_is_told_before_anything_is_loaded() -> None:
    told = subprocess.run(
        [sys.executable, "-I", "-c", TELLING, str(REPOSITORY)],
        capture_output=True,
        text=True,
        check=True,
        timeout=EVENTUALLY_S_MAX,
    )
    assert told.stdout == f"wingbeat {__version__}\nagent agent.__main__\n"
