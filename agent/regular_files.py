"""Files of people are opened without waiting for anybody.

A name may lead to a pipe, whose opening waits until somebody writes into it, or to a device that never
ends. Whoever reads what others have named opens it here: what is no regular file is refused at once, and
what was opened is what was looked at, whatever takes the name meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

NOT_REGULAR = "it is no file but a device, a pipe or a socket"
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading, and return it. Raises ``OSError`` where it
    cannot be opened or is none, at once, and ``ValueError`` for a name that no file can have."""
    descriptor = os.open(path, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise
