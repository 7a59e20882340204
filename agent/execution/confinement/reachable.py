"""The places of a Linux system that programs need to run at all, and their own runtimes.

These are libraries, interpreters and what says how a system speaks, counts and trusts: nothing that
belongs to a person, no list of who is logged in, no other process. A runtime that is installed in
somebody's home is read too, but only its own folder: what would open a home, the agent's folders or
everything is left out, and only the executed file itself remains.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from agent.execution.confinement.boundary import Wishes

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload"),
    *("/etc/alternatives", "/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/passwd"),
    *("/etc/group", "/etc/nsswitch.conf", "/etc/os-release", "/etc/debian_version", "/etc/fonts"),
    *("/etc/mime.types", "/etc/magic", "/etc/R", "/etc/perl", "/etc/python3", "/etc/gdal"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates.conf", "/etc/pki/tls"),
    *("/etc/crypto-policies", "/etc/services", "/etc/protocols", "/var/cache/fontconfig"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime"),
    *("/proc/version", "/proc/filesystems", "/proc/sys/vm/overcommit_memory"),
    *("/proc/sys/vm/max_map_count", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/pid_max"),
    *("/proc/sys/kernel/cap_last_cap", "/proc/sys/kernel/random", "/proc/sys/kernel/ngroups_max"),
    *("/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm/transparent_hugepage"),
)
OF_NETWORK = (
    *("/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/gai.conf", "/run/systemd/resolve"),
    *("/etc/hostname", "/run/resolvconf"),
)
OF_GPU = ("/dev/dri", "/dev/kfd", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
OF_GPU_INFORMED = (
    *("/sys/class/drm", "/sys/dev/char", "/sys/bus/pci", "/sys/devices/pci0000:00"),
    *("/sys/class/kfd", "/sys/devices/virtual/kfd", "/proc/driver/nvidia", "/etc/OpenCL"),
    "/etc/vulkan",
)
CLOSED = (
    "/etc",
    "/proc",
    "/sys",
    "/dev",
    "/boot",
    "/run/user",
    "/var/lib",
    "/var/log",
    "/var/spool",
)
HOMES = (Path("/home"), Path("/root"))
NVIDIA_MAX = 16
EXECUTABLES = ("bin", "sbin", "Scripts")


def reads_of(
    wishes: Wishes, folder: Path, command: Sequence[str], kept: Iterable[Path]
) -> tuple[str, ...]:
    """Return what a program of this folder may read, besides what is given to it: the system, the
    runtime of its interpreter, its folder, and what it wishes. Wished places that are closed to all
    programs (``is_private``), and a runtime's folder in which a ``kept`` place or a home lies, are
    left out."""
    kept = tuple(kept)
    found = [*_existing(), *_runtimes(command[0], kept), str(folder)]
    if wishes.network != "none":
        found += OF_NETWORK
    if "gpu" in wishes.devices:
        found += OF_GPU_INFORMED
    asked = [each for each in wishes.reads if not is_private(each, kept)]
    found += [str(Path(each).expanduser().resolve()) for each in asked]
    return tuple(dict.fromkeys(found))


def is_private(asked: str, kept: Iterable[Path]) -> bool:
    """Tell whether a place is closed to programs, whoever asks: it is, lies in or opens something of
    the agent (``kept``), what is hidden in this account's home, somebody else's home, or what the
    system keeps for itself. Links are followed."""
    real, own = Path(asked).expanduser().resolve(), Path.home().resolve()
    closed = (*map(Path, CLOSED), *(each.resolve() for each in kept))
    if any(real.is_relative_to(each) or each.is_relative_to(real) for each in closed):
        return True
    if own.is_relative_to(real):
        return True
    if real.is_relative_to(own):
        return real.relative_to(own).parts[0].startswith(".")
    return any(real.is_relative_to(each) or each.is_relative_to(real) for each in HOMES)


def devices_of(wishes: Wishes) -> tuple[str, ...]:
    """Return the device files that a program with these granted wishes may use, beside those that
    every program has; they need not exist."""
    if "gpu" not in wishes.devices:
        return ()
    return (*OF_GPU, *(f"/dev/nvidia{number}" for number in range(NVIDIA_MAX)))


@cache
def _existing() -> tuple[str, ...]:
    """Each place once: ``/lib`` is a part of ``/usr`` today."""
    real = dict.fromkeys(os.path.realpath(each) for each in SYSTEM if Path(each).exists())
    return tuple(each for each in real if not any(_below(each, other) for other in real))


def _below(path: str, other: str) -> bool:
    return path != other and path.startswith(f"{other}/")


def _runtimes(executed: str, kept: tuple[Path, ...]) -> list[str]:
    """An interpreter's own: by its place, and for this Python where its library lies."""
    real = Path(executed).resolve()
    wanted = [_runtime(Path(executed)), _runtime(real)]
    if real == Path(sys.executable).resolve():
        wanted += [Path(sys.prefix), Path(sys.base_prefix)]
    found = [str(each) for each in wanted if each is not None and _may_be_read(each, kept)]
    return [*found, executed, str(real)]


def _runtime(executed: Path) -> Path | None:
    """``/opt/node/bin/node`` has all that it needs in ``/opt/node``, ``node.exe`` beside itself."""
    beside = executed.parent
    if sys.platform == "win32" and executed.is_absolute():
        return beside.parent if beside.name in EXECUTABLES else beside
    return beside.parent if beside.name in EXECUTABLES else None


def _may_be_read(place: Path, kept: tuple[Path, ...]) -> bool:
    real = place.resolve()
    private = (Path.home(), Path("/root"), Path("/home"), *kept)
    return not any(each.resolve().is_relative_to(real) for each in private)
