"""Landlock: a process gives up files, ports and signals, for itself and all that it starts.

Rules only add. What no rule names is denied, so what may be read lies beside what may be written,
never inside it. It says nothing of modes, owners and times of files, of datagrams and of sockets
that have a place among files: ``namespaces`` and ``seccomp`` do.

Runs in a bare interpreter too.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_ASKED = 1
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_SOCKET, MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
RIGHTS_KNOWN = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights to files each version has; later ones as many as the last."""
RULE = struct.Struct("=Qi")
CONNECT_AND_BIND = 0b11
SIGNALS_AND_ABSTRACT_SOCKETS = 0b11
NETWORK_FROM, SCOPES_FROM = 4, 6
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
READING = EXECUTE | READ_FILE | READ_DIR
NEVER = MAKE_CHAR | MAKE_SOCKET | MAKE_BLOCK | IOCTL_DEVICE
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEVICE

_libc = ctypes.CDLL(None, use_errno=True)
_call = _libc.syscall


def version() -> int:
    """Return the version of Landlock that this kernel offers; 0 without."""
    return max(0, int(_call(CREATE_RULESET, None, 0, VERSION_ASKED)))


class Place:
    """A path that was opened, and stays what it was then whatever gets its name."""

    def __init__(self, path: str) -> None:
        """Raise ``OSError`` when there is none."""
        self.number = os.open(path, os.O_PATH | os.O_CLOEXEC)
        seen = os.fstat(self.number)
        self.is_folder = stat.S_ISDIR(seen.st_mode)
        self._identity = seen.st_dev, seen.st_ino

    def is_at(self, path: str) -> bool:
        """Return whether what was opened still has this name."""
        try:
            seen = os.stat(path)  # noqa: PTH116 - quick to import
        except OSError:
            return False
        return self._identity == (seen.st_dev, seen.st_ino)

    def close(self) -> None:
        """Close it; what it was allowed stays allowed."""
        os.close(self.number)


class Ruleset:
    """What will be allowed; to be closed."""

    def __init__(self, abi: int, *, network: bool) -> None:
        """Raise ``OSError`` when the kernel refuses."""
        self._rights = (1 << RIGHTS_KNOWN[min(abi, 5)]) - 1
        ports = 0 if network or abi < NETWORK_FROM else CONNECT_AND_BIND
        scopes = SIGNALS_AND_ABSTRACT_SOCKETS if abi >= SCOPES_FROM else 0
        size = 8 if abi < NETWORK_FROM else 16 if abi < SCOPES_FROM else 24
        told = struct.pack("=QQQ", self._rights, ports, scopes)[:size]
        self._file = _checked(_call(CREATE_RULESET, told, size, 0))

    def allow_reading(self, place: Place) -> None:
        """Let files below be read and executed."""
        self.allow(place, READING)

    def allow_writing(self, place: Place) -> None:
        """Let everything below be changed, but no devices and sockets be made."""
        self.allow(place, self._rights & ~NEVER)

    def allow_device(self, place: Place) -> None:
        """Let a device be read, written and told."""
        self.allow(place, DEVICE | READ_DIR)

    def restrict_self(self) -> None:
        """Deny this process, from now on, all that is not allowed; it must have given up new
        privileges. Raise ``OSError`` when the kernel refuses."""
        _checked(_call(RESTRICT_SELF, self._file, 0))

    def close(self) -> None:
        """Close the file of the rules."""
        os.close(self._file)

    def allow(self, place: Place, rights: int) -> None:
        """Allow these rights, as far as this version knows them, on a place and below it."""
        rights &= self._rights if place.is_folder else self._rights & OF_FILES
        rule = RULE.pack(rights, place.number)
        _checked(_call(ADD_RULE, self._file, PATH_BENEATH, rule, 0))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
