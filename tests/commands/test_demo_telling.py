"""What the demo says of what happens, on a screen and in lines, and how it judges."""

from __future__ import annotations

import asyncio
import io
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from rich.console import Console

from agent.api.values import Dataset, TaskState
from agent.api.work import TaskView
from agent.commands import demo, exits
from agent.commands.demo import inspection as surveying
from agent.commands.demo import leftovers, lines
from agent.commands.demo import playing as course
from agent.commands.demo.inspection import (
    PROGRAMS,
    TASKS,
    WORKFLOW,
    Inspection,
    place_of_inspection,
    right,
)
from agent.commands.demo.lines import (
    Checked,
    Ended,
    Found,
    Happening,
    Joined,
    Killed,
    Moved,
    Progressed,
    Recovered,
    Starting,
    Submitted,
)
from agent.commands.demo.machines import DemoError
from agent.commands.demo.playing import Playing
from agent.commands.demo.primes import Primes, primes_below
from agent.commands.demo.screen import Picture
from agent.execution.allowed_commands import command_line
from agent.workflow.program_folder import read_program

HEADER = "section,east_m,north_m,height_m,distance_m,clearance_m,points\n"
PLANTED: dict[str, object] = {
    "section": "section1",
    "east_m": 30.0,
    "north_m": 4.0,
    "height_m": 112.0,
    "distance_m": 2.5,
}
PLANT = Found("section1", 30.0, 4.0, 2.5, 2.51, 0.1)
PLAY: list[Happening] = [
    Starting(0.0, ("heron", "merlin"), 4, "/tmp/x"),
    Joined(2.0, "heron", 11),
    Joined(2.1, "merlin", 12),
    Submitted(3.0, "inspection", 18, 8, "heron"),
    Moved(3.1, "import.section1", "Ready", "", ""),
    Moved(3.2, "import.section1", "Running", "heron", ""),
    Progressed(3.5, "import.section1", "heron", 400),
    Moved(4.0, "import.section1", "Terminated", "heron", ""),
    Moved(4.1, "segmentation.section1", "Running", "merlin", ""),
    Progressed(4.2, "segmentation.section1", "merlin", 250),
    Killed(5.0, "merlin", 12, ("segmentation.section1",)),
    Moved(5.1, "segmentation.section1", "Running", "heron", ""),
    Recovered(5.1, "segmentation.section1", "heron", 0.1),
]
END: list[Happening] = [
    Checked(9.0, "all plants too near to a wire were found", True, "8"),
    Checked(9.0, "and nothing else was", False, "1 others"),
    Ended(9.5, False, {"heron": 15, "merlin": 3}, (PLANT,), "# Line\n", ""),
]


def drawn(picture: Picture, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, record=True)
    console.print(picture.drawn())
    return console.export_text().splitlines()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_screen_shows_who_does_what(width: int) -> None:
    picture = Picture()
    for each in PLAY[:10]:
        picture.take(each)
    shown = "\n".join(drawn(picture, width))
    assert max(map(len, shown.splitlines())) <= width
    assert "segmentation.section1" in shown
    assert "25%" in shown
    assert "1/18 tasks" in shown
    for each in [*PLAY[10:], *END]:
        picture.take(each)
    text = drawn(picture, width)
    assert any(line.startswith("merlin") and "killed" in line for line in text)
    assert any(line.startswith("heron") and "segmentation.section1" in line for line in text)
    assert any("WRONG  and nothing else was" in line for line in text)
    assert any(line.split() == ["section1", "30.0", "4.0", "2.50", "2.51"] for line in text)


def test_lines_tell_what_matters_once(capsys: pytest.CaptureFixture[str]) -> None:
    for each in [*PLAY, *END]:
        lines.tell_lines(each)
    said = capsys.readouterr().out
    assert "   5.0 s  KILLED merlin while it ran segmentation.section1 (kill -9)\n" in said
    assert (
        "   5.1 s  RECOVERED segmentation.section1: heron runs it, 0.10 s after the kill\n" in said
    )
    assert "   9.0 s  WRONG: and nothing else was (1 others)\n" in said
    assert "section1 at east 30.0, north 4.0: set 2.50 m from a wire, found 2.51 m from it" in said
    assert said.endswith(
        "NOT everything is right after 9.5 s; nothing is left behind; --keep FOLDER keeps the "
        "report and the logs\n"
    )
    assert "Ready" not in said


