"""Named pipes by ctypes: calls only. The libraries are loaded when it is made."""

from __future__ import annotations

import ctypes
import functools
import os
from ctypes import wintypes

from agent.host.libraries import check, last_error, library
from agent.host.private_windows import SYSTEM, Caller, own_identifier, service_identifier

DUPLEX, OVERLAPPED, FIRST_INSTANCE = 0x00000003, 0x40000000, 0x00080000
BYTES, REJECT_REMOTE = 0x00000000, 0x00000008
INSTANCES_MAX = 255
"""That is: as many as there is room for."""
BUFFER_BYTES = 64 * 1024
READ_AND_WRITE, OPEN_EXISTING = 0x0012019B, 3
"""Without the right to make another pipe of the name, which nobody but a service has to its own."""
IDENTIFY_ONLY = 0x00110000
"""SECURITY_SQOS_PRESENT with SECURITY_IDENTIFICATION: who listens may know the caller, not act as it."""
BUSY = 231
REVISION = 1
MISSING = 2
INVALID = ctypes.c_void_p(-1).value
ADMINISTRATORS = "S-1-5-32-544"
INTERACTIVE = "IU"
"""Whoever sits at the machine, or is logged in from afar."""
KERNEL_OBJECT, OWNER, TOKEN_QUERY, TOKEN_USER = 6, 1, 0x8, 1
WAIT_MS, BUSY_LOOKS_MAX = 50, 20
NAME_MAX, TOKEN_BYTES_MAX = 256, 1024
SERVICE = service_identifier("Wingbeat")


class _Attributes(ctypes.Structure):
    _fields_ = [
        ("length", wintypes.DWORD),
        ("descriptor", ctypes.c_void_p),
        ("inherit", wintypes.BOOL),
    ]


_WORDS, _NUMBER, _HANDLE, _INTO = wintypes.LPCWSTR, wintypes.DWORD, wintypes.HANDLE, ctypes.c_void_p
_KERNEL: dict[str, tuple[type | None, ...]] = {
    "CreateNamedPipeW": (_HANDLE, _WORDS, *(_NUMBER,) * 6, _INTO),
    "CreateFileW": (_HANDLE, _WORDS, _NUMBER, _NUMBER, _INTO, _NUMBER, _NUMBER, _HANDLE),
    "LocalFree": (_INTO, _INTO),
    "WaitNamedPipeW": (wintypes.BOOL, _WORDS, _NUMBER),
    "CloseHandle": (wintypes.BOOL, _HANDLE),
    "GetCurrentThread": (_HANDLE,),
}
_TO_DESCRIPTOR = "ConvertStringSecurityDescriptorToSecurityDescriptorW"
_SECURITY: dict[str, tuple[type | None, ...]] = {
    _TO_DESCRIPTOR: (wintypes.BOOL, _WORDS, _NUMBER, _INTO, _INTO),
    "ConvertSidToStringSidW": (wintypes.BOOL, _INTO, _INTO),
    "ConvertStringSidToSidW": (wintypes.BOOL, _WORDS, _INTO),
    "GetSecurityInfo": (_NUMBER, _HANDLE, ctypes.c_int, _NUMBER, *(_INTO,) * 5),
    "ImpersonateNamedPipeClient": (wintypes.BOOL, _HANDLE),
    "RevertToSelf": (wintypes.BOOL,),
    "OpenThreadToken": (wintypes.BOOL, _HANDLE, _NUMBER, wintypes.BOOL, _INTO),
    "GetTokenInformation": (wintypes.BOOL, _HANDLE, ctypes.c_int, _INTO, _NUMBER, _INTO),
    "CheckTokenMembership": (wintypes.BOOL, _HANDLE, _INTO, _INTO),
    "LookupAccountSidW": (wintypes.BOOL, _WORDS, *(_INTO,) * 6),
}


