"""The work of the demo: an inspection whose right result is known, and whether it came out.

The survey is made by a program of its own, from a seed. What it planted is known here and to
nobody who works: it is compared with the results in the end, plant by plant. Programs are those
that come with Wingbeat, installed on each machine as a person would: a folder each, with the library
that they share.
"""

from __future__ import annotations

import asyncio
import csv
import json
import shutil
import subprocess
import sys
from io import StringIO
from math import hypot
from pathlib import Path

from agent.commands.demo.lines import Found
from agent.commands.demo.machines import ROOT, DemoError

TASKS = ROOT / "tasks"
LIBRARY = "inspection"
WORKFLOW = TASKS / "inspection.wingbeat.yaml"
PROGRAMS = (
    *("import", "georeferencing", "segmentation", "anomaly_detection"),
    *("aggregation", "report"),
)
GENERATOR = "tasks.inspection.survey"
SECTIONS, DENSITY, SURVEY_S_MAX = 4, 5.0, 120.0
OFF_M_MAX, DISTANCE_M_MAX = 1.0, 0.15
CACHES = shutil.ignore_patterns("__pycache__")


class Inspection:
    """A survey below a folder, and what is to be found in it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed = folder, seed
        self.planted: list[dict[str, object]] = []

    @property
    def raw(self) -> Path:
        """Where the raw folders of the sections are."""
        return self._folder / "raw"

    async def survey(self) -> None:
        """Make the measurements in a process of its own, wait for it, and read into ``planted``
        what was planted. Raise ``DemoError`` when that fails or takes longer than
        ``SURVEY_S_MAX``."""
        words = ["-m", GENERATOR, str(self._folder), "--seed", str(self._seed)]
        words += ["--sections", str(SECTIONS), "--density", str(DENSITY)]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            cwd=ROOT,
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
        for name in PROGRAMS:
            if not (TASKS / name).is_dir():
                raise DemoError(f"the program {name} is missing: {TASKS / name} is not there")
            shutil.copytree(TASKS / name, programs / name, ignore=CACHES)
            library = programs / name / TASKS.name / LIBRARY
            shutil.copytree(TASKS / LIBRARY, library, ignore=CACHES)
            shutil.copy(TASKS / "__init__.py", library.parent)

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


def right(found: Found) -> bool:
    """Tell whether the plant was found at its place, as near to the wire as it was set."""
    return found.found_m is not None and abs(found.found_m - found.planted_m) <= DISTANCE_M_MAX
