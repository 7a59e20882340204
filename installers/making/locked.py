"""What the locks name for running Wingbeat on Linux and on Windows, and the wheels of it.

The lock is of one environment for everything, tests among it. What runs is what the dependencies in
`pyproject.toml` name, and whatever these came by: uv notes that below each package.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""Those of Debian 12, Ubuntu 24.04 and Debian 13, and the next."""
GLIBC_MAX = 34
"""Of 2.x: the newest that a wheel may need, for which Debian 12 is new enough."""
_ENTRY = re.compile(
    r"^([a-z0-9-]+)==(\S+)(?: ; (.*?))? \\\n((?:    --hash=\S+(?: \\)?\n)+)((?:    #.*\n)*)",
    re.MULTILINE,
)
_NAME = re.compile(r"[A-Za-z0-9-]+")
_BY = re.compile(r"#(?: via)?\s+([a-z0-9-]+)$", re.MULTILINE)
_NOT_ON_LINUX = re.compile(r"sys_platform == 'win32'|python_full_version >= '3\.12'")
"""Markers of what is left out. One Qt serves all Pythons: that which the oldest of them needs."""
_NOT_ON_WINDOWS = re.compile(r"sys_platform == 'linux'|python_full_version < '3\.12'")
MANYLINUX = tuple(f"manylinux_2_{minor}_x86_64" for minor in range(5, GLIBC_MAX + 1))
NEVER_LOADED = {"pygments", "markdown-it-py", "mdurl"}
"""What rich would colour source code and set Markdown by, which nothing of ours asks of it: a third of all
files."""
QT_ON_WINDOWS = ROOT / "installers/windows/qt.lock"


class MakingError(Exception):
    """Why a package cannot be made, as the beginning of a sentence."""


class Entry(NamedTuple):
    """One package of the lock."""

    name: str
    version: str
    marker: str
    hashes: str
    came_by: str


def runtime(left_out: re.Pattern[str] = _NOT_ON_LINUX) -> list[Entry]:
    """Return what is needed to run, in the order of the lock, without what has such a marker."""
    entries = _entries(ROOT / "requirements.lock")
    needed = _needed(entries, _project()["dependencies"]) - NEVER_LOADED
    return [each for each in entries if each.name in needed and not left_out.search(each.marker)]


def extra(name: str, python: str) -> list[Entry]:
    """Return what an extra needs on Linux with this Python, in the order of the lock; also what is
    brought anyway."""
    entries = _entries(ROOT / "requirements.lock")
    needed = _needed(entries, _project()["optional-dependencies"][name])
    other = "python_full_version " + ("< '3.12'" if python != "3.11" else ">= '3.12'")
    left_out = ("win32", other)
    return [
        each
        for each in entries
        if each.name in needed and not any(word in each.marker for word in left_out)
    ]


def _project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"])


def _needed(entries: list[Entry], wanted: list[str]) -> set[str]:
    """What is wanted, and whatever that came by."""
    needed = {_NAME.match(each)[0].lower() for each in wanted}  # type: ignore[index]
    size = 0
    while size < len(needed):
        size = len(needed)
        needed |= {each.name for each in entries if needed & set(_BY.findall(each.came_by))}
    return needed


def windows_wheels(folder: Path, python: str) -> list[Path]:
    """Fetch into the folder, with pip and by their hashes, the wheels for this Python on Windows;
    return them in the order of their names. Raises ``MakingError`` where one cannot be had."""
    own = {each.name: each for each in _entries(QT_ON_WINDOWS)}
    entries = [own.get(each.name, each) for each in runtime(_NOT_ON_WINDOWS)]
    return fetched(entries, python, folder / "windows", ("win_amd64",))


def wheels(folder: Path) -> list[Path]:
    """Fetch into the folder, with pip and by their hashes, the wheels for each Python; return them
    all, each once, in the order of their names. Raises ``MakingError`` where one cannot be had."""
    entries = runtime()
    first = fetched(entries, PYTHONS[0], folder)
    own = {_of(each) for each in first if "-abi3-" not in each.name and "-none-" not in each.name}
    found = set(first)
    for python in PYTHONS[1:]:
        found |= set(fetched([each for each in entries if each.name in own], python, folder))
    return sorted(found)


def fetched(
    entries: list[Entry], python: str, folder: Path, platforms: tuple[str, ...] = MANYLINUX
) -> list[Path]:
    """Return the wheels of these packages for one Python, fetched unless they are there."""
    place = folder / python
    place.mkdir(parents=True, exist_ok=True)
    lock = place / "locked.txt"
    text = "".join(f"{each.name}=={each.version} \\\n{each.hashes}" for each in entries)
    if not lock.exists() or lock.read_text() != text:
        for old in place.iterdir():
            old.unlink()
        wanted = place / "wanted.txt"
        wanted.write_text(text)
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
        words += ["--disable-pip-version-check", "--require-hashes", "--only-binary=:all:"]
        words += ["--requirement", str(wanted), "--dest", str(place), "--python-version", python]
        words += ["--implementation", "cp", "--abi", f"cp{python.replace('.', '')}"]
        words += ["--abi", "abi3", "--abi", "none"]
        for platform in platforms:
            words += ["--platform", platform]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MakingError(f"wheels for Python {python} cannot be had: {done.stderr.strip()}")
        wanted.rename(lock)
    return sorted(place.glob("*.whl"))


def _entries(lock: Path) -> list[Entry]:
    return [Entry(*found) for found in _ENTRY.findall(lock.read_text("utf-8"))]


def _of(wheel: Path) -> str:
    return wheel.name.partition("-")[0].lower().replace("_", "-")
