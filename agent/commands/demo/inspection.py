"""The work of the demo: an inspection whose right result is known, and whether it came out.

The survey is made by a program of its own, from a seed. What it planted is known here and to
nobody who works: it is compared with the results in the end, plant by plant. Programs are those
that come with Wingbeat, or with a package beside it, installed on each machine as a person would: a
folder each, with the library that they share.
"""

from __future__ import annotations

import asyncio
import csv
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from math import hypot
from pathlib import Path

from agent.client import PACKAGED
from agent.commands.demo.lines import Found
from agent.commands.demo.machines import ROOT, DemoError
from agent.commands.demo.work import WORK_S_MAX, Judged
from agent.commands.showing import counted
from agent.workflow.submission import Wanted

PLACES = ROOT, PACKAGED
"""Below which the programs lie in ``tasks``: with Wingbeat itself, or by the package for it."""
TASKS, LIBRARY, WORKFLOW = "tasks", "inspection", "inspection.wingbeat.yaml"
PROGRAMS = (
    *("import", "georeferencing", "segmentation", "anomaly_detection"),
    *("aggregation", "report"),
)
GENERATOR = "tasks.inspection.survey"
SECTIONS, DENSITY, SURVEY_S_MAX = 4, 5.0, 120.0
TABLE = "points_of_interest.csv"
OFF_M_MAX, DISTANCE_M_MAX = 1.0, 0.15
CACHES = shutil.ignore_patterns("__pycache__")


def place_of_inspection(places: Sequence[Path] = PLACES) -> Path | None:
    """Return the first of the places that has the inspection; None where none has."""
    return next((each for each in places if (each / TASKS / WORKFLOW).is_file()), None)


class Inspection:
    """Satisfies ``Work``: a survey below a folder, and what is to be found in it."""

    sections = SECTIONS
    long_tasks: tuple[str, ...] = ("segmentation", "georeferencing", "detection")
    results: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("aggregation", (TABLE,)),
        ("report", ("report.html", "report.md")),
    )
    report = "report.md"
    scan, work_s_max = "", WORK_S_MAX

    def __init__(self, folder: Path, seed: int, place: Path = ROOT) -> None:
        self._folder, self._seed, self._place = folder, seed, place
        self.planted: list[dict[str, object]] = []

    @property
    def workflow(self) -> Path:
        return self._place / TASKS / WORKFLOW

    @property
    def wanted(self) -> Wanted:
        told = {"survey": str(self._folder / "raw"), "title": "Demo_line"}
        return Wanted(told, submitter="demo")

    async def prepare(self) -> None:
        """Make the measurements in a process of its own, wait for it, and read into ``planted``
        what was planted. Raise ``DemoError`` when that process fails or takes longer than
        ``SURVEY_S_MAX``, ``OSError`` when it cannot be started or what was planted cannot be
        read."""
        words = ["-m", GENERATOR, str(self._folder), "--seed", str(self._seed)]
        words += ["--sections", str(SECTIONS), "--density", str(DENSITY)]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            cwd=self._place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(SURVEY_S_MAX):
                _, errors = await process.communicate()
        except TimeoutError:
            raise DemoError(
                f"after {SURVEY_S_MAX:g} s the survey is not made: this machine is very busy"
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            said = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise DemoError(f"the survey cannot be made: {said or 'it says nothing'}")
        self.planted = json.loads((self._folder / "truth.json").read_text("utf-8"))["planted"]

    def install(self, programs: Path) -> None:
        """Copy the programs to where an agent looks for them, each with the library that it needs;
        raise ``DemoError`` when one is missing, ``OSError`` when one is there already or cannot be
        written."""
        tasks = self._place / TASKS
        for name in PROGRAMS:
            if not (tasks / name).is_dir():
                raise DemoError(f"the program {name} is missing: {tasks / name} is not there")
            install_program(tasks, name, programs)

    def judge(self, results: Mapping[str, bytes]) -> Iterator[Judged]:
        """Yield three verdicts: all plants were found, nothing else was, and the report tells of
        each. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for results of another kind."""
        plants, strangers = self._compared(results)
        hits = sum(map(right, plants))
        yield Judged("all plants too near to a wire were found", hits == len(plants), f"{hits}")
        yield Judged("and nothing else was", not strangers, counted(strangers, "other"))
        report = results.get(self.report, b"").decode("utf-8", "replace")
        told = report.count("| section") == len(plants)
        yield Judged("the report tells of each", told, f"{len(report.splitlines())} lines")

    def plants(self, results: Mapping[str, bytes]) -> tuple[Found, ...]:
        return tuple(self._compared(results)[0])

    def _compared(self, results: Mapping[str, bytes]) -> tuple[list[Found], int]:
        return self.compare(results.get(TABLE, b"").decode("utf-8", "replace"))

    def compare(self, table: str) -> tuple[list[Found], int]:
        """Return each plant with the nearest finding of the result table (CSV), if it is near
        enough and not that of a plant before, and how many findings are of none; a table without
        rows has no findings. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for rows of another
        kind."""
        rows = [
            (float(row["east_m"]), float(row["north_m"]), float(row["distance_m"]))
            for row in csv.DictReader(StringIO(table))
        ]
        compared: list[Found] = []
        taken: set[int] = set()
        for plant in self.planted:
            east, north = float(str(plant["east_m"])), float(str(plant["north_m"]))
            near = sorted((hypot(row[0] - east, row[1] - north), n) for n, row in enumerate(rows))
            off_m, number = near[0] if near else (OFF_M_MAX + 1, -1)
            hit = off_m <= OFF_M_MAX and number not in taken
            taken |= {number} if hit else set()
            compared.append(
                Found(
                    str(plant["section"]),
                    round(east, 2),
                    round(north, 2),
                    round(float(str(plant["distance_m"])), 2),
                    round(rows[number][2], 2) if hit else None,
                    round(off_m, 2) if hit else None,
                )
            )
        return compared, len(rows) - len(taken)


def install_program(tasks: Path, name: str, programs: Path, *libraries: str) -> None:
    """Copy one of the programs in the folder ``tasks`` to where an agent looks for them, with the
    libraries that it needs, by default the one of the demo; raises ``OSError``, also where it is
    there already."""
    shutil.copytree(tasks / name, programs / name, ignore=CACHES)
    beside = programs / name / TASKS
    for each in libraries or (LIBRARY,):
        shutil.copytree(tasks / each, beside / each, ignore=CACHES)
    shutil.copy(tasks / "__init__.py", beside)


def right(found: Found) -> bool:
    """Tell whether the plant was found at its place, as near to the wire as it was set."""
    return found.found_m is not None and abs(found.found_m - found.planted_m) <= DISTANCE_M_MAX
