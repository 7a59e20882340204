"""The packages for Windows, from their making to their purge: `python -m tests.installers windows`.

Makes setup and MSI from what is committed, and both with a higher version; then everything that
``windows_life`` does with them under Wine, in a Debian 13 of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agent import __version__
from tests.installers.tools import left_out
from tests.style.source import REPOSITORY

SIZES_BYTES_MAX = {"wingbeat-setup.exe": 35_000_000, "wingbeat-x64.msi": 48_000_000}
VERSION_FILE = Path("agent/__init__.py")


def main() -> int:
    """Make the packages of both versions and try them; return 0 where all went right, or where a
    tool is missing, which is said then."""
    if left_out("Windows"):
        return 0
    with tempfile.TemporaryDirectory() as folder:
        dist = Path(folder, "dist")
        for version in (__version__, later(__version__)):
            make(Path(folder, version), version, dist / version)
        words = [
            "sh",
            "tests/places/fresh",
            "wine",
            "python3",
            "-m",
            "tests.installers.windows_life",
        ]
        environment = {**os.environ, "DIST": str(dist)}
        done = subprocess.run(words, cwd=REPOSITORY, env=environment, check=False)
    print(f"Windows: {'failed' if done.returncode else 'all right'}", flush=True)
    return done.returncode


def later(version: str) -> str:
    """Return a version that an MSI knows as a later one: it looks at three numbers only."""
    *first, last = version.split(".")
    return ".".join([*first, str(int(last) + 1)])


def make(clone: Path, version: str, dist: Path) -> None:
    """Make setup and MSI of what is committed into the folder, with this version instead of its own;
    fail where one is too large."""
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(clone)], check=True)
    file = clone / VERSION_FILE
    file.write_text(file.read_text("utf-8").replace(f'"{__version__}"', f'"{version}"'), "utf-8")
    kept = REPOSITORY / "build"
    kept.mkdir(exist_ok=True)
    (clone / "build").symlink_to(kept)
    started_s = time.monotonic()
    words = [sys.executable, "-m", "installers.making", "--only", "setup", "--only", "msi"]
    subprocess.run(words, cwd=clone, check=True, stdout=subprocess.DEVNULL)
    took_s = time.monotonic() - started_s
    shutil.copytree(clone / "dist", dist)
    for name, bytes_max in SIZES_BYTES_MAX.items():
        size = (dist / name).stat().st_size
        print(f"made {name} {version}: {size / 1e6:.1f} MB", flush=True)
        assert size <= bytes_max
    print(f"both and the folder in {took_s:.0f} s", flush=True)
