"""Memory that is not needed any more goes back to the system.

The C library keeps what was freed for the next time it is asked. After a crowd of connections or a
table taken in that is many megabytes, which an idle agent would hold for weeks. glibc gives them
back when told to; other systems' heaps do so by themselves, or have no word for it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Return what is free; takes about a millisecond."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    try:
        trim = library.malloc_trim
    except AttributeError:  # not glibc
        return None
    trim.argtypes = (ctypes.c_size_t,)
    trim.restype = ctypes.c_int
    return trim
