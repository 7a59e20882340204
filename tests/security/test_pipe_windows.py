"""What Windows is told of the pipe of an agent, with libraries that note it down.

The numbers are those of the system's headers (``winbase.h``, ``winnt.h``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import pytest

from agent.host.pipe_windows_api import PipeApi
from tests.hosts.windows import Library, loaded_as_on_windows

PIPE, DESCRIPTOR, INVALID = 0x7_0000_0010, 0x7_0000_0020, 2**64 - 1
"""Handles wider than 32 bits; the last is what Windows returns where it refuses."""
OWN = "S-1-5-21-1-2-3-1001"
NAME = "\\\\.\\pipe\\wingbeat-test"


@dataclass
class Windows:
    """A system that notes what it is told; ``fails`` is the call that it refuses."""

    fails: str = ""
    told: dict[str, Any] = field(default_factory=dict)

    def kernel(self) -> Library:
        return Library(
            CreateNamedPipeW=self._make, CreateFileW=self._call, LocalFree=self._noted("free", 0)
        )

    def advapi(self) -> Library:
        return Library(ConvertStringSecurityDescriptorToSecurityDescriptorW=self._describe)

    def _noted(self, name: str, answer: int) -> Callable[..., int]:
        def noted(*arguments: object) -> int:
            self.told[name] = arguments
            return answer

        return noted

    def _describe(self, words: str, revision: int, into: Any, _: object) -> int:
        self.told["access"] = words
        into.value = DESCRIPTOR
        return 0 if self.fails == "describe" else revision

    def _make(self, *arguments: Any) -> int:
        *self.told["make"], attributes = arguments
        self.told["descriptor"] = attributes.descriptor
        assert attributes.length == ctypes.sizeof(attributes)
        return INVALID if self.fails == "make" else PIPE

    def _call(self, *arguments: object) -> int:
        self.told["call"] = arguments
        return INVALID if self.fails == "call" else PIPE


def api(windows: Windows, monkeypatch: pytest.MonkeyPatch) -> PipeApi:
    libraries = {"kernel32": windows.kernel(), "advapi32": windows.advapi()}
    module = loaded_as_on_windows("agent.host.pipe_windows_api", libraries, monkeypatch)
    monkeypatch.setattr(module, "own_identifier", lambda: OWN)
    return cast("PipeApi", module.PipeApi())


def test_a_pipe_is_for_one_account_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = Windows()
    made = api(windows, monkeypatch)
    assert made.make(NAME, first=True) == PIPE
    assert windows.told["access"] == f"D:P(A;;GA;;;{OWN})(A;;GA;;;S-1-5-18)"
    assert windows.told["descriptor"] == DESCRIPTOR
    first_instance, reject_remote = 0x00080000, 0x8
    name, opened, kind, *_ = windows.told["make"]
    assert (name, opened & first_instance, kind & reject_remote) == (NAME, 0x00080000, 0x8)
    assert [getattr(each, "value", each) for each in windows.told["free"]] == [DESCRIPTOR]
    made.make(NAME, first=False)
    assert not windows.told["make"][1] & first_instance


def test_who_listens_may_not_act_as_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = Windows()
    assert api(windows, monkeypatch).call(NAME) == PIPE
    present, identification = 0x00100000, 0x00010000
    assert windows.told["call"][5] & 0x00130000 == present | identification


@pytest.mark.parametrize("fails", ["describe", "make", "call"])
def test_what_windows_refuses_is_an_error(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    windows = Windows(fails)
    made = api(windows, monkeypatch)
    asked = partial(made.call, NAME) if fails == "call" else partial(made.make, NAME, first=True)
    with pytest.raises(OSError, match="denied"):
        asked()
    assert fails != "make" or "free" in windows.told
