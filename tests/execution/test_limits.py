"""What one run may take and finds of its agent's surroundings, what this machine and a disk have."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.execution import machine
from agent.execution.folder_size import folder_bytes, nameless_bytes
from agent.execution.inherited import inherited
from agent.execution.limits import USUAL, Limits, NodeLimits, limits_of, node_limits
from agent.protocol import records
from agent.protocol.records import Requirements, TaskSpec
from agent.wording.speech import megabytes

OF_NODE = Limits(memory_mb=1_000, disk_mb=2_000, wall_s=3_000, silent_s=4_000, log_mb=5)
OF_PROGRAM = Limits(memory_mb=100, disk_mb=200, wall_s=300, silent_s=400, log_mb=50)
NOTHING = records.Limits()
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
    assert limits_of(spec(task), program, NodeLimits(node)) == expected


@pytest.mark.parametrize(
    ("said", "most", "expected"),
    [
        (Limits(8_000, 50, 10**6, 0, 9), Limits(100, 60, 3_600), Limits(100, 50, 3_600, 0, 9)),
        (Limits(), Limits(100, 200, 300), Limits(100, 200, 300)),
        (Limits(memory_mb=7), Limits(), Limits(memory_mb=7)),
    ],
)
@pytest.mark.parametrize("by_task", [True, False])
def test_nobody_takes_more_than_the_owner_lets_any_take(
    said: Limits, most: Limits, expected: Limits, by_task: bool
) -> None:
    task = records.Limits(said.memory_mb, said.disk_mb, said.wall_s) if by_task else NOTHING
    program = Limits(log_mb=said.log_mb) if by_task else said
    assert limits_of(spec(task), program, NodeLimits(most=most)) == expected


def test_what_a_task_requires_does_not_raise_the_ceiling() -> None:
    node = node_limits(16_000, 4, Limits(memory_mb=1_000, processes=20))
    found = limits_of(spec(records.Limits(memory_mb=8_000), 9_000), Limits(), node)
    assert (found.memory_mb, found.processes, found.open_files) == (1_000, 20, 4_096)
    assert limits_of(spec(NOTHING, 90_000), Limits(), node_limits(16_000, 4)).memory_mb == 16_000


@pytest.mark.parametrize(
    ("wanted_mb", "node_mb", "memory_mb"),
    [(900, 1_000, 1_000), (1_500, 1_000, 1_500), (1_500, 0, 0)],
)
def test_a_node_lets_a_task_take_the_memory_that_it_said_it_needs(
    wanted_mb: int, node_mb: int, memory_mb: int
) -> None:
    node = NodeLimits(Limits(memory_mb=node_mb))
    found = limits_of(spec(memory_mb=wanted_mb), Limits(), node)
    assert found.memory_mb == memory_mb


@pytest.mark.parametrize(
    ("memory_mb", "slots", "most_mb", "usual_mb", "at_most_mb"),
    [
        (16_000, 4, 0, 3_000, 16_000),
        (16_000, 4, 1_500, 1_500, 1_500),
        (16_000, 4, 99_000, 99_000, 16_000),
        (0, 4, 0, 0, 0),
        (1_001, 1, 0, 750, 1_001),
    ],
)
def test_slots_share_three_quarters_of_the_memory(
    memory_mb: int, slots: int, most_mb: int, usual_mb: int, at_most_mb: int
) -> None:
    found = node_limits(memory_mb, slots, Limits(memory_mb=most_mb))
    assert found == NodeLimits(replace(USUAL, memory_mb=usual_mb), Limits(memory_mb=at_most_mb))
    assert (USUAL.memory_mb, USUAL.wall_s, USUAL.log_mb) == (0, 7 * 24 * 3_600, 4)


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
    (folder / "again").hardlink_to(own[0])
    (folder / "link").symlink_to(large)
    (folder / "linked").symlink_to(elsewhere)
    used = folder_bytes(str(folder))
    assert sum(map(blocks, own)) <= used < sum(map(blocks, own)) + 50_000


def test_a_file_of_several_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "made").write_bytes(b"x" * 500_000)
    once = folder_bytes(str(tmp_path / "run"))
    (tmp_path / "run" / "again").hardlink_to(tmp_path / "run" / "made")
    assert folder_bytes(str(tmp_path / "run")) == once >= 500_000


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells which files are open")
def test_what_is_open_without_a_name_counts_once(tmp_path: Path) -> None:
    own = [os.getpid()]
    before = nameless_bytes(str(tmp_path), own)
    with (tmp_path / "hidden").open("wb") as file, (tmp_path / "named").open("wb") as named:
        file.write(b"x" * 500_000)
        named.write(b"x" * 500_000)
        file.flush()
        (tmp_path / "hidden").unlink()
        again = os.dup(file.fileno())
        found = nameless_bytes(str(tmp_path), [*own, *own]) - before
        os.close(again)
    assert 500_000 <= found < 600_000
    assert nameless_bytes(str(tmp_path / "gone"), own) == 0


def test_a_folder_that_has_gone_takes_nothing(tmp_path: Path) -> None:
    assert folder_bytes(str(tmp_path / "gone")) == 0


def test_what_cannot_be_looked_at_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = SimpleNamespace(name="gone", is_dir=lambda **_: False)

    def stat(**_: object) -> object:
        raise OSError(errno.ENOENT, "it is gone")

    found = SimpleNamespace(st_nlink=1, st_size=700, st_ino=1)
    there = SimpleNamespace(name="there", is_dir=lambda **_: False, stat=lambda **_: found)
    gone.stat = stat

    class Entries(list[object]):
        def __enter__(self) -> Entries:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", lambda _: Entries([gone, there]))
    assert folder_bytes(str(tmp_path)) == 700, (
        "as many bytes as it is long, where no blocks are told"
    )
