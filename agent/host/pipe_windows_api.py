"""Named pipes by ctypes: calls only. The libraries are loaded when it is made."""

from __future__ import annotations

import ctypes
import functools
from ctypes import wintypes

from agent.host.libraries import check, library
from agent.host.private_windows import SYSTEM, own_identifier

DUPLEX, OVERLAPPED, FIRST_INSTANCE = 0x00000003, 0x40000000, 0x00080000
BYTES, REJECT_REMOTE = 0x00000000, 0x00000008
INSTANCES_MAX = 255
"""That is: as many as there is room for."""
BUFFER_BYTES = 64 * 1024
READ_AND_WRITE, OPEN_EXISTING = 0xC0000000, 3
IDENTIFY_ONLY = 0x00110000
"""SECURITY_SQOS_PRESENT with SECURITY_IDENTIFICATION: who listens may know the caller, not act as it."""
BUSY = 231
REVISION = 1
INVALID = ctypes.c_void_p(-1).value


class _Attributes(ctypes.Structure):
    _fields_ = [
        ("length", wintypes.DWORD),
        ("descriptor", ctypes.c_void_p),
        ("inherit", wintypes.BOOL),
    ]


class PipeApi:
    """The pipes of this account."""

    def __init__(self) -> None:
        words, number = wintypes.LPCWSTR, wintypes.DWORD
        self._kernel = library(
            "kernel32",
            {
                "CreateNamedPipeW": (wintypes.HANDLE, words, *(number,) * 6, ctypes.c_void_p),
                "CreateFileW": (
                    *(wintypes.HANDLE, words, number, number, ctypes.c_void_p),
                    *(number, number, wintypes.HANDLE),
                ),
                "LocalFree": (ctypes.c_void_p, ctypes.c_void_p),
            },
        )
        convert = "ConvertStringSecurityDescriptorToSecurityDescriptorW"
        self._advapi = library(
            "advapi32",
            {convert: (wintypes.BOOL, words, number, ctypes.c_void_p, ctypes.c_void_p)},
        )

    def make(self, name: str, *, first: bool) -> int:
        """Return the handle of a pipe that only this account and the system may call, from this
        machine. Raises ``OSError``, with ``first`` also where one of the name is there."""
        descriptor = ctypes.c_void_p()
        convert = self._advapi.ConvertStringSecurityDescriptorToSecurityDescriptorW
        check(convert(_only_own(), REVISION, ctypes.byref(descriptor), None))
        try:
            told = _Attributes(ctypes.sizeof(_Attributes), descriptor, False)
            handle = self._kernel.CreateNamedPipeW(
                *(name, DUPLEX | OVERLAPPED | (FIRST_INSTANCE if first else 0)),
                *(BYTES | REJECT_REMOTE, INSTANCES_MAX, BUFFER_BYTES, BUFFER_BYTES, 0),
                ctypes.byref(told),
            )
            check(handle != INVALID)
            return int(handle)
        finally:
            self._kernel.LocalFree(descriptor)

    def call(self, name: str) -> int:
        """Return the handle of this end of the pipe. Raises ``OSError``, with ``BUSY`` where all
        others are taken."""
        handle = self._kernel.CreateFileW(
            name, READ_AND_WRITE, 0, None, OPEN_EXISTING, OVERLAPPED | IDENTIFY_ONLY, None
        )
        check(handle != INVALID)
        return int(handle)


@functools.cache
def _only_own() -> str:
    """In the system's own language for access lists: protected, all rights, to two accounts."""
    whose = (own_identifier(), SYSTEM)
    return "D:P" + "".join(f"(A;;GA;;;{each})" for each in whose)
