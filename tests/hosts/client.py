"""A client of one host's agent, from a thread that lives in the host.

The agent listens on the loopback of its own namespace, so a client has to be inside. A thread can
be: it enters the namespace, keeps an event loop there, and carries calls in and answers out. Next
to the calls it follows the agent's events from the agent's first word on, over every restart, so
that a test reads from what the nodes themselves noticed and when, rather than from polling.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec import Struct

from agent.api.rpc import Method
from agent.api.session import Event
from agent.api.values import Position
from agent.client.connected import Client
from agent.client.errors import ClientError
from agent.paths import Home
from tests.certain import certain
from tests.hosts.lan import enter
from tests.hosts.waiting import EVENTUALLY_S_MAX

CALL_S_MAX = EVENTUALLY_S_MAX
AGAIN_S = 0.02

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Noticed:
    """An event, and which start of the agent told it."""

    log: str
    event: Event


class HostClient:
    """From construction to ``close``; the agent may come and go meanwhile."""

    def __init__(self, home: Home, namespace: str | None) -> None:
        self._home, self._namespace = home, namespace
        self.noticed: list[Noticed] = []
        """All events so far; only ever appended to."""
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._client: Client | None = None
        self._thread = threading.Thread(target=self._main, name=f"client {home.data}", daemon=True)
        self._thread.start()
        assert self._ready.wait(EVENTUALLY_S_MAX), "the client's thread is not in its host"
        self._following = self._submit(self._follow())

    def ask(self, method: Method[P, R], params: P) -> Future[R]:
        return self._submit(self._call(method, params))

    def call(self, method: Method[P, R], params: P, limit_s: float = CALL_S_MAX) -> R:
        return self.ask(method, params).result(limit_s)

    def unfollow(self) -> None:
        """Follow no events any more: reading them costs agent and client something, too."""
        self._following.cancel()

    def close(self) -> None:
        self._following.cancel()
        with suppress(Exception):
            self._submit(self._end()).result(CALL_S_MAX)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CALL_S_MAX)

    # -- in the thread ---------------------------------------------------------------------

    def _main(self) -> None:
        if self._namespace is not None:
            enter(self._namespace)
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            asyncio.set_event_loop(self._loop)
            self._ready.set()
            self._loop.run_forever()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _call(self, method: Method[P, R], params: P) -> R:
        async with asyncio.timeout(CALL_S_MAX):
            if self._client is None:
                self._client = await Client.connect(self._home, "test")
            return await self._client.call(method, params)

    async def _end(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def _follow(self) -> None:
        while True:
            with suppress(ClientError, OSError):
                await self._follow_start()
            await asyncio.sleep(AGAIN_S)

    async def _follow_start(self) -> None:
        """All events of one start of the agent."""
        async with await Client.connect(self._home, "test events") as client:
            log = certain(client.welcome).position.log
        seen = [each.event.sequence for each in self.noticed[-1:] if each.log == log]
        position = Position(log, seen[0] if seen else 0)
        events = client.events(position, patience_s=0.0)
        async for event in events:
            self.noticed.append(Noticed(log, event))