def test_scripts_are_told_everything_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    for each in [*PLAY, *END]:
        lines.tell_json(each)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["what"] for each in told][:4] == ["starting", "joined", "joined", "submitted"]
    assert told[-1] | {"at_s": 0} == {
        "what": "ended",
        "at_s": 0,
        "right": False,
        "tasks_by_machine": {"heron": 15, "merlin": 3},
        "plants": [
            {
                "section": "section1",
                "east_m": 30.0,
                "north_m": 4.0,
                "planted_m": 2.5,
                "found_m": 2.51,
                "off_m": 0.1,
            }
        ],
        "report": "# Line\n",
        "kept": "",
    }


@pytest.mark.parametrize(
    ("rows", "found", "strangers"),
    [
        ("s,30.2,4.1,112,2.52,5,40\n", [True], 0),
        ("s,30.2,4.1,112,2.80,5,40\n", [False], 0),
        ("s,33.0,4.1,112,2.52,5,40\n", [False], 1),
        ("", [False], 0),
        ("s,30.2,4.1,112,2.52,5,40\ns,80,0,112,4.5,5,9\n", [True], 1),
    ],
    ids=["found", "wrong distance", "wrong place", "nothing", "one too many"],
)
def test_findings_are_compared_with_what_was_planted(
    rows: str, found: list[bool], strangers: int, tmp_path: Path
) -> None:
    inspection = Inspection(tmp_path, 1)
    inspection.planted = [PLANTED]
    compared, others = inspection.compare(HEADER + rows)
    assert [right(each) for each in compared] == found
    assert others == strangers


def test_one_finding_is_not_two_plants(tmp_path: Path) -> None:
    inspection = Inspection(tmp_path, 1)
    inspection.planted = [PLANTED, {**PLANTED, "east_m": 30.4}]
    compared, others = inspection.compare(HEADER + "s,30.2,4.1,112,2.52,5,40\n")
    assert [right(each) for each in compared] == [True, False]
    assert others == 0


def test_without_the_inspection_it_is_said_what_brings_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun: list[Happening] = [
        Starting(0.0, ("heron", "merlin"), 0, "/tmp/x"),
        Submitted(3.0, "primes", 13, 0, "x"),
    ]
    for each in begun:
        lines.tell_lines(each)
    said = capsys.readouterr().out
    assert "the inspection of a line is the package wingbeat-inspection\n" in said
    assert said.endswith("x has accepted a workflow of 13 tasks\n")
    picture = Picture()
    picture.take(begun[0])
    assert "the package wingbeat-inspection" in " ".join(drawn(picture, 120))


def test_the_inspection_is_found_where_a_package_has_put_it(tmp_path: Path) -> None:
    assert place_of_inspection([tmp_path / "none", tmp_path]) is None
    (tmp_path / TASKS).mkdir()
    (tmp_path / TASKS / WORKFLOW).touch()
    assert place_of_inspection([tmp_path / "none", tmp_path]) == tmp_path


@pytest.mark.parametrize(
    ("number", "found"), [(2, 0), (3, 1), (10, 4), (10_000, 1_229), (10_008, 1_230)]
)
def test_primes_are_counted(number: int, found: int) -> None:
    assert primes_below(number) == found


async def test_the_programs_count_primes_too(tmp_path: Path) -> None:
    primes = Primes(tmp_path / "primes", 3)
    primes._below = 1_000
    primes.install(tmp_path / "programs")
    count, total = (
        command_line(
            tmp_path / "programs" / name, read_program(tmp_path / "programs" / name).command
        )
        for name in ("count", "total")
    )
    for part in (1, 2):
        await asyncio.to_thread(
            subprocess.run, [*count, "-x", f"{part} 2 1000"], cwd=tmp_path, check=True
        )
        (tmp_path / "count.txt").rename(tmp_path / f"{part}.txt")
    told = [*total, "-i", "1.txt", "-i", "2.txt"]
    await asyncio.to_thread(subprocess.run, told, cwd=tmp_path, check=True)
    results = {"total.txt": (tmp_path / "total.txt").read_bytes()}
    assert [each.holds for each in primes.judge(results)] == [True]
    assert [each.holds for each in primes.judge({"total.txt": b"167"})] == [False]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_needs_nothing_but_its_folder(tmp_path: Path, name: str) -> None:
    Inspection(tmp_path, 1).install(tmp_path / "programs")
    folder = tmp_path / "programs" / name
    command = command_line(folder, read_program(folder).command)
    done = subprocess.run(
        [command[0], "-S", *command[1:], "-x", "wrong"],
        cwd=tmp_path, env={}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (
        1,
        "ERROR the parameter 'wrong' has no value: write name=value\n",
    )
    assert done.stderr == ""


async def test_a_survey_that_takes_too_long_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveying, "SURVEY_S_MAX", 0.0)
    before = set(psutil.Process().children())
    with pytest.raises(DemoError, match=r"^after 0 s the survey is not made: "):
        await Inspection(tmp_path, 1).prepare()
    assert before.issuperset(psutil.Process().children())


