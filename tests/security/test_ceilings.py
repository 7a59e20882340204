"""The least of what owner, task and machine allow holds: each ceiling with a process that goes for more."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("these limits are Linux's", allow_module_level=True)

import os

from agent.execution.limits import USUAL, Limits, NodeLimits
from agent.protocol import records
from agent.protocol.events import ChildFailed, ChildSucceeded, Event
from agent.protocol.reasons import EndCause
from agent.protocol.records import Requirements
from tests.security.scene import Machine

MB = 1_000_000
TASK_ASKS_FOR_MORE = {
    "limits": records.Limits(memory_mb=8_000, disk_mb=50_000),
    "requirements": Requirements(memory_mb=6_000),
}
HOLDS = "held = [bytearray(b'x') * 1_000_000 for _ in range(600)]; time.sleep(60)"
HOLDS_AT_ONCE = "held = bytearray(b'x') * 2_000_000_000; print('HAS', len(held))"
IN_CHILDREN = """
for _ in range(6):
    if not os.fork():
        held = bytearray(b'x') * 40_000_000
        time.sleep(60)
time.sleep(60)
"""
FILLS_TEMPORARY = """
for n in range(100):
    open(os.environ['TMPDIR'] + f'/{n}', 'wb').write(b'x' * 1_000_000)
time.sleep(60)
"""
FILLS_WITHOUT_NAMES = """
held = []
for n in range(100):
    held.append(open('hidden', 'wb'))
    os.unlink('hidden')
    held[-1].write(b'x' * 1_000_000)
    held[-1].flush()
time.sleep(60)
"""
FILLS_UNDER_TWO_NAMES = """
for n in range(100):
    open(f'{n}', 'wb').write(b'x' * 1_000_000)
    os.link(f'{n}', f'again-{n}')
time.sleep(60)
"""
ONE_LARGE_FILE = (
    "signal.signal(signal.SIGXFSZ, signal.SIG_DFL); os.truncate(os.open('a', 65), 10**9)"
)
FILLS_THE_LIST_OF_FILES = """
for n in range(1_000_000):
    os.close(os.open(f'{n}', os.O_CREAT))
    if n % 1_000 == 0:
        time.sleep(0.05)
"""
FILLS_FAR_BELOW = """
for _ in range(2_200):
    os.mkdir('d')
    os.chdir('d')
for n in range(100):
    open(f'{n}', 'wb').write(b'x' * 1_000_000)
time.sleep(60)
"""
NAMES_WHAT_IS_HOLLOW = """
for n in range(30):
    os.truncate(os.open(f'{n}', os.O_CREAT | os.O_RDWR), 10**7)
print('TERMINATED', *range(30), flush=True)
"""
FORKS = """
made = 0
try:
    while made < 1000:
        if not os.fork():
            time.sleep(60)
            os._exit(0)
        made += 1
except OSError as error:
    print('MADE', made, error)
"""
OPENS = """
held = []
try:
    while len(held) < 1000:
        held.append(os.open('/dev/null', os.O_RDONLY))
except OSError as error:
    print('OPENED', len(held), error)
"""
PINS = """
try:
    os.sched_setaffinity(0, range(64))
except OSError as error:
    print('STAYS', error)
print('USES', len(os.sched_getaffinity(0)))
"""
RAISES = """
import resource
for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
    try:
        resource.setrlimit(which, (resource.RLIM_INFINITY,) * 2)
        print('RAISED', which)
    except (OSError, ValueError) as error:
        print('STAYS', which)
