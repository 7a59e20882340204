"""A flight looked at from outside: as the window and the command line do it, as a process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from agent.client import ClientError, inspecting
from agent.client.inspecting import Flight, is_flight, look_at_flight, share_of
from agent.commands.inspect import told_of
from agent.workflow.program_folder import read_program
from agent.workflow.reading import Asked
from tasks.line.cloud import Points, write
from tests.style.source import REPOSITORY
from tests.workflow.whole import read_workflow_file


@pytest.fixture(scope="module")
def flight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scan that says nothing of where it is."""
    folder = tmp_path_factory.mktemp("flights") / "line's 7"
    folder.mkdir()
    places = np.random.default_rng(3).uniform(0, (900, 60, 30), (2_000, 3)).T
    write(folder / "a.laz", [Points.of(*places)])
    (folder / "notes.txt").write_text("windy")
    return folder


def look(flight: Path, into: Path | None = None, **said: str) -> Flight:
    options: Mapping[str, str] = {name.replace("_", "-"): each for name, each in said.items()}
    return asyncio.run(look_at_flight(flight, options, into))


def test_what_no_file_says_is_asked_for_one_after_the_other(flight: Path) -> None:
    nothing = look(flight)
    assert (nothing.asks, nothing.tiles) == (("crs",), 0)
    assert nothing.files["scans"] == 1
    assert "name it with --crs EPSG:…" in nothing.faults[0]
    assert look(flight, crs="EPSG:28992").asks == ("heights",)
    assert (
        look(flight, crs="EPSG:1")
        .faults[0]
        .endswith("--crs EPSG:1 is no reference system: name one such as EPSG:28992")
    )


def test_a_plan_is_told_before_it_is_written_and_goes_in_both_orders(
    flight: Path, tmp_path: Path
) -> None:
    told = look(flight, tmp_path / "plan", crs="EPSG:28992", heights="metres")
    assert (told.tiles, told.points, told.faults) == (3, 2_000, ())
    assert "plan and workflow:" in "\n".join(told_of(told, flight, ""))
    workflow = Path(told.workflow)
    asked = {"flight": str(flight)}
    read = read_workflow_file(workflow, Asked(asked))
    assert (read.outside, [each for each in read.submit.tasks if each.gate][3].id) == ((), "points")
    gates = {each.id: each for each in read.submit.tasks}
    detect = gates["detect.1"]
    assert [(each.task, each.output) for each in detect.inputs] == [
        ("segment.1", 0), ("segment.1", 1), ("features.1", 0)
    ]  # fmt: skip
    alone = read_workflow_file(workflow, Asked({**asked, "gates": "none"})).submit
    inputs = {each.id: [one.task for one in each.inputs] for each in alone.tasks}
    assert inputs["detect.1"] == ["segment.1", "segment.1"]
    assert inputs["aggregate"] == ["detect.0", "detect.1", "detect.2"]


def test_a_flight_in_a_share_is_named_and_not_taken_along(flight: Path, tmp_path: Path) -> None:
    share = share_of(flight, {"other": str(tmp_path), "flights": str(flight.parent)})
    assert share == "flights/line's 7"
    assert share_of(flight, {"other": str(tmp_path)}) == ""
    told = look(flight, tmp_path / "plan", crs="EPSG:28992", heights="metres", share=share)
    read = read_workflow_file(Path(told.workflow), Asked({}))
    assert read.outside == ()
    first = next(each for each in read.submit.tasks if each.id == "import.0")
    assert [each.dataset for each in first.raw if each.external] == [f"share:{share}"]
    described = read_program(tmp_path / "plan" / "programs" / "line_import")
    assert described.reads == ("share:flights",)


def test_a_folder_of_scans_is_a_flight_and_one_with_a_workflow_is_none(
    flight: Path, tmp_path: Path
) -> None:
    assert is_flight(flight)
    assert is_flight(flight.parent)
    assert not is_flight(flight / "a.laz")
    assert not is_flight(tmp_path)
    (tmp_path / "b.las").touch()
    assert is_flight(tmp_path)
    (tmp_path / "x.wingbeat.yaml").touch()
    assert not is_flight(tmp_path)


def test_without_the_libraries_one_sentence_names_the_command_that_brings_them(
    flight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a machine where only Wingbeat is installed: a Python that has nothing else."""
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nshift\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(ClientError, match=r"is missing: pip install 'wingbeat\[inspection\]'"):
        look(flight)


def test_where_the_inspection_is_not_installed_that_is_said(
    flight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspecting, "PLACES", (tmp_path,))
    with pytest.raises(ClientError, match="not installed: the package wingbeat-inspection"):
        look(flight)


def test_the_program_tells_people_too(flight: Path) -> None:
    words = [sys.executable, "-m", "tasks.line.plan", str(flight), "--crs", "EPSG:28992"]
    done = subprocess.run(
        [*words, "--heights", "metres"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("3 tiles along")
    failed = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert json.dumps(failed.stderr).count("heights") >= 1
