"""Windows protects a value with a key of the account (DPAPI); the protected bytes lie in a file."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import wintypes
from pathlib import Path
from typing import Any

from agent.host.private_files import PrivateFolder

NO_QUESTIONS = 0x1
ENDING = ".protected"
Protection = tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]
"""Protects bytes, and brings them back."""


class ProtectedFiles:
    """A file for each value, in a private folder."""

    def __init__(self, folder: Path, protection: Protection) -> None:
        self._folder = PrivateFolder(folder)
        self._protect, self._open = protection

    def put(self, name: str, value: bytes) -> None:
        self._folder.prepare()
        self._folder.write(name + ENDING, self._protect(value))

    def get(self, name: str) -> bytes:
        content = self._folder.read(name + ENDING)
        if content is None:
            raise OSError(f"there is no protected {name}")
        return self._open(content)

    def remove(self, name: str) -> None:
        self._folder.remove(name + ENDING)


class _Blob(ctypes.Structure):
    _fields_ = (("size", wintypes.DWORD), ("data", ctypes.POINTER(ctypes.c_char)))


def protection(crypt: Any = None, kernel: Any = None) -> Protection:
    """Return two functions that encrypt and decrypt a value for this account by Windows' own means;
    they raise ``OSError`` where Windows refuses. ``crypt`` and ``kernel`` replace the system's
    libraries in tests."""
    crypt = crypt or ctypes.WinDLL("crypt32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    kernel = kernel or ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]

    def called(function: Any, content: bytes) -> bytes:
        buffer = ctypes.create_string_buffer(content, len(content))
        given = _Blob(len(content), ctypes.cast(buffer, ctypes.POINTER(ctypes.c_char)))
        made = _Blob()
        if not function(
            ctypes.byref(given), None, None, None, None, NO_QUESTIONS, ctypes.byref(made)
        ):
            raise OSError("Windows does not protect values for this account")
        try:
            return ctypes.string_at(made.data, made.size)
        finally:
            kernel.LocalFree(made.data)

    return (
        lambda content: called(crypt.CryptProtectData, content),
        lambda content: called(crypt.CryptUnprotectData, content),
    )