async def test_a_result_that_does_not_come_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def call(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(course, "FETCH_S_MAX", 0.0)
    machines: Any = SimpleNamespace(first=SimpleNamespace(client=SimpleNamespace(call=call)))
    done, output = TaskState.TERMINATED, Dataset("sha256:1", 9)
    table = TaskView("1", "aggregation", "w", "aggregation", done, outputs=(output,))
    with pytest.raises(DemoError, match=r"^after 0 s a result is not fetched: "):
        await Playing(machines, Inspection(tmp_path, 1), None)._results({"aggregation": table})


def test_a_folder_that_nobody_may_write_to_is_removed_too(tmp_path: Path) -> None:
    inner = tmp_path / "top" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    (inner / "file").chmod(0o400)
    inner.chmod(0o500)
    leftovers.remove(tmp_path / "top")
    assert not (tmp_path / "top").exists()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_demo_is_removed(temporary: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    abandoned = temporary / f"{leftovers.FOLDER}{ended.pid}-abc"
    (abandoned / "heron").mkdir(parents=True)
    leftovers.remove_leftovers()
    assert not abandoned.exists()


def test_the_folder_of_another_process_with_the_same_id_is_removed(temporary: Path) -> None:
    abandoned = temporary / f"{leftovers.FOLDER}{os.getpid()}-abc"
    abandoned.mkdir()
    long_ago_s = psutil.Process().create_time() - 2 * leftovers.LATE_S_MAX
    os.utime(abandoned, (long_ago_s, long_ago_s))
    leftovers.remove_leftovers()
    assert not abandoned.exists()


def test_what_is_no_killed_demo_is_left_alone(temporary: Path) -> None:
    playing = leftovers.new_folder()
    named_otherwise = temporary / f"{leftovers.FOLDER}mine-1"
    home = temporary / "home"
    linked = temporary / f"{leftovers.FOLDER}{2**22 + 1}-abc"
    home.mkdir()
    home.chmod(0o750)
    named_otherwise.mkdir()
    linked.symlink_to(home)
    leftovers.remove_leftovers()
    assert playing.exists()
    assert named_otherwise.exists()
    assert linked.is_symlink()
    assert stat.S_IMODE(home.stat().st_mode) == 0o750


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--machines", "2"], "'2' is no number from 3 to 9"),
        (["--seed", "x"], "'x' is no number from 0 to 1000000000"),
        (["--loud"], "unrecognized arguments: --loud"),
    ],
)
def test_a_mistake_is_answered_with_a_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        demo.run(words)
    assert stopped.value.code == exits.MISUSED
    assert sentence in capsys.readouterr().err


def test_results_are_kept_in_a_new_folder_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.run(["--keep", str(tmp_path)]) == exits.FAILED
    assert f"{tmp_path} is there already" in capsys.readouterr().err


@pytest.mark.parametrize("gone", [True, False], ids=["gone", "a link"])
def test_what_is_no_folder_any_more_changes_nothing_around_it(tmp_path: Path, gone: bool) -> None:
    around, target = tmp_path / "around", tmp_path / "target"
    around.mkdir(mode=0o755)
    target.mkdir(mode=0o755)
    if not gone:
        (around / "demo").symlink_to(target)
    leftovers.remove(around / "demo")
    assert [each.stat().st_mode & 0o777 for each in (around, target)] == [0o755, 0o755]
