"""The libraries of the inspection, from their making to a program that loads them:
`python -m tests.installers inspection`.

They are made from what is committed; then, on a bare Debian 12 and 13, apt has to choose those for its
Python by itself, each of them has to load there, and each program of the inspection of a line; and what
is installed makes a plan of a flight, and works it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZE_MB_MAX = 160.0
PROGRAMS = Path("/usr/share/wingbeat/programs")
LOADED = (
    *("av", "gpxpy", "laspy", "lazrs", "numpy", "pynmea2", "pyogrio", "pyproj", "rasterio"),
    *("reportlab.pdfgen.canvas", "scipy.spatial", "scipy.optimize", "sklearn.cluster"),
    *("sklearn.ensemble", "shapely"),
)


def main() -> int:
    """Make them, and try them on each Debian; return how many of these failed, or 0 where a tool is
    missing, which is said then."""
    from tests.installers.__main__ import DEBIANS, clone_of
    from tests.installers.tools import left_out
    from tests.style.source import REPOSITORY

    if left_out("the packages for Debian"):
        return 0
    with tempfile.TemporaryDirectory() as folder:
        clone, began_s = clone_of(Path(folder, "clone")), time.monotonic()
        words = [sys.executable, "-m", "installers.making", "--only", "inspection"]
        subprocess.run(words, cwd=clone, check=True, stdout=subprocess.DEVNULL)
        print(f"made in {time.monotonic() - began_s:.0f} s", flush=True)
        for each in sorted((clone / "dist").glob("*.deb")):
            size_mb = each.stat().st_size / 1e6
            print(f"  {each.name}: {size_mb:.1f} MB", flush=True)
            assert size_mb <= SIZE_MB_MAX, each
        environment = {**os.environ, "DIST": str(clone / "dist/apt")}
        failed = 0
        for debian in DEBIANS:
            words = ["sh", "tests/places/fresh", debian]
            words += ["python3", "-m", "tests.installers.libraries"]
            done = subprocess.run(words, cwd=REPOSITORY, env=environment, check=False)
            print(f"Debian {debian}: {'failed' if done.returncode else 'all right'}", flush=True)
            failed += bool(done.returncode)
        return failed


def inside() -> None:
    """On one of these Debians; raises ``AssertionError`` where something is not as it should be."""
    from tests.installers.life import APT, run, say, took

    offered = Path("/srv/wingbeat")
    shutil.copytree(Path("dist").resolve(), offered)
    source = Path("/etc/apt/sources.list.d/wingbeat.list")
    source.write_text(f"deb [trusted=yes] file:{offered} ./\n")
    run("apt-get", "update", "-q")
    apt = [each for each in APT if each != "--no-install-recommends"]
    took("installing", lambda: run(*apt, "install", "wingbeat-inspection"))
    run("/opt/wingbeat/current/bin/python3", "-I", "-c", f"import {', '.join(LOADED)}")
    say("apt has chosen those for its Python, and each library loads")
    found = sorted(PROGRAMS.glob("line_*/program.yaml"))
    assert found, "there are programs for lines"
    for each in found:
        (described,) = re.findall(
            r"^command: \[\"{python}\", (.*)\]$", each.read_text(), re.MULTILINE
        )
        told = subprocess.run(
            ["/opt/wingbeat/current/bin/python3", *described.split(", "), "-p", "none"],
            cwd=each.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "the package" not in told.stdout, told
        assert "Traceback" not in told.stderr, told
        assert "ERROR" in told.stdout, told
        say(f"{each.parent.name} begins, and says what it was not given")
    plans()
    for package in ("wingbeat-inspection-python", "wingbeat"):
        run(*APT, "purge", f"{package}*")
    assert not Path("/usr/lib/wingbeat").exists()
    assert not Path("/opt/wingbeat").exists()


FLIGHT = """
import sys
from pathlib import Path
import numpy as np
from tasks.line import cloud
from tasks.line.crs import named
dice, count = np.random.default_rng(1), 30_000
along, beside = dice.uniform(0, 1_000, count), dice.normal(0, 30, count)
points = cloud.Points.of(
    np.round(500_000 + along, 3), np.round(3_318_000 + beside, 3), np.round(along / 10, 3),
    gps_time=400_000 + along / 50, classification=np.full(count, 2),
)
Path("flight").mkdir()
wkt = named("EPSG:32617", "ellipsoid").wkt()
cloud.write(Path("flight/a.laz"), [points], wkt, standard_time=False)
"""
"""Bare ground along 1,000 m."""


def plans() -> None:
    """As somebody does who has the package and no clone."""
    from tests.installers.life import run, say, took

    folder = Path("/srv/line")
    folder.mkdir()
    python = ("/opt/wingbeat/current/bin/python3", "-P", "-c", FLIGHT)
    environment = {**os.environ, "PYTHONPATH": "/usr/share/wingbeat"}
    subprocess.run(python, env=environment, cwd=folder, check=True)
    run("wingbeat", "agent", "--background")
    words = "flight --heights ellipsoid --tile-m 2000 --out planned --gates none --wait"
    inspect = f"cd {folder} && wingbeat inspect {words}"
    told = took("planning and working a flight", lambda: run("sh", "-c", inspect))
    assert "1 tile along" in told, told
    assert "flight is done: 6 done" in told, told
    run("wingbeat", "stop")
    shutil.rmtree(folder)
    say(told.splitlines()[0])


if __name__ == "__main__":
    inside()
