"""Objects become a file or folder for a program, which may read them and nothing more.

A second name for the same file costs neither time nor room. It is not given where the file has to
be executable, because that would be told of the object itself, nor on Windows, where a file that is
not to be written cannot be removed either, so that the scratch folder would stay for ever.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

EXECUTABLE_MODE = 0o555
READ_ONLY_MODE = 0o444
LINKS = sys.platform != "win32"


def lay_file(source: Path, target: Path, *, executable: bool = False, links: bool = LINKS) -> None:
    """Place one file at the target, read-only: by a second name where the system allows it and it
    need not be executable, else by copying. Raise ``OSError`` when that fails."""
    if links and not executable:
        try:
            os.link(source, target)
        except OSError:
            _copy(source, target, executable=False)
    else:
        _copy(source, target, executable=executable)


def _copy(source: Path, target: Path, *, executable: bool) -> None:
    shutil.copyfile(source, target)
    if LINKS:
        target.chmod(EXECUTABLE_MODE if executable else READ_ONLY_MODE)
