"""A client of an agent that outlives its connections, and the agent's restarts.

Asking again after a lost connection is safe for most methods, and done once without a word; where
it is not (``Method.repeatable``), the caller is told that it is not known whether it was done.
Events are followed on a connection of their own, from where the last one ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Self

from msgspec.structs import replace

from agent.api.datasets import READ_DATASET, ReadDataset
from agent.api.rpc import ErrorCode, Method, P, R
from agent.api.session import Event, Welcome
from agent.api.values import Position
from agent.api.work import SHOW, SUBMIT, Show, ShowReply, Submit, Submitted
from agent.client.errors import ClientError, DisconnectedError, NoAgentError, RequestError
from agent.client.link import Link
from agent.paths import Home

TASKS_PAGE = 1_000
PATIENCE_S = 30.0
"""How long an agent that went away is waited for while its events are followed."""
FINAL = (ErrorCode.NO_FLOCK, ErrorCode.UNKNOWN)
"""Greeted anew, the agent says that the other machine or this one does not belong: it will not
belong in a moment either."""
FIRST_WAIT_S = 0.05
WAIT_S_MAX = 1.0


class Client:
    """Requests to the agent of a home, and its events."""

    def __init__(self, home: Home, name: str, node: str = "") -> None:
        self._home, self._name, self._node = home, name, node
        self._link: Link | None = None
        self._opening = asyncio.Lock()

    @classmethod
    async def connect(cls, home: Home | None = None, name: str = "client", node: str = "") -> Self:
        """Connect to the agent of this home (default: this user's), or with ``node`` to another
        member by way of it, and return the client; ``name`` is for the agent's log. Raises
        ``ClientError``, of which ``NoAgentError`` means that none runs."""
        client = cls(home or Home.of(), name, node)
        await client._linked()
        return client

    async def call(self, method: Method[P, R], params: P) -> R:
        """Ask, and wait for the answer, connecting first where there is no connection. One that is
        lost meanwhile is made anew and asked once more, or, where asking twice could do harm,
        ``DisconnectedError`` is raised. Raises ``RequestError`` when the agent refuses, else
        another ``ClientError``."""
        link = await self._linked()
        try:
            return await link.call(method, params)
        except DisconnectedError as error:
            if not method.repeatable:
                raise DisconnectedError(
                    f"{error}; whether {method.name} was done is not known, so look before you "
                    f"ask again"
                ) from error
        link = await self._linked()
        return await link.call(method, params)

    async def greet_again(self) -> None:
        """Wait for a sign of life of the agent, connecting first where there is no connection.
        Raises ``DisconnectedError`` when it goes meanwhile, else another ``ClientError``."""
        await (await self._linked()).greet_again()

    async def events(
        self, after: Position | None = None, patience_s: float = PATIENCE_S
    ) -> AsyncGenerator[Event, None]:
        """Yield all that happens from now on, or after a position; each once, none left out. A
        connection that ends is made again within ``patience_s``; the first one is tried once.

        Raises ``EventsLostError`` when that cannot be held, ``NoAgentError`` when there is no agent
        or it did not come back in time, and whatever else ``Link.open`` raises.
        """
        link, position = await Link.open(self._home, self._name, self._node), after
        try:
            while True:
                try:
                    position = await link.follow(position)
                    while True:
                        event = await link.next_event()
                        position = Position(position.log, event.sequence)
                        yield event
                except DisconnectedError:
                    await link.close()
                    link = await self._reopened(patience_s)
        finally:
            await link.close()

    @property
    def welcome(self) -> Welcome | None:
        """Who answered at the last greeting."""
        return self._link.welcome if self._link is not None else None

    async def wait_ended(self, within_s: float) -> bool:
        """Wait until the agent ends the connection for requests, as it does when it stops; return
        true then, and at once where there is none, false if it did not in that time."""
        link = self._link
        try:
            async with asyncio.timeout(within_s):
                if link is not None:
                    await link.wait_ended()
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """End the connection for requests, if there is one, and wait until it is closed. ``events``
        have one of their own, and the next call would open another."""
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _linked(self) -> Link:
        async with self._opening:
            if self._link is not None and self._link.ended:
                await self.close()
            if self._link is None:
                self._link = await Link.open(self._home, self._name, self._node)
            return self._link

    async def _reopened(self, patience_s: float) -> Link:
        """Open a connection again; whatever is wrong may be an agent that is just starting, until
        patience ends."""
        wait_s = FIRST_WAIT_S
        deadline_s = asyncio.get_running_loop().time() + patience_s
        while True:
            try:
                return await Link.open(self._home, self._name, self._node)
            except (NoAgentError, DisconnectedError, RequestError) as error:
                if isinstance(error, RequestError) and error.code in FINAL:
                    raise
                left_s = deadline_s - asyncio.get_running_loop().time()
                if left_s <= 0:
                    raise _went_away(error) from error
                await asyncio.sleep(min(wait_s, left_s))
                wait_s = min(2 * wait_s, WAIT_S_MAX)


def _went_away(error: ClientError) -> NoAgentError:
    return NoAgentError(f"the agent went away and did not come back ({error})")


async def submit(client: Client, wanted: Submit) -> Submitted:
    """Submit a workflow and return the answer. An agent of before knows no keys, and takes one of
    the same name for the same work: it is asked in its own words. Raises ``ClientError``."""
    try:
        return await client.call(SUBMIT, wanted)
    except RequestError as error:
        if error.code != ErrorCode.WRONG_PARAMETERS or not wanted.key or wanted.again:
            raise
        return await client.call(SUBMIT, replace(wanted, key="", origin=None))


async def pieces_of(client: Client, wanted: ReadDataset) -> AsyncGenerator[bytes]:
    """Yield a file of a dataset from the wanted offset on, piece by piece, to its end. Raises
    ``EOFError`` where the agent has less of it than it says, and what ``Client.call`` raises."""
    while True:
        piece = await client.call(READ_DATASET, wanted)
        yield piece.data
        wanted = replace(wanted, offset=wanted.offset + len(piece.data))
        if wanted.offset >= piece.size_bytes:
            return
        if not piece.data:
            raise EOFError("only a part of it came")


async def whole_workflow(client: Client, name: str) -> ShowReply:
    """Return a workflow, by its name, its id or the beginning of one, with all of its tasks. Raises
    ``ClientError``."""
    reply = await client.call(SHOW, Show(name, limit=TASKS_PAGE))
    name, tasks = reply.workflow.workflow, list(reply.tasks)
    for first in range(TASKS_PAGE, reply.workflow.tasks, TASKS_PAGE):
        tasks += (await client.call(SHOW, Show(name, first, TASKS_PAGE))).tasks
    return replace(reply, tasks=tuple(tasks))
