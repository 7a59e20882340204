"""How much memory a Windows machine has, by ctypes."""

from __future__ import annotations

import ctypes
import sys
from ctypes import wintypes

assert sys.platform == "win32"

_kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
_kernel32.GetPhysicallyInstalledSystemMemory.restype = wintypes.BOOL
_kernel32.GetPhysicallyInstalledSystemMemory.argtypes = (ctypes.POINTER(ctypes.c_ulonglong),)


def memory_bytes() -> int:
    """Return the installed memory in bytes, 0 where the system does not say."""
    kilobytes = ctypes.c_ulonglong()
    if not _kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes)):
        return 0
    return 1024 * int(kilobytes.value)
