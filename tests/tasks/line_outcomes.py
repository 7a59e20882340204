"""Reads every file of others that lies beside this repository, and tells what became of each.

python -m tests.tasks.line_outcomes          writes the table anew
python -m tests.tasks.line_outcomes --show   prints it, and then how much memory that took
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tasks.inspection.conversation import WorkError
from tasks.line.cloud import Cloud
from tasks.line.crs import of_scan
from tasks.line.trajectory import read_trajectory
from tests.style.source import REPOSITORY

FILES = REPOSITORY.parent / "shared/data/lidar"
TABLE = Path(__file__).with_name("line_outcomes.txt")


def outcomes() -> Iterator[str]:
    """Yield a line for each file: how much was read and what was lived with, or why nothing was."""
    without_chunks = FILES / "wires" / "TO_core_last_zoom.laz"
    for path in [*sorted((FILES / "reader").iterdir()), without_chunks]:
        yield f"{path.name}: {ended(of_cloud, path)}"
    for path in sorted((FILES / "trajectory").iterdir()):
        if path.suffix not in (".las", ".laz"):
            yield f"{path.name}: {ended(of_trajectory, path)}"


def ended(read: Callable[[Path], list[str]], path: Path) -> str:
    try:
        return "; ".join(read(path))
    except WorkError as error:
        return f"refused: {str(error).removeprefix(path.name + ': ')}"


def of_cloud(path: Path) -> list[str]:
    cloud = Cloud(path)
    read = sum(map(len, cloud.chunks()))
    told = of_scan(cloud.header)
    system = f"{told.name} {told.heights[:12] or 'heights not said'} {told.unreadable}".strip()
    return [f"{read} points, LAS {cloud.header.version}, {system}", *counted(cloud.survived)]


def of_trajectory(path: Path) -> list[str]:
    way = read_trajectory(path)
    attitudes = "with attitudes" if way.has_attitudes else "places only"
    return [f"{len(way)} records, {attitudes}, clock {way.clock}", *counted(way.survived)]


def counted(survived: Counter[str]) -> list[str]:
    return [f"{count} {what}" for what, count in sorted(survived.items())]


def most_memory_mb() -> int:
    """Return the most memory that this process has had; what getrusage says is also of the process
    that it was forked from."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


if __name__ == "__main__":
    if sys.argv[1:] == ["--show"]:
        for line in outcomes():
            print(line)
        print(most_memory_mb())
    else:
        TABLE.write_text("".join(f"{line}\n" for line in outcomes()), "utf-8")
