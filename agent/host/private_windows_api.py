"""Who owns a file and who may do what with it, by ctypes: calls only, nothing is decided here."""

from __future__ import annotations

import ctypes
from ctypes import wintypes
from pathlib import Path

from agent.host.libraries import check, library

FILE_OBJECT, OWNER_AND_LIST, REVISION = 1, 0x1 | 0x4, 1


def is_administrator() -> bool:
    """Tell whether this process has the rights of an administrator now."""
    return bool(library("shell32", {"IsUserAnAdmin": (wintypes.BOOL,)}).IsUserAnAdmin())


def described(path: Path) -> str:
    """Return owner and access list of a file or folder as Windows writes them (SDDL); raise
    ``OSError`` when it does not tell."""
    security = library(
        "advapi32",
        {
            "GetNamedSecurityInfoW": (
                *(wintypes.DWORD, wintypes.LPCWSTR, ctypes.c_int, wintypes.DWORD),
                *(ctypes.c_void_p,) * 5,
            ),
            "ConvertSecurityDescriptorToStringSecurityDescriptorW": (
                *(wintypes.BOOL, ctypes.c_void_p, wintypes.DWORD, wintypes.DWORD),
                *(ctypes.c_void_p, ctypes.c_void_p),
            ),
        },
    )
    memory = library("kernel32", {"LocalFree": (ctypes.c_void_p, ctypes.c_void_p)})
    found, text = ctypes.c_void_p(), wintypes.LPWSTR()
    fault = security.GetNamedSecurityInfoW(
        str(path), FILE_OBJECT, OWNER_AND_LIST, None, None, None, None, ctypes.byref(found)
    )
    if fault:
        raise OSError(fault, f"Windows does not say whom it belongs to (error {fault})", str(path))
    try:
        check(
            security.ConvertSecurityDescriptorToStringSecurityDescriptorW(
                found, REVISION, OWNER_AND_LIST, ctypes.byref(text), None
            )
        )
        return text.value or ""
    finally:
        memory.LocalFree(text)
        memory.LocalFree(found)
