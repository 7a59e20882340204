"""Libraries of the system by ctypes: calls that are told their types.

A call that nobody has told its types takes and returns numbers of 32 bits, and a handle of Windows
is wider. There the types are a table for each library, beside those who make its calls, and a
refusal is an ``OSError``.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

_ctypes: Any = ctypes
"""On Windows it has more than the type checker sees elsewhere."""


def library(name: str, calls: Mapping[str, tuple[type | None, ...]]) -> Any:
    """Load a library of Windows and set what these of its calls return (the first of a row) and
    what they take; raise ``OSError`` where there is none of the name, ``AttributeError`` where it
    lacks a call. To be used on Windows only."""
    found = _ctypes.WinDLL(name, use_last_error=True)
    for call, (result, *arguments) in calls.items():
        function = getattr(found, call)
        function.restype, function.argtypes = result, tuple(arguments)
    return found


def check(done: object) -> None:
    """Raise ``OSError`` with the last fault that Windows tells, if ``done``, what a call has
    returned, says that it was refused; else do nothing."""
    if not done:
        raise _ctypes.WinError(last_error())


def last_error() -> int:
    """Return the number of the last fault that Windows has told this thread."""
    return int(_ctypes.get_last_error())


@cache
def libc_call(name: str, *arguments: type) -> Callable[..., int] | None:
    """Return a call of the C library that takes these types and returns an ``int``; None on systems
    other than Linux, or where the library lacks it."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        call = getattr(ctypes.CDLL(None), name)
    except AttributeError:  # not glibc
        return None
    call.argtypes, call.restype = arguments, ctypes.c_int
    return call  # type: ignore[no-any-return]
