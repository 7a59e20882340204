"""See whether the tests of a room notice when its code is broken: ``python -m tests.mutants ROOM``.

Draws small changes (changes.py), puts one after the other into a copy of the tree and runs the
tests of that room there. What no test noticed is told as SURVIVED: either nobody would ever notice
it, or a test is missing. The tree itself is never touched. The tests run once unchanged first, so
that they are seen to pass; then the files that import the changed module go first, and of those the
quick ones. A change with which no test ends for several times as long as the slowest takes is told
as SILENT, and is neither caught nor survived until somebody has looked: what never ends is noticed,
but a busy machine is silent too. What it started is ended.

Broken code may do harm: one change had a store move a file in that was not its own. So where root
runs this, all but the places for temporary files is read-only for the tests.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import itertools
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

import psutil

from tests.hosts.waiting import EVENTUALLY_S_MAX

if TYPE_CHECKING:
    from tests.mutants.changes import Change

TREE = Path(__file__).parents[2]
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "dist")
MARK = "WINGBEAT_MUTANT"  # in the environment of all that the tests of one copy start
TIMES_AS_LONG = 4
SILENCE_S_MIN = 1.25 * EVENTUALLY_S_MAX  # who waits in vain has failed by then
SILENT = -1000
NICENESS = 5
READ_ONLY = """
for each in /*; do
    case $each in /dev|/proc|/run|/sys|/tmp) continue ;; esac
    [ -L "$each" ] || [ ! -d "$each" ] || [ "$each" = "$0" ] ||
        { mount --rbind "$each" "$each" && mount -o remount,bind,ro "$each"; } || exit
done
exec "$@"
"""
FIRST_FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Room(NamedTuple):
    """Patterns of the modules that belong together, and what tests them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "protocol": Room(("agent/protocol/**/*.py",), ("tests/protocol",)),
    "presence": Room(("agent/presence/**/*.py",), ("tests/presence", "tests/service")),
    "storage": Room(
        ("agent/storage/**/*.py",), ("tests/storage", "tests/datasets", "tests/security")
    ),
    "data": Room(
        ("agent/data/**/*.py", "agent/history/**/*.py"),
        ("tests/datasets", "tests/control", "tests/service"),
    ),
    "execution": Room(("agent/execution/**/*.py",), ("tests/execution", "tests/security")),
    "net": Room(("agent/net/**/*.py",), ("tests/net",)),
    "control": Room(
        ("agent/control/**/*.py", "agent/workflow/**/*.py"),
        ("tests/control", "tests/workflow", "tests/security"),
    ),
    "gui": Room(("gui/model/**/*.py", "gui/bridge/**/*.py"), ("tests/gui",)),
}


@dataclass(frozen=True)
class Drawn:
    """A change of one file, and what became of it: the test that noticed, or None; or silence."""

    number: int
    path: str
    change: Change
    before: str
    text: str
    caught_by: str | None = None
    silent: bool = False

    @property
    def place(self) -> str:
        return f"{self.path}:{self.change.line}"

    @property
    def verdict(self) -> str:
        if self.silent:
            return "SILENT"
        return f"caught by {self.caught_by}" if self.caught_by else "SURVIVED"

    def told(self, room: str) -> str:
        """Return where it is and the lines that differ."""
        before, after = self.before.splitlines(), self.text.splitlines()
        lines = list(difflib.unified_diff(before, after, n=0, lineterm=""))[3:]
        head = f"{self.number:3} {room} {self.place}  {self.change.operator}"
        return "\n      ".join([head, *lines])


class Copy:
    """A copy of the tree in which one change at a time is tried."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written = time.time()
        shutil.copytree(TREE, folder, ignore=NOT_COPIED, symlinks=True)

    def judged(self, drawn: Drawn, tests: Sequence[str], silence_s: float) -> Drawn:
        """Return the change with the test that noticed it, and take it back."""
        path = self._folder / drawn.path
        self._write(path, drawn.text)
        try:
            code, told = self.run(tests, silence_s)
        finally:
            self._write(path, drawn.before)
            shutil.rmtree(self._folder / ".hypothesis", ignore_errors=True)
        if code == SILENT:
            return replace(drawn, silent=True)
        found = FIRST_FAILURE.search(told)
        caught = found.group(1) if found else f"pytest, which ended with {code}"
        return replace(drawn, caught_by=caught if code else None)

    def measured(self, tests: Sequence[str]) -> tuple[dict[str, float], float]:
        """Return how long each test file and the slowest test take; end when a test fails."""
        report = self._folder / "unchanged.xml"
        code, told = self.run([*tests, f"--junitxml={report}", "-ojunit_family=xunit1"], None)
        if code:
            raise SystemExit(f"The tests fail without any change:\n{told}")
        times: defaultdict[str, float] = defaultdict(float)
        slowest_s = 0.0
        for case in ET.parse(report).iter("testcase"):
            took_s = float(case.attrib["time"])
            times[case.attrib["file"]] += took_s
            slowest_s = max(slowest_s, took_s)
        return times, slowest_s

    def run(self, arguments: Sequence[str], silence_s: float | None) -> tuple[int, str]:
        """Run pytest here and end all that it started; its exit code and what it said.

        It is ended when it said nothing for so long: no test passed, none failed.
        """
        pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-pno:cacheprovider", *arguments]
        here = str(self._folder)
        command = [*_guard(self._folder), *pytest]
        fresh = {"PYTHONDONTWRITEBYTECODE": "1"}  # two changes in one second may be of one size
        marked = {**os.environ, "PYTHONPATH": here, MARK: here, **fresh}
        with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
            process = subprocess.Popen(
                command, cwd=here, env=marked, stdout=said, stderr=said, start_new_session=True
            )
            try:
                code = _ended(process, said.fileno(), silence_s)
            finally:
                for left in _marked(here):
                    left.kill()
                process.wait()
            said.seek(0)
            return code, said.read()

    def _write(self, path: Path, text: str) -> None:
        """Write with a time of its own, by which compiled files are known to be outdated."""
        path.write_text(text, "utf-8")
        self._written += 2
        os.utime(path, (self._written, self._written))


def _ended(process: subprocess.Popen[bytes], said: int, silence_s: float | None) -> int:
    """Return the exit code, or SILENT once nothing more was said for so long."""
    length = -1
    while length != (length := os.fstat(said).st_size):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(silence_s)
    return SILENT


def _guard(folder: Path) -> list[str]:
    """Return what comes before a command that may write temporary files and nothing else."""
    if os.getuid() or not shutil.which("unshare"):
        return []
    return ["unshare", "--mount", "sh", "-c", READ_ONLY, f"/{folder.parts[1]}"]


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK, "").startswith(mark):
                yield process
        except psutil.Error:
            continue


def draw(room: Room, count: int, seed: int) -> list[Drawn]:
    """Draw so many changes, each of the room's as likely as any other."""
    from tests.mutants.changes import changes_of

    paths = sorted({path for pattern in room.modules for path in TREE.glob(pattern)})
    texts = {path: path.read_text("utf-8") for path in paths if not _is_elsewhere(path, room)}
    places = [(path, change) for path, text in texts.items() for change in changes_of(text)]
    random.Random(seed).shuffle(places)
    changed = ((path, change, change.apply(texts[path])) for path, change in places)
    real = ((path, change, text) for path, change, text in changed if text is not None)
    return [
        Drawn(number, str(path.relative_to(TREE)), change, texts[path], text)
        for number, (path, change, text) in enumerate(itertools.islice(real, count), 1)
    ]


