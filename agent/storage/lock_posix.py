"""The lock on Linux: ``flock``, because it also tells apart two opens within one process."""

from __future__ import annotations

import fcntl
import sys

assert sys.platform != "win32"


def take(descriptor: int) -> bool:
    """Take the lock of an open file; return False when somebody else holds it. Closing the file
    gives it back."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
