"""The programs as nodes start them: processes, from raw folders to the report."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from math import hypot
from pathlib import Path

import pytest

from agent.workflow.program_folder import read_program
from tasks.inspection.points_of_interest import read_points_of_interest
from tasks.inspection.survey import Plan, main, make
from tests.certain import certain
from tests.tasks.flown import PROGRAMS, REPOSITORY, run


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_described(name: str) -> None:
    described = read_program(REPOSITORY / "tasks" / name)
    assert described.name == name
    assert described.docs
    assert described.outputs
    assert described.expected_ms > 0


def test_from_raw_measurements_to_the_report(tmp_path: Path) -> None:
    planted = make(tmp_path / "survey", Plan(21, 2, 60.0, 1.5, 10, 1))
    tables: list[object] = []
    for section in ("section1", "section2"):
        at = tmp_path / section
        run_all(at, tmp_path / "survey" / "raw" / section, section)
        tables += ["-i", at / "anomaly_detection" / "anomalies.csv"]
    finish(tmp_path, "aggregation", tables)
    finish(tmp_path, "report", ["-i", tmp_path / "aggregation" / "points_of_interest.csv"])
    found = read_points_of_interest(tmp_path / "aggregation" / "points_of_interest.csv")
    assert len(found) == len(planted) == 2
    for truth in planted:
        assert any(
            hypot(each.east_m - truth.east_m, each.north_m - truth.north_m) < 1.0 for each in found
        )
    assert "2 plants are nearer" in (tmp_path / "report" / "report.md").read_text()


def run_all(at: Path, raw: Path, section: str) -> None:
    """The four programs of a section."""
    finish(at, "import", ["-p", raw])
    scan, track = at / "import" / "scan.bin", at / "import" / "track.csv"
    finish(at, "georeferencing", ["-i", scan, "-i", track])
    finish(at, "segmentation", ["-i", at / "georeferencing" / "points.las"])
    segmented = at / "segmentation" / "segmented.las"
    finish(at, "anomaly_detection", ["-i", segmented, "-x", f"section={section}"])


def finish(folder: Path, name: str, arguments: list[object]) -> None:
    """It says which files it leaves, they are those of its description, and they are there."""
    said = run(name, folder / name, arguments)
    assert said.code == 0, said
    outputs = certain(read_program(REPOSITORY / "tasks" / name).outputs)
    assert said.last.split() == ["TERMINATED", *outputs]
    assert all((folder / name / output).is_file() for output in outputs)


def test_the_same_seed_makes_the_same_survey(tmp_path: Path) -> None:
    plan = Plan(5, 1, 30.0, 1.0, 3, 1)
    for name in ("one", "two"):
        make(tmp_path / name, plan)
    make(tmp_path / "three", Plan(6, 1, 30.0, 1.0, 3, 1))
    hashes = [digest(tmp_path / name) for name in ("one", "two", "three")]
    assert hashes[0] == hashes[1] != hashes[2]


def digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


def test_a_survey_says_what_was_planted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "s"), "--sections", "1", "--density", "0.5", "--seed", "4"]) == 0
    assert capsys.readouterr().out == "1 sections, 2 plants too near to a wire\n"
    told = json.loads((tmp_path / "s" / "truth.json").read_text())
    assert [each["section"] for each in told["planted"]] == ["section1", "section1"]
    assert told["plan"]["seed"] == 4


def test_the_entry_says_which_programs_there_are(tmp_path: Path) -> None:
    entry = REPOSITORY / "tasks" / "inspection" / "__main__.py"
    done = subprocess.run(
        [sys.executable, "-I", entry, "imports"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert all(name.encode() in done.stderr for name in ("'imports'", *PROGRAMS))
