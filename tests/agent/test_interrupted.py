"""Ctrl-C at every moment of a command: one exit code, and not a word about the insides."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.commands import exits
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.style.source import REPOSITORY

WITHIN_S = EVENTUALLY_S_MAX
PRELUDE = """
import importlib.abc, os, signal, sys

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from agent.__main__ import main
sys.argv[1:] = {arguments!r}
code = main()
if {module!r} == "":
    os.kill(os.getpid(), signal.SIGINT)
sys.exit(code)
"""

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="there a process cannot interrupt itself alone"
)


def interrupted(
    home: Path, module: str, arguments: list[str], *, ignored: bool = False
) -> subprocess.CompletedProcess[str]:
    """A command that gets Ctrl-C when it loads this module; at its end without one."""
    if ignored:
        prelude = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    else:
        prelude = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.run(
        [sys.executable, "-c", prelude + PRELUDE.format(module=module, arguments=arguments)],
        cwd=REPOSITORY,
        env={**os.environ, "WINGBEAT_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("agent.cli", ["status"]),
        ("argparse", ["status"]),
        ("agent.commands.choosing", ["status"]),
        ("agent.commands.status", ["status"]),
        ("msgspec", ["status"]),
        ("agent.commands.questions", ["flock", "create", "one"]),
        ("agent.node.hosting", ["agent"]),
        ("rich.console", ["demo"]),
    ],
)
def test_ctrl_c_while_a_command_is_loaded(
    tmp_path: Path, module: str, arguments: list[str]
) -> None:
    done = interrupted(tmp_path, module, arguments)
    assert (done.returncode, done.stdout, done.stderr) == (exits.INTERRUPTED, "", "")


def test_ctrl_c_when_a_command_is_done(tmp_path: Path) -> None:
    done = interrupted(tmp_path, "", [])
    assert (done.returncode, done.stderr) == (exits.INTERRUPTED, "")
    assert done.stdout.startswith("usage: wingbeat")


def test_where_ctrl_c_is_ignored_it_stays_so(tmp_path: Path) -> None:
    done = interrupted(tmp_path, "agent.commands.status", ["status"], ignored=True)
    assert done.returncode == exits.NO_AGENT
