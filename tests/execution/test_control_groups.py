"""Control groups: on a copy of what a system with such groups shows, and on the kernel's where it may be.

Only root may make groups here, so those of the kernel are tried below one that a test has made.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("control groups are Linux's", allow_module_level=True)

from agent.execution import control_groups as under_test
from agent.execution.control_groups import (
    AGENTS,
    FREEZE,
    KILL,
    MEMORY,
    PREFIX,
    ROOTS,
    ControlGroup,
    ControlGroups,
)
from tests.execution.installed import state_of
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually, wait_for
from tests.security.held import working_in

OWN = "0::/user/app.slice/agent.scope\n"
FILES = (
    *("cgroup.procs", "cgroup.freeze", "cgroup.kill", "cgroup.events", "pids.max", "memory.max"),
    *("memory.swap.max", "memory.oom.group", "cpu.idle", "cpu.weight"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the kernel has its groups: a new one has its files, and goes with them."""
    make, remove = os.makedirs, os.rmdir

    def make_with_files(path: str, **more: bool) -> None:
        make(path, **more)
        for name in FILES:
            (Path(path) / name).touch()

    def remove_with_files(path: str) -> None:
        for name in FILES:
            (Path(path) / name).unlink(missing_ok=True)
        remove(path)

    monkeypatch.setattr("os.makedirs", make_with_files)
    monkeypatch.setattr("os.rmdir", remove_with_files)
    return tmp_path


def unit(root: Path, own: str = OWN) -> Path:
    """The group of an agent."""
    folder = root / "user" / "app.slice" / "agent.scope"
    folder.mkdir(parents=True)
    for each in (root, folder.parent, folder):
        (each / "cgroup.procs").touch()
        (each / "cgroup.subtree_control").touch()
    (root / "own").write_text(own)
    return folder