"""


async def tried(folder: Path, most: Limits, script: str, **asked: object) -> tuple[Event, str]:
    """What becomes of a program that runs where its owner lets any take this at most."""
    machine = Machine(folder, "on", NodeLimits(replace(USUAL, wall_s=60), most))
    text = f"import os, signal, time\n{script}"
    machine.install("greedy", ["{python}", "greedy.py"], {"greedy.py": text})
    try:
        machine.start("greedy", **{**TASK_ASKS_FOR_MORE, **asked})  # type: ignore[arg-type]
        return await machine.end(), machine.log()
    finally:
        await machine.children.close()


OVER: Mapping[str, tuple[Limits, str, str]] = {
    "memory": (Limits(memory_mb=100), HOLDS, "TookMemory"),
    "memory of all together": (Limits(memory_mb=100), IN_CHILDREN, "TookMemory"),
    "temporary files": (Limits(disk_mb=20), FILLS_TEMPORARY, "WroteTooMuch"),
    "files without names": (Limits(disk_mb=20), FILLS_WITHOUT_NAMES, "WroteTooMuch"),
    "files of two names": (Limits(disk_mb=20), FILLS_UNDER_TWO_NAMES, "WroteTooMuch"),
    "files of no size": (Limits(disk_mb=20), FILLS_THE_LIST_OF_FILES, "WroteTooMuch"),
    "files below any path": (Limits(disk_mb=20), FILLS_FAR_BELOW, "WroteTooMuch"),
    "hollow outputs": (Limits(disk_mb=20), NAMES_WHAT_IS_HOLLOW, "WroteTooMuch"),
    "one large file": (Limits(disk_mb=20), ONE_LARGE_FILE, "WroteTooMuch"),
}


@pytest.mark.parametrize("name", OVER)
async def test_what_a_task_asks_for_raises_no_ceiling_and_its_end_is_said(
    tmp_path: Path, name: str
) -> None:
    most, script, kind = OVER[name]
    ended, log = await tried(tmp_path, most, script)
    assert isinstance(ended, ChildFailed), log
    assert isinstance(ended.why, EndCause)
    assert ended.why.kind == kind, (ended, log)
    assert ended.why.limit_bytes == MB * max(most.memory_mb, most.disk_mb)
    assert 0 < ended.why.took_bytes < 400 * MB


async def test_memory_is_held_back_before_it_is_taken(tmp_path: Path) -> None:
    ended, log = await tried(tmp_path, Limits(memory_mb=100), HOLDS_AT_ONCE)
    assert isinstance(ended, ChildFailed)
    assert "HAS 2" not in log
    assert "MemoryError" in log


async def test_processes_are_counted_by_the_kernel(tmp_path: Path) -> None:
    ended, log = await tried(tmp_path, Limits(processes=20), FORKS)
    assert isinstance(ended, ChildSucceeded | ChildFailed)
    made = [int(line.split()[1]) for line in log.splitlines() if line.startswith("MADE")]
    assert made == [] or made[0] <= 21, log
    assert made or "TookProcesses" in repr(ended)


async def test_open_files_are_counted_by_the_kernel(tmp_path: Path) -> None:
    _, log = await tried(tmp_path, Limits(open_files=40), OPENS)
    assert "OPENED 3" in log, log
    assert "Too many open files" in log


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is one processor")
async def test_a_program_stays_on_the_processors_that_it_was_given(tmp_path: Path) -> None:
    _, log = await tried(tmp_path, Limits(processors=1), PINS)
    assert "STAYS" in log, log
    assert "USES 1\n" in log
    _, log = await tried(tmp_path / "other", Limits(), PINS)
    assert f"USES {len(os.sched_getaffinity(0))}\n" in log


async def test_no_program_raises_its_own_limits(tmp_path: Path) -> None:
    _, log = await tried(tmp_path, Limits(), RAISES)
    assert "RAISED" not in log
    assert log.count("STAYS") == 3


async def test_time_is_the_least_of_what_all_say(tmp_path: Path) -> None:
    asked = records.Limits(wall_s=3_600)
    ended, _ = await tried(tmp_path, Limits(wall_s=1), "time.sleep(60)", limits=asked)
    assert isinstance(ended, ChildFailed)
    assert isinstance(ended.why, EndCause)
    assert (ended.why.kind, ended.why.limit) == ("RanTooLong", 1)
