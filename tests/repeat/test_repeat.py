"""Hunting finds what fails now and then, and ends all that it started.

Each suite here is a small real one, and the command runs as a process, as a person runs it.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from tests.hosts.waiting import wait_for

ENDED_S_MAX = 120.0
NOW_AND_THEN = """
from pathlib import Path
SEEN = Path(__file__).with_name("seen")

def test_always(): pass

def test_now_and_then():
    seen = SEEN.exists()
    SEEN.unlink() if seen else SEEN.touch()
    assert not seen, "there already"
"""
ONE_BEFORE_THE_OTHER = """
began = []

def test_first(): began.append("first")

def test_second(): assert began, "nobody was here"
"""
CRASHING = """
import os, signal

def test_before(): pass

def test_crashing(): os.kill(os.getpid(), signal.SIGKILL)
"""
WAITING = """
import os, subprocess, sys, time
from pathlib import Path

def test_failing():
    assert False, "before"

def test_waiting():
    forever = [sys.executable, "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(forever, start_new_session=True)
    Path(__file__).with_name("child").write_text(f"{os.getpid()} {child.pid}\\n")
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is killed cannot remove its own."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def suite(folder: Path, text: str) -> Path:
    path = folder / "test_small.py"
    path.write_text(text)
    (folder / "pytest.ini").touch()  # or names would begin with what it shares with the clone
    return path


def hunt(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.repeat", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def told_by(*arguments: str) -> tuple[int, str]:
    hunting = hunt(*arguments)
    try:
        told, _ = hunting.communicate(timeout=ENDED_S_MAX)
    finally:
        hunting.kill()
    return hunting.returncode, told


def test_what_fails_every_second_time_is_told_with_how_often_and_its_seeds(tmp_path: Path) -> None:
    code, told = told_by("--times=3", "--seed=10", str(suite(tmp_path, NOW_AND_THEN)))
    assert code == 1
    assert "3 runs, 1 tests failed" in told
    assert "1 of 3  test_small.py::test_now_and_then  (seeds 11)" in told
    assert told.rstrip().splitlines()[-1].strip().startswith("AssertionError: there already")


def test_a_suite_that_never_fails_ends_well(tmp_path: Path) -> None:
    code, told = told_by("--times=1", str(suite(tmp_path, ONE_BEFORE_THE_OTHER)))
    assert code == 0, told
    assert "1 runs, 0 tests failed" in told


def test_what_needs_an_order_fails_with_the_seeds_that_draw_another(tmp_path: Path) -> None:
    dependent = str(suite(tmp_path, ONE_BEFORE_THE_OTHER))
    draws = ("--times=3", "--shuffle", "--seed=3", dependent)
    code, told = told_by(*draws)
    assert code == 1
    assert "2 of 3  test_small.py::test_second  (seeds 3, 5)" in told


@pytest.mark.parametrize("several", [[], ["-n", "2"]], ids=["pytest", "one of its workers"])
def test_a_crash_is_a_failure_of_the_test_that_ran(tmp_path: Path, several: list[str]) -> None:
    crashing = str(suite(tmp_path, CRASHING))
    code, told = told_by("--times=1", "--seed=1", "--", crashing, *several)
    assert code == 1
    assert "1 of 1  test_small.py::test_crashing  (seeds 1)" in told


def test_a_run_without_tests_is_a_failure(tmp_path: Path) -> None:
    code, told = told_by("--times=1", str(suite(tmp_path, "")))
    assert code == 1
    assert "pytest ended with 5" in told


def test_each_is_tried_alone_and_in_its_file(tmp_path: Path) -> None:
    file = suite(tmp_path, ONE_BEFORE_THE_OTHER)
    code, told = told_by("--each", "--times=1", f"{file}::test_second")
    assert code == 1
    assert f"{file}::test_second: 1 runs, 1 tests failed" in told
    assert f"{file}: 1 runs, 0 tests failed" in told


@contextmanager
def waiting(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], Started]]:
    """A hunt whose test waits, with what it started; nothing of it outlives the block."""
    file = suite(folder, WAITING)
    child = file.with_name("child")
    hunting = hunt(*options, str(file))
    try:
        wait_for(
            lambda: child.exists() and child.read_text().endswith("\n"), ENDED_S_MAX, "it waits"
        )
        tests = [psutil.Process(int(each)) for each in child.read_text().split()]
        children = psutil.Process(hunting.pid).children()
        started = Started(tests, [each for each in children if each not in tests])
        try:
            yield hunting, started
        finally:
            for each in [*started.tests, *started.busy]:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
    finally:
        hunting.kill()
        hunting.communicate()


class Started(NamedTuple):
    """The process with the test and that which it started; those that are only busy."""

    tests: list[psutil.Process]
    busy: list[psutil.Process]


on_posix = pytest.mark.skipif(sys.platform == "win32", reason="a process has signals there only")


@on_posix
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_ends_all_that_it_started(tmp_path: Path, how: signal.Signals) -> None:
    with waiting(tmp_path, "--times=3", "--load=1") as (hunting, started):
        assert (len(started.tests), len(started.busy)) == (2, 2)
        hunting.send_signal(how)
        told, _ = hunting.communicate(timeout=ENDED_S_MAX)
        assert hunting.returncode == 130
        assert "1 of 1  test_small.py::test_failing" in told
        assert not [each for each in [*started.tests, *started.busy] if goes_on(each)]


@on_posix
def test_killed_it_takes_its_busy_processes_with_it(tmp_path: Path) -> None:
    with waiting(tmp_path, "--times=1", "--load=1") as (hunting, started):
        assert len(started.busy) == 2
        hunting.kill()
        wait_for(lambda: not any(map(goes_on, started.busy)), ENDED_S_MAX, "they have ended")


def goes_on(process: psutil.Process) -> bool:
    """Whether it runs; one that has ended may wait to be fetched."""
    with suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False
