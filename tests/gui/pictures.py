"""`python -m tests.gui.pictures FOLDER`: screenshots of all places, from a real flock on this machine.

In light and dark, at 100 and 200 %, in English and Portuguese. The scale of a process is set before
it starts, so each scale is a process of its own; the flock is the same for all. What is on the
pictures is what real agents told: four machines, workflows that run, wait, failed and ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.gui.machines import flock, line_file, submit
from tests.hosts.machine import Machine
from tests.style.source import REPOSITORY

SCALES = (1, 2)
WAIT_S = 90.0
CHECK = """\
name: Line 90
tasks:
  import: {program: import, parameters: "1", expected: 1s}
  report: {program: report, inputs: [check/0], parameters: "1", expected: 1s}
gates:
  check:
    asks: Compare the wires with the photographs, and attach the points that you corrected
    attach: [corrected, notes]
    after: [import]
"""


def main(arguments: list[str]) -> int:
    """Make the flock, then the pictures of each scale."""
    if len(arguments) != 1:
        print("python -m tests.gui.pictures FOLDER: screenshots are written there")
        return 2
    target = Path(arguments[0]).absolute()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with flock(folder) as machines:
            stage(machines, folder)
            for scale in SCALES:
                picture_process(machines[0], target, scale)
    print(f"{len(list(target.glob('*.png')))} pictures in {target}")
    return 0


def stage(machines: list[Machine], folder: Path) -> None:
    """Work in all its states."""
    first = machines[0]
    submit(first, folder, CHECK)
    submit(first, folder, line_file("Line 08", 1.5))
    submit(first, folder, line_file("Line 23", 1.5, fails="segment"))
    submit(first, folder, line_file("Line 42 north", 1.5, gate="look at the segmented wires"))
    _until(first, ("finished", "failed"), "Waiting")
    submit(first, folder, line_file("Line 42 south", 240), "--priority", "interactive")
    submit(first, folder, line_file("Line 17", 3, tiles=240))
    submit(first, folder, line_file("Line 31 west", 45))
    machines[-1].said("pause", "15m")
    submit(first, folder, line_file("Line 64", 20))
    _until(first, ("running",), "Running")


def _until(machine: Machine, states: tuple[str, ...], task_state: str) -> None:
    """Workflows in all these states, and a task in that one."""
    end_s = time.monotonic() + WAIT_S
    while time.monotonic() < end_s:
        workflows = machine.answer("status", "--all")["workflows"]
        seen = {each["state"] for each in workflows}
        tasks = {state for each in workflows for state in each["counts"]}
        if seen.issuperset(states) and task_state in tasks:
            return
    raise TimeoutError(f"not all of {states} and {task_state} within {WAIT_S:.0f} s")


def picture_process(machine: Machine, target: Path, scale: int) -> None:
    """All pictures of one scale."""
    environment = {
        **machine.environment,
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
        "QT_SCALE_FACTOR": str(scale),
    }
    environment.pop("PYTHONWARNINGS", None)
    command = [sys.executable, "-m", "tests.gui.pictures_session", str(target), str(scale)]
    subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, timeout=240)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
