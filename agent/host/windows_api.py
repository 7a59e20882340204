"""Console control events and a hidden window, by ctypes: calls only, nothing is decided here.

Callbacks are kept for the life of the process: Windows holds no reference to them that Python would
know of.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from ctypes import wintypes
from typing import Any

from agent.host.libraries import library

assert sys.platform == "win32"

WM_CLOSE = 0x0010
WM_DESTROY = 0x0002
CLASS_NAME = "WingbeatSessionEnd"

_ControlHandler = ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.DWORD)
_WindowProcedure = ctypes.WINFUNCTYPE(
    ctypes.c_ssize_t, wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM
)
_MESSAGE = (wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM)
_user32 = library(
    "user32",
    {
        "DefWindowProcW": (ctypes.c_ssize_t, *_MESSAGE),
        "CreateWindowExW": (
            *(wintypes.HWND, wintypes.DWORD, wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.DWORD),
            *(ctypes.c_int,) * 4,
            *(wintypes.HWND, wintypes.HMENU, wintypes.HINSTANCE, wintypes.LPVOID),
        ),
        "PostMessageW": (ctypes.c_int, *_MESSAGE),
    },
)
_kernel32 = library("kernel32", {"GetModuleHandleW": (wintypes.HMODULE, wintypes.LPCWSTR)})


class _WindowClass(ctypes.Structure):
    _fields_ = [
        ("style", wintypes.UINT),
        ("procedure", _WindowProcedure),
        ("class_extra", ctypes.c_int),
        ("window_extra", ctypes.c_int),
        ("instance", wintypes.HINSTANCE),
        ("icon", wintypes.HANDLE),
        ("cursor", wintypes.HANDLE),
        ("background", wintypes.HANDLE),
        ("menu_name", wintypes.LPCWSTR),
        ("class_name", wintypes.LPCWSTR),
    ]


class CtypesApi:
    """See ``agent.host.stop_signals_windows.WindowsApi``."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._window: int | None = None

    def handle_control_events(self, handler: Callable[[int], bool]) -> bool:
        callback = _ControlHandler(handler)
        self._kept.append(callback)
        return bool(_kernel32.SetConsoleCtrlHandler(callback, True))

    def show_hidden_window(self, handler: Callable[[int, int], int | None]) -> bool:
        """Run a hidden window in this thread, pass its messages to ``handler``, and return True
        once it is closed; False, at once, when it cannot be made."""
        procedure = _WindowProcedure(_procedure(handler))
        instance = _kernel32.GetModuleHandleW(None)
        described = _WindowClass(procedure=procedure, instance=instance, class_name=CLASS_NAME)
        self._kept += [procedure, described]
        if not _user32.RegisterClassW(ctypes.byref(described)):
            return False
        self._window = _user32.CreateWindowExW(
            0, CLASS_NAME, CLASS_NAME, 0, 0, 0, 0, 0, None, None, instance, None
        )
        if not self._window:
            return False
        message = wintypes.MSG()
        while _user32.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:
            _user32.TranslateMessage(ctypes.byref(message))
            _user32.DispatchMessageW(ctypes.byref(message))
        return True

    def close_hidden_window(self) -> None:
        if self._window:
            _user32.PostMessageW(self._window, WM_CLOSE, 0, 0)


def _procedure(
    handler: Callable[[int, int], int | None],
) -> Callable[[int, int, int, int], int]:
    def procedure(window: int, message: int, first: int, second: int) -> int:
        if message == WM_DESTROY:
            _user32.PostQuitMessage(0)
            return 0
        answer = handler(message, first)
        if answer is not None:
            return answer
        return int(_user32.DefWindowProcW(window, message, first, second))

    return procedure
