"""Runs one program of the inspection of a line: the first word says which, the others are what a node
tells it.

    python -I tasks/line/__main__.py import -p plan.json -p flight -x tile=3

A program's folder has its description, and beside that a copy of this library and of the lines
between program and node. Without the packages of ``wingbeat[inspection]`` it says so in a sentence.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

MODULES = {
    "import": "importing",
    "georeference": "georeferencing",
    "segment": "segmenting",
    "detect": "detecting",
    "aggregate": "aggregating",
    "report": "reporting",
}
"""Where the work of each program is; its function there is ``do``."""
PLAN = "plan"
"""No program of a node: it makes the plan, and is told what ``tasks.line.plan`` says."""


def take_one_core() -> None:
    """Have numbers that are not loaded yet multiply matrices in one thread: a task has one core, and
    more threads mostly wait for each other. Whoever told the agent of another number is obeyed."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def module_of(arguments: list[str]) -> str:
    """Return the name of the module whose program the first word names; end the process with a
    sentence where it names none."""
    program = next(iter(arguments), "")
    if program == PLAN:
        return "tasks.line.plan"
    if program not in MODULES:
        sys.exit(f"{program!r} is no program: the first word is one of {', '.join(MODULES)}")
    return f"tasks.line.{MODULES[program]}"


if __name__ == "__main__":
    take_one_core()
    module = module_of(sys.argv[1:])
    del sys.argv[1]
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tasks.inspection.conversation import main

    try:
        entry = import_module(module)
    except ModuleNotFoundError as error:
        sys.stdout.write(
            f"ERROR the package {error.name} is missing: pip install 'wingbeat[inspection]', or "
            f"the package wingbeat-inspection-python{sys.version_info[0]}.{sys.version_info[1]}\n"
        )
        sys.exit(1)
    if module.endswith(PLAN):
        sys.exit(entry.main(sys.argv[1:]))
    main(entry.do)
