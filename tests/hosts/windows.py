"""Modules that only Windows loads, loaded here, with libraries that a test makes up.

A made-up library does with its calls what ctypes does: a number goes in and comes out as 32 bits
unless the call was told its types, so that whoever forgets that a handle is wider is found out.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from tests.certain import certain

LAST_ERROR = 5
"""Access is denied."""


class Call:
    """One call of a library; ``answer`` is told what it would get on Windows."""

    def __init__(self, answer: Callable[..., int | None]) -> None:
        self._answer = answer
        self.argtypes: tuple[type, ...] | None = None
        self.restype: type | None = ctypes.c_int

    def __call__(self, *arguments: object) -> object:
        if self.argtypes is None:
            told = [_of_32_bits(each) for each in arguments]
        else:
            if len(arguments) != len(self.argtypes):
                raise TypeError(f"this call takes {len(self.argtypes)} arguments")
            for kind, each in zip(self.argtypes, arguments, strict=True):
                kind.from_param(each)  # type: ignore[attr-defined]
            told = list(arguments)
        found = self._answer(*(getattr(each, "_obj", each) for each in told))
        if self.restype is None or found is None:
            return None
        return self.restype(found).value


class Library:
    """A library by its calls; one that a test does not make up answers with 1."""

    def __init__(self, **calls: Callable[..., int | None]) -> None:
        self._calls = {name: Call(answer) for name, answer in calls.items()}

    def __getattr__(self, name: str) -> Call:
        return self._calls.setdefault(name, Call(lambda *_: 1))


def loaded_as_on_windows(
    name: str, libraries: dict[str, Library], monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    """A module anew, with these libraries for as long as the test takes."""
    monkeypatch.setattr(ctypes, "WinDLL", lambda of, **_: libraries[of], raising=False)
    monkeypatch.setattr(ctypes, "WinError", lambda code: OSError(code, "denied"), raising=False)
    monkeypatch.setattr(ctypes, "get_last_error", lambda: LAST_ERROR, raising=False)
    spec = certain(importlib.util.find_spec(name))
    module = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(sys, "platform", "win32")
        certain(spec.loader).exec_module(module)
    return module


def _of_32_bits(value: object) -> object:
    return ctypes.c_int(value).value if isinstance(value, int) else value
