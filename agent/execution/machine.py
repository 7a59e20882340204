"""What this machine has, for the matching of requirements. Looked at once, at the start."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from ctypes import wintypes
from importlib.util import find_spec
from pathlib import Path

from agent.execution.limits import NO_LIMITS, Limits, least
from agent.protocol.messages import Capabilities

SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
ENGINES = {"node": "node"}
"""Tags that a machine has by itself, and what has to be installed for each."""
INSPECTION = ("av", "gpxpy", "laspy", "lazrs", "numpy", "pynmea2", "pyogrio", "pyproj", "rasterio")
EXTRAS = {"wingbeat[inspection]": (*INSPECTION, "reportlab", "scipy.spatial", "shapely", "sklearn")}
"""Tags by the names of what pip installs beside Wingbeat, and what has to import for each."""
IMPORT_S_MAX = 60.0
MEGABYTE = 1024 * 1024
_imports: dict[str, bool] = {}
"""Of each extra that was looked at, whether everything of it imports."""


def capabilities(
    programs: tuple[str, ...],
    scratch: Path,
    tags: tuple[str, ...] = (),
    most: Limits = NO_LIMITS,
) -> Capabilities:
    """Return what this machine has: system, memory and free disk at ``scratch``, 0 where that is
    not known, cores, of all that at most what its owner lets a program take, which counts for
    memory that is not known; these programs and tags, and a tag for each engine that is installed
    and each extra that was looked at and imports."""
    machine = platform.machine().lower()
    free_mb = _free_bytes(scratch) // MEGABYTE
    return Capabilities(
        system=SYSTEMS.get(sys.platform, sys.platform),
        architecture=ARCHITECTURES.get(machine, machine),
        memory_mb=least(memory_bytes() // MEGABYTE, most.memory_mb),
        disk_mb=min(free_mb, most.disk_mb) if most.disk_mb else free_mb,
        cores=least(os.cpu_count() or 1, most.processors),
        programs=programs,
        tags=tuple(dict.fromkeys((*tags, *_engines(), *_brought()))),
    )


def look_at_extras(tags: Iterable[str]) -> bool:
    """Find out, once for each of these tags that is an extra, whether what it brings imports in the
    Python that runs programs: what is installed and broken is not there, nor what takes more than a
    minute. A second or two for each. Return whether there was anything to find out."""
    unknown = sorted((EXTRAS.keys() & set(tags)) - _imports.keys())
    for tag in unknown:
        command = [sys.executable, "-I", "-c", f"import {', '.join(EXTRAS[tag])}"]
        if not all(find_spec(name.partition(".")[0]) for name in EXTRAS[tag]):
            _imports[tag] = False
            continue
        try:
            done = subprocess.run(
                command, capture_output=True, stdin=subprocess.DEVNULL, timeout=IMPORT_S_MAX,
                check=False,
            )  # fmt: skip
            _imports[tag] = done.returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            _imports[tag] = False
    return bool(unknown)


def _brought() -> tuple[str, ...]:
    return tuple(sorted(tag for tag, imports in _imports.items() if imports))


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
