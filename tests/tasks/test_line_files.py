"""What becomes of each real file that somebody else wrote, as a table that is looked at by people.

`python -m tests.tasks.line_outcomes` writes `line_outcomes.txt` anew; the difference is read before
it is committed. Without the files nothing is compared: `test_line_cloud` makes small ones.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.style.source import REPOSITORY
from tests.tasks.line_outcomes import FILES, TABLE

SECONDS_MAX, MEGABYTES_MAX = 60, 500


@pytest.mark.skipif(not FILES.is_dir(), reason=f"{FILES} is not there: these are files of others")
def test_each_file_ends_as_the_table_says() -> None:
    """In a process of its own, of which the memory is told in its last line."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.tasks.line_outcomes", "--show"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    *told, megabytes = done.stdout.splitlines()
    assert "Traceback" not in done.stderr
    assert told == TABLE.read_text("utf-8").splitlines()
    assert int(megabytes) < MEGABYTES_MAX


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_is_broken_is_read_or_refused_in_a_sentence(seed: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.tasks.line_mutants", str(tmp_path), "--seed", f"{seed}"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    read, refused = map(int, done.stdout.split())
    assert read > 100
    assert refused > 100
