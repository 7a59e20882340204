"""Finding out how a file is opened at a line: the system is asked beside Qt's thread."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gui.editing import Associations
from gui.editing.lines import at_line


async def editor_command(associations: Associations, path: Path, line: int) -> list[str]:
    """Return the command that opens the file at the line; empty where only the file can be
    opened."""

    def found() -> list[str]:
        try:
            return at_line(associations.command_for(path), path, line)
        except OSError:
            return []

    return await asyncio.to_thread(found) if line > 0 else []
