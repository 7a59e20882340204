"""Files of people are opened without waiting for anybody.

A name may lead to a pipe, whose opening waits until somebody writes into it, or to a device that never
ends. Whoever reads what others have named opens it here: what is no regular file is refused at once, and
what was opened is what was looked at, whatever takes the name meanwhile.

What other machines made is marked as such where the system asks before it runs one. Windows keeps with
a file from which zone it came, in a stream beside its content: its shell asks before it starts a program
from elsewhere, and office programs open a document in their protected view. Disks that know no such
streams (FAT, some network shares) carry no mark; there, and on other systems, a file is as any other.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
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
STREAM = ":Zone.Identifier"
INTERNET = "[ZoneTransfer]\r\nZoneId=3\r\n"
"""The zone of what anybody may have made: the shell trusts one of the local network more."""


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


def mark_as_foreign(path: Path, system: str = sys.platform) -> None:
    """Mark a file, or all files in a folder at any depth, as what another machine made; do nothing
    on systems other than Windows. A file that cannot be marked stays as it is, without a word."""
    if system != "win32":
        return
    files = path.rglob("*") if path.is_dir() else (path,)
    for each in [file for file in files if file.is_file()]:
        with suppress(OSError):
            Path(f"{each.absolute()}{STREAM}").write_bytes(INTERNET.encode("ascii"))
