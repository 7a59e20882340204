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

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tasks.inspection.conversation import main

    main(import_module(f"tasks.inspection.{MODULES[sys.argv.pop(1)]}").do)
