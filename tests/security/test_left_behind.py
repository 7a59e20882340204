"""What a program leaves is taken, counted and deleted whatever it did to be followed elsewhere."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("these ways are Linux's", allow_module_level=True)

from agent.execution import keeper
from agent.execution.control_groups import NO_GROUP
from agent.execution.folder_size import folder_bytes, free_bytes, length_of, sizes
from agent.execution.keeper import Bounds
from agent.execution.scratch import Scratch
from agent.host.deleting import delete_tree
from agent.storage.datasets.errors import NotKeepable
from agent.storage.datasets.gathering import look
from tests.execution.places import FolderStore
from tests.security.scene import Machine

DEEP = 1_100
MB = 1_000_000
SWAPS = """
import os, sys, time
secret = sys.argv[sys.argv.index("-x") + 1]
with open("state", "w") as file:
    file.write("mine")
print("CHECKPOINT state", flush=True)
while os.path.exists("state"):
    time.sleep(0.01)
for turn in range(20):
    with open("own", "w") as file:
        file.write("mine")
    os.rename("own", "state")
    print("CHECKPOINT state", flush=True)
    for _ in range(10):
        os.symlink(secret, "next")
        os.rename("next", "state")
        with open("own", "w") as file:
            file.write("mine")
        os.rename("own", "state")
"""
"""Saves its state; when that was taken, says again and again that it has saved one, and has a link
take its name meanwhile. Whether one of those is taken as well is a matter of luck."""


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder in which a thousand lie one in the other, with a megabyte in the last."""
    top = tmp_path / "run-1"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("folder", dir_fd=here)
        below = os.open("folder", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file = os.open("large", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.write(file, b"x" * MB)
    os.close(file)
    os.close(here)
    yield top
    if top.exists():  # pytest cannot
        delete_tree(top)


def test_what_lies_deeper_than_any_path_is_counted_and_deleted(deep: Path) -> None:
    assert folder_bytes(str(deep)) >= MB
    delete_tree(deep)
    assert not deep.exists()


def test_what_lies_too_deep_is_refused_as_an_output(deep: Path) -> None:
    with pytest.raises(NotKeepable, match="longer than"):
        look(deep)
    assert length_of(str(deep)) == 0, "it is behind too long a path"


def test_of_a_link_in_the_place_of_a_folder_only_the_link_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "owner").mkdir()
    (tmp_path / "owner" / "file").write_text("precious")
    link = tmp_path / "run-1"
    link.symlink_to(tmp_path / "owner")
    delete_tree(link)
    assert not link.is_symlink()
    assert (tmp_path / "owner" / "file").read_text() == "precious"


def test_nobody_follows_a_link_to_delete(tmp_path: Path) -> None:
    owner = tmp_path / "owner"
    owner.mkdir()
    (owner / "file").write_text("precious")
    os.chmod(owner, 0o750)  # noqa: PTH101 - looked at below
    run = tmp_path / "run-1"
    (run / "closed" / "below").mkdir(parents=True)
    (run / "closed" / "below" / "file").touch()
    (run / "closed" / "link").symlink_to(owner)
    (run / ".deleted-0-0").mkdir()
    (run / "closed").chmod(0)
    delete_tree(run)
    assert not run.exists()
    assert (owner / "file").read_text() == "precious"
    assert stat.S_IMODE(owner.stat().st_mode) == 0o750


def test_what_is_gone_already_changes_no_rights_of_the_folder_above(tmp_path: Path) -> None:
    above = tmp_path / "above"
    above.mkdir(0o755)
    delete_tree(above / "gone")
    assert stat.S_IMODE(above.stat().st_mode) == 0o755


def test_nobody_follows_a_link_to_count(tmp_path: Path) -> None:
    """A folder that was seen is a link by the time it is opened, also above the one that is."""
    owner, run = tmp_path / "owner" / "below", tmp_path / "run-1"
    owner.mkdir(parents=True)
    (owner / "large").write_bytes(b"x" * MB)
    for name in ("one", "two"):
        (run / name / "below").mkdir(parents=True)
    counted = 0
    for size in sizes(str(run)):
        counted += size
        for name in ("one", "two"):
            if (run / name).is_dir() and not (run / name).is_symlink():
                (run / name).rename(run / f"was-{name}")
                (run / name).symlink_to(owner.parent)
    assert counted < MB


def test_a_file_of_no_size_takes_its_part_of_the_disk(tmp_path: Path) -> None:
    run = tmp_path / "run-1"
    run.mkdir()
    for number in range(100):
        (run / str(number)).touch()
    _, each = free_bytes(str(run))
    assert sum(sizes(str(run), each)) >= 100 * each > 0


def test_a_disk_whose_list_of_files_is_full_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    told = os.statvfs_result((4096, 4096, 10**6, 10**6, 10**6, 10**6, 10, 10, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: told)
    assert free_bytes("/") == (10 * 4_096, 4_096), "10 files are left"
    asked = {"memory": 0, "disk": 0, "free": 512 * MB, "folder": "/"}
    assert Bounds(asked, NO_GROUP).look(0.5) == (0.5, "full 40960")


def test_the_owner_waits_for_no_count_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be millions; a word of the agent is heard between two looks."""

    def endless(*_: object) -> Iterator[int]:
        while True:
            yield 1

    monkeypatch.setattr(keeper, "sizes", endless)
    bounds = Bounds({"memory": 0, "disk": 2**60, "free": 0, "folder": "/"}, NO_GROUP)
    assert bounds.look(0.5) == (keeper.LOOK_S_MIN, "")
    first = bounds._walked
    assert bounds.look(0.5) == (keeper.LOOK_S_MIN, "")
    assert bounds._walked > first > 0, "it went on where it was"


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_takes_the_name_of_a_saved_state_is_not_kept(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking and taking."""
    secret = tmp_path / "secret"
    secret.write_text("precious")
    scratch = Scratch(tmp_path / "run-1", FolderStore(tmp_path / "store"))
    scratch.make()
    state = scratch.folder / "state"
    state.write_text("mine")
    looked = scratch._own

    def look_and_be_late(name: str) -> Path | None:
        found = looked(name)
        state.unlink()
        if kind == "link":
            state.symlink_to(secret)
        else:
            os.mkfifo(state)
        return found

    monkeypatch.setattr(scratch, "_own", look_and_be_late)
    assert scratch.save("state") is None
    assert [each for each in scratch.given.rglob("*") if not each.is_dir()] == []
    assert secret.read_text() == "precious"


async def test_no_program_has_the_agent_read_for_it_as_a_saved_state(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "on")
    machine.install("swaps", ["{python}", "swaps.py"], {"swaps.py": SWAPS})
    try:
        ended = await machine.run("swaps", str(machine.owner / ".ssh" / "id"))
        kept = [each.read_text() for each in machine.store.folder.iterdir()]
    finally:
        await machine.children.close()
    assert "mine" in kept, (ended, machine.log())
    assert not any("secret of id" in each for each in kept)
