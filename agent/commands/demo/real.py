"""The work of the demo on a real scan: nobody knows what is to be found, so what is judged is that all
of it was worked, although an agent was killed.

The flight is looked at and planned as by `wingbeat inspect`; nobody is asked in between.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent.client import ClientError
from agent.client.inspecting import look_at_flight, program_of
from agent.commands.demo.lines import Found
from agent.commands.demo.machines import DemoError
from agent.commands.demo.work import Judged
from agent.workflow.faults import FaultsError
from agent.workflow.program_folder import read_program
from agent.workflow.submission import Wanted

LINE, TABLE, REPORT = "line.json", "points_of_interest.csv", "line_report"
TILE_M = "100"
"""Shorter than elsewhere, so that a small scan is enough for several machines."""


class Real:
    """Plans a flight below a folder and judges what came of it: a ``Work`` of the demo."""

    sections = 0
    long_tasks: tuple[str, ...] = ("segment", "import", "detect")
    report = TABLE
    work_s_max = 3_600.0

    def __init__(self, folder: Path, flight: Path, said: Mapping[str, str]) -> None:
        self._folder, self._flight, self._said = folder, flight, said
        self.planted: list[dict[str, object]] = []
        self.results: tuple[tuple[str, tuple[str, ...]], ...] = (("aggregate", (LINE, TABLE)),)
        self.scan = str(flight)
        self._workflow = Path()

    @property
    def workflow(self) -> Path:
        return self._workflow

    @property
    def wanted(self) -> Wanted:
        flight = str(self._flight.resolve())
        return Wanted({"flight": flight, "gates": "none"}, submitter="demo")

    async def prepare(self) -> None:
        """Look at the flight and write its plan; raises ``DemoError`` with all that is wrong."""
        said = {"tile-m": TILE_M, **self._said}
        try:
            found = await look_at_flight(self._flight, said, self._folder)
            steps = {each: read_program(program_of(each)) for each in found.steps if each == REPORT}
        except (ClientError, FaultsError) as error:
            raise DemoError(str(error)) from None
        if found.faults:
            raise DemoError("; ".join(found.faults))
        self._workflow = Path(found.workflow)
        if REPORT in steps and steps[REPORT].outputs:
            self.results = (*self.results, ("report", steps[REPORT].outputs or ()))

    def install(self, programs: Path) -> None:
        """Do nothing: the workflow publishes what it runs."""

    def judge(self, results: Mapping[str, bytes]) -> Iterator[Judged]:
        """Yield two verdicts: whether any wires were found, and whether each point is told just
        once. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for results of another kind."""
        line = json.loads(results[LINE])
        wires, towers = len(set(line["wire_of_curve"])), len(line["towers"])
        yield Judged("wires were found", wires > 0, f"{wires} wires, {towers} towers")
        ids = [each["id"] for each in line["points"]]
        yield Judged("each point is told once", len(set(ids)) == len(ids), f"{len(ids)} points")

    def plants(self, results: Mapping[str, bytes]) -> tuple[Found, ...]:  # noqa: ARG002
        return ()
