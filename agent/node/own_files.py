"""Whether the program that runs here is still installed.

Whoever removes a package does not end what runs of it: an agent would go on for months, with no
command left to end it. So it looks now and then whether its own files are there. While another
version is put in the place of this one they are away for a moment.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from agent.host.own_program import installed_file

LOOK_EVERY_S = 5.0
GONE_S = 20.0


async def until_removed(
    file: Callable[[], Path] = installed_file,
    every_s: float = LOOK_EVERY_S,
    gone_s: float = GONE_S,
) -> None:
    """Wait until the installed program's file has been missing for ``gone_s``, looking every
    ``every_s``; a disk that cannot be looked at counts as there."""
    gone_since_s: float | None = None
    while gone_since_s is None or time.monotonic() - gone_since_s < gone_s:
        await asyncio.sleep(every_s)
        if not _is_gone(file()):
            gone_since_s = None
        elif gone_since_s is None:
            gone_since_s = time.monotonic()


def _is_gone(file: Path) -> bool:
    try:
        file.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False
