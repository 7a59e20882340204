"""The client for programs without a loop: each call waits for its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, Self, TypeVar

from agent.api.rpc import Method, P, R
from agent.api.session import Event
from agent.api.values import Position
from agent.client.connected import PATIENCE_S, Client
from agent.paths import Home

T = TypeVar("T")


class BlockingClient:
    """A ``Client`` with a loop of its own, for ``with`` blocks of one thread."""

    def __init__(self, home: Home | None = None, name: str = "client", node: str = "") -> None:
        self._runner = asyncio.Runner()
        try:
            self._client = self._runner.run(Client.connect(home, name, node))
        except BaseException:
            self._runner.close()
            raise

    def call(self, method: Method[P, R], params: P) -> R:
        """Ask, and wait for the answer."""
        return self._runner.run(self._client.call(method, params))

    def run(self, use: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """Have a coroutine made from the client inside, and wait for its end."""
        return self._runner.run(use(self._client))

    def events(
        self, after: Position | None = None, patience_s: float = PATIENCE_S
    ) -> Generator[Event, None, None]:
        """Yield all events from now on, or after a position, waiting for each; the generator has to
        be closed or exhausted before the next call. Raises what ``Client.events`` raises."""
        events = self._client.events(after, patience_s)
        try:
            while (event := self._runner.run(_next(events))) is not None:
                yield event
        finally:
            self._runner.run(events.aclose())

    def wait_ended(self, within_s: float) -> bool:
        """Wait until the agent ends the connection; return true then or where there is none, false
        if it did not in that time."""
        return self._runner.run(self._client.wait_ended(within_s))

    def close(self) -> None:
        """End the connection and the loop; nothing can be asked after this."""
        self._runner.run(self._client.close())
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


async def _next(events: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(events, None)
