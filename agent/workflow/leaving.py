"""What of this computer goes to the flock with a workflow: each file or folder, and how large it is.

Shown before anything is sent, so that a person sees what a file takes along that somebody else wrote.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from agent.paths import resolved
from agent.workflow.model import Workflow

FILES_MAX = 100_000
"""Of one folder; what is beyond is not counted, and that is said."""


class Leaving(Struct, frozen=True):
    """A file or folder that would be sent. ``outside``: it lies beyond the folder of the workflow's
    file; ``more``: it has so much that not all of it was counted."""

    path: str
    files: int
    size_bytes: int
    outside: bool = False
    more: bool = False


def leaving(workflow: Workflow, folder: Path) -> list[Leaving]:
    """Return what would be sent with a workflow that was read in this folder: its files, then files
    that become parameters, then its programs, each once. What cannot be read counts as nothing."""
    programs = (each.path for each in workflow.programs.values())
    paths = dict.fromkeys((*workflow.files.values(), *workflow.texts, *programs))
    home = resolved(folder)
    return [_leaving(path, home) for path in paths]


def _leaving(path: Path, home: Path) -> Leaving:
    where = resolved(path)
    count, size, more = _measured(where)
    return Leaving(str(path), count, size, not where.is_relative_to(home), more)


def _measured(path: Path) -> tuple[int, int, bool]:
    count = size = 0
    folders = [path]
    try:
        if not path.is_dir():
            return 1, path.stat().st_size, False
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                        continue
                    if count == FILES_MAX:
                        return count, size, True
                    count, size = count + 1, size + entry.stat().st_size
    except OSError:
        pass
    return count, size, False
