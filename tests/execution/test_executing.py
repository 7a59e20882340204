"""A child that is killed before it has executed its program takes its keeper along, and no longer waits."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("these are Linux's calls", allow_module_level=True)

from tests.hosts.waiting import EVENTUALLY_S_MAX

SOURCES = Path(__file__).resolve().parents[2]
STARTS = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from agent.execution.confinement import executing
executing.EXECUTED_S_MAX = 0.2
prepare = {"killed": lambda: os.kill(os.getpid(), signal.SIGKILL), "fine": lambda: None}[sys.argv[2]]
process = executing.Starter().start(prepare, ["/bin/sh", "-c", "sleep 0.5; exit 7"], {})
print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


@pytest.mark.parametrize(
    ("how", "code", "said"), [("killed", -signal.SIGALRM, ""), ("fine", 0, "7\n")]
)
def test_who_waits_for_a_killed_child_is_ended_and_nobody_else(
    how: str, code: int, said: str
) -> None:
    words = [sys.executable, "-I", "-S", "-c", STARTS, str(SOURCES), how]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=EVENTUALLY_S_MAX, check=False
    )
    assert (done.returncode, done.stdout) == (code, said), done.stderr
