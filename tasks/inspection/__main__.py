"""Runs one program of the inspection: the first word says which, the others are what a node tells it.

    python -I tasks/inspection/__main__.py import -p section1

A program's folder has its description, and beside that a copy of this library, in which this file is
what the description calls. So a program needs nothing but its folder, and knows by where this file
lies which copy is its own.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

MODULES = {
    "import": "importing",
    "georeferencing": "georeferencing",
    "segmentation": "segmentation",
    "anomaly_detection": "anomaly_detection",
    "aggregation": "aggregation",
    "report": "reporting",
}
"""Where the work of each program is; its function there is ``do``."""


def module_of(arguments: list[str]) -> str:
    """Return the name of the module whose program the first word names; end the process with a
    sentence where it names none."""
    program = next(iter(arguments), "")
    if program not in MODULES:
        sys.exit(f"{program!r} is no program: the first word is one of {', '.join(MODULES)}")
    return f"tasks.inspection.{MODULES[program]}"


if __name__ == "__main__":
    module = module_of(sys.argv[1:])
    del sys.argv[1]
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tasks.inspection.conversation import main

    main(import_module(module).do)
