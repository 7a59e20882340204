"""Small files that are written whole: after a power cut there is the new content, or the one before.

A disk that is full, or to be read only, is found out beside the file, which stays as it was.
"""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Replace the file, durable on return; raise ``OSError`` when the disk refuses, and leave the
    old one."""
    fresh = path.with_name(f"{path.name}.unfinished")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
