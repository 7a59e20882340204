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
    """Return a library whose calls know what they return (the first of a row) and what they take;
    raise ``OSError`` where there is none of the name."""
    found = _ctypes.WinDLL(name, use_last_error=True)
    for call, (result, *arguments) in calls.items():
        function = getattr(found, call)
        function.restype, function.argtypes = result, tuple(arguments)
    return found


def check(done: object) -> None:
    """Raise ``OSError`` with what Windows says of the call that it has just refused, if it has."""
    if not done:
        raise _ctypes.WinError(_ctypes.get_last_error())


@cache
def libc_call(name: str, *arguments: type) -> Callable[..., int] | None:
    """Return a call of the C library on Linux; None on other systems, or where it has none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        call = getattr(ctypes.CDLL(None), name)
    except AttributeError:  # not glibc
        return None
    call.argtypes, call.restype = arguments, ctypes.c_int
    return call  # type: ignore[no-any-return]
