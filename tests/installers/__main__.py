"""The packages for Debian, from their making to their purge: `python -m tests.installers [12] [13] [ubuntu] [vm]`;
with `apparmor` whether AppArmor reads the profile that they bring, with `windows` those for Windows, with `inspection` the libraries of the inspection, see there.

Makes them from what is committed, and others with a higher version; then, on a bare Debian of each
of these numbers and an Ubuntu 24.04, everything that ``life`` does with them, and with `vm` what
``machine`` does in one that boots. Apart from the check, as it takes minutes and
root. Where a tool is missing, it says which and leaves the rest out.
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
from tests.installers import libraries, windows
from tests.installers.machine import boots
from tests.installers.tools import left_out
from tests.style.source import REPOSITORY

DEBIANS, UBUNTU, BOOTS, LIBRARIES, APPARMOR = ("12", "13"), "ubuntu", "vm", "inspection", "apparmor"
PLACES = (*DEBIANS, UBUNTU, BOOTS)
ALONE = ([APPARMOR], [LIBRARIES], ["windows"])
PARSE = (
    "apt-get -q update && apt-get -q -y --no-install-recommends install apparmor && "
    "apparmor_parser --skip-kernel-load --skip-cache installers/linux/apparmor/wingbeat"
)
"""On a Debian whose AppArmor is as new as the one of Ubuntu 24.04; loading it needs such a kernel."""
SIZE_MB_MAX = 45.0
VERSION_FILE = Path("agent/__init__.py")


def main() -> int:
    """Make both packages and try them on each Debian, or those for Windows under Wine; return how many
    of these failed."""
    asked = sys.argv[1:]
    if asked not in ALONE and not set(asked) <= set(PLACES):
        sys.exit(
            f"what to try: some of {', '.join(PLACES)}, or one of {', '.join(each for (each,) in ALONE)}"
        )
    if asked == [APPARMOR]:
        return 0 if left_out("the packages for Debian") else int(not is_parsed())
    if asked in ALONE:
        return libraries.main() if asked == [LIBRARIES] else windows.main()
    if left_out("the packages for Debian"):
        return 0
    with tempfile.TemporaryDirectory() as folder:
        dist = Path(folder, "dist")
        dist.mkdir()
        for version in (__version__, f"{__version__}.1"):
            started_s = time.monotonic()
            made = build(Path(folder, version), version)
            took_s, size_mb = time.monotonic() - started_s, made.stat().st_size / 1e6
            print(f"made {made.name}: {size_mb:.1f} MB in {took_s:.0f} s", flush=True)
            assert size_mb <= SIZE_MB_MAX, made
            shutil.copytree(made.parent / "apt", dist / version)
        return sum(
            not (boots(dist) if each == BOOTS else lives(dist, each)) for each in asked or PLACES
        )


def is_parsed() -> bool:
    """Tell whether AppArmor reads the profile of what is committed; it is not loaded."""
    words = ["sh", "tests/places/fresh", "13", "sh", "-c", PARSE]
    done = subprocess.run(words, cwd=REPOSITORY, check=False, stdout=subprocess.DEVNULL)
    print(f"AppArmor's profile: {'failed' if done.returncode else 'parsed'}", flush=True)
    return not done.returncode


def build(clone: Path, version: str) -> Path:
    """Make the .deb of what is committed, with this version instead of its own; return its file."""
    file = clone_of(clone) / VERSION_FILE
    file.write_text(file.read_text("utf-8").replace(f'"{__version__}"', f'"{version}"'), "utf-8")
    words = [sys.executable, "-m", "installers.making", "--only", "deb"]
    subprocess.run(words, cwd=clone, check=True, stdout=subprocess.DEVNULL)
    return next((clone / "dist").glob("wingbeat_*.deb"))


def clone_of(clone: Path) -> Path:
    """Make a clone of what is committed, which finds the wheels that were fetched before; return it."""
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(clone)], check=True)
    fetched = REPOSITORY / "build/wheels"
    fetched.mkdir(parents=True, exist_ok=True)
    (clone / "build").mkdir()
    (clone / "build/wheels").symlink_to(fetched)
    return clone


def lives(dist: Path, place: str) -> bool:
    """Tell whether all went right with the packages on this Debian, or Ubuntu."""
    name = "Ubuntu 24.04" if place == UBUNTU else f"Debian {place}"
    print(name, flush=True)
    words = ["sh", "tests/places/fresh", place, "python3", "tests/installers/life.py"]
    environment = {**os.environ, "DIST": str(dist)}
    done = subprocess.run(words, cwd=REPOSITORY, env=environment, check=False)
    print(f"{name}: {'failed' if done.returncode else 'all right'}", flush=True)
    return not done.returncode


if __name__ == "__main__":
    sys.exit(main())
