"""The workflow of an inspection, written for a plan, with the programs that it publishes.

Both orders are in one file: steps that a person does stand between those of machines, and with
``--set gates=none`` they are left out, and the report says that nobody has looked.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tasks.line.tiles import PLAN, Plan

FILE = "line.wingbeat.yaml"
PROGRAMS = "programs"
CACHES = shutil.ignore_patterns("__pycache__")
WORKFLOW = """\
# The inspection of {name}: {count} tiles along {length_m:.0f} m of line.
#   wingbeat submit {file}{allowed} --wait
#   wingbeat submit {file}{allowed} --set gates=none    # nobody is asked: not validated
name: {name}
programs:
{programs}
variables:
{flight_variable}  gates: {{choices: [all, none], default: all, says: steps that a person does}}
  operator: {{default: "", says: who flew}}
  notes: {{default: "", says: what the report tells of the flight}}
tasks:
  import:
    program: line_import
    for_each: {{tile: {{from: 0, to: {last}}}}}
    data: [{plan}, {flight}]
    parameters: "tile=${{tile}}"
  georeference:
    program: line_georeference
    for_each: import
    data: [{plan}]
    inputs: [import/points.laz, import/trajectory.csv]
    parameters: "tile=${{tile}}"
  segment: {{program: line_segment, for_each: import, inputs: [georeference/points.laz]}}
  detect:
    program: line_detect
    for_each: import
    data: [{plan}]
    inputs: [segment/segmented.laz, segment/spans.json, features/patch]
    parameters: "tile=${{tile}}"
  candidates:
    program: line_aggregate
    inputs: ["detect/*/interest.json"]
    parameters: "line={name}"
    asked: "${{gates}}"
  aggregate:
    program: line_aggregate
    inputs: ["detect/*/interest.json", points/decisions]
    parameters: "line={name}"
  report:
    program: line_report
    data: [{plan}]
    inputs:
      - aggregate/line.json
      - "detect/*/corridor.json"
      - "import/*/index.json"
      - "import/*/pictures.zip"
      - "georeference/*/index.json"
      - "georeference/*/quality.csv"
      - annotations/notes
    parameters: {{gates: "${{gates}}", operator: "${{operator}}", notes: "${{notes}}"}}
  preview:
    program: line_preview
    data: [{plan}]
    inputs:
      - candidates/line.json
      - "detect/*/corridor.json"
      - "import/*/index.json"
      - "import/*/pictures.zip"
    asked: "${{gates}}"
  draft:
    program: line_preview
    data: [{plan}]
    inputs:
      - aggregate/line.json
      - "detect/*/corridor.json"
      - "import/*/index.json"
      - "import/*/pictures.zip"
    asked: "${{gates}}"
gates:
  features:
    asks: >-
      Look at the classes and spans of tile ${{tile}}. Attach its segmented.laz with other classes, or
      a patch with the columns x,y,z,radius_m,of,class, or nothing where all is right.
    for_each: import
    inputs: [segment/overview.svg, segment/segmented.laz, segment/spans.json]
    attach: ["patch?"]
    asked: "${{gates}}"
  points:
    asks: >-
      Look at what was found. Attach points_of_interest.csv with accept or reject in its column
      decision, and a line with add for what is missing, or nothing.
    inputs: [preview/preview.html, candidates/points_of_interest.csv]
    attach: ["decisions?"]
    asked: "${{gates}}"
  annotations:
    asks: >-
      Write notes. Attach points_of_interest.csv with a column note, or nothing.
    inputs: [draft/preview.html, aggregate/points_of_interest.csv]
    attach: ["notes?"]
    asked: "${{gates}}"
"""
TASKS = Path(__file__).resolve().parents[1]
STEPS = tuple(dict.fromkeys(re.findall(r"program: (\w+)", WORKFLOW)))
"""The programs of the workflow, which are published with it."""
IMPORT = "line_import"


def write_workflow(plan: Plan, flight: Path, folder: Path, share: str = "") -> Path:
    """Write plan, workflow and the programs that it publishes into a folder and return the path of
    the workflow. ``share`` names the flight within a share, as ``flights/line-7``; without it the
    flight's folder goes along. Raises ``OSError``."""
    folder.mkdir(parents=True, exist_ok=True)
    plan.write(folder / PLAN)
    for name in STEPS:
        install_program(name, folder / PROGRAMS)
    if share:
        _let_read(folder / PROGRAMS / IMPORT, share.partition("/")[0])
    path = folder / FILE
    place = str(flight.resolve()).replace("'", "''")
    told = WORKFLOW.format(
        name=name_of(plan),
        count=plan.count,
        last=plan.count - 1,
        length_m=plan.length_m,
        file=path.name,
        allowed="" if share else f" --set flight='{place}'",
        flight_variable=""
        if share
        else f"  flight: {{type: folder, default: '{place}', says: what was flown}}\n",
        flight=_quoted(f"share:{share}") if share else '"${flight}"',
        plan=PLAN,
        programs="\n".join(f"  {name}: {PROGRAMS}/{name}" for name in STEPS),
    )
    path.write_text(told, "utf-8")
    return path


def _quoted(text: str) -> str:
    """A text of YAML in which no variable is looked for."""
    return "'" + text.replace("'", "''").replace("${", "$${") + "'"


def name_of(plan: Plan) -> str:
    """Return what the workflow of a plan is called."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in plan.name)[:60] or "line"


def _let_read(program: Path, share: str) -> None:
    """Have the description ask the owners of machines for a share."""
    description = program / "program.yaml"
    text = description.read_text("utf-8")
    description.write_text(f'{text}reads: ["share:{share}"]\n', "utf-8")


def install_program(name: str, programs: Path) -> None:
    """Copy a program into a folder of programs, with the library that it needs, in place of what
    has its name there. Raises ``OSError``."""
    folder = programs / name
    if folder.is_dir():
        shutil.rmtree(folder)
    shutil.copytree(TASKS / name, folder, ignore=CACHES)
    shutil.copytree(TASKS / "line", folder / "tasks" / "line", ignore=CACHES)
    (folder / "tasks" / "inspection").mkdir()
    for needed in ("__init__.py", "inspection/__init__.py", "inspection/conversation.py"):
        shutil.copy(TASKS / needed, folder / "tasks" / needed)
