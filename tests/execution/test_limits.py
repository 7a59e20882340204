"""What one run may take and finds of its agent's surroundings, what this machine and a disk have."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.execution import machine
from agent.execution.folder_size import folder_bytes
from agent.execution.inherited import inherited
from agent.execution.limits import NODE_LIMITS, Limits, limits_of, node_limits
from agent.protocol import records
from agent.protocol.records import Requirements, TaskSpec
from agent.wording.speech import megabytes

OF_NODE = Limits(memory_mb=1_000, disk_mb=2_000, wall_s=3_000, silent_s=4_000, log_mb=5)
OF_PROGRAM = Limits(memory_mb=100, disk_mb=200, wall_s=300, silent_s=400, log_mb=50)
OF_TASK = records.Limits(memory_mb=10, disk_mb=20, wall_s=30, silent_s=40)
SECRETS = ("PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "WINGBEAT_HOME")


def test_what_systems_need_and_administrators_set_goes_on_and_secrets_stay() -> None:
    told = {
        "PATH": "/bin",
        "Path": "C:\\",
        "LC_ALL": "C",
        "ProgramFiles(x86)": "C:\\P",
        "TZ": "UTC",
        "WINGBEAT_PROGRAM_LICENCES": "27000@maps",
    }
    assert inherited({**told, **dict.fromkeys(SECRETS, "secret")}) == told


def spec(limits: records.Limits = records.Limits(), memory_mb: int = 0) -> TaskSpec:  # noqa: B008
    return TaskSpec("t", "t", "tell", limits=limits, requirements=Requirements(memory_mb=memory_mb))


@pytest.mark.parametrize(
    ("task", "program", "node", "expected"),
    [
        (OF_TASK, OF_PROGRAM, OF_NODE, Limits(10, 20, 30, 40, 50)),
        (records.Limits(), OF_PROGRAM, OF_NODE, OF_PROGRAM),
        (records.Limits(), Limits(), OF_NODE, OF_NODE),
        (records.Limits(), Limits(), Limits(), Limits()),
    ],
)
def test_a_limit_comes_from_the_task_else_its_program_else_the_node(
    task: records.Limits, program: Limits, node: Limits, expected: Limits
) -> None:
    assert limits_of(spec(task), program, node) == expected


@pytest.mark.parametrize(
    ("wanted_mb", "node_mb", "memory_mb"),
    [(900, 1_000, 1_000), (1_500, 1_000, 1_500), (1_500, 0, 0)],
)
def test_a_node_lets_a_task_take_the_memory_that_it_said_it_needs(
    wanted_mb: int, node_mb: int, memory_mb: int
) -> None:
    found = limits_of(spec(memory_mb=wanted_mb), Limits(), Limits(memory_mb=node_mb))
    assert found.memory_mb == memory_mb


@pytest.mark.parametrize(
    ("memory_mb", "slots", "each_gb", "expected"),
    [(16_000, 4, 0.0, 3_000), (16_000, 4, 1.5, 1_500), (0, 4, 0.0, 0), (1_001, 1, 0.0, 750)],
)
def test_slots_share_three_quarters_of_the_memory(
    memory_mb: int, slots: int, each_gb: float, expected: int
) -> None:
    found = node_limits(memory_mb, slots, each_gb)
    assert found == Limits(memory_mb=expected, wall_s=7 * 24 * 3_600, log_mb=4)
    assert NODE_LIMITS.memory_mb == 0


@pytest.mark.parametrize(("log_mb", "log_bytes"), [(0, 4_000_000), (7, 7_000_000)])
def test_a_log_has_a_size_even_where_nobody_set_one(log_mb: int, log_bytes: int) -> None:
    assert Limits(log_mb=log_mb).log_bytes == log_bytes


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 kB"),
        (999_499, "999 kB"),
        (1_000_000, "1 MB"),
        (1_499_999, "1 MB"),
        (2_500_600_000, "2,501 MB"),
    ],
)
def test_an_amount_is_said_as_people_read_it(count: int, text: str) -> None:
    assert megabytes(count) == text


# -- the machine ---------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="what Linux says is made up here")
@pytest.mark.parametrize(
    ("system", "told", "machine_told", "architecture"),
    [
        ("linux", "linux", "x86_64", "x86_64"),
        ("darwin", "macos", "arm64", "aarch64"),
        ("linux", "linux", "AMD64", "x86_64"),
        ("freebsd14", "freebsd14", "riscv64", "riscv64"),
    ],
)
def test_what_a_machine_has_is_told(
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    told: str,
    machine_told: str,
    architecture: str,
) -> None:
    monkeypatch.setattr(
        machine,
        "os",
        SimpleNamespace(
            sysconf={"SC_PAGE_SIZE": 4_096, "SC_PHYS_PAGES": 2_000_000}.__getitem__,
            cpu_count=lambda: 12,
        ),
    )
    monkeypatch.setattr(machine, "platform", SimpleNamespace(machine=lambda: machine_told))
    monkeypatch.setattr(machine, "sys", SimpleNamespace(platform=system))
    usage = SimpleNamespace(free=3 * 2**30 + 5)
    monkeypatch.setattr(
        machine,
        "shutil",
        SimpleNamespace(disk_usage=lambda _: usage, which={"node": "/bin/node"}.get),
    )
    found = machine.capabilities(("a", "b"), Path("/scratch"), ("gpu", "node"))
    assert (found.system, found.architecture) == (told, architecture)
    assert (found.memory_mb, found.disk_mb, found.cores) == (7_812, 3_072, 12)
    assert (found.programs, found.tags) == (("a", "b"), ("gpu", "node"))


def test_where_nothing_can_be_said_the_least_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found = machine.capabilities((), Path("/nowhere/at/all"))
    assert (found.cores, found.disk_mb, found.tags) == (1, 0, ())


# -- the disk ------------------------------------------------------------------------------------


def blocks(path: Path) -> int:
    return path.stat().st_blocks * 512


@pytest.mark.skipif(sys.platform == "win32", reason="Windows tells no blocks")
def test_a_folder_takes_what_is_on_the_disk_for_it(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "run", tmp_path / "store"
    (folder / "inner" / "most").mkdir(parents=True)
    elsewhere.mkdir()
    own = [folder / "a", folder / "inner" / "b", folder / "inner" / "most" / "c"]
    for number, path in enumerate(own, 1):
        path.write_bytes(b"x" * 10_000 * number)
    with (folder / "hollow").open("wb") as file:
        file.truncate(10**9)
    large = elsewhere / "large"
    large.write_bytes(b"x" * 500_000)
    (folder / "input").hardlink_to(large)
    (folder / "link").symlink_to(large)
    (folder / "linked").symlink_to(elsewhere)
    used = folder_bytes(str(folder))
    assert sum(map(blocks, own)) <= used < sum(map(blocks, own)) + 50_000


def test_files_that_others_have_too_count_nothing(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "large").write_bytes(b"x" * 500_000)
    (tmp_path / "run" / "input").hardlink_to(tmp_path / "large")
    assert folder_bytes(str(tmp_path / "run")) == 0


def test_a_folder_that_has_gone_takes_nothing(tmp_path: Path) -> None:
    assert folder_bytes(str(tmp_path / "gone")) == 0


def test_what_cannot_be_looked_at_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = SimpleNamespace(path="gone", is_dir=lambda **_: False)

    def stat(**_: object) -> object:
        raise OSError(errno.ENOENT, "it is gone")

    found = SimpleNamespace(st_nlink=1, st_size=700)
    there = SimpleNamespace(path="there", is_dir=lambda **_: False, stat=lambda **_: found)
    gone.stat = stat

    class Entries(list[object]):
        def __enter__(self) -> Entries:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", lambda _: Entries([gone, there]))
    assert folder_bytes("anywhere") == 700, "as many bytes as it is long, where no blocks are told"
