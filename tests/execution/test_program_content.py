"""What an installed program is: by its description and files, whatever its times."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.execution.program_content import contents
from agent.execution.programs import Program, Programs


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    for name in ("count", "same"):
        (tmp_path / name / "parts").mkdir(parents=True)
        (tmp_path / name / "parts/run.sh").write_text("wc -l")
    found = Programs(
        tmp_path, lambda folder: Program(folder.name, folder, ("{python}", "parts/run.sh"))
    )
    found.look()
    return found


def test_the_same_files_are_the_same(programs: Programs) -> None:
    told = contents(programs, ["count", "same", "unknown"])
    assert told.keys() == {"count", "same"}
    assert told["count"] == told["same"]
    os.utime(programs.folder / "count/parts/run.sh", (1, 1))
    (programs.folder / "count/__pycache__").mkdir()
    (programs.folder / "count/__pycache__/run.pyc").write_text("made by running it")
    assert contents(programs, ["count"])["count"] == told["same"]


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda file: file.write_text("wc -w"),  # as long as before
    "name": lambda file: file.rename(file.with_name("go.sh")),
    "right": lambda file: file.chmod(0o755),
    "more": lambda file: file.with_name("more.sh").touch(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_edited_is_another(programs: Programs, change: str) -> None:
    before = contents(programs, ["count"])
    CHANGES[change](programs.folder / "count/parts/run.sh")
    assert contents(programs, ["count"]) != before


def test_what_cannot_be_read_is_left_out(programs: Programs) -> None:
    (programs.folder / "count/parts/gone").symlink_to("nowhere")
    assert contents(programs, ["count", "same"]).keys() == {"same"}
