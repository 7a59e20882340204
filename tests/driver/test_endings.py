"""How systems ask a process to end: Windows by a fake of its calls, so that it runs anywhere."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from agent.host.stop_signals import INPUT_ENDED, Asked, InputEnding
from agent.host.stop_signals_windows import (
    PROGRAM_GRACE_S,
    WAIT_S_MAX,
    WM_ENDSESSION,
    WM_QUERYENDSESSION,
    WindowsEnding,
)
from tests.certain import certain
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually

CTRL_C, CTRL_CLOSE, CTRL_SHUTDOWN, CTRL_UNKNOWN = 0, 2, 6, 77
WM_PAINT = 0x000F


@dataclass
class FakeWindows:
    """Keeps the handlers, and runs a window until it is closed."""

    console: bool = True
    control: Callable[[int], bool] | None = None
    window: Callable[[int, int], int | None] | None = None
    closed: threading.Event = field(default_factory=threading.Event)

    def handle_control_events(self, handler: Callable[[int], bool]) -> bool:
        self.control = handler
        return self.console

    def show_hidden_window(self, handler: Callable[[int, int], int | None]) -> bool:
        self.window = handler
        return self.closed.wait(EVENTUALLY_S_MAX)

    def close_hidden_window(self) -> None:
        self.closed.set()


@pytest.mark.parametrize("event", [CTRL_CLOSE, CTRL_SHUTDOWN])
async def test_windows_waits_until_everything_is_handed_back(event: int) -> None:
    windows, asked = FakeWindows(), asyncio.Event()
    ending = WindowsEnding(windows)
    ending.watch(lambda _: asked.set())
    answering = asyncio.create_task(asyncio.to_thread(certain(windows.control), event))
    await asked.wait()
    assert not answering.done()
    ending.ended()
    assert await answering
    assert windows.closed.is_set()


async def test_ctrl_c_is_answered_at_once() -> None:
    windows = FakeWindows()
    reasons: list[str] = []
    ending = WindowsEnding(windows)
    ending.watch(reasons.append)
    assert windows.control is not None
    assert await asyncio.to_thread(windows.control, CTRL_C)
    assert not await asyncio.to_thread(windows.control, CTRL_UNKNOWN)
    await eventually(lambda: reasons == ["stopped from the terminal"])
    ending.ended()


async def test_the_session_may_end_when_everything_is_handed_back() -> None:
    windows, asked = FakeWindows(console=False), asyncio.Event()
    ending = WindowsEnding(windows)
    ending.watch(lambda _: asked.set())
    await eventually(lambda: windows.window is not None)
    assert windows.window is not None
    assert windows.window(WM_PAINT, 0) is None
    assert windows.window(WM_QUERYENDSESSION, 0) == 1
    assert windows.window(WM_ENDSESSION, 0) == 0
    await asyncio.sleep(0)
    assert not asked.is_set()
    answering = asyncio.create_task(asyncio.to_thread(windows.window, WM_ENDSESSION, 1))
    await asked.wait()
    assert not answering.done()
    ending.ended()
    assert await answering == 0


async def test_windows_is_not_kept_waiting_for_ever() -> None:
    windows = FakeWindows()
    ending = WindowsEnding(windows, wait_s=0.01)
    ending.watch(lambda _: None)
    assert await asyncio.to_thread(certain(windows.control), CTRL_CLOSE)
    ending.ended()


class NothingAsks:
    """A system that never asks."""

    def __init__(self) -> None:
        self.over = False

    def watch(self, asked: Asked) -> None:
        pass

    def ended(self) -> None:
        self.over = True


async def test_a_process_ends_with_whoever_holds_its_input() -> None:
    read, write = os.pipe()
    native, reasons = NothingAsks(), list[str]()
    ending = InputEnding(native, read)
    ending.watch(reasons.append)
    os.write(write, b"words are no end")
    assert not reasons
    os.close(write)
    await eventually(lambda: reasons == [INPUT_ENDED])
    ending.ended()
    assert native.over
    os.close(read)


async def test_an_input_that_cannot_be_read_has_ended() -> None:
    descriptor = os.open(os.devnull, os.O_WRONLY)
    reasons: list[str] = []
    InputEnding(NothingAsks(), descriptor).watch(reasons.append)
    await eventually(lambda: reasons == [INPUT_ENDED])
    os.close(descriptor)


def test_programs_get_less_than_windows_leaves_at_a_logoff() -> None:
    assert PROGRAM_GRACE_S + 1.0 <= WAIT_S_MAX
