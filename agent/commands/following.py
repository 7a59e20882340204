"""What happens, for commands that stay: events in bundles, not more often than somebody reads.

A screen that is drawn for each event flickers; one that is drawn by the clock alone lags. So events
are gathered for a moment, and who shows something reads the node again only when something has
happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar

from msgspec import Struct

from agent.api.methods import STATUS, Method
from agent.api.session import Event
from agent.api.values import Position
from agent.api.work import Status
from agent.client import Client, EventsLostError

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)

BUNDLE_S = 0.25
TICK_S = 1.0
"""Without any event, an empty bundle comes so often: times that are shown go on."""


async def bundles(
    client: Client, after: Position | None, tick_s: float = TICK_S
) -> AsyncGenerator[list[Event], None]:
    """Yield events after a position in bundles, one for each tick at most; raise what
    ``Client.events`` raises."""
    arrived: asyncio.Queue[Event | BaseException] = asyncio.Queue(10_000)
    reading = asyncio.create_task(_read(client.events(after), arrived))
    try:
        while True:
            yield await _bundle(arrived, tick_s)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _bundle(arrived: asyncio.Queue[Event | BaseException], tick_s: float) -> list[Event]:
    found: list[Event] = []
    try:
        async with asyncio.timeout(tick_s):
            found.append(_event(await arrived.get()))
    except TimeoutError:
        return found
    await asyncio.sleep(BUNDLE_S)
    while not arrived.empty():
        found.append(_event(arrived.get_nowait()))
    return found


def _event(arrived: Event | BaseException) -> Event:
    if isinstance(arrived, BaseException):
        raise arrived
    return arrived


async def _read(
    events: AsyncGenerator[Event, None], arrived: asyncio.Queue[Event | BaseException]
) -> None:
    try:
        async with aclosing(events) as coming:
            async for event in coming:
                await arrived.put(event)
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001 - whoever waits for events is told
        await arrived.put(error)


async def lasting_bundles(
    client: Client, after: Position | None
) -> AsyncGenerator[list[Event] | None, None]:
    """Yield bundles of events like ``bundles``, over restarts of the agent, which numbers its
    events anew then, and for who lags. None: some are lost, and what is shown is to be read again;
    the events after that follow."""
    while True:
        try:
            async with aclosing(bundles(client, after)) as coming:
                async for bundle in coming:
                    yield bundle
        except EventsLostError:
            after = (await client.call(STATUS, Status(limit=1))).position
            yield None


async def follow_until(
    client: Client, method: Method[P, R], params: P, over: Callable[[R], bool]
) -> R:
    """Ask a question, and again whenever something has happened, until ``over`` says that its
    answer is final; return that."""
    answer = await client.call(method, params)
    if over(answer):
        return answer
    async with aclosing(bundles(client, None)) as coming:
        async for _ in coming:
            answer = await client.call(method, params)
            if over(answer):
                break
    return answer
