"""Before a program is executed: its places are taken hold of, and who waits for a killed child is ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("these are Linux's calls", allow_module_level=True)

from agent.execution.confinement.landlock import Place
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


BY = -(signal.SIGABRT if sys.version_info >= (3, 13) else signal.SIGALRM)
"""Since Python 3.13 the interpreter notices at once that it is not where it was."""


@pytest.mark.parametrize(("how", "code", "said"), [("killed", BY, ""), ("fine", 0, "7\n")])
def test_who_waits_for_a_killed_child_is_ended_and_nobody_else(
    how: str, code: int, said: str
) -> None:
    words = [sys.executable, "-I", "-S", "-c", STARTS, str(SOURCES), how]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=EVENTUALLY_S_MAX, check=False
    )
    assert (done.returncode, done.stdout) == (code, said), done.stderr


def test_a_place_is_taken_hold_of_without_opening_what_is_there(tmp_path: Path) -> None:
    """A pipe would be waited for, and a socket cannot be opened."""
    for name in ("socket", "pipe"):
        path = str(tmp_path / name)
        if name == "pipe":
            os.mkfifo(path)
        else:
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(path)
        place = Place(path)
        assert not place.is_folder
        assert place.is_at(path)
        Path(path).rename(f"{path} of before")
        assert not place.is_at(path)
        place.close()
    folder = Place(str(tmp_path))
    assert folder.is_folder
    folder.close()
