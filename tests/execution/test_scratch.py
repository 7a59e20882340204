"""What a program finds around it, before it is started."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.execution.scratch import Scratch, ScratchFolders
from agent.protocol.effects import StartChild
from agent.protocol.records import TaskSpec
from tests.driver.worlds import RUN


def test_what_python_prints_is_utf_8_on_every_system(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, None)
    effect = StartChild("t", RUN, TaskSpec("t", "t", "tell"), ())
    told = asyncio.run(scratch.environment(effect, {}))
    assert told["PYTHONUTF8"] == "1"
    told = asyncio.run(scratch.environment(effect, {"PYTHONUTF8": "0"}))
    assert told["PYTHONUTF8"] == "0", "who decides otherwise is heard"


def test_a_folder_that_was_left_alone_serves_the_next_run(tmp_path: Path) -> None:
    folders = ScratchFolders(tmp_path, None)
    first = folders.take()
    assert folders.take().folder != first.folder, "each has its own at a time"
    asyncio.run(folders.give_back(first))
    assert folders.take().folder == first.folder
    asyncio.run(folders.give_back(first))
    folders.close()
    assert not first.folder.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "left").write_text("secret"),
        lambda folder: folder.chmod(0o777),
        lambda folder: (folder / "inner").mkdir(),
        lambda folder: folder.rmdir(),
    ],
    ids=["a file", "other rights", "a folder", "removed"],
)
def test_what_a_run_has_changed_is_gone_for_the_next(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    folders = ScratchFolders(tmp_path, None)
    first, second = folders.take(), folders.take()
    change(first.folder)
    asyncio.run(folders.give_back(first))
    assert not first.folder.exists()
    asyncio.run(folders.give_back(second))
    change(second.folder)
    third = folders.take()
    assert third.folder not in (first.folder, second.folder), "also what is changed too late"
    assert list(third.folder.iterdir()) == []