def all_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a trial had been: a folder of files holds nothing."""
    monkeypatch.setattr(under_test, "_tried", lambda _: frozenset({FREEZE, KILL, MEMORY}))


def groups_of(root: Path) -> ControlGroups:
    return ControlGroups((str(root),), str(root / "own"))


def test_groups_are_made_beside_the_agents_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = unit(folder)
    all_hold(monkeypatch)
    assert groups_of(folder).place == str(own.parent)


def test_a_unit_that_was_handed_on_is_divided(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = unit(folder)
    (own / "cgroup.procs").write_text("41\n")

    def marked(path: str, _: str) -> bytes:
        return b"1" if path == str(own) else b""

    monkeypatch.setattr("os.getxattr", marked)
    all_hold(monkeypatch)
    assert groups_of(folder).place == str(own)
    assert (own / AGENTS / "cgroup.procs").read_text() == "41"
    assert (own / "cgroup.subtree_control").read_text() == "+cpusry", "+memory, +pids, +cpu"
    (folder / "own").write_text(f"{OWN.strip()}/{AGENTS}\n")
    assert groups_of(folder).place == str(own), "another guardian does not divide it again"


@pytest.mark.parametrize(
    "own", ["0::/\n", "4:cpu:/user/app.slice\n", "0::/elsewhere/agent.scope\n"]
)
def test_elsewhere_there_are_none(folder: Path, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unit(folder, own)
    all_hold(monkeypatch)
    assert groups_of(folder).place == ""


def test_where_nothing_works_there_are_none(folder: Path) -> None:
    """No process is held by files: it may fork, and is neither charged, frozen nor ended."""
    own = unit(folder)
    (own.parent / "cgroup.procs").touch()
    groups = groups_of(folder)
    assert (groups.place, groups.holds) == ("", frozenset())
    assert [each.name for each in own.parent.iterdir() if each.is_dir()] == [own.name]


def test_what_a_killed_guardian_has_left_is_ended_and_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = unit(folder)
    nobody = 2**22 + 1
    for name in (f"{nobody}", f"{nobody}-{nobody}", f"{nobody}-{os.getpid()}", "other-1"):
        os.makedirs(own.parent / f"{PREFIX}{name}")  # noqa: PTH103 - as the kernel does here
    all_hold(monkeypatch)
    groups_of(folder)
    left = {each.name for each in own.parent.iterdir() if each.is_dir()} - {own.name}
    assert left == {f"{PREFIX}{nobody}-{os.getpid()}", f"{PREFIX}other-1"}


@pytest.mark.parametrize(
    ("spare", "idle", "weight"), [(True, "1", ""), (False, "0", "10")], ids=["spare", "share"]
)
def test_a_group_is_told_its_ceilings(folder: Path, spare: bool, idle: str, weight: str) -> None:
    group = ControlGroup(str(folder / "group"), frozenset())
    group.begin(1_000, 20, spare=spare)
    names = ("memory.max", "pids.max", "memory.swap.max", "memory.oom.group", "cpu.idle")
    assert [group.content_of(name) for name in names] == ["1000", "20", "0", "1", idle]
    assert group.content_of("cpu.weight") == weight
    group.begin(0, 0, spare=spare)
    assert [group.content_of(name)[:3] for name in names[:3]] == ["max", "max", "max"]


def test_what_the_kernel_ended_for_its_memory_counts_from_the_begin_on(folder: Path) -> None:
    group = ControlGroup(str(folder / "group"), frozenset())
    (folder / "group").mkdir()
    (folder / "group" / "memory.events").write_text("low 0\noom 4\noom_kill 3\n")
    group.begin(1_000, 0, spare=True)
    assert not group.ran_out_of_memory()
    (folder / "group" / "memory.events").write_text("low 0\noom 4\noom_kill 4\n")
    assert not group.ran_out_of_memory(), "that was the whole machine's"
    (folder / "group" / "memory.events").write_text("low 0\noom 5\noom_kill 4\n")
    assert group.ran_out_of_memory()


# -- the kernel's ----------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A group of the kernel for a unit, which holds one named ``agent`` for the agent."""
    root = next((Path(each) for each in ROOTS if (Path(each) / "cgroup.procs").exists()), None)
    made = None
    with suppress(OSError):
        if root is not None:
            made = root / f"wingbeat-test-{os.getpid()}"
            (made / "agent").mkdir(parents=True)
            with subprocess.Popen(["sleep", "100"]) as process:
                try:
                    (made / "agent" / "cgroup.procs").write_text(str(process.pid))
                finally:
                    process.kill()
    if made is None or not (made / "cgroup.kill").exists():
        pytest.skip("no group can be made here")
    yield made
    (made / "cgroup.kill").write_text("1")
    wait_for(lambda: removed(made), EVENTUALLY_S_MAX, "it goes")


def removed(folder: Path) -> bool:
    with suppress(OSError):
        for each in folder.iterdir():
            if each.is_dir():
                each.rmdir()
        folder.rmdir()
    return not folder.exists()


AGENT = """
import os, runpy, sys
open(sys.argv.pop(1), "w").write(str(os.getpid()))
runpy.run_module("tests.security.held", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("name", ["hides", "multiplies"])
async def test_a_program_is_in_a_group_of_its_own_and_ends_with_its_agent(
    place: Path, tmp_path: Path, name: str
) -> None:
    words = [sys.executable, "-c", AGENT, str(place / "agent/cgroup.procs"), str(tmp_path), name]
    agent = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        await eventually(
            lambda: len(list(tmp_path.glob("home/cache/scratch/run-1/work/beats-*"))) >= 3
        )
        begun = {*working_in(tmp_path / "home")}
        groups = [each for each in place.iterdir() if each.name.startswith(PREFIX)]
        members = [(each / "cgroup.procs").read_text().split() for each in groups]
        within = {int(each) for found in members for each in found}
        assert {each for each in begun if state_of(each)} <= within
        assert agent.pid not in within
    finally:
        agent.kill()
        agent.wait()
    await eventually(lambda: not list(working_in(tmp_path)))
    await eventually(lambda: not [each for each in place.iterdir() if each.name.startswith(PREFIX)])
