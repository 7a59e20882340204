"""`wingbeat inspect`: the inspection of a flight, from its folder: looked at, planned, submitted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from agent.api.settings import SETTINGS, Settings
from agent.client import Client
from agent.client.inspecting import Flight, look_at_flight, share_of
from agent.commands import exits
from agent.commands.asking import tell, with_loop
from agent.commands.parsing import Options, argument, command
from agent.commands.showing import counted, plain, show_json, size
from agent.commands.submit import run as submit

SAID = ("route", "route-crs", "crs", "heights", "target", "date", "frame", "name", "tile-m")
THREE = ("lever-m", "boresight-deg")


def _asked(name: str, text: str, **more: Any) -> Any:
    return argument(f"--{name}", dest=name.replace("-", "_"), help=text, **more)


@command(
    "inspect",
    "Inspect a power line: look at all that lies in the folder of a flight (scans, trajectories,\n"
    "video, marks, terrain, the map of the route), cut it into tiles, write plan and workflow\n"
    "into a folder, and submit that. What no file says is asked for; nothing is guessed.",
    "wingbeat inspect flights/line-7 --crs EPSG:28992 --heights EPSG:5709",
    "wingbeat inspect flights/line-7 --gates none --wait",
    "wingbeat inspect flights/line-7 --dry-run    # what it is, and where it could run",
    argument("flight", type=Path, metavar="FOLDER", help="the folder of the flight"),
    _asked("crs", "the reference system of scans that do not say it, as EPSG:28992"),
    _asked("heights", "what their heights are, as EPSG:5709, ellipsoid, or metres"),
    _asked("target", "the system in which everything is worked; that of the scans otherwise"),
    _asked("route", "the map of the line", metavar="FILE"),
    _asked("route-crs", "the reference system of a map that does not say it"),
    _asked("date", "the day of the flight, as 2026-05-04, where times are of the week or the day"),
    _asked(
        "frame", "scanner: points that nobody has put in their place", choices=("ground", "scanner")
    ),
    _asked("lever-m", "from the antenna to the scanner", nargs=3, metavar=("X", "Y", "Z")),
    _asked("boresight-deg", "of the scanner", nargs=3, metavar=("ROLL", "PITCH", "HEADING")),
    _asked("tile-m", "how long a tile is; 400 m otherwise"),
    _asked("name", "what the line is called; the folder's name otherwise"),
    argument("--out", type=Path, metavar="FOLDER", help="where plan and workflow go"),
    argument(
        "--gates", choices=("all", "none"), default="all", help="none: nobody is asked in between"
    ),
    argument("--plan-only", action="store_true", help="write plan and workflow, submit nothing"),
    argument(
        "--dry-run", action="store_true", help="tell where each task could run, submit nothing"
    ),
    argument("--wait", action="store_true", help="until it has ended"),
    node=False,
)
def run(options: Options) -> int:
    """Look at a flight, write its plan and workflow, and submit that unless the plan alone is
    wanted; in a dry run tell where it could run. Return the exit code: that of `submit`, or of a
    failure, with all that is wrong printed, where there is no plan."""
    options.node = ""
    code = _plan(options)
    if code != exits.DONE or options.plan_only:
        return code
    return submit(options.submission)


@with_loop
async def _plan(options: Options, client: Client) -> int:
    """Leaves in ``options.submission`` what `submit` is told then."""
    share = share_of(options.flight, (await client.call(SETTINGS, Settings())).shares)
    words = {name: value for name in (*SAID, *THREE) if (value := _given(options, name))}
    if share:
        words["share"] = share
    out = options.out or Path(f"{options.flight.resolve().name or 'flight'}-inspection")
    found = await look_at_flight(options.flight, words, out)
    if found.faults:
        sentences = [*found.faults]
        if options.json:
            show_json(found)
        else:
            sys.stderr.writelines(f"{plain(each)}\n" for each in sentences)
        return exits.FAILED
    options.submission = _submission(options, found, share)
    if not options.json or options.plan_only:
        return tell(options, found, told_of(found, options.flight, share))
    return exits.DONE


def _given(options: Options, name: str) -> str | list[str]:
    return getattr(options, name.replace("-", "_")) or ""


def _submission(options: Options, found: Flight, share: str) -> list[str]:
    words = [found.workflow, "--set", f"gates={options.gates}"]
    if not share:
        words += ["--set", f"flight={options.flight.resolve()}"]
    said = {"--wait": options.wait, "--dry-run": options.dry_run, "--json": options.json}
    return [*words, *(word for word, wanted in said.items() if wanted)]


def told_of(found: Flight, flight: Path, share: str) -> list[str]:
    """Return the lines that tell people what was found in a flight's folder and planned for it;
    ``share`` is empty where the folder lies in none."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in found.files.items() if count)
    lines = [f"{flight.name}: {kinds}, points {found.points}"]
    lines.append(f"{counted(found.tiles, 'tile')} along {found.length_m} m of line")
    lines += [f"  {each}" for each in found.lived_with]
    lines.append(f"plan and workflow: {found.workflow}")
    if not share:
        whole = f"the whole folder, {size(found.size_bytes)}, is brought into the flock"
        lines.append(f"{whole}; of one that lies in a share only tiles are")
    return lines
