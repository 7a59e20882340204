"""A program and what it starts come after everybody else; the keeper that ends them does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("these are shell scripts on Linux", allow_module_level=True)

from agent.execution import groups_linux
from agent.execution.keeper import step_back_all
from agent.protocol.events import ChildSucceeded
from tests.driver.worlds import LIMIT_S
from tests.execution.places import place
from tests.hosts.waiting import eventually, wait_for

AUTOGROUP = Path("/proc/self/autogroup")
IN_A_GROUP = """
import sys; sys.path.insert(0, sys.argv[1])
from agent.execution import guardian
class Group(guardian.ProcessorGroup):
    def _make(self, root, groups):
        self.members = {!r}
guardian.ProcessorGroup = Group
guardian.main()
"""
"""A guardian of a machine where programs have a control group."""


@pytest.mark.parametrize(("spare", "nice"), [(True, 19), (False, 10)], ids=["spare", "share"])
async def test_all_of_a_program_steps_back(tmp_path: Path, spare: bool, nice: int) -> None:
    wanted = (nice, "1000", spare)

    async with place(tmp_path, spare=spare) as here:
        here.start(f"hang {tmp_path}/pids")
        program, started = await here.running()
        standing = [wanted, wanted]
        await eventually(lambda: [_standing(each) for each in (program, started)] == standing)
        keeper = _parent(program)
        assert os.getpriority(os.PRIO_PROCESS, keeper) == os.getpriority(os.PRIO_PROCESS, 0)
        assert os.sched_getscheduler(keeper) == os.sched_getscheduler(0)


def test_one_started_before_its_parent_had_stepped_back_steps_back_too() -> None:
    """It is as nice as all of its process group, and in the same group of the scheduler."""
    script = "nice -n 19 sleep 1000 & echo $!; wait"
    command = ["/bin/sh", "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        early = int(parent.stdout.readline())
        try:
            wait_for(lambda: os.getpriority(os.PRIO_PROCESS, early) == 19, LIMIT_S, "it is nice")
            wait_for(lambda: _in_group_behind(early), LIMIT_S, "so is its group")
            step_back_all(parent.pid, spare=True, group="")
            assert os.sched_getscheduler(early) == os.SCHED_IDLE
        finally:
            os.kill(early, signal.SIGKILL)


@pytest.mark.parametrize(("spare", "members"), [(True, 2), (False, 0)], ids=["spare", "share"])
def test_whatever_gives_way_to_all_others_is_put_into_the_idle_group(
    tmp_path: Path, spare: bool, members: int
) -> None:
    """The kernel takes one process with each write, wherever in the file."""
    group = tmp_path / "cgroup.procs"
    os.mkfifo(group)
    taken = os.open(group, os.O_RDONLY | os.O_NONBLOCK)
    script = "sleep 1000 & echo $!; wait"
    with subprocess.Popen(
        ["/bin/sh", "-c", f"({script}) & wait"], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        below = [int(parent.stdout.readline())]
        below.insert(0, _parent(below[0]))
        try:
            step_back_all(parent.pid, spare=spare, group=str(group))
            assert os.read(taken, 100).decode() == "".join(map(str, below[:members]))
            step_back_all(parent.pid, spare=spare, group=str(group))
            assert os.read(taken, 100) == b"", "whoever is there stays there"
        finally:
            for each in below:
                os.kill(each, signal.SIGKILL)
    os.close(taken)


@pytest.mark.parametrize("spare", [True, False])
async def test_a_program_is_in_the_idle_group_from_its_start_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spare: bool
) -> None:
    group = tmp_path / "cgroup.procs"
    os.mkfifo(group)
    taken = os.open(group, os.O_RDONLY | os.O_NONBLOCK)
    monkeypatch.setattr(groups_linux, "GUARDIAN", IN_A_GROUP.format(str(group)))

    async with place(tmp_path, spare=spare) as here:
        here.start(f"wait {tmp_path}/pids {tmp_path}/go")
        program, _ = await here.running()
        (tmp_path / "go").touch()
        assert isinstance(await here.end(), ChildSucceeded)
        first = os.read(taken, len(str(program)))
        assert first.decode() == (str(program) if spare else "")
    os.close(taken)


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel has one scheduling group for all")
async def test_who_begins_a_session_anew_steps_back_too(tmp_path: Path) -> None:
    async with place(tmp_path, spare=True) as here:
        here.start(f"escape {tmp_path}/pids")
        _, escaped = await here.running()
        await eventually(lambda: os.getsid(escaped) == escaped)
        groups = Path(f"/proc/{escaped}/autogroup")
        await eventually(lambda: groups.read_text().split()[-1] == "19")


def _in_group_behind(process: int) -> bool:
    """Whether it could be put there: who is not root may change such a group now and then only."""
    if AUTOGROUP.exists():
        with suppress(BlockingIOError):
            Path(f"/proc/{process}/autogroup").write_text("19")
            return True
        return False
    return True


def _standing(process: int) -> tuple[int, str, bool]:
    adjusted = Path(f"/proc/{process}/oom_score_adj").read_text().strip()
    idle = os.sched_getscheduler(process) == os.SCHED_IDLE
    return os.getpriority(os.PRIO_PROCESS, process), adjusted, idle


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
