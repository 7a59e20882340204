"""The lock on Windows: one byte far behind the end, because a locked byte cannot be read.

What stands at the beginning, the process that holds the lock, stays readable to others.
"""

from __future__ import annotations

import msvcrt
import os
import sys

assert sys.platform == "win32"

LOCKED_BYTE = 2**30


def take(descriptor: int) -> bool:
    """Take the lock of an open file; return False when somebody else holds it. Closing the file
    gives it back."""
    os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(descriptor, 0, os.SEEK_SET)
    return True
