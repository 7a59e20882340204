"""Counts the bytes of everything that it is given. Put your own work in its place."""

from __future__ import annotations

import json
from pathlib import Path

import wingbeat_task as task  # type: ignore[import-not-found,unused-ignore]

REPORT, STATE = "report.txt", "state.json"
SAVE_EVERY = 100


def main() -> None:
    """Count the bytes of all files, write the report and end the program; the counts are handed
    over now and then, and a later attempt goes on from them. It ends as failed if a path is not
    there, or early if it is cancelled."""
    saved = task.saved()
    counts: dict[str, int] = json.loads(saved.read_text()) if saved else {}
    files = [path for given in task.raw() + task.inputs() for path in files_of(Path(given))]
    for number, path in enumerate(files, 1):
        task.stop_if_cancelled()
        if str(number) not in counts:
            counts[str(number)] = path.stat().st_size
        if number % SAVE_EVERY == 0:
            Path(STATE).write_text(json.dumps(counts))
            task.checkpoint(STATE)
        task.progress(100 * number / len(files))
    total = sum(counts.values())
    Path(REPORT).write_text(f"{len(files)} files, {total} bytes\n{task.parameters()}\n")
    task.terminated(REPORT)


def files_of(path: Path) -> list[Path]:
    """Return the files below a folder in order, none for an empty one, or the file itself; end the
    program as failed if the path does not exist."""
    if not path.exists():
        task.failed(f"{path} is not there")
    return sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


if __name__ == "__main__":
    main()
