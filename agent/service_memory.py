"""Memory that is not needed any more goes back to the system.

Of two kinds, and an agent that has nothing to do would hold both for weeks:

- The C library keeps what was freed for the next time it is asked; after a crowd of connections or
  a table taken in that is many megabytes. glibc gives them back when told to.
- Starting touches nearly all of Python, OpenSSL and the other libraries, beating touches a tenth of
  them. What has not changed since it was read from its file can be let go at any time: whatever is
  needed after all comes back by itself, from the system's cache of files. The system does so too
  when memory is short, but then the owner of the machine is already waiting.

Systems other than Linux do the one or the other by themselves, or have no word for it.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

OBJECTS_BEFORE_A_SEARCH = 10_000
"""New objects, less those that are gone; Python's own figure is 700."""
DONT_NEED = 4
"""What ``madvise`` calls it."""


def search_rarely() -> None:
    """Python's search for circles that nobody refers to looks seldom, and not at what is there now:
    nearly all that an agent makes and drops is free of them."""
    gc.freeze()
    gc.set_threshold(OBJECTS_BEFORE_A_SEARCH)


def give_back() -> None:
    """Return what is free; takes about a millisecond."""
    trim = _call("malloc_trim", ctypes.c_size_t)
    if trim is not None:
        trim(0)


def let_go_of_files() -> None:
    """Return what is as it is in its file; takes about ten milliseconds."""
    advise = _call("madvise", ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if advise is None:
        return
    try:
        described = Path("/proc/self/smaps").read_bytes()
    except OSError:  # a system may hide it
        return
    for begin, end in as_in_file(described.splitlines()):
        advise(begin, end - begin, DONT_NEED)


def as_in_file(lines: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    """The addresses of pieces of files that cannot be written to and were not, of one's own map.

    What was written before it was closed to writing (the loader does so) is not in the file.
    """
    found: tuple[int, int] | None = None
    for line in lines:
        first, *words = line.split(None, 5)
        if not first.endswith(b":"):
            begin, _, end = first.partition(b"-")
            of_file = len(words) == 5 and words[0] in (b"r-xp", b"r--p") and words[4][:1] == b"/"
            found = (int(begin, 16), int(end, 16)) if of_file else None
        elif found and first == b"Anonymous:" and words[0] == b"0":
            yield found


@cache
def _call(name: str, *arguments: type) -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        call = getattr(ctypes.CDLL(None), name)
    except AttributeError:  # not glibc
        return None
    call.argtypes, call.restype = arguments, ctypes.c_int
    return call  # type: ignore[no-any-return]
