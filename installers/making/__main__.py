"""`installers/build`: makes the packages into `dist/`, and prints their sizes and hashes.

The same commit makes the same bytes: times are those of the last commit (or SOURCE_DATE_EPOCH), what
goes in is named with its hash in the lock, and nothing depends on where or by whom it is built.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from agent import __version__
from installers.making.contents import digest
from installers.making.deb import make_debs
from installers.making.locked import ROOT, MakingError
from installers.making.repository import make_repository
from installers.making.setups import MSI, SETUP, UNPACKED, inside, make_msi, make_setup
from installers.making.windows import PYTHON, make_windows, pack

DIST, WORK = ROOT / "dist", ROOT / "build"
TABLE = "SHA256SUMS"
KINDS = ("wheel", "deb", "windows", "setup", "msi")
LIBRARIES = "inspection"
"""Not made unasked: the libraries of the inspection are ten times all else."""


def main() -> int:
    """Make what was asked for into `dist/` and return 0; 1, after a sentence, where that is not
    possible or two builds differ."""
    parser = argparse.ArgumentParser("installers/build", description="Makes the packages.")
    parser.add_argument("--check", action="store_true", help="make everything twice and compare")
    parser.add_argument(
        "--only", action="append", choices=(*KINDS, LIBRARIES), help="this kind, or these"
    )
    parser.add_argument(
        "--python", type=Path, default=PYTHON, help="a file that names the Python for Windows"
    )
    options = parser.parse_args()
    kinds = tuple(options.only or KINDS)
    try:
        os.environ["SOURCE_DATE_EPOCH"] = str(epoch())
        WORK.mkdir(exist_ok=True)
        made = make(DIST, kinds, options.python)
        if options.check:
            compare(made, kinds, options.python)
    except MakingError as error:
        sys.stderr.write(f"installers/build: {error}.\n")
        return 1
    sys.stdout.write(table(made))
    return 0


def epoch() -> int:
    """Return the time that everything in a package has: SOURCE_DATE_EPOCH, or that of the last
    commit. Raises ``MakingError`` where there is neither."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    words = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        return int(subprocess.run(words, capture_output=True, check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):
        raise MakingError(
            "there is no commit to take the time from: say SOURCE_DATE_EPOCH=SECONDS"
        ) from None


def make(folder: Path, kinds: tuple[str, ...], python: Path = PYTHON) -> list[Path]:
    """Make these kinds of packages into the folder, which is emptied before; return their files,
    and write the table of their hashes beside them. Raises ``MakingError``."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=WORK) as scratch:
        wheel = make_wheel(folder if "wheel" in kinds else Path(scratch))
        if {"deb", LIBRARIES} & {*kinds}:
            debs = make_debs(wheel, folder, WORK, Path(scratch), libraries=LIBRARIES in kinds)
            make_repository(folder / "apt", debs, WORK, epoch())
        if {*kinds} & {"windows", "setup", "msi"}:
            make_for_windows(wheel, folder, Path(scratch), python, kinds)
    made = sorted(each for each in folder.rglob("*") if each.is_file())
    sums = "".join(f"{digest(each)}  {each.relative_to(folder)}\n" for each in made)
    (folder / TABLE).write_text(sums, "utf-8")
    return made


def make_for_windows(
    wheel: Path, folder: Path, scratch: Path, python: Path, kinds: tuple[str, ...]
) -> None:
    """Make into the folder what was asked for of these: the folder for Windows, packed, setup and
    MSI of it. Raises ``MakingError``."""
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    whole = make_windows(wheel, scratch, WORK, python, seconds)
    if "windows" in kinds:
        pack(whole, folder / f"wingbeat-{__version__}-windows-x64.zip", seconds)
    if "setup" in kinds:
        make_setup(whole, folder / SETUP, scratch)
    if "msi" in kinds:
        make_msi(whole, folder / MSI, scratch)


def make_wheel(folder: Path) -> Path:
    """Make wheel and sdist into the folder and return the wheel. Raises ``MakingError``."""
    words = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MakingError(f"the wheel cannot be made: {done.stderr.strip()}")
    return next(folder.glob("*.whl"))


def compare(made: list[Path], kinds: tuple[str, ...], python: Path) -> None:
    """Make the packages again, elsewhere and with another mask for new files; raise
    ``MakingError`` where one is not the same, byte for byte; of setup and MSI, which hold identifiers of
    their making, the files inside are compared."""
    mask = os.umask(0o077)
    try:
        with tempfile.TemporaryDirectory(dir=WORK) as scratch:
            folder = Path(scratch, "again")
            again = {each.relative_to(folder): _told(each) for each in make(folder, kinds, python)}
    finally:
        os.umask(mask)
    names = {each.relative_to(DIST): each for each in made}
    if different := [str(name) for name, each in names.items() if again.get(name) != _told(each)]:
        raise MakingError(f"made twice, these are not the same: {', '.join(different)}")
    sys.stdout.write("Made twice: the same bytes, and the same files in setup and MSI.\n")


def _told(file: Path) -> str:
    return inside(file) if file.name in UNPACKED else digest(file)


def table(made: list[Path]) -> str:
    """Return the files as a table: name, size in MB, hash."""
    names = {each: str(each.relative_to(DIST)) for each in made}
    width = max(map(len, names.values()))
    return "".join(
        f"{names[each]:<{width}}  {each.stat().st_size / 1e6:7.2f} MB  {digest(each)}\n"
        for each in made
    )


if __name__ == "__main__":
    sys.exit(main())
