"""What this machine has, for the matching of requirements. Looked at once, at the start."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import sys
from ctypes import wintypes
from pathlib import Path

from agent.protocol.messages import Capabilities

SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
ENGINES = {"node": "node"}
"""Tags that a machine has by itself, and what has to be installed for each."""
MEGABYTE = 1024 * 1024


def capabilities(
    programs: tuple[str, ...], scratch: Path, tags: tuple[str, ...] = ()
) -> Capabilities:
    """Return what this machine has: system, memory and free disk at ``scratch``, 0 where that is
    not known, cores, these programs and tags, and a tag for each engine that is installed."""
    machine = platform.machine().lower()
    return Capabilities(
        system=SYSTEMS.get(sys.platform, sys.platform),
        architecture=ARCHITECTURES.get(machine, machine),
        memory_mb=memory_bytes() // MEGABYTE,
        disk_mb=_free_bytes(scratch) // MEGABYTE,
        cores=os.cpu_count() or 1,
        programs=programs,
        tags=tuple(dict.fromkeys((*tags, *_engines()))),
    )


def _engines() -> tuple[str, ...]:
    """Engines that tasks may ask for by a tag, without anybody having to set it."""
    return tuple(tag for tag, command in ENGINES.items() if shutil.which(command))


if sys.platform == "win32":
    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel32.GetPhysicallyInstalledSystemMemory.restype = wintypes.BOOL
    _kernel32.GetPhysicallyInstalledSystemMemory.argtypes = (ctypes.POINTER(ctypes.c_ulonglong),)

    def memory_bytes() -> int:
        """Return the installed memory in bytes; 0 where Windows does not say."""
        kilobytes = ctypes.c_ulonglong()
        if not _kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes)):
            return 0
        return 1024 * int(kilobytes.value)

else:

    def memory_bytes() -> int:
        """Return the installed memory in bytes; 0 where Windows does not say."""
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _free_bytes(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0
