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

from collections.abc import Iterator

from agent.execution import groups_linux
from agent.execution.control_groups import NO_GROUP, ControlGroup
from agent.execution.keeper import step_back_all
from tests.certain import certain
from tests.execution.installed import parent_of
from tests.execution.places import Place, placed
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually, wait_for

AUTOGROUP = Path("/proc/self/autogroup")
IN_A_GROUP = """
import sys; sys.path.insert(0, sys.argv[1])
from agent.execution import control_groups, guardian
class Group(control_groups.ControlGroup):
    members = {!r}
class Groups(control_groups.ControlGroups):
    def of_keeper(self):
        return Group("", frozenset())
guardian.ControlGroups = Groups
guardian.main()
"""
"""A guardian of a machine where programs have a control group."""


@pytest.mark.parametrize(
    ("here", "wanted"),
    [({"spare": True}, (19, "1000", True)), ({"spare": False}, (10, "1000", False))],
    indirect=["here"],
    ids=["spare", "share"],
)
async def test_all_of_a_program_steps_back(
    here: Place, tmp_path: Path, wanted: tuple[int, str, bool]
) -> None:
    here.start(f"hang {tmp_path}/pids")
    pids = await here.running()
    await eventually(lambda: [_standing(each) for each in pids] == [wanted, wanted])
    keeper = parent_of(pids[0])
    assert os.getpriority(os.PRIO_PROCESS, keeper) == os.getpriority(os.PRIO_PROCESS, 0)
    assert os.sched_getscheduler(keeper) == os.sched_getscheduler(0)


@pytest.fixture
def group(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """What stands for the file of a group's members, and where what is written to it comes out."""
    path = tmp_path / "cgroup.procs"
    os.mkfifo(path)
    taken = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, taken
    os.close(taken)


def test_one_started_before_its_parent_had_stepped_back_steps_back_too() -> None:
    """It is as nice as all of its process group, and in the same group of the scheduler.

    Those who run the tests may have the machine for themselves: from -20 to 19 it is 39."""
    command = ["/bin/sh", "-c", "nice -n 39 sleep 1000 & echo $!; wait"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        early = int(certain(parent.stdout).readline())
        try:
            wait_for(
                lambda: os.getpriority(os.PRIO_PROCESS, early) == 19, EVENTUALLY_S_MAX, "it is nice"
            )
            wait_for(lambda: _in_group_behind(early), EVENTUALLY_S_MAX, "so is its group")
            step_back_all(parent.pid, spare=True, group=NO_GROUP)
            assert os.sched_getscheduler(early) == os.SCHED_IDLE
        finally:
            os.kill(early, signal.SIGKILL)


class Taking(ControlGroup):
    """A group with this file of members."""

    def __init__(self, path: Path) -> None:
        super().__init__("", frozenset())
        self._taking = str(path)

    @property
    def members(self) -> str:
        return self._taking


@pytest.mark.parametrize("before", [(), ("nice", "-n", "10")], ids=["usual", "nice before"])
@pytest.mark.parametrize("spare", [True, False], ids=["spare", "share"])
def test_whatever_a_program_has_started_is_put_into_its_group(
    group: tuple[Path, int], spare: bool, before: tuple[str, ...]
) -> None:
    """The kernel takes one process with each write, wherever in the file."""
    path, taken = group
    script = "sleep 1000 & echo $!; wait"
    with subprocess.Popen(
        [*before, "/bin/sh", "-c", f"({script}) & wait"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # else all that the tests run in would step back
    ) as parent:
        started = int(certain(parent.stdout).readline())
        below = [parent_of(started), started]
        try:
            step_back_all(parent.pid, spare=spare, group=Taking(path))
            assert os.read(taken, 100).decode() == "".join(map(str, below))

            def nobody_moves() -> bool:
                """The kernel lets a user change one scheduling group in a tenth of a second, so
                whoever was put off is taken up again."""
                step_back_all(parent.pid, spare=spare, group=Taking(path))
                return os.read(taken, 100) == b""

            wait_for(nobody_moves, EVENTUALLY_S_MAX, "whoever is there stays there")
        finally:
            for each in below:
                os.kill(each, signal.SIGKILL)


@pytest.mark.parametrize("here", [{"spare": True}, {"spare": False}], indirect=True)
async def test_a_program_is_in_its_group_from_its_start_on(
    here: Place,
    group: tuple[Path, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, taken = group
    monkeypatch.setattr(groups_linux, "GUARDIAN", IN_A_GROUP.format(str(path)))
    here.start(f"wait {tmp_path}/pids {tmp_path}/go")
    program, _ = await here.running()
    (tmp_path / "go").touch()
    await here.succeeds()
    assert os.read(taken, 100)[: len(str(program))].decode() == str(program)


@placed(spare=True)
@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel has one scheduling group for all")
async def test_who_begins_a_session_anew_steps_back_too(here: Place, tmp_path: Path) -> None:
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
