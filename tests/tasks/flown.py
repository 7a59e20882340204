"""A flight over a landscape that is known: what the programs are tested on."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from agent.workflow.program_folder import read_program
from tasks.inspection import importing
from tasks.inspection.conversation import Do, Work, converse
from tasks.inspection.raw_scan import Record, write_raw
from tasks.inspection.survey import Plan, Planted, Section, measure
from tasks.inspection.track import Track, write_track
from tests.certain import certain
from tests.hosts.waiting import ended

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAMS = (
    *("import", "georeferencing", "segmentation", "anomaly_detection"),
    *("aggregation", "report"),
)
PROGRAM_S_MAX = 120.0
SMALL = Plan(seed=3, sections=1, length_m=80.0, ground_per_m2=2.0, plants=20, anomalies=2)


@dataclass
class Said:
    """What a program said, line by line, and how it ended."""

    lines: list[str] = field(default_factory=list)
    code: int = 0
    errors: str = ""

    @property
    def last(self) -> str:
        """Its last word."""
        return self.lines[-1]


@dataclass
class Flown:
    """One section: its raw folder, what each record of it is on, and what was planted."""

    raw: Path
    labels: list[str]
    planted: list[Planted]


def fly(folder: Path, plan: Plan = SMALL) -> Flown:
    """The first section of a plan, undamaged."""
    section, (records, labels, track, start_s) = _measured(plan)
    raw = folder / section.name
    raw.mkdir(parents=True)
    write_raw(raw / importing.RAW_SCAN, start_s, records)
    write_track(raw / importing.RAW_TRACK, track)
    answered = [label for record, label in zip(records, labels, strict=True) if record[3]]
    return Flown(raw, answered, list(section.planted))


@cache
def _measured(plan: Plan) -> tuple[Section, tuple[list[Record], list[str], Track, float]]:
    """As it was measured; nobody changes any of it."""
    section = Section(plan, 0)
    return section, measure(section)


def said_by(do: Do, arguments: Sequence[object], work: Work | None = None) -> Said:
    """Run a program's work here, in the current folder, and hear what it says."""
    said, errors = Said(), io.StringIO()
    work = work or Work()
    work.say = said.lines.append
    said.code = converse(do, work, [str(each) for each in arguments], errors)
    said.errors = errors.getvalue()
    return said


def run(
    name: str, folder: Path, arguments: Sequence[object], given: Mapping[str, str] | None = None
) -> Said:
    """Run a program as a node does: a process in a folder of its own, its input kept open."""
    _, *options, script, step = read_program(REPOSITORY / "tasks" / name).command
    folder.mkdir(parents=True, exist_ok=True)
    started = subprocess.Popen(
        [sys.executable, *options, REPOSITORY / script, step, *map(str, arguments)],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": "", **(given or {})},
    )
    with ended(started) as process:
        lines = certain(process.stdout).read().splitlines()
        errors = certain(process.stderr).read()
        code = process.wait(PROGRAM_S_MAX)
    return Said(lines, code, errors)
