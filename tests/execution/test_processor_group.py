"""A control group for programs, on a copy of what a system with such groups shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.execution.processor_group import PREFIX, ProcessorGroup


def system(root: Path, controllers: str, own: str = "0::/user/app.slice/agent.scope\n") -> Path:
    """Files where the kernel has them; a new folder has none, which stands for a refusal."""
    beside = root / "user" / "app.slice"
    (beside / "agent.scope").mkdir(parents=True)
    (beside / "cgroup.subtree_control").write_text(controllers)
    (root / "own").write_text(own)
    return beside


def made(root: Path) -> ProcessorGroup:
    return ProcessorGroup(str(root), str(root / "own"))


@pytest.mark.parametrize("name", ["cpu.idle", "cpu.weight"])
def test_the_group_is_idle_or_has_the_least_weight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    beside = system(tmp_path, "cpu memory pids\n")
    make = os.mkdir

    def make_with_files(path: str) -> None:
        make(path)
        if PREFIX in path:
            (Path(path) / name).touch()

    monkeypatch.setattr("os.mkdir", make_with_files)
    group = made(tmp_path)
    folder = beside / f"{PREFIX}{os.getpid()}"
    assert group.members == str(folder / "cgroup.procs")
    assert (folder / name).read_text() == "1"
    (folder / name).unlink()
    group.close()
    assert not folder.exists()


def test_what_a_killed_guardian_has_left_is_removed(tmp_path: Path) -> None:
    beside = system(tmp_path, "cpu\n")
    (beside / f"{PREFIX}1").mkdir()
    group = made(tmp_path)
    assert group.members == "", "nothing can be written there"
    group.close()
    assert [each.name for each in beside.iterdir() if each.is_dir()] == ["agent.scope"]


@pytest.mark.parametrize(
    ("controllers", "own"),
    [
        ("memory pids\n", "0::/user/app.slice/agent.scope\n"),
        ("cpu\n", "0::/\n"),
        ("cpu\n", "4:cpu:/user/app.slice\n"),
        ("cpu\n", "0::/elsewhere/agent.scope\n"),
    ],
)
def test_elsewhere_there_is_no_group(tmp_path: Path, controllers: str, own: str) -> None:
    beside = system(tmp_path, controllers, own)
    assert made(tmp_path).members == ""
    assert [each.name for each in beside.iterdir() if each.is_dir()] == ["agent.scope"]