def _is_elsewhere(path: Path, room: Room) -> bool:
    """Whether it only runs on another system, and no test brings what it needs."""
    module = str(path.relative_to(TREE))
    return "windows" in path.stem and not any(imports(test, module) for test in test_files(room))


def test_files(room: Room) -> list[str]:
    """Return the test files of a room."""
    found = (path for folder in room.tests for path in (TREE / folder).rglob("test_*.py"))
    return sorted(str(path.relative_to(TREE)) for path in found)


def imports(test_file: str, module: str) -> bool:
    """Whether a test file imports a module itself; both are paths in the tree."""
    package, _, name = module.removesuffix(".py").replace("/", ".").rpartition(".")
    statement = rf"(from|import) {package}\.{name}\b|from {package} import .*\b{name}\b"
    return re.search(statement, (TREE / test_file).read_text("utf-8")) is not None


def attempts(drawn: Sequence[Drawn], room: Room, folder: Path, jobs: int) -> Iterator[Drawn]:
    """Try each change in one of as many copies as jobs; hand them back in order as they end."""
    copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for job in range(jobs):
        copies.put(Copy(folder / str(job)))
    first = copies.get()
    times, slowest_s = first.measured(test_files(room))
    copies.put(first)
    say(f"unchanged: green in {sum(times.values()):.0f} s, the slowest test in {slowest_s:.0f} s")

    importing = {one.path: {test for test in times if imports(test, one.path)} for one in drawn}

    def attempt(one: Drawn) -> Drawn:
        tests = sorted(times, key=lambda test: (test not in importing[one.path], times[test]))
        copy = copies.get()
        try:
            return copy.judged(one, tests, max(SILENCE_S_MIN, TIMES_AS_LONG * slowest_s))
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield from pool.map(attempt, drawn)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for left in _marked(str(folder)):
                left.kill()
            raise


def main() -> int:
    """Draw, try, and tell; the exit code is 1 when a change was not caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--draw", type=int, default=12, help="how many changes")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--jobs", type=int, default=1, help="copies of the tree at a time")
    parser.add_argument("--show", type=int, help="only the change of this number, with all lines")
    parser.add_argument("--list", action="store_true", help="only say what would be tried")
    chosen = parser.parse_args()
    if find_spec("cosmic_ray") is None:
        raise SystemExit("cosmic-ray is missing: pip install -e '.[mutants]' brings it.")
    os.nice(NICENESS)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    drawn = draw(ROOMS[chosen.room], chosen.draw, chosen.seed)
    drawn = [one for one in drawn if chosen.show in (None, one.number)]
    say(f"{len(drawn)} changes in {chosen.room}, seed {chosen.seed}")
    if chosen.list:
        for one in drawn:
            say(one.told(chosen.room))
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        judged = []
        for one in attempts(drawn, ROOMS[chosen.room], Path(folder), chosen.jobs):
            say(f"{one.told(chosen.room)}\n      {one.verdict}")
            judged.append(one)
    return report(chosen.room, judged, chosen.seed)


def report(room: str, judged: Sequence[Drawn], seed: int) -> int:
    """Print one line of each change and how many were caught; return the exit code."""
    say("")
    for one in judged:
        say(f"{one.number:3}  {one.verdict:60.60}  {one.place}  {one.change.operator}")
    caught = sum(one.caught_by is not None for one in judged)
    silent = sum(one.silent for one in judged)
    apart = f", {silent} silent" if silent else ""
    say(f"{room}, seed {seed}: {caught} of {len(judged)} caught{apart}")
    return 0 if caught == len(judged) else 1


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
