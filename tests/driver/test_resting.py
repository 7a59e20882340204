"""The loop that rests: what arrives meanwhile comes in one go, what is due is not late."""

from __future__ import annotations

import asyncio
import socket
import sys
import time

import pytest

from agent.driver.resting import RestingLoop, new_loop

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows' own loop does not rest")

REST_S = 0.2


def test_what_arrives_during_a_rest_is_taken_after_it() -> None:
    async def scene(loop: RestingLoop) -> None:
        here, there = socket.socketpair()
        with here, there:
            here.setblocking(False)
            await asyncio.sleep(0)
            there.send(b"beat")
            began_s = time.monotonic()
            loop.rest(REST_S)
            assert await loop.sock_recv(here, 4) == b"beat"  # it is there already: no rest needed
            waiting = asyncio.ensure_future(loop.sock_recv(here, 4))
            await asyncio.sleep(0)
            there.send(b"word")
            assert await waiting == b"word"
            assert time.monotonic() - began_s >= REST_S * 0.9

    _run(scene)


def test_a_rest_ends_by_itself_and_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(loop: RestingLoop) -> None:
        loop.rest(REST_S)
        await asyncio.sleep(REST_S / 4)
        rests_s: list[float] = []
        monkeypatch.setattr(time, "sleep", rests_s.append)
        for _ in range(10):
            await asyncio.sleep(0.001)
        assert rests_s == []

    _run(scene)


def test_a_rest_makes_no_timer_late() -> None:
    async def scene(loop: RestingLoop) -> None:
        loop.rest(60.0)
        async with asyncio.timeout(10.0):
            await asyncio.sleep(0.01)

    _run(scene)


def _run(scene: object) -> None:
    loop = new_loop()
    assert isinstance(loop, RestingLoop)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(scene(loop))  # type: ignore[operator]