class PipeApi:
    """The pipes of this account."""

    def __init__(self) -> None:
        self._kernel, self._advapi = library("kernel32", _KERNEL), library("advapi32", _SECURITY)

    def make(self, name: str, *, first: bool, for_all: bool = False) -> int:
        """Return the handle of a new pipe that only this account and the system may call, with
        ``for_all`` everybody who is logged in, from this machine alone. Raise ``OSError`` where
        Windows refuses, with ``first`` also where one of the name is there."""
        descriptor = ctypes.c_void_p()
        convert = getattr(self._advapi, _TO_DESCRIPTOR)
        allowed = _own_and_all() if for_all else _only_own()
        check(convert(allowed, REVISION, ctypes.byref(descriptor), None))
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

    def call(self, name: str, *, of_machine: bool = False) -> int:
        """Connect to the pipe of this name and return the handle. Raises ``OSError`` where there is
        none, with ``BUSY`` where all its instances are taken, and with ``of_machine`` where neither
        our service, an administrator, the system nor this account has made it."""
        handle = self._kernel.CreateFileW(
            name, READ_AND_WRITE, 0, None, OPEN_EXISTING, OVERLAPPED | IDENTIFY_ONLY, None
        )
        check(handle != INVALID)
        if of_machine and self._owner(handle) not in _of_machine():
            self._kernel.CloseHandle(handle)
            raise FileNotFoundError(MISSING, "somebody else listens there", name)
        return int(handle)

    def is_there(self, name: str) -> bool:
        """Tell whether there is a pipe of this name, also one that all others have taken."""
        if self._kernel.WaitNamedPipeW(name, WAIT_MS):
            return True
        return last_error() != MISSING

    def is_of_machine(self, name: str) -> bool:
        """Tell whether there is a pipe that ``call`` would take for the machine's, by calling it;
        False too where others keep it taken for as long as this tries."""
        for _ in range(BUSY_LOOKS_MAX):
            if not self.is_there(name):
                return False
            try:
                self._kernel.CloseHandle(self.call(name, of_machine=True))
            except OSError as error:
                if getattr(error, "winerror", 0) != BUSY:
                    return False
            else:
                return True
        return False

    def _owner(self, handle: int) -> str:
        """Whoever made a pipe can name no other account as its owner; empty where Windows does not
        tell."""
        owner, descriptor = ctypes.c_void_p(), ctypes.c_void_p()
        told = (ctypes.byref(owner), None, None, None, ctypes.byref(descriptor))
        if self._advapi.GetSecurityInfo(handle, KERNEL_OBJECT, OWNER, *told):
            return ""
        try:
            return self._text(owner)
        finally:
            self._kernel.LocalFree(descriptor)

    def caller(self, handle: int) -> Caller:
        """Return who has called the pipe and said something; raise ``OSError`` where Windows does
        not tell. Abort this process where it cannot put off the caller's rights again."""
        token = wintypes.HANDLE()
        check(self._advapi.ImpersonateNamedPipeClient(handle))
        try:
            thread = self._kernel.GetCurrentThread()
            check(self._advapi.OpenThreadToken(thread, TOKEN_QUERY, True, ctypes.byref(token)))
        finally:
            if not self._advapi.RevertToSelf():
                os.abort()  # it would go on with the rights of whoever has called
        try:
            return self._described(token)
        finally:
            self._kernel.CloseHandle(token)

    def _described(self, token: wintypes.HANDLE) -> Caller:
        known = ctypes.create_string_buffer(TOKEN_BYTES_MAX)
        size, administers = wintypes.DWORD(), wintypes.BOOL()
        told = (token, TOKEN_USER, known, TOKEN_BYTES_MAX, ctypes.byref(size))
        check(self._advapi.GetTokenInformation(*told))
        account = ctypes.c_void_p.from_buffer(known)
        group = ctypes.c_void_p()
        check(self._advapi.ConvertStringSidToSidW(ADMINISTRATORS, ctypes.byref(group)))
        try:
            of = self._advapi.CheckTokenMembership
            check(of(token, group, ctypes.byref(administers)))
        finally:
            self._kernel.LocalFree(group)
        return Caller(self._text(account), self._name(account), bool(administers.value))

    def _text(self, identifier: ctypes.c_void_p) -> str:
        text = wintypes.LPWSTR()
        check(self._advapi.ConvertSidToStringSidW(identifier, ctypes.byref(text)))
        try:
            return text.value or ""
        finally:
            self._kernel.LocalFree(text)

    def _name(self, account: ctypes.c_void_p) -> str:
        """An account that was deleted has no name."""
        name, domain = (ctypes.create_unicode_buffer(NAME_MAX) for _ in range(2))
        sizes = wintypes.DWORD(NAME_MAX), wintypes.DWORD(NAME_MAX)
        use = ctypes.c_int()
        found = self._advapi.LookupAccountSidW(
            *(None, account, name, ctypes.byref(sizes[0])),
            *(domain, ctypes.byref(sizes[1]), ctypes.byref(use)),
        )
        return name.value if found else self._text(account)


@functools.cache
def _only_own() -> str:
    """In the system's own language for access lists: protected, all rights, to two accounts."""
    whose = (own_identifier(), SYSTEM)
    return "D:P" + "".join(f"(A;;GA;;;{each})" for each in whose)


def _own_and_all() -> str:
    """Administrators from afar are no interactive ones; nobody else makes a pipe of the name. By its owner
    others know it."""
    whose = (ADMINISTRATORS, INTERACTIVE)
    return f"O:{own_identifier()}{_only_own()}" + "".join(
        f"(A;;{READ_AND_WRITE:#x};;;{each})" for each in whose
    )


@functools.cache
def _of_machine() -> frozenset[str]:
    return frozenset({own_identifier(), SYSTEM, ADMINISTRATORS, SERVICE})
