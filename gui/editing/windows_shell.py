"""The shell's associations, by its own call; Windows only."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    ASSOCF_NONE, ASSOCSTR_COMMAND = 0, 1
    LETTERS_MAX = 4096

    _ask = ctypes.WinDLL("shlwapi").AssocQueryStringW
    _ask.argtypes = (
        wintypes.DWORD,
        ctypes.c_int,
        wintypes.LPCWSTR,
        wintypes.LPCWSTR,
        wintypes.LPWSTR,
        ctypes.POINTER(wintypes.DWORD),
    )
    _ask.restype = ctypes.c_long

    def associated(ending: str) -> str:
        """The command line that opens such files."""
        text = ctypes.create_unicode_buffer(LETTERS_MAX)
        size = wintypes.DWORD(LETTERS_MAX)
        failed = _ask(ASSOCF_NONE, ASSOCSTR_COMMAND, ending, "open", text, ctypes.byref(size))
        return "" if failed else text.value
